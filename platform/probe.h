#pragma once
/*
 * What the host offers, found by trying it (never by version numbers): for `sentry doctor` and for
 * the words of a failed start.
 */
#include "lib/compiler.h"

#include <stdio.h>

enum probe_id {
    PROBE_USER_NOTIF,
    PROBE_WAIT_KILLABLE,
    PROBE_SYNC_WAKE_UP,
    PROBE_USER_NS,
    PROBE_PID_NS,
    PROBE_MOUNT_NS,
    PROBE_NET_NS,
    PROBE_TIME_NS,
    PROBE_VM_ACCESS,
    PROBE_PIDFD_GETFD,
    PROBE_OPENAT2,
    PROBE_LANDLOCK,
    PROBE_CGROUP2,
    PROBE_CGROUP1,
    PROBE_COUNT,
};

struct probe_result {
    const char *name;
    bool found, required;
    const char *cost; /* what its absence means */
    char detail[96];
};

/* Tries everything, each in a child of its own. */
void probe_host(struct probe_result ret_results[PROBE_COUNT]);
/* The first mechanism that a run needs and that is missing, in one sentence; false: all are there.
 */
bool probe_missing(char *buf, size_t cap);
/* One line a mechanism; 0 when everything that a run needs was found, else 1. */
int probe_print(FILE *out);
