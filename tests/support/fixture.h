#pragma once
/*
 * Runs around every unit test: after the test the process must have as many open descriptors and as
 * many kalloc'd bytes as before it. A leak fails the test.
 *
 * for_each_failure repeats its body with the first, the second, ... allocation failing, until the
 * body runs without a failure being asked of it. The body frees what it made and is not left with
 * break or return; it may well succeed despite the failure:
 *
 *      for_each_failure
 *      {
 *          struct thing *t = thing_new();
 *          if (t)
 *              thing_free(t);
 *      }
 *
 * Further kinds of failure (say, host calls of a fake host) join through failure_add_source; they
 * are tried one after the other.
 */
#include "lib/compiler.h"

void fixture_setup(void);
void fixture_teardown(void);

struct failure_source {
    void (*fail_after)(uint64_t n); /* the nth from now fails, once; 0: none */
    bool (*failed)(void);           /* the failure that was asked for has happened */
};

struct failure_loop {
    size_t source;
    uint64_t n;
    uint64_t balance;
    int fds;
};

void failure_add_source(const struct failure_source *source);
/* Used by the macro: checks the balance after a turn and prepares the next; false at the end. */
bool failure_next(struct failure_loop *loop);

#define for_each_failure \
    for (struct failure_loop failure_loop_ = {0}; failure_next(&failure_loop_);)
