/*
 * sys_sleep.c: nanosleep(2), clock_nanosleep(2), pause(2), restart_syscall(2).
 *
 * A relative sleep that a signal interrupts reports the rest and, when no handler ran, goes on
 * through restart_syscall with the deadline that it began with.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "sentry/kernel/clock.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

static sys_fn sleep_restart;

static struct sys_res sleep_until(struct task *t, uint64_t deadline, gaddr_t rem, bool absolute)
{
    if (!task_has_deadline(t))
        task_set_deadline(t, deadline);
    if (task_timed_out(t))
        return sys_ret(0);
    struct sys_res res = task_block(t, absolute ? -ERESTARTNOHAND : -ERESTART_RESTARTBLOCK);
    if (res.kind != SYS_RET || absolute)
        return res;
    t->restart_block = (struct task_restart_block){
        .fn = sleep_restart,
        .deadline = deadline,
        .args = {.v = {rem.v}},
    };
    if (!gaddr_is_null(rem)) {
        uint64_t now = clock_monotonic();
        struct lx_timespec left = timespec_from_ns(deadline > now ? deadline - now : 0);
        if (put_user(t, rem, &left) < 0)
            return sys_ret(-EFAULT);
    }
    return res;
}

static struct sys_res sleep_restart(struct task *t, const struct sys_args *a)
{
    return sleep_until(t, t->restart_block.deadline, sys_addr(a, 0), false);
}

static struct sys_res do_sleep(struct task *t, int clock, bool absolute, gaddr_t req, gaddr_t rem)
{
    struct lx_timespec ts;
    uint64_t ns;
    if (task_has_deadline(t))
        return sleep_until(t, t->deadline.expires, rem, absolute);
    if (get_user(t, &ts, req) < 0)
        return sys_ret(-EFAULT);
    int r = timespec_to_ns(&ts, &ns);
    if (r < 0)
        return sys_ret(r);
    uint64_t deadline = absolute ? clock_to_monotonic(clock, ns) : clock_after(ns);
    return sleep_until(t, deadline, rem, absolute);
}

struct sys_res sys_nanosleep(struct task *t, const struct sys_args *a)
{
    return do_sleep(t, LX_CLOCK_MONOTONIC, false, sys_addr(a, 0), sys_addr(a, 1));
}

/* Not by CPU time, and by no alarm clock: there is none. */
static bool clock_can_sleep(int clock)
{
    switch (clock) {
    case LX_CLOCK_MONOTONIC_RAW:
    case LX_CLOCK_REALTIME_COARSE:
    case LX_CLOCK_MONOTONIC_COARSE:
    case LX_CLOCK_REALTIME_ALARM:
    case LX_CLOCK_BOOTTIME_ALARM:
        return false;
    default:
        return !clock_is_cpu(clock);
    }
}

struct sys_res sys_clock_nanosleep(struct task *t, const struct sys_args *a)
{
    int clock = sys_int(a, 0);
    uint64_t now;
    bool absolute = (sys_uint(a, 1) & LX_TIMER_ABSTIME) != 0;

    if (clock_now(t, clock, &now) < 0)
        return sys_ret(-EINVAL);
    if (!clock_can_sleep(clock))
        return sys_ret(-EOPNOTSUPP);
    return do_sleep(t, clock, absolute, sys_addr(a, 2), absolute ? GADDR_NULL : sys_addr(a, 3));
}

struct sys_res sys_pause(struct task *t, const struct sys_args *a)
{
    (void)a;
    return task_block(t, -ERESTARTNOHAND);
}

struct sys_res sys_restart_syscall(struct task *t, const struct sys_args *a)
{
    (void)a;
    if (t->restart_block.fn == NULL)
        return sys_ret(-EINTR);
    return t->restart_block.fn(t, &t->restart_block.args);
}
