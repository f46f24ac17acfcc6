#pragma once
/*
 * What the sandbox uses, in memory that sentry and monitor share: counts that survive the sentry,
 * and what the monitor needs to bound memory where no cgroup does (sentry/cli/account.c).
 *
 * The sentry writes the first part, the monitor the second; each only reads the other's.
 */
#include "lib/compiler.h"

struct usage {
    /* written by the sentry */
    uint64_t
        touchable;  /* bytes of mappings that guests may have pages in: never mere reservations */
    uint64_t files; /* bytes that memfds hold */
    uint64_t tasks, mappings; /* what the host keeps structures for */
    uint64_t syscalls, cpu_ns, cpu_system_ns, pids_peak,
        disk_peak; /* for the report, as of the last look */
    /* written by the monitor */
    uint64_t wake_at;  /* touchable bytes beyond which the monitor wants to look */
    uint32_t sampling; /* it bounds memory itself */
    uint32_t samples;  /* how often it has looked: a futex word */
};

/* The shared one, set before the kernel starts; before that, and in unit tests, one that nobody
 * reads. fd: a seqpacket socket whose other end is the monitor's. */
void usage_share(struct usage *u, int fd);
struct usage *usage_now(void);

/* A mapping that guests can touch came (or, negative, went). */
void usage_touchable(int64_t bytes);
/* Bytes in memfds. */
void usage_files(int64_t bytes);
/* So many bytes of mappings are about to go: the monitor looks, if there could be a new peak. */
void usage_before_loss(uint64_t bytes);
/* Guests share memory through files: their pages are counted again from now on, now and then. */
void usage_watch_files(void);
/* Copies the counts of the kernel's own limits and times. */
void usage_publish(void);
