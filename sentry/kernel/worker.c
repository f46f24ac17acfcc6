/*
 * worker.c: the one loop that runs everything: an event of the platform, expired timers, readiness
 * of host descriptors, woken tasks.
 *
 * One thread is enough: the guests' calls come through one listener, and more receivers on it do
 * not make it faster (docs/locking.md). So no object of the kernel needs a lock.
 */
#include "lib/compiler.h"

#include "sentry/host/host.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/usage.h"
#include "sentry/sys/strace.h"

/* Host descriptors, the timer among them, are looked at at least once in this many events and in
 * this time, however busy the gate is and however long a thread keeps the platform waiting. */
enum {
    HOST_POLL_EVERY = 64,
    HOST_POLL_NS = 5000000
};

/* Expiry becomes readiness of the host's timer, which host_poll_dispatch sees. */
static void set_timer(void)
{
    uint64_t at = timer_next_expiry();
    host_timer_set(at > UINT64_MAX / 2 ? 0 : MAX(at + kernel.boot_monotonic, 1ull));
}

/*
 * Chaos mode: a quarter of all blocked calls is woken for no reason after each event. A handler
 * that cannot bear that has an effect before it blocks, or forgets what it waited for.
 */
static void chaos_wake(void)
{
    static uint32_t seed = 2463534242u;
    struct thread_group *g;
    struct task *t;
    list_for_each_entry (g, &kernel.groups, all_link) {
        list_for_each_entry (t, &g->threads, group_link) {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            if (seed % 4 == 0)
                task_wake(t);
        }
    }
}

void kernel_pause(bool pause)
{
    kernel.paused = pause;
}

/*
 * A thread that computes is interrupted and reports at the gate, like all others; nobody receives
 * that report until the pause is over, so there it stays.
 */
static void hold_threads(void)
{
    struct thread_group *tg;
    struct task *t;
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        list_for_each_entry (t, &tg->threads, group_link) {
            if (t->state == TASK_RUNNING && !t->kicked && t->pth != NULL) {
                t->kicked = true;
                plat_ops->interrupt(t->pth);
            }
        }
    }
}

/* Only descriptors of the host are looked at, and only SIGKILL does anything. */
static void run_paused(void)
{
    hold_threads();
    while (kernel.paused && !kernel.ended && kernel.fatal == NULL) {
        set_timer();
        host_poll_wait();
        signal_run_fatal();
    }
    dispatch_run_queue();
}

void kernel_run(void)
{
    unsigned busy = 0;
    uint64_t polled = 0;
    dispatch_run_queue();
    while (!kernel.ended && kernel.fatal == NULL) {
        struct plat_event ev;
        if (kernel.paused) {
            run_paused();
            continue;
        }
        set_timer();
        plat_ops->next_event(kernel.plat, host_poll_fd(), -1, &ev);
        dispatch_event(&ev);
        uint64_t now = host_clock_monotonic();
        if (ev.kind == PLAT_EV_NONE || ++busy >= HOST_POLL_EVERY || now - polled >= HOST_POLL_NS) {
            if (ev.kind != PLAT_EV_NONE)
                host_poll_dispatch();
            busy = 0;
            polled = now;
        }
        if (SENTRY_DEBUG && kernel.chaos)
            chaos_wake();
        dispatch_run_queue();
        usage_publish();
    }
    if (kernel.strace)
        strace_finish();
}
