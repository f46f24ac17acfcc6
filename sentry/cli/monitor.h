#pragma once
/*
 * The monitor as a function: runs one boot description from its processes to their end, in the
 * calling process, which is the parent of gofer and sentry and should do nothing else meanwhile.
 * `sentry run` and the OCI command's forked monitor both are this.
 */
#include "lib/compiler.h"

#include <sys/types.h>

#include "sentry/cli/boot.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/spawn.h"
#include "sentry/kernel/verdict.h"

struct error;

enum {
    MONITOR_LASTING_MS = 100
};

/* All may be NULL. They run in the monitor, between its waits. */
struct monitor_hooks {
    void *ctx;
    /* The processes exist; nothing of the image has run. Negative: the run is given up with err. */
    int (*made)(void *ctx, const struct sandbox *sb, struct error *err);
    /* The first process is loaded: with wait_start it is held, else `started` follows at once. */
    void (*created)(void *ctx);
    void (*started)(void *ctx);
    /* It has run for MONITOR_LASTING_MS, and may be looked for from outside. */
    void (*lasting)(void *ctx);
    /* It has ended (or failed); gofer and sentry are killed but not yet reaped. */
    void (*ending)(void *ctx);
};

struct monitor_result {
    enum verdict verdict;
    int exit_code;   /* what `sentry run` exits with: 0-255, 128+signal, 124, 125, 126, 127 */
    int wait_status; /* of the first process if it ended by itself (OK, EXIT, SIGNAL); else 0 */
    char text[512];  /* one sentence, also for success */
    bool created, started;
    bool said; /* a server has said on standard error why the run failed */
    uint64_t begin_ns, start_ns, end_ns, memory_peak;
    enum cgroup_kind memory_kind, cpu_kind;
    struct boot_message last; /* counts of the sentry; zero when it could not say */
};

/* Never fails: what went wrong is in the result. Nothing of the run is left afterwards, but the
 * listening socket's name, which is whoever's who bound it. */
void monitor_run(struct boot *b, const struct monitor_hooks *hooks, struct monitor_result *ret);
