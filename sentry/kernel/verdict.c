/*
 * verdict.c: limits that end the whole run, and the CPU time that one of them counts.
 *
 * CPU time cannot grow faster than wall time times processors, so the next look is due when that
 * much could have been used up, at the latest after 10 ms of it: the overshoot is bounded.
 */
#include "sentry/kernel/verdict.h"

#include "lib/log.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/usage.h"

enum {
    LOOK_MIN_NS = 2000000
};

void kernel_end(enum verdict v)
{
    if (kernel.ended)
        return;
    LOG_I(CH_LIM, "the run ends: verdict %d", (int)v);
    kernel.ended = true;
    kernel.verdict = v;
}

uint64_t kernel_cputime(void)
{
    uint64_t sum = kernel.cpu_done;
    for (struct thread_group *tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        if (!tg->zombie)
            sum += thread_group_cputime(tg);
    }
    usage_now()->cpu_ns = sum;
    return sum;
}

static void cpu_look(struct timer *tm)
{
    uint64_t used = kernel_cputime();
    if (used >= kernel.cpu_limit) {
        kernel_end(VERDICT_CPU_LIMIT);
        return;
    }
    uint64_t left = (kernel.cpu_limit - used) / host_ncpus();
    timer_arm(tm, clock_monotonic() + MAX(left, (uint64_t)LOOK_MIN_NS));
}

void kernel_watch_cpu(void)
{
    timer_init(&kernel.cpu_timer, cpu_look);
    if (kernel.cpu_limit != 0)
        cpu_look(&kernel.cpu_timer);
}
