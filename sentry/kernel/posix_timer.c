/*
 * posix_timer.c: POSIX timers (timer_create(2)) and interval timers (setitimer(2), alarm(2)).
 *
 * A timer has at most one signal queued, and stands still until that is taken: only then are the
 * missed expiries counted and the timer armed again. So the shortest interval costs nothing while
 * nobody looks, and one whose signal is dropped (ignored, say) fires once a tick at most.
 * SIGEV_NONE is arithmetic. A timer on a CPU clock is a wall timer that looks at the CPU time when
 * it fires and, if there is some left, arms itself for the shortest time in which that could be
 * used up.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "lib/alloc.h"
#include "sentry/host/host.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

enum {
    CPU_CHECK_MIN_NS = 1000000,
    DROPPED_MIN_NS = 4000000
};

struct posix_timer {
    struct list_head link;      /* thread_group.posix_timers */
    struct thread_group *group; /* borrowed: the timer goes with it */
    uint32_t id;                /* of timer_create; interval timers have none */
    int which;                  /* LX_ITIMER_VIRTUAL or PROF, else -1 */
    int clock;
    uint32_t cpu_pid; /* thread of a per-thread CPU clock, or 0 */
    int notify, signo;
    union lx_sigval value;
    uint32_t target_pid; /* SIGEV_THREAD_ID */
    struct timer timer;
    uint64_t expires; /* on its own clock (monotonic for wall clocks); 0: disarmed */
    uint64_t interval;
    bool queued;
    uint32_t overrun_last;
};

static uint64_t cpu_now(const struct posix_timer *pt)
{
    if (pt->cpu_pid != 0) {
        struct task *t = task_by_pid(pt->cpu_pid);
        return t != NULL ? task_cputime(t) : 0;
    }
    return thread_group_cputime(pt->group);
}

static uint64_t timer_now(const struct posix_timer *pt)
{
    return clock_is_cpu(pt->clock) ? cpu_now(pt) : clock_monotonic();
}

static void timer_schedule(struct posix_timer *pt)
{
    if (pt->which < 0 && pt->notify == LX_SIGEV_NONE)
        return;
    if (!clock_is_cpu(pt->clock)) {
        timer_arm(&pt->timer, pt->expires);
        return;
    }
    uint64_t now = cpu_now(pt);
    uint64_t left = pt->expires > now ? pt->expires - now : 0;
    uint32_t parallel = MIN(MAX(pt->group->nthreads, 1u), host_ncpus());
    timer_arm(&pt->timer, clock_after(MAX(left / parallel, (uint64_t)CPU_CHECK_MIN_NS)));
}

/* Moves expires past now by whole intervals; returns how many more expiries that were. */
static uint32_t timer_forward(struct posix_timer *pt, uint64_t now)
{
    if (pt->interval == 0) {
        pt->expires = 0;
        return 0;
    }
    uint64_t missed = now > pt->expires ? (now - pt->expires) / pt->interval : 0;
    pt->expires += (missed + 1) * pt->interval;
    return missed > INT32_MAX ? INT32_MAX : (uint32_t)missed;
}

static void timer_signal(struct posix_timer *pt)
{
    struct task *target = NULL;
    struct lx_siginfo info = {.si_signo = pt->signo, .si_code = LX_SI_TIMER};
    if (pt->which >= 0) {
        signal_send_kernel_group(pt->group, pt->signo);
        return;
    }
    if (pt->notify == LX_SIGEV_THREAD_ID) {
        target = task_by_pid(pt->target_pid);
        if (target == NULL || target->group != pt->group || target->pth == NULL)
            return;
    }
    info.si_timerid = (int32_t)pt->id;
    info.timer_value = pt->value;
    /* An ignored signal, or one that is pending already, is not queued. */
    (void)signal_send_timer(pt->group, target, &info, pt);
}

/* Nobody took the signal. */
static void timer_rest(struct posix_timer *pt)
{
    if (clock_is_cpu(pt->clock))
        timer_schedule(pt);
    else
        timer_arm(&pt->timer, MAX(pt->expires, clock_after(DROPPED_MIN_NS)));
}

static void timer_fired(struct timer *tm)
{
    struct posix_timer *pt = container_of(tm, struct posix_timer, timer);
    uint64_t now = timer_now(pt);
    if (now < pt->expires) {
        timer_schedule(pt);
        return;
    }
    if (pt->interval == 0)
        pt->expires = 0;
    timer_signal(pt);
    if (pt->expires == 0 || pt->queued)
        return;
    (void)timer_forward(pt, now);
    if (pt->which >= 0)
        timer_schedule(pt);
    else
        timer_rest(pt);
}

void posix_timer_queued(struct posix_timer *pt)
{
    pt->queued = true;
}

void posix_timer_dequeued(struct posix_timer *pt)
{
    pt->queued = false;
    if (pt->expires == 0 || pt->timer.armed)
        return;
    (void)timer_forward(pt, timer_now(pt));
    timer_rest(pt);
}

void posix_timer_delivered(struct posix_timer *pt, struct lx_siginfo *info)
{
    pt->overrun_last = pt->expires != 0 ? timer_forward(pt, timer_now(pt)) : 0;
    info->si_overrun = (int32_t)pt->overrun_last;
    if (pt->expires != 0)
        timer_schedule(pt);
}

static void timer_free(struct posix_timer *pt)
{
    signal_forget_timer(pt->group, pt);
    timer_cancel(&pt->timer);
    list_del_init(&pt->link);
    kfree(pt);
    limit_release(LIMIT_TIMERS, 1);
}

void posix_timers_exit(struct thread_group *tg)
{
    struct posix_timer *pt, *tmp;
    list_for_each_entry_safe (pt, tmp, &tg->posix_timers, link)
        timer_free(pt);
}

void posix_timers_exec(struct thread_group *tg)
{
    struct posix_timer *pt, *tmp;
    list_for_each_entry_safe (pt, tmp, &tg->posix_timers, link) {
        if (pt->which < 0)
            timer_free(pt);
    }
}

static int timer_new(struct thread_group *tg, struct posix_timer **ret_pt)
{
    int r = limit_charge(LIMIT_TIMERS, 1);
    if (r < 0)
        return r;
    struct posix_timer *pt = kalloc(sizeof(*pt));
    if (pt == NULL) {
        limit_release(LIMIT_TIMERS, 1);
        return -EAGAIN;
    }
    pt->group = tg;
    pt->which = -1;
    timer_init(&pt->timer, timer_fired);
    list_add_tail(&tg->posix_timers, &pt->link);
    *ret_pt = pt;
    return 0;
}

static struct posix_timer *timer_by_id(struct task *t, uint32_t id)
{
    struct posix_timer *pt;
    list_for_each_entry (pt, &t->group->posix_timers, link) {
        if (pt->which < 0 && pt->id == id)
            return pt;
    }
    return NULL;
}

/* -- timer_create family ----------------------------------------------------------------------- */

static int timer_check_event(struct task *t, const struct lx_sigevent *ev)
{
    struct task *target;
    switch (ev->sigev_notify) {
    case LX_SIGEV_NONE:
        return 0;
    case LX_SIGEV_THREAD_ID:
        target = task_by_pid((uint32_t)ev->sigev_notify_thread_id);
        if (target == NULL || target->group != t->group)
            return -EINVAL;
        break;
    case LX_SIGEV_SIGNAL:
    case LX_SIGEV_THREAD:
        break;
    default:
        return -EINVAL;
    }
    return ev->sigev_signo <= 0 || ev->sigev_signo > LX_NSIG ? -EINVAL : 0;
}

struct sys_res sys_timer_create(struct task *t, const struct sys_args *a)
{
    struct lx_sigevent ev = {.sigev_signo = LX_SIGALRM, .sigev_notify = LX_SIGEV_SIGNAL};
    struct posix_timer *pt;
    uint64_t now;
    int clock = sys_int(a, 0);
    bool given = !gaddr_is_null(sys_addr(a, 1));

    if (given && get_user(t, &ev, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    int r = clock_now(t, clock, &now);
    if (r < 0 || clock == LX_CLOCK_MONOTONIC_RAW || clock == LX_CLOCK_REALTIME_COARSE ||
        clock == LX_CLOCK_MONOTONIC_COARSE)
        return sys_ret(-EINVAL);
    r = timer_check_event(t, &ev);
    if (r == 0)
        r = timer_new(t->group, &pt);
    if (r < 0)
        return sys_ret(r);
    pt->id = t->group->next_timer_id++;
    pt->clock = clock;
    if (clock == LX_CLOCK_THREAD_CPUTIME_ID)
        pt->cpu_pid = t->pid;
    else if (clock < 0 && LX_CPUCLOCK_PERTHREAD(clock))
        pt->cpu_pid = (uint32_t)LX_CPUCLOCK_PID(clock);
    pt->notify = ev.sigev_notify;
    pt->signo = ev.sigev_signo;
    pt->value = ev.sigev_value;
    if (!given)
        pt->value = (union lx_sigval){.sival_int = (int32_t)pt->id};
    if (ev.sigev_notify == LX_SIGEV_THREAD_ID)
        pt->target_pid = (uint32_t)ev.sigev_notify_thread_id;
    int32_t id = (int32_t)pt->id;
    if (put_user(t, sys_addr(a, 2), &id) < 0) {
        timer_free(pt);
        return sys_ret(-EFAULT);
    }
    return sys_ret(0);
}

static void timer_read(const struct posix_timer *pt, struct lx_itimerspec *its)
{
    uint64_t left = 0;
    if (pt->expires != 0) {
        uint64_t now = timer_now(pt);
        if (pt->expires > now)
            left = pt->expires - now;
        else if (pt->interval != 0)
            left = pt->interval - (now - pt->expires) % pt->interval;
        else
            left = pt->notify == LX_SIGEV_NONE ? 0 : 1;
    }
    its->it_interval = timespec_from_ns(pt->interval);
    its->it_value = timespec_from_ns(left);
}

static void timer_set(struct posix_timer *pt, uint64_t value, uint64_t interval, bool absolute)
{
    timer_cancel(&pt->timer);
    signal_forget_timer(pt->group, pt);
    pt->queued = false;
    pt->overrun_last = 0;
    pt->interval = interval;
    pt->expires = 0;
    if (value == 0)
        return;
    if (!absolute)
        pt->expires = timer_now(pt) + value;
    else
        pt->expires = clock_is_cpu(pt->clock) ? value : clock_to_monotonic(pt->clock, value);
    pt->expires = MAX(pt->expires, 1ull);
    timer_schedule(pt);
}

struct sys_res sys_timer_settime(struct task *t, const struct sys_args *a)
{
    struct lx_itimerspec its, old;
    uint64_t value, interval;

    if (gaddr_is_null(sys_addr(a, 2)))
        return sys_ret(-EINVAL);
    if (get_user(t, &its, sys_addr(a, 2)) < 0)
        return sys_ret(-EFAULT);
    struct posix_timer *pt = timer_by_id(t, sys_uint(a, 0));
    if (pt == NULL || timespec_to_ns(&its.it_value, &value) < 0 ||
        timespec_to_ns(&its.it_interval, &interval) < 0)
        return sys_ret(-EINVAL);
    timer_read(pt, &old);
    timer_set(pt, value, interval, (sys_uint(a, 1) & LX_TIMER_ABSTIME) != 0);
    if (!gaddr_is_null(sys_addr(a, 3)))
        return sys_ret(put_user(t, sys_addr(a, 3), &old));
    return sys_ret(0);
}

struct sys_res sys_timer_gettime(struct task *t, const struct sys_args *a)
{
    struct lx_itimerspec its;
    struct posix_timer *pt = timer_by_id(t, sys_uint(a, 0));
    if (pt == NULL)
        return sys_ret(-EINVAL);
    timer_read(pt, &its);
    return sys_ret(put_user(t, sys_addr(a, 1), &its));
}

struct sys_res sys_timer_getoverrun(struct task *t, const struct sys_args *a)
{
    struct posix_timer *pt = timer_by_id(t, sys_uint(a, 0));
    return sys_ret(pt == NULL ? -EINVAL : (int64_t)pt->overrun_last);
}

struct sys_res sys_timer_delete(struct task *t, const struct sys_args *a)
{
    struct posix_timer *pt = timer_by_id(t, sys_uint(a, 0));
    if (pt == NULL)
        return sys_ret(-EINVAL);
    timer_free(pt);
    return sys_ret(0);
}

/* -- interval timers --------------------------------------------------------------------------- */

static struct posix_timer *itimer_cpu(struct thread_group *tg, int which)
{
    struct posix_timer *pt;
    list_for_each_entry (pt, &tg->posix_timers, link) {
        if (pt->which == which)
            return pt;
    }
    return NULL;
}

static void itimer_get(struct thread_group *tg, int which, uint64_t *ret_value,
                       uint64_t *ret_interval)
{
    *ret_value = 0;
    *ret_interval = 0;
    if (which == LX_ITIMER_REAL) {
        *ret_interval = tg->itimer_real_interval;
        if (tg->itimer_real.armed) {
            uint64_t now = clock_monotonic();
            *ret_value = tg->itimer_real.expires > now ? tg->itimer_real.expires - now : 1000;
        }
        return;
    }
    struct posix_timer *pt = itimer_cpu(tg, which);
    if (pt == NULL)
        return;
    uint64_t now = timer_now(pt);
    *ret_interval = pt->interval;
    *ret_value = pt->expires == 0 ? 0 : pt->expires > now ? pt->expires - now : 1000;
}

static int itimer_set(struct thread_group *tg, int which, uint64_t value, uint64_t interval)
{
    if (which == LX_ITIMER_REAL) {
        timer_cancel(&tg->itimer_real);
        tg->itimer_real_interval = interval;
        if (value != 0)
            timer_arm(&tg->itimer_real, clock_after(value));
        return 0;
    }
    struct posix_timer *pt = itimer_cpu(tg, which);
    if (pt == NULL) {
        int r = timer_new(tg, &pt);
        if (r < 0)
            return r;
        pt->which = which;
        pt->clock = LX_CLOCK_PROCESS_CPUTIME_ID;
        pt->signo = which == LX_ITIMER_VIRTUAL ? LX_SIGVTALRM : LX_SIGPROF;
    }
    timer_set(pt, value, interval, false);
    return 0;
}

static struct lx_itimerval itimerval_of(uint64_t value, uint64_t interval)
{
    return (struct lx_itimerval){timeval_from_ns(interval), timeval_from_ns(value)};
}

struct sys_res sys_getitimer(struct task *t, const struct sys_args *a)
{
    uint64_t value, interval;
    int which = sys_int(a, 0);
    if (which < LX_ITIMER_REAL || which > LX_ITIMER_PROF)
        return sys_ret(-EINVAL);
    itimer_get(t->group, which, &value, &interval);
    struct lx_itimerval itv = itimerval_of(value, interval);
    return sys_ret(put_user(t, sys_addr(a, 1), &itv));
}

struct sys_res sys_setitimer(struct task *t, const struct sys_args *a)
{
    struct lx_itimerval itv = {0};
    uint64_t value, interval, old_value, old_interval;
    int which = sys_int(a, 0);

    if (!gaddr_is_null(sys_addr(a, 1)) && get_user(t, &itv, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (timeval_to_ns(&itv.it_value, &value) < 0 || timeval_to_ns(&itv.it_interval, &interval) < 0)
        return sys_ret(-EINVAL);
    if (which < LX_ITIMER_REAL || which > LX_ITIMER_PROF)
        return sys_ret(-EINVAL);
    itimer_get(t->group, which, &old_value, &old_interval);
    int r = itimer_set(t->group, which, value, interval);
    if (r < 0 || gaddr_is_null(sys_addr(a, 2)))
        return sys_ret(r);
    struct lx_itimerval old = itimerval_of(old_value, old_interval);
    return sys_ret(put_user(t, sys_addr(a, 2), &old));
}

struct sys_res sys_alarm(struct task *t, const struct sys_args *a)
{
    uint64_t old_value, old_interval;
    itimer_get(t->group, LX_ITIMER_REAL, &old_value, &old_interval);
    (void)itimer_set(t->group, LX_ITIMER_REAL, sys_uint(a, 0) * NSEC_PER_SEC, 0);
    uint64_t sec = (old_value + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
    return sys_ret(old_value != 0 && sec == 0 ? 1 : (int64_t)sec);
}
