#pragma once
/*
 * The memory limit without a cgroup: the monitor reads from /proc what the processes of the sandbox
 * have resident, as often as the distance to the limit asks for.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct usage;

struct account {
    struct usage *u;  /* shared with the sentry; NULL: not in use */
    uint64_t limit;   /* bytes */
    int proc;         /* the host's /proc, which the monitor may leave */
    pid_t roots[3];   /* sentry, gofer, volume server (0: none) */
    uint64_t next_ns; /* CLOCK_MONOTONIC of the next look */
    uint64_t used, peak;
};

/* The processes exist; guests do not run yet. */
void account_begin(struct account *a, struct usage *u, uint64_t limit, const pid_t roots[3]);
void account_end(struct account *a);
/* ms until the next look, -1: never. */
int account_timeout_ms(const struct account *a);
/* Looks if it is time to, or if the sentry asked (woken). True: the limit is crossed. */
bool account_look(struct account *a, bool woken);

/* For tests: the sum and what it is made of, from a directory in the place of /proc. */
struct account_sum {
    uint64_t anon, shmem, tables, swap; /* bytes of guests, sentry and gofer */
    uint64_t largest; /* anon of the process that has most: shared with nobody else */
    uint32_t processes;
    bool failed; /* the kernel does not list children: nothing is known of guests */
};
void account_read(int proc, const pid_t roots[3], bool exact, struct account_sum *ret_sum);
