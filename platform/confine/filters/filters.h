#pragma once
/*
 * The filters of our own processes as libseccomp's rules. They are turned into programs for the
 * host when sentry is built (compile.c), not at every start: that would take longer than everything
 * else that a process gives up. ../filter.h has what a running process needs.
 */
#include "lib/compiler.h"

#include <seccomp.h>

/* Each adds the rules of one process to a filter whose default is to kill. 0 or a negative errno of
 * libseccomp. */
int filter_sentry_rules(scmp_filter_ctx f);
int filter_gofer_rules(scmp_filter_ctx f);
int filter_volumes_rules(scmp_filter_ctx f);

/* The calls of a list, with any arguments. */
int filter_allow(scmp_filter_ctx f, const int *calls, size_t n);
