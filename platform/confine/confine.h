#pragma once
/*
 * The second wall: how the sentry locks itself in once everything that needs a privilege has been
 * done. Called once, by the worker, before the first byte of a guest or an image is looked at.
 */
#include "lib/compiler.h"

struct error;

struct sock_filter;

/* The allowlist of sentry_filter.c as a program for the host. Built in advance, since that takes
 * longer than everything else here; owned by the caller (confine_filter_done). */
struct confine_filter {
    struct sock_filter *code; /* NULL: not built */
    unsigned short len;       /* instructions */
};
int confine_filter_build(struct confine_filter *ret_filter, struct error *err) MUST_CHECK;
void confine_filter_done(struct confine_filter *f);

/* First: an empty read-only root in the caller's mount namespace; guests made later inherit it. */
int confine_empty_root(struct error *err) MUST_CHECK;
/* Then, where the kernel has it, a Landlock domain without any file but what is below the host's
 * /proc, which only the start needs. Guests made later are in it too, so the sentry still reaches
 * their memory. Mounts cannot be changed afterwards. */
int confine_landlock(int proc_fd, struct error *err) MUST_CHECK;
/* Last: no capability (bounding set included), no_new_privs, not dumpable, no core file, and the
 * filter. */
int confine_sentry(const struct confine_filter *f, struct error *err) MUST_CHECK;

/* A step of it, for tests and other programs. */
int confine_no_capabilities(struct error *err) MUST_CHECK;
