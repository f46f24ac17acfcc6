/*
 * clock.c: conversions of time structures, clocks by number, and the calls that read them.
 */
#include "sentry/kernel/clock.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct lx_timeval timeval_from_ns(uint64_t ns)
{
    return (struct lx_timeval){(int64_t)(ns / NSEC_PER_SEC), (int64_t)(ns % NSEC_PER_SEC / 1000)};
}

struct lx_timespec timespec_from_ns(uint64_t ns)
{
    return (struct lx_timespec){(int64_t)(ns / NSEC_PER_SEC), (int64_t)(ns % NSEC_PER_SEC)};
}

static int to_ns(int64_t sec, int64_t nsec, uint64_t *ret_ns)
{
    if (sec < 0 || nsec < 0 || nsec >= (int64_t)NSEC_PER_SEC)
        return -EINVAL;
    if ((uint64_t)sec >= (uint64_t)INT64_MAX / NSEC_PER_SEC)
        *ret_ns = (uint64_t)INT64_MAX;
    else
        *ret_ns = (uint64_t)sec * NSEC_PER_SEC + (uint64_t)nsec;
    return 0;
}

int timespec_to_ns(const struct lx_timespec *ts, uint64_t *ret_ns)
{
    return to_ns(ts->tv_sec, ts->tv_nsec, ret_ns);
}

int timeval_to_ns(const struct lx_timeval *tv, uint64_t *ret_ns)
{
    if (tv->tv_usec < 0 || tv->tv_usec >= 1000000)
        return -EINVAL;
    return to_ns(tv->tv_sec, tv->tv_usec * 1000, ret_ns);
}

void rusage_fill(struct lx_rusage *ru, uint64_t cpu_ns, uint64_t maxrss_kib)
{
    *ru = (struct lx_rusage){.ru_utime = timeval_from_ns(cpu_ns), .ru_maxrss = (int64_t)maxrss_kib};
}

static int cpu_clock_now(struct task *t, int id, uint64_t *ret_ns)
{
    uint32_t pid = (uint32_t)LX_CPUCLOCK_PID(id);
    if (LX_CPUCLOCK_WHICH(id) == LX_CLOCKFD)
        return -EINVAL;
    if (LX_CPUCLOCK_PERTHREAD(id)) {
        struct task *other = pid == 0 ? t : task_by_pid(pid);
        if (other == NULL || other->group != t->group)
            return -EINVAL;
        *ret_ns = task_cputime(other);
        return 0;
    }
    struct thread_group *tg = pid == 0 ? t->group : thread_group_by_pid(pid);
    if (tg == NULL)
        return -EINVAL;
    *ret_ns = thread_group_cputime(tg);
    return 0;
}

int clock_now(struct task *t, int id, uint64_t *ret_ns)
{
    switch (id) {
    case LX_CLOCK_REALTIME:
    case LX_CLOCK_REALTIME_COARSE:
    case LX_CLOCK_REALTIME_ALARM:
    case LX_CLOCK_TAI:
        *ret_ns = clock_realtime();
        return 0;
    case LX_CLOCK_MONOTONIC:
    case LX_CLOCK_MONOTONIC_RAW:
    case LX_CLOCK_MONOTONIC_COARSE:
    case LX_CLOCK_BOOTTIME:
    case LX_CLOCK_BOOTTIME_ALARM:
        *ret_ns = clock_monotonic();
        return 0;
    case LX_CLOCK_PROCESS_CPUTIME_ID:
        *ret_ns = thread_group_cputime(t->group);
        return 0;
    case LX_CLOCK_THREAD_CPUTIME_ID:
        *ret_ns = task_cputime(t);
        return 0;
    default:
        return id < 0 ? cpu_clock_now(t, id, ret_ns) : -EINVAL;
    }
}

bool clock_is_realtime(int id)
{
    return id == LX_CLOCK_REALTIME || id == LX_CLOCK_REALTIME_ALARM || id == LX_CLOCK_TAI;
}

bool clock_is_cpu(int id)
{
    return id < 0 || id == LX_CLOCK_PROCESS_CPUTIME_ID || id == LX_CLOCK_THREAD_CPUTIME_ID;
}

uint64_t clock_to_monotonic(int id, uint64_t ns)
{
    uint64_t now = clock_monotonic();
    if (!clock_is_realtime(id))
        return ns;
    uint64_t rt = clock_realtime();
    return ns <= rt ? now : now + (ns - rt);
}

uint64_t clock_after(uint64_t ns)
{
    uint64_t now = clock_monotonic();
    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

struct sys_res sys_clock_gettime(struct task *t, const struct sys_args *a)
{
    uint64_t ns;
    int r = clock_now(t, sys_int(a, 0), &ns);
    if (r < 0)
        return sys_ret(r);
    struct lx_timespec ts = timespec_from_ns(ns);
    return sys_ret(put_user(t, sys_addr(a, 1), &ts));
}

struct sys_res sys_clock_getres(struct task *t, const struct sys_args *a)
{
    uint64_t ns;
    int id = sys_int(a, 0);
    int r = clock_now(t, id, &ns);
    if (r < 0)
        return sys_ret(r);
    bool coarse = id == LX_CLOCK_REALTIME_COARSE || id == LX_CLOCK_MONOTONIC_COARSE;
    struct lx_timespec ts = {0, coarse ? 4000000 : 1};
    if (gaddr_is_null(sys_addr(a, 1)))
        return sys_ret(0);
    return sys_ret(put_user(t, sys_addr(a, 1), &ts));
}

struct sys_res sys_gettimeofday(struct task *t, const struct sys_args *a)
{
    struct lx_timeval tv = timeval_from_ns(clock_realtime());
    struct lx_timezone tz = {0};
    if (!gaddr_is_null(sys_addr(a, 0)) && put_user(t, sys_addr(a, 0), &tv) < 0)
        return sys_ret(-EFAULT);
    if (!gaddr_is_null(sys_addr(a, 1)) && put_user(t, sys_addr(a, 1), &tz) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(0);
}

struct sys_res sys_time(struct task *t, const struct sys_args *a)
{
    int64_t now = (int64_t)(clock_realtime() / NSEC_PER_SEC);
    if (!gaddr_is_null(sys_addr(a, 0)) && put_user(t, sys_addr(a, 0), &now) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(now);
}

struct sys_res sys_times(struct task *t, const struct sys_args *a)
{
    const uint64_t tick = NSEC_PER_SEC / LX_USER_HZ;
    struct lx_tms tms = {
        .tms_utime = (int64_t)(thread_group_cputime(t->group) / tick),
        .tms_cutime = (int64_t)(t->group->cpu_children / tick),
    };
    if (!gaddr_is_null(sys_addr(a, 0)) && put_user(t, sys_addr(a, 0), &tms) < 0)
        return sys_ret(-EFAULT);
    return sys_ret((int64_t)(clock_monotonic() / tick));
}
