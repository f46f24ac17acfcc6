#pragma once
/*
 * The seccomp filters of our own processes: allowlists, made from the rules of filters/ when sentry
 * was built. seccomp(2).
 */
#include "lib/compiler.h"

struct sock_filter;

struct confine_filter {
    const struct sock_filter *code;
    unsigned short len; /* instructions */
};

extern const struct confine_filter confine_filter_sentry;
extern const struct confine_filter confine_filter_keeper;       /* waits for a server */
extern const struct confine_filter confine_filter_gofer;        /* serves the image */
extern const struct confine_filter confine_filter_volumes_read; /* serves volumes, all read-only */
extern const struct confine_filter confine_filter_volumes_write;

/* For good, for this thread and what it makes. Needs no_new_privs. 0 or -errno. */
int confine_filter_enter(const struct confine_filter *f) MUST_CHECK;
