#pragma once
/*
 * Scripts of calls for a box (box.h): each step has the result that stands beside it when nothing
 * fails. A test plays a script once to see that, then with every failure in turn.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "tests/support/box.h"

struct super;

#define ANY (INT64_MIN + 5) /* any result that is no error */
#define ALL (INT64_MIN + 6) /* any result */

struct step {
    uint64_t nr;
    uint64_t args[6];
    int64_t want;
};
#define CALL(name, want, ...)            \
    {                                    \
        NR_##name, {__VA_ARGS__}, (want) \
    }
#define END           \
    {                 \
        ~0ull, {0}, 0 \
    }

/* Plays a script: the index of the first step with another result, which is *ret_got; -1: none. A
 * thread that is gone, or that a failure has blocked, makes no more calls. */
int script_play(const struct step *steps, int64_t *ret_got);
/* Makes the directory /NAME, one letter, and mounts sb there, which is consumed unless r, the
 * result of making it, is an error. */
int script_mount(char name, int r, struct super *sb);
