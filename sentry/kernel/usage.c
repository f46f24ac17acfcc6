/*
 * usage.c: counts for the monitor.
 *
 * Where no cgroup holds the memory limit, the monitor reads what guests have resident from /proc.
 * It sleeps as long as all that guests could touch fits into the limit, and is woken from here when
 * that changes. It would miss what was there for a short time only; so before much memory goes the
 * sentry waits for one look, for a bounded time, and not too often.
 */
#include "sentry/kernel/usage.h"

#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/timer.h"
#include "sentry/mm/memobj.h"

enum {
    LOOK_WAIT_NS = 20000000,
    LOOK_EVERY_NS = 10000000,
    LOSS_MIN = 1 << 20,
    FILES_MIN_NS = 10000000
};

static struct usage unshared = {.wake_at = UINT64_MAX};
static struct usage *usage = &unshared;
static uint64_t looked_at, looked_ns; /* touchable bytes and time of the last look waited for */
static struct timer files_timer;
static bool files_watched;

void usage_share(struct usage *u, int fd)
{
    usage = u;
    host_monitor_set(fd);
}

struct usage *usage_now(void)
{
    return usage;
}

static uint64_t add(uint64_t v, int64_t change)
{
    if (change < 0)
        return v - MIN(v, (uint64_t)-change);
    return v + (uint64_t)change;
}

void usage_touchable(int64_t bytes)
{
    usage->touchable = add(usage->touchable, bytes);
    if (usage->touchable > usage->wake_at) {
        usage->wake_at = UINT64_MAX;
        host_monitor_wake();
    }
}

void usage_files(int64_t bytes)
{
    usage->files = add(usage->files, bytes);
}

void usage_before_loss(uint64_t bytes)
{
    if (!usage->sampling || bytes < LOSS_MIN)
        return;
    uint64_t now = host_clock_monotonic();
    if (usage->touchable <= looked_at && now - looked_ns < LOOK_EVERY_NS)
        return;
    looked_at = usage->touchable;
    looked_ns = now;
    usage_publish();
    host_monitor_look(&usage->samples, LOOK_WAIT_NS);
}

/* The next look costs at most a hundredth of the time until then. */
static void look_at_files(struct timer *tm)
{
    uint64_t begin = host_clock_monotonic();
    if (!memobj_settle_mapped()) {
        files_watched = false;
        return;
    }
    uint64_t cost = host_clock_monotonic() - begin;
    timer_arm(tm, clock_monotonic() + MAX(cost * 100, (uint64_t)FILES_MIN_NS));
}

void usage_watch_files(void)
{
    if (!usage->sampling || files_watched)
        return;
    files_watched = true;
    timer_init(&files_timer, look_at_files);
    timer_arm(&files_timer, clock_monotonic() + FILES_MIN_NS);
}

void usage_publish(void)
{
    usage->tasks = limit_used(LIMIT_TASKS);
    usage->mappings = limit_used(LIMIT_VMAS);
    usage->syscalls = kernel.nsyscalls;
    usage->pids_peak = limit_peak(LIMIT_TASKS);
    usage->disk_peak = limit_peak(LIMIT_DISK_BYTES);
    usage->cpu_ns = MAX(usage->cpu_ns, kernel.cpu_done);
}
