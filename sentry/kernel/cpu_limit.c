/*
 * How this works: nothing tells us when a process has used so much CPU time, so a timer looks: as
 * soon as the limit could be reached if every processor worked for the process, and again until it
 * is. As on Linux the soft limit itself moves on by a second each time that SIGXCPU is sent.
 */
#include "sentry/kernel/cpu_limit.h"

#include "abi/rlimit.h"

#include "sentry/host/host.h"
#include "sentry/kernel/signal.h"
#include "sentry/kernel/task.h"

/* A look costs little, but not nothing. */
enum {
    LOOK_MIN_NS = 5000000
};

static uint64_t limit_ns(uint64_t seconds)
{
    return seconds > UINT64_MAX / NSEC_PER_SEC ? UINT64_MAX : seconds * NSEC_PER_SEC;
}

static void cpu_limit_look(struct thread_group *tg)
{
    struct lx_rlimit *rl = &tg->rlimit[LX_RLIMIT_CPU];
    uint64_t used = thread_group_cputime(tg);

    if (tg->zombie)
        return;
    if (used >= limit_ns(rl->rlim_max)) {
        signal_send_kernel_group(tg, LX_SIGKILL);
        return;
    }
    if (used >= limit_ns(rl->rlim_cur)) {
        rl->rlim_cur = used / NSEC_PER_SEC + 1;
        signal_send_kernel_group(tg, LX_SIGXCPU);
    }
    uint64_t left = MIN(limit_ns(rl->rlim_cur), limit_ns(rl->rlim_max)) - used;
    timer_arm(&tg->cpu_limit, clock_monotonic() + MAX(left / host_ncpus(), (uint64_t)LOOK_MIN_NS));
}

static void cpu_limit_fire(struct timer *tm)
{
    cpu_limit_look(container_of(tm, struct thread_group, cpu_limit));
}

void cpu_limit_init(struct thread_group *tg)
{
    timer_init(&tg->cpu_limit, cpu_limit_fire);
}

void cpu_limit_changed(struct thread_group *tg)
{
    struct lx_rlimit *rl = &tg->rlimit[LX_RLIMIT_CPU];

    timer_cancel(&tg->cpu_limit);
    if (rl->rlim_cur == LX_RLIM_INFINITY && rl->rlim_max == LX_RLIM_INFINITY)
        return;
    if (rl->rlim_cur == 0)
        rl->rlim_cur = 1;
    cpu_limit_look(tg);
}
