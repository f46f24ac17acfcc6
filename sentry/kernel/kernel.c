/*
 * kernel.c: the root object: made, and taken down.
 */
#include "sentry/kernel/kernel.h"

#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/error.h"
#include "lib/hash.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/file.h"
#include "sentry/fs/mqueue/mqueue.h"
#include "sentry/host/host.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/limits.h"

struct kernel kernel;

int kernel_init(struct plat *p, struct error *err)
{
    uint64_t seed;
    (void)err;
    kernel = (struct kernel){.plat = p};
    list_init(&kernel.mounts);
    list_init(&kernel.groups);
    memcpy(kernel.hostname, "sentry", 7);
    memcpy(kernel.domainname, "(none)", 7);
    host_random(&seed, sizeof(seed));
    hash_set_seed(seed);
    kernel.seed = (uint32_t)seed;
    kernel.boot_monotonic = host_clock_monotonic();
    kernel.boot_realtime = host_clock_realtime();
    limits_init();
    kernel.tasks_max = limit_max(LIMIT_TASKS);
    if (p != NULL)
        plat_ops->layout(p, &kernel.layout);
    return 0;
}

static struct thread_group *any_live_group(void)
{
    struct thread_group *tg;
    list_for_each_entry (tg, &kernel.groups, all_link) {
        if (tg != kernel.init && !tg->zombie)
            return tg;
    }
    return NULL;
}

/* The first process last: it inherits what the others leave. */
static void end_groups(void)
{
    struct thread_group *tg;
    while ((tg = any_live_group()) != NULL)
        thread_group_exit(tg, LX_SIGKILL);
    if (kernel.init != NULL)
        thread_group_exit(kernel.init, LX_SIGKILL);
    while (!list_empty(&kernel.groups))
        thread_group_reap(list_first(&kernel.groups, struct thread_group, all_link));
    task_put(kernel.held);
    kernel.held = NULL;
    thread_group_put(kernel.init);
    kernel.init = NULL;
}

void kernel_done(void)
{
    end_groups();
    ipc_done();
    mounts_done();
    mqueue_done();
    tmpfs_anon_done();
    sysctl_done();
    hostfs_done();
    anon_super_done();
    pid_table_reset();
}
