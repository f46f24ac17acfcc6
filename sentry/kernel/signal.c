/*
 * signal.c: sending and choosing signals (signal(7), sigqueue(3)).
 *
 * Sending puts the signal on the task's or the group's queue and notifies a thread that may take
 * it: a blocked one is woken (its handler runs once more and then returns its restart code), a
 * computing one is interrupted through the platform. A signal that will end the group only marks
 * it here; signal_run_fatal ends it at a safe point, so that no sender ever frees what its caller
 * still uses. A stopped group takes nothing but SIGKILL and SIGCONT: the rest waits until it goes
 * on.
 *
 * Before a task runs guest code again signal_resolve performs default actions; only a handler
 * needs the thread's registers (signal_deliver, sigframe.c).
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/wait.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"

static struct list_head fatal_groups = {&fatal_groups, &fatal_groups};

/* -- actions ----------------------------------------------------------------------------------- */

struct sighand *sighand_new(void)
{
    struct sighand *sh = kalloc(sizeof(*sh));
    if (sh != NULL)
        sh->ref = 1;
    return sh;
}

struct sighand *sighand_dup(const struct sighand *from)
{
    struct sighand *sh = kalloc(sizeof(*sh));
    if (sh != NULL) {
        *sh = *from;
        sh->ref = 1;
    }
    return sh;
}

void sighand_put(struct sighand *sh)
{
    if (sh != NULL && --sh->ref == 0)
        kfree(sh);
}

void sighand_reset_caught(struct sighand *sh)
{
    for (int i = 0; i < LX_NSIG; i++) {
        uint64_t h = sh->action[i].sa_handler;
        sh->action[i] = (struct lx_sigaction){.sa_handler = h == LX_SIG_IGN ? h : LX_SIG_DFL};
    }
}

static uint64_t action_of(const struct task *t, int signo)
{
    return t->sighand->action[signo - 1].sa_handler;
}

static bool default_ignores(int signo)
{
    return (sig_bit(signo) & LX_SIGSET_DFL_IGNORE) != 0;
}

/*
 * The first process of a container takes no default action: what it has no handler for is nothing
 * to it, whoever sends, but for SIGKILL and SIGSTOP from outside (pid_namespaces(7)).
 */
static bool init_spared(const struct task *t, int signo)
{
    return kernel.init_protected && t->group == kernel.init && action_of(t, signo) == LX_SIG_DFL &&
           signo != LX_SIGKILL && signo != LX_SIGSTOP;
}

/* Not even queued: the same, and SIGKILL and SIGSTOP from inside. */
static bool init_unreachable(const struct task *t, int signo, bool outside)
{
    if (task_traced(t) && signo != LX_SIGKILL)
        return false; /* its tracer is to see it */
    return kernel.init_protected && t->group == kernel.init &&
           (init_spared(t, signo) || (!outside && (signo == LX_SIGKILL || signo == LX_SIGSTOP)));
}

static bool signal_ignored(const struct task *t, int signo)
{
    uint64_t h = action_of(t, signo);
    if (task_traced(t) && signo != LX_SIGKILL)
        return false;
    return init_spared(t, signo) || h == LX_SIG_IGN || (h == LX_SIG_DFL && default_ignores(signo));
}

static bool signal_fatal(const struct task *t, int signo)
{
    if (signo == LX_SIGKILL)
        return true;
    if (task_traced(t))
        return false;
    return action_of(t, signo) == LX_SIG_DFL && !init_spared(t, signo) && !default_ignores(signo) &&
           (sig_bit(signo) & LX_SIGSET_STOP) == 0;
}

bool signal_pending(const struct task *t)
{
    if (t->group->group_exiting || !list_empty(&t->group->fatal_link))
        return true;
    if (task_traced(t))
        return ptrace_work_pending(t);
    uint64_t set = signal_pending_set(t) & ~t->blocked;
    while (set != 0) {
        int signo = __builtin_ctzll(set) + 1;
        if (!signal_ignored(t, signo))
            return true;
        set &= set - 1;
    }
    return false;
}

/* -- notification ------------------------------------------------------------------------------ */

void signal_notify_task(struct task *t)
{
    if (t->pth == NULL)
        return;
    if (t->state == TASK_BLOCKED) {
        t->interrupted = true;
        task_wake(t);
    } else if (t->state == TASK_RUNNING && !t->kicked) {
        t->kicked = true;
        plat_ops->interrupt(t->pth);
    }
}

static bool task_wants(const struct task *t, int signo)
{
    return t->pth != NULL && (t->blocked & sig_bit(signo)) == 0 &&
           (t->group->stop != GROUP_STOPPED || signo == LX_SIGKILL || task_traced(t));
}

static struct task *group_pick(struct thread_group *tg, int signo)
{
    struct task *t, *any = NULL;
    if (tg->leader != NULL && task_wants(tg->leader, signo))
        return tg->leader;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (!task_wants(t, signo))
            continue;
        if (t->state == TASK_BLOCKED)
            return t;
        any = t;
    }
    return any;
}

static void mark_fatal(struct thread_group *tg)
{
    if (list_empty(&tg->fatal_link) && !tg->zombie)
        list_add_tail(&fatal_groups, &tg->fatal_link);
}

static struct task *any_thread(struct thread_group *tg)
{
    struct task *t;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->pth != NULL)
            return t;
    }
    return NULL;
}

/* -- stop and continue ------------------------------------------------------------------------- */

void signal_discard(struct thread_group *tg, uint64_t set)
{
    struct task *t;
    sigpending_remove(&tg->shared_pending, set);
    list_for_each_entry (t, &tg->threads, group_link)
        sigpending_remove(&t->pending, set);
}

static void group_continue(struct thread_group *tg)
{
    struct task *t;

    if (tg->stop != GROUP_STOPPED)
        return;
    tg->stop = GROUP_RUNNING;
    tg->cont_pending = true;
    tg->stop_reported = false;
    thread_group_notify_parent(tg, LX_SIGCHLD, LX_CLD_CONTINUED, LX_SIGCONT);
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->state == TASK_STOPPED)
            dispatch_continue(t);
        if (t->pth != NULL && signal_pending(t))
            signal_notify_task(t);
    }
}

/* The tracer's own child: its stops are the tracer's business alone. */
static bool parent_traces(const struct thread_group *tg)
{
    const struct task *t = tg->leader;
    return t != NULL && task_traced(t) && t->ptrace->tracer->group == tg->parent;
}

void signal_group_stop(struct thread_group *tg, int signo)
{
    struct task *t;
    if (tg->stop == GROUP_STOPPED)
        return;
    tg->stop = GROUP_STOPPED;
    tg->stop_signal = signo;
    tg->stop_reported = false;
    tg->cont_pending = false;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (task_traced(t)) {
            ptrace_group_stop(t, signo);
        } else if (t->state == TASK_RUNNING && !t->kicked && t->pth != NULL) {
            t->kicked = true;
            plat_ops->interrupt(t->pth);
        }
    }
    if (!parent_traces(tg))
        thread_group_notify_parent(tg, LX_SIGCHLD, LX_CLD_STOPPED, signo);
}

/* -- sending ----------------------------------------------------------------------------------- */

static void send_effects(struct thread_group *tg, int signo)
{
    struct task *t;
    if (signo == LX_SIGCONT) {
        signal_discard(tg, LX_SIGSET_STOP);
        group_continue(tg);
        list_for_each_entry (t, &tg->threads, group_link) {
            if (task_traced(t) && t->pth != NULL)
                ptrace_group_continue(t);
        }
    } else if (sig_bit(signo) & LX_SIGSET_STOP) {
        signal_discard(tg, sig_bit(LX_SIGCONT));
    }
}

/* outside: of the sandbox, or the kernel itself. */
static int send_from(bool outside, struct thread_group *tg, struct task *only,
                     const struct lx_siginfo *info, struct posix_timer *timer)
{
    int signo = info->si_signo;

    if (tg->zombie || any_thread(tg) == NULL)
        return 0;
    send_effects(tg, signo);
    struct task *t = only != NULL ? only : group_pick(tg, signo);
    struct task *judge = t != NULL ? t : any_thread(tg);
    if (init_unreachable(judge, signo, outside) && !(judge->blocked & sig_bit(signo)))
        return 0;
    /* Ignored and not blocked: gone. While blocked the action may still change. */
    if (signo != LX_SIGKILL && signal_ignored(judge, signo) && !(judge->blocked & sig_bit(signo)))
        return 0;
    int r = sigpending_add(only != NULL ? &only->pending : &tg->shared_pending, tg, info, timer);
    if (r < 0)
        return r;
    wait_queue_wake(&tg->signal_wait, 0);
    if (signo == LX_SIGKILL || (t != NULL && task_wants(t, signo) && signal_fatal(judge, signo))) {
        mark_fatal(tg);
        return 0;
    }
    if (t != NULL && task_wants(t, signo))
        signal_notify_task(t);
    return 0;
}

static int send(struct thread_group *tg, struct task *only, const struct lx_siginfo *info,
                struct posix_timer *timer)
{
    return send_from(info->si_code == LX_SI_KERNEL, tg, only, info, timer);
}

int signal_send_outside(struct thread_group *tg, int signo)
{
    struct lx_siginfo info = {.si_signo = signo, .si_code = LX_SI_USER};
    return send_from(true, tg, NULL, &info, NULL);
}

int signal_send_task(struct task *t, const struct lx_siginfo *info)
{
    return t->pth == NULL ? 0 : send(t->group, t, info, NULL);
}

int signal_send_group(struct thread_group *tg, const struct lx_siginfo *info)
{
    return send(tg, NULL, info, NULL);
}

int signal_send_timer(struct thread_group *tg, struct task *only, const struct lx_siginfo *info,
                      struct posix_timer *timer)
{
    return send(tg, only, info, timer);
}

void signal_forget_timer(struct thread_group *tg, const struct posix_timer *timer)
{
    struct sigqueue *q;
    struct task *t;
    list_for_each_entry (q, &tg->shared_pending.list, link) {
        if (q->timer == timer)
            q->timer = NULL;
    }
    list_for_each_entry (t, &tg->threads, group_link) {
        list_for_each_entry (q, &t->pending.list, link) {
            if (q->timer == timer)
                q->timer = NULL;
        }
    }
}

static struct lx_siginfo kernel_info(int signo)
{
    return (struct lx_siginfo){.si_signo = signo, .si_code = LX_SI_KERNEL};
}

void signal_send_kernel_task(struct task *t, int signo)
{
    struct lx_siginfo info = kernel_info(signo);
    (void)signal_send_task(t, &info);
}

void signal_send_kernel_group(struct thread_group *tg, int signo)
{
    struct lx_siginfo info = kernel_info(signo);
    (void)signal_send_group(tg, &info);
}

void signal_send_kernel_pgrp(uint32_t pgid, int signo)
{
    struct pgrp *pg = pgrp_by_id(pgid);
    struct thread_group *tg;
    if (pg == NULL)
        return;
    list_for_each_entry (tg, &pg->members, pgrp_link)
        signal_send_kernel_group(tg, signo);
}

void signal_info_user(struct lx_siginfo *info, int signo, int code, const struct task *sender)
{
    *info = (struct lx_siginfo){.si_signo = signo, .si_code = code};
    info->si_pid = (int32_t)sender->group->pid;
    info->si_uid = sender->cred->uid;
}

void signal_info_ended(struct lx_siginfo *info, int wait_status)
{
    int signo = wait_status & 0x7f;
    if (signo == 0) {
        info->si_code = LX_CLD_EXITED;
        info->si_status = (wait_status >> 8) & 0xff;
    } else {
        info->si_code = (wait_status & LX_W_COREFLAG) != 0 ? LX_CLD_DUMPED : LX_CLD_KILLED;
        info->si_status = signo;
    }
}

void signal_force(struct task *t, const struct lx_siginfo *info)
{
    int signo = info->si_signo;
    KASSERT(signo >= 1 && signo <= LX_NSIG);
    struct lx_sigaction *act = &t->sighand->action[signo - 1];
    bool blocked = (t->blocked & sig_bit(signo)) != 0;
    if (blocked || act->sa_handler == LX_SIG_IGN) {
        act->sa_handler = LX_SIG_DFL;
        t->blocked &= ~sig_bit(signo);
    }
    (void)!sigpending_add(&t->pending, t->group, info, NULL);
    if (act->sa_handler == LX_SIG_DFL && !task_traced(t)) {
        /* A fault of its own ends even the first process. */
        if (t->group == kernel.init)
            kernel.init_protected = false;
        mark_fatal(t->group);
    }
}

/* -- before guest code runs again -------------------------------------------------------------- */

static int fatal_signal(struct thread_group *tg)
{
    struct task *t;
    uint64_t kill = sig_bit(LX_SIGKILL);
    list_for_each_entry (t, &tg->threads, group_link) {
        if ((signal_pending_set(t) & kill) != 0)
            return LX_SIGKILL;
    }
    list_for_each_entry (t, &tg->threads, group_link) {
        uint64_t set = t->pth == NULL ? 0 : signal_pending_set(t) & ~t->blocked;
        while (set != 0) {
            int signo = sigset_first(set);
            if (signal_fatal(t, signo))
                return signo;
            set &= ~sig_bit(signo);
        }
    }
    return 0;
}

void signal_run_fatal(void)
{
    while (!list_empty(&fatal_groups)) {
        struct thread_group *tg = list_first(&fatal_groups, struct thread_group, fatal_link);
        list_del_init(&tg->fatal_link);
        if (tg->zombie)
            continue;
        /* The handler may have been installed meanwhile: then it is an ordinary signal again. */
        int signo = fatal_signal(tg);
        if (signo != 0) {
            thread_group_exit(tg, LX_W_SIGNALED(signo));
            continue;
        }
        struct task *t, *tmp;
        list_for_each_entry_safe (t, tmp, &tg->threads, group_link) {
            if (signal_pending(t))
                signal_notify_task(t);
        }
    }
}

enum signal_act signal_action(const struct task *t, int signo)
{
    uint64_t h = action_of(t, signo);

    if (signo == LX_SIGKILL)
        return SIGNAL_ACT_DIE;
    if (h != LX_SIG_DFL && h != LX_SIG_IGN && signo != LX_SIGSTOP)
        return SIGNAL_ACT_HANDLER;
    if (h == LX_SIG_IGN || default_ignores(signo) || init_spared(t, signo))
        return SIGNAL_ACT_NONE;
    if (!(sig_bit(signo) & LX_SIGSET_STOP))
        return SIGNAL_ACT_DIE;
    return signo != LX_SIGSTOP && pgrp_is_orphaned(t->group->pgrp, NULL) ? SIGNAL_ACT_NONE
                                                                         : SIGNAL_ACT_STOP;
}

/* The default action of one unblocked pending signal; true when there was one without a handler. */
static bool default_action(struct task *t, int signo, enum signal_work *ret_work)
{
    struct lx_siginfo info;
    uint64_t h = action_of(t, signo);

    *ret_work = SIGNAL_NONE;
    if (signo != LX_SIGKILL && h != LX_SIG_DFL && h != LX_SIG_IGN)
        return false;
    if (signal_dequeue(t, sig_bit(signo), &info) == 0)
        return true;
    if (signo != LX_SIGKILL && (h == LX_SIG_IGN || default_ignores(signo) || init_spared(t, signo)))
        return true;
    if (sig_bit(signo) & LX_SIGSET_STOP) {
        if (signo == LX_SIGSTOP || !pgrp_is_orphaned(t->group->pgrp, NULL))
            signal_group_stop(t->group, signo);
        return true;
    }
    thread_group_exit(t->group, LX_W_SIGNALED(signo));
    *ret_work = SIGNAL_GONE;
    return true;
}

enum signal_work signal_resolve(struct task *t)
{
    for (;;) {
        if (t->pth == NULL || t->group->group_exiting)
            return SIGNAL_GONE;
        uint64_t set = signal_pending_set(t) & ~t->blocked;
        if (task_traced(t) && (set & sig_bit(LX_SIGKILL)) == 0 && ptrace_work_pending(t))
            return SIGNAL_HANDLER;
        if ((set & sig_bit(LX_SIGKILL)) == 0 && !task_traced(t) && t->group->stop == GROUP_STOPPED)
            return SIGNAL_STOP;
        if (set == 0) {
            if (!t->restore_blocked)
                return SIGNAL_NONE;
            t->restore_blocked = false;
            t->blocked = t->saved_blocked;
            continue;
        }
        enum signal_work work;
        int signo = (set & sig_bit(LX_SIGKILL)) != 0 ? LX_SIGKILL : signal_next(t, set);
        KASSERT(signo > 0);
        if (!default_action(t, signo, &work))
            return SIGNAL_HANDLER;
        if (work == SIGNAL_GONE)
            return work;
    }
}

void signal_set_blocked(struct task *t, uint64_t set)
{
    t->blocked = set & ~LX_SIGSET_UNBLOCKABLE;
    /* What the group queue holds may now be another thread's to take. */
    struct task *other;
    uint64_t shared = t->group->shared_pending.set & t->blocked;
    if (shared == 0)
        return;
    list_for_each_entry (other, &t->group->threads, group_link) {
        if (other != t && (shared & ~other->blocked) != 0)
            signal_notify_task(other);
    }
}

void signal_set_temporary_mask(struct task *t, uint64_t set)
{
    if (!t->restore_blocked) {
        t->saved_blocked = t->blocked;
        t->restore_blocked = true;
    }
    signal_set_blocked(t, set);
}

struct wait_queue *signal_wait_queue(struct task *t)
{
    return &t->group->signal_wait;
}
