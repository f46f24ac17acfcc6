/*
 * thread_group.c: processes: creation, iteration, CPU time, and their disposal when reaped.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/cpu_limit.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"

#define ITIMER_IGNORED_MIN (NSEC_PER_SEC / 250)

/* A periodic timer stands still until its signal is taken; one that is ignored fires once a tick.
 */
static void itimer_real_fire(struct timer *tm)
{
    struct thread_group *tg = container_of(tm, struct thread_group, itimer_real);
    signal_send_kernel_group(tg, LX_SIGALRM);
    if (tg->itimer_real_interval != 0 && !(tg->shared_pending.set & LX_SIGMASK(LX_SIGALRM)))
        timer_arm(tm, MAX(tm->expires + tg->itimer_real_interval,
                          clock_monotonic() + ITIMER_IGNORED_MIN));
}

void itimer_real_taken(struct thread_group *tg)
{
    struct timer *tm = &tg->itimer_real;
    uint64_t now, missed;
    if (tm->armed || tg->itimer_real_interval == 0)
        return;
    now = clock_monotonic();
    missed = now > tm->expires ? (now - tm->expires) / tg->itimer_real_interval : 0;
    timer_arm(tm, tm->expires + (missed + 1) * tg->itimer_real_interval);
}

int thread_group_new(struct thread_group **ret_tg)
{
    struct thread_group *tg = kalloc(sizeof(*tg));
    if (tg == NULL)
        return -ENOMEM;
    tg->ref = 1;
    list_init(&tg->threads);
    list_init(&tg->children);
    list_init(&tg->sibling);
    list_init(&tg->pgrp_link);
    list_init(&tg->posix_timers);
    list_init(&tg->all_link);
    list_init(&tg->fatal_link);
    sigpending_init(&tg->shared_pending);
    wait_queue_init(&tg->signal_wait);
    wait_queue_init(&tg->child_wait);
    wait_queue_init(&tg->exit_wait);
    timer_init(&tg->itimer_real, itimer_real_fire);
    cpu_limit_init(tg);
    tg->start_time = clock_monotonic();
    tg->dumpable = true;
    *ret_tg = tg;
    return 0;
}

struct thread_group *thread_group_get(struct thread_group *tg)
{
    tg->ref++;
    return tg;
}

void thread_group_put(struct thread_group *tg)
{
    if (tg == NULL || --tg->ref != 0)
        return;
    KASSERT(list_empty(&tg->threads));
    timer_cancel(&tg->itimer_real);
    timer_cancel(&tg->cpu_limit);
    posix_timers_exit(tg);
    sigpending_flush(&tg->shared_pending);
    wait_queue_done(&tg->signal_wait);
    wait_queue_done(&tg->child_wait);
    wait_queue_done(&tg->exit_wait);
    list_del_init(&tg->all_link);
    list_del_init(&tg->fatal_link);
    kfree(tg);
}

struct thread_group *thread_group_first(void)
{
    if (list_empty(&kernel.groups))
        return NULL;
    return list_first(&kernel.groups, struct thread_group, all_link);
}

struct thread_group *thread_group_next(struct thread_group *tg)
{
    if (tg->all_link.next == &kernel.groups)
        return NULL;
    return list_entry(tg->all_link.next, struct thread_group, all_link);
}

/* A walk over more areas than this takes too long for what it tells. */
#define RSS_WALK_MAX 4096u

uint64_t thread_group_rss(const struct thread_group *tg)
{
    const struct task *t;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->mm == NULL)
            continue;
        if (t->mm->nvmas > RSS_WALK_MAX)
            return t->mm->total / 1024;
        struct mm_resident rss;
        mm_resident(t->mm, &rss);
        uint64_t sum = rss.anon + rss.file + rss.shmem;
        return (kernel.memory_limit != 0 ? MIN(sum, kernel.memory_limit) : sum) / 1024;
    }
    return 0;
}

uint64_t thread_group_cputime(const struct thread_group *tg)
{
    uint64_t sum = tg->cpu_dead;
    struct task *t;
    /* All threads of a group share one host process. */
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->pth != NULL)
            return sum + plat_ops->process_cputime(t->pth);
    }
    return sum;
}
