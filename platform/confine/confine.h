#pragma once
/*
 * The second wall: how the sentry locks itself in once everything that needs a privilege has been
 * done. Called once, by the worker, before the first byte of a guest or an image is looked at.
 */
#include "lib/compiler.h"

struct error;

/* First: an empty read-only root in the caller's mount namespace; guests made later inherit it. */
int confine_empty_root(struct error *err) MUST_CHECK;
/* Then, where the kernel has it, a Landlock domain without any file but what is below the host's
 * /proc, which only the start needs. Guests made later are in it too, so the sentry still reaches
 * their memory. Mounts cannot be changed afterwards. */
int confine_landlock(int proc_fd, struct error *err) MUST_CHECK;
/* Last: no capability (bounding set included), no_new_privs, not dumpable, no core file, and the
 * filter (filter.h). */
int confine_sentry(struct error *err) MUST_CHECK;

/* A step of it, for tests and other programs. */
int confine_no_capabilities(struct error *err) MUST_CHECK;
