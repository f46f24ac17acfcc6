/*
 * sigqueue.c: the signals that a task or a group has been sent and not taken yet (signal(7),
 * "Signal queueing"). A set says which there are; a list holds the details of those that have any,
 * in the order in which they came.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

void sigpending_init(struct sigpending *p)
{
    p->set = 0;
    list_init(&p->list);
}

static void sigqueue_free(struct sigqueue *q)
{
    list_del_init(&q->link);
    if (q->timer != NULL)
        posix_timer_dequeued(q->timer);
    q->group->nqueued--;
    kfree(q);
    limit_release(LIMIT_SIGNALS, 1);
}

void sigpending_flush(struct sigpending *p)
{
    struct sigqueue *q, *tmp;
    list_for_each_entry_safe (q, tmp, &p->list, link)
        sigqueue_free(q);
    p->set = 0;
}

void sigpending_remove(struct sigpending *p, uint64_t set)
{
    struct sigqueue *q, *tmp;
    if ((p->set & set) == 0)
        return;
    list_for_each_entry_safe (q, tmp, &p->list, link) {
        if (sig_bit(q->info.si_signo) & set)
            sigqueue_free(q);
    }
    p->set &= ~set;
}

/* RLIMIT_SIGPENDING, counted by process; as on Linux, what the kernel or kill(2) sends of the
 * standard signals is not held back. */
static bool may_queue(const struct thread_group *tg, const struct lx_siginfo *info,
                      const struct posix_timer *timer)
{
    if (timer != NULL)
        return true;
    if (info->si_signo < LX_SIGRTMIN && info->si_code >= 0)
        return true;
    return tg->nqueued < tg->rlimit[LX_RLIMIT_SIGPENDING].rlim_cur;
}

/* Standard signals queue once and lose only their details when memory or the limit is out. */
int sigpending_add(struct sigpending *p, struct thread_group *tg, const struct lx_siginfo *info,
                   struct posix_timer *timer)
{
    int signo = info->si_signo;
    if (signo < LX_SIGRTMIN && (p->set & sig_bit(signo)) != 0)
        return 0;
    struct sigqueue *q = NULL;
    if (may_queue(tg, info, timer) && limit_charge(LIMIT_SIGNALS, 1) == 0) {
        q = kalloc(sizeof(*q));
        if (q == NULL)
            limit_release(LIMIT_SIGNALS, 1);
    }
    if (q == NULL) {
        if (signo >= LX_SIGRTMIN && info->si_code != LX_SI_USER && info->si_code != LX_SI_KERNEL)
            return -EAGAIN;
        p->set |= sig_bit(signo);
        return 0;
    }
    q->info = *info;
    q->timer = timer;
    q->group = tg;
    tg->nqueued++;
    if (timer != NULL)
        posix_timer_queued(timer);
    list_add_tail(&p->list, &q->link);
    p->set |= sig_bit(signo);
    return 0;
}

int sigset_first(uint64_t set)
{
    uint64_t sync = set & LX_SIGSET_SYNC;
    return __builtin_ctzll(sync != 0 ? sync : set) + 1;
}

static void sigpending_take(struct sigpending *p, int signo, struct lx_siginfo *ret_info)
{
    struct sigqueue *q, *found = NULL;
    bool more = false;
    list_for_each_entry (q, &p->list, link) {
        if (q->info.si_signo != signo)
            continue;
        if (found == NULL) {
            found = q;
        } else {
            more = true;
            break;
        }
    }
    if (found != NULL) {
        *ret_info = found->info;
        if (found->timer != NULL)
            posix_timer_delivered(found->timer, ret_info);
        sigqueue_free(found);
    } else {
        *ret_info = (struct lx_siginfo){.si_signo = signo, .si_code = LX_SI_USER};
    }
    if (!more)
        p->set &= ~sig_bit(signo);
}

/* The queue that the next signal of set comes from: the task's own before the group's. */
static struct sigpending *next_queue(struct task *t, uint64_t set)
{
    return (t->pending.set & set) != 0 ? &t->pending : &t->group->shared_pending;
}

int signal_next(struct task *t, uint64_t set)
{
    set &= next_queue(t, set)->set;
    return set != 0 ? sigset_first(set) : 0;
}

int signal_dequeue(struct task *t, uint64_t set, struct lx_siginfo *ret_info)
{
    int signo = signal_next(t, set);
    struct sigpending *from = next_queue(t, set);
    if (signo != 0)
        sigpending_take(from, signo, ret_info);
    if (signo == LX_SIGALRM && from == &t->group->shared_pending)
        itimer_real_taken(t->group);
    return signo;
}

uint64_t signal_pending_set(const struct task *t)
{
    return t->pending.set | t->group->shared_pending.set;
}
