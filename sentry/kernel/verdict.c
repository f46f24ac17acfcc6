/*
 * verdict.c: limits that end the whole run, and the CPU time that one of them counts.
 *
 * CPU time cannot grow faster than wall time times processors, so the next look is due when that
 * much could have been used up: the overshoot is bounded by the shortest time between two looks.
 * The sentry's own work for the guests is their system time and counts.
 *
 * The end of the first process ends the run. A fork bomb of the shell, `f(){ f|f& };f`, would be
 * over before it began, and called a success: so as long as what it left behind computes and
 * clones, the run goes on for a moment, and crossing the limit of tasks still is the verdict.
 */
#include "sentry/kernel/verdict.h"

#include "lib/log.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/usage.h"

enum {
    LOOK_MIN_NS = 2000000,
    LINGER_LOOK_NS = 1000000,
    LINGER_CPU_NS = 45000000, /* of guests and sentry together */
    LINGER_IDLE_NS = 12000000 /* the same, without a clone */
};
/* Only a machine with a hundred others to serve takes so long for that much CPU time. */
static const uint64_t linger_wall_ns = 5000000000;

void kernel_end(enum verdict v)
{
    if (kernel.ended)
        return;
    LOG_I(CH_LIM, "the run ends: verdict %d", (int)v);
    kernel.ended = true;
    if (!kernel.lingering || v == VERDICT_PIDS_LIMIT)
        kernel.verdict = v;
}

/* -- after the first process ----------------------------------------------------------------------
 */

static struct {
    struct timer timer;
    uint64_t begin_ns, begin_cpu, clone_cpu, nclones;
} linger;

static bool computes(const struct task *t)
{
    return t->pth != NULL &&
           (t->state == TASK_RUNNING || t->state == TASK_AT_GATE || !list_empty(&t->run_link));
}

static bool anybody_computes(void)
{
    for (struct thread_group *tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        struct task *t;
        list_for_each_entry (t, &tg->threads, group_link) {
            if (computes(t))
                return true;
        }
    }
    return false;
}

static void linger_look(struct timer *tm)
{
    uint64_t cpu = kernel_cputime() + kernel_systime(), now = clock_monotonic();
    if (kernel.nclones != linger.nclones) {
        linger.nclones = kernel.nclones;
        linger.clone_cpu = cpu;
    }
    if (!anybody_computes() || cpu - linger.begin_cpu >= LINGER_CPU_NS ||
        cpu - linger.clone_cpu >= LINGER_IDLE_NS || now - linger.begin_ns >= linger_wall_ns)
        kernel_end(VERDICT_NONE);
    else
        timer_arm(tm, now + LINGER_LOOK_NS);
}

void kernel_init_ended(int status)
{
    kernel.exit_status = status;
    if (!kernel.end_on_pids || kernel.ended || limit_used(LIMIT_TASKS) == 0) {
        kernel.ended = true;
        return;
    }
    kernel.lingering = true;
    linger.begin_ns = clock_monotonic();
    linger.begin_cpu = linger.clone_cpu = kernel_cputime() + kernel_systime();
    linger.nclones = kernel.nclones;
    timer_init(&linger.timer, linger_look);
    linger_look(&linger.timer);
}

/* -- CPU time ---------------------------------------------------------------------------------- */

uint64_t kernel_systime(void)
{
    return host_cputime() - kernel.cpu_own;
}

uint64_t kernel_cputime(void)
{
    uint64_t sum = kernel.cpu_done;
    for (struct thread_group *tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        if (!tg->zombie)
            sum += thread_group_cputime(tg);
    }
    usage_now()->cpu_ns = sum;
    usage_now()->cpu_system_ns = kernel_systime();
    return sum;
}

static void cpu_look(struct timer *tm)
{
    uint64_t used = kernel_cputime() + kernel_systime();
    if (used >= kernel.cpu_limit) {
        kernel_end(VERDICT_CPU_LIMIT);
        return;
    }
    uint64_t left = (kernel.cpu_limit - used) / host_ncpus();
    timer_arm(tm, clock_monotonic() + MAX(left, (uint64_t)LOOK_MIN_NS));
}

void kernel_watch_cpu(void)
{
    kernel.cpu_own = host_cputime();
    timer_init(&kernel.cpu_timer, cpu_look);
    if (kernel.cpu_limit != 0)
        cpu_look(&kernel.cpu_timer);
}
