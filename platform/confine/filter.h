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
/* Serves what may only be read, the image or volumes; and volumes of which some may be written. */
extern const struct confine_filter confine_filter_gofer;
extern const struct confine_filter confine_filter_volumes;

/* For good, for this thread and what it makes. Needs no_new_privs. 0 or -errno. */
int confine_filter_enter(const struct confine_filter *f) MUST_CHECK;
