/*
 * sys_signal.c: actions, masks, sending and waiting for signals.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "sentry/kernel/clock.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

enum {
    SIGSET_SIZE = 8
};

struct sys_res sys_rt_sigaction(struct task *t, const struct sys_args *a)
{
    int signo = sys_int(a, 0);
    struct lx_sigaction act, old;
    bool set = !gaddr_is_null(sys_addr(a, 1));

    if (a->v[3] != SIGSET_SIZE)
        return sys_ret(-EINVAL);
    if (set && get_user(t, &act, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (signo < 1 || signo > LX_NSIG || (set && (sig_bit(signo) & LX_SIGSET_UNBLOCKABLE) != 0))
        return sys_ret(-EINVAL);
    struct lx_sigaction *slot = &t->sighand->action[signo - 1];
    old = *slot;
    if (set) {
        act.sa_mask &= ~LX_SIGSET_UNBLOCKABLE;
        act.sa_flags &= LX_SA_NOCLDSTOP | LX_SA_NOCLDWAIT | LX_SA_SIGINFO | LX_SA_ONSTACK |
                        LX_SA_RESTART | LX_SA_NODEFER | LX_SA_RESETHAND | LX_SA_RESTORER |
                        LX_SA_EXPOSE_TAGBITS;
        *slot = act;
        if (act.sa_handler == LX_SIG_IGN ||
            (act.sa_handler == LX_SIG_DFL && (sig_bit(signo) & LX_SIGSET_DFL_IGNORE)))
            signal_discard(t->group, sig_bit(signo));
    }
    if (!gaddr_is_null(sys_addr(a, 2)))
        return sys_ret(put_user(t, sys_addr(a, 2), &old));
    return sys_ret(0);
}

struct sys_res sys_rt_sigprocmask(struct task *t, const struct sys_args *a)
{
    uint64_t set, old = t->blocked;

    if (a->v[3] != SIGSET_SIZE)
        return sys_ret(-EINVAL);
    if (!gaddr_is_null(sys_addr(a, 1))) {
        if (get_user(t, &set, sys_addr(a, 1)) < 0)
            return sys_ret(-EFAULT);
        switch (sys_int(a, 0)) {
        case LX_SIG_BLOCK:
            set |= old;
            break;
        case LX_SIG_UNBLOCK:
            set = old & ~set;
            break;
        case LX_SIG_SETMASK:
            break;
        default:
            return sys_ret(-EINVAL);
        }
        signal_set_blocked(t, set);
    }
    if (!gaddr_is_null(sys_addr(a, 2)))
        return sys_ret(put_user(t, sys_addr(a, 2), &old));
    return sys_ret(0);
}

struct sys_res sys_rt_sigpending(struct task *t, const struct sys_args *a)
{
    uint64_t set = signal_pending_set(t) & t->blocked;
    if (a->v[1] > SIGSET_SIZE)
        return sys_ret(-EINVAL);
    return sys_ret(copy_to_user(t, sys_addr(a, 0), &set, (size_t)a->v[1]));
}

struct sys_res sys_rt_sigsuspend(struct task *t, const struct sys_args *a)
{
    uint64_t set;
    if (a->v[1] != SIGSET_SIZE)
        return sys_ret(-EINVAL);
    if (!t->restart.active) {
        if (get_user(t, &set, sys_addr(a, 0)) < 0)
            return sys_ret(-EFAULT);
        signal_set_temporary_mask(t, set);
    }
    return task_block(t, -ERESTARTNOHAND);
}

static struct sys_res sigwait_take(struct task *t, uint64_t set, gaddr_t out)
{
    struct lx_siginfo info;
    int signo = signal_dequeue(t, set, &info);
    if (!gaddr_is_null(out) && put_user(t, out, &info) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(signo);
}

struct sys_res sys_rt_sigtimedwait(struct task *t, const struct sys_args *a)
{
    uint64_t set;
    struct lx_timespec ts;
    uint64_t ns;

    if (a->v[3] != SIGSET_SIZE)
        return sys_ret(-EINVAL);
    if (get_user(t, &set, sys_addr(a, 0)) < 0)
        return sys_ret(-EFAULT);
    set &= ~LX_SIGSET_UNBLOCKABLE;
    if (!gaddr_is_null(sys_addr(a, 2)) && !task_has_deadline(t)) {
        if (get_user(t, &ts, sys_addr(a, 2)) < 0)
            return sys_ret(-EFAULT);
        if (timespec_to_ns(&ts, &ns) < 0)
            return sys_ret(-EINVAL);
        task_set_deadline(t, clock_after(ns));
    }
    if ((signal_pending_set(t) & set) != 0)
        return sigwait_take(t, set, sys_addr(a, 1));
    if (task_timed_out(t))
        return sys_ret(-EAGAIN);
    int r = task_wait_on(t, signal_wait_queue(t), 0);
    if (r < 0)
        return sys_ret(r);
    return task_block(t, -EINTR);
}

struct sys_res sys_sigaltstack(struct task *t, const struct sys_args *a)
{
    struct lx_stack ss, old = t->altstack;

    /* Whether the thread is on its old stack now only its registers tell. */
    if (old.ss_size != 0 && !t->in_context)
        return (struct sys_res){SYS_KICK, 0};
    uint64_t sp = t->regs.rsp;
    bool on = old.ss_size != 0 && sp > old.ss_sp && sp - old.ss_sp <= old.ss_size;
    if (!gaddr_is_null(sys_addr(a, 0))) {
        if (get_user(t, &ss, sys_addr(a, 0)) < 0)
            return sys_ret(-EFAULT);
        uint32_t flags = (uint32_t)ss.ss_flags & ~LX_SS_AUTODISARM;
        if (on && !((uint32_t)old.ss_flags & LX_SS_AUTODISARM))
            return sys_ret(-EPERM);
        if (flags != LX_SS_DISABLE && flags != LX_SS_ONSTACK && flags != 0)
            return sys_ret(-EINVAL);
        if (flags == LX_SS_DISABLE)
            ss = (struct lx_stack){.ss_flags = ss.ss_flags};
        else if (ss.ss_size < LX_MINSIGSTKSZ)
            return sys_ret(-ENOMEM);
        t->altstack = ss;
    }
    if (gaddr_is_null(sys_addr(a, 1)))
        return sys_ret(0);
    old.ss_flags = (int32_t)((uint32_t)old.ss_flags & LX_SS_AUTODISARM);
    if (old.ss_size == 0)
        old.ss_flags |= LX_SS_DISABLE;
    else if (on)
        old.ss_flags |= LX_SS_ONSTACK;
    return sys_ret(put_user(t, sys_addr(a, 1), &old));
}

/* -- sending ----------------------------------------------------------------------------------- */

static bool may_signal(const struct task *t, const struct thread_group *tg, int signo)
{
    const struct cred *c = t->cred;
    if (tg->leader == NULL)
        return true;
    const struct cred *to = tg->leader->cred;
    if (tg == t->group || cred_capable(c, LX_CAP_KILL))
        return true;
    if (c->euid == to->suid || c->euid == to->uid || c->uid == to->suid || c->uid == to->uid)
        return true;
    return signo == LX_SIGCONT && tg->pgrp != NULL && t->group->pgrp->session == tg->pgrp->session;
}

static int kill_group(struct task *t, struct thread_group *tg, int signo)
{
    struct lx_siginfo info;
    if (!may_signal(t, tg, signo))
        return -EPERM;
    if (signo == 0)
        return 0;
    signal_info_user(&info, signo, LX_SI_USER, t);
    return signal_send_group(tg, &info);
}

static int kill_pgrp(struct task *t, uint32_t pgid, int signo)
{
    struct pgrp *pg = pgrp_by_id(pgid);
    struct thread_group *tg;
    int result = -ESRCH;
    bool any = false;

    if (pg == NULL)
        return -ESRCH;
    list_for_each_entry (tg, &pg->members, pgrp_link) {
        int r = kill_group(t, tg, signo);
        any |= r == 0;
        result = r;
    }
    return any ? 0 : result;
}

static int kill_all(struct task *t, int signo)
{
    struct thread_group *tg;
    int result = -ESRCH;
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        if (tg == kernel.init || tg == t->group)
            continue;
        int r = kill_group(t, tg, signo);
        if (r != -EPERM)
            result = r;
    }
    return result;
}

struct sys_res sys_kill(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0), signo = sys_int(a, 1);
    if (signo < 0 || signo > LX_NSIG)
        return sys_ret(-EINVAL);
    if (pid == INT32_MIN)
        return sys_ret(-ESRCH);
    if (pid == -1)
        return sys_ret(kill_all(t, signo));
    if (pid <= 0)
        return sys_ret(kill_pgrp(t, pid == 0 ? t->group->pgrp->id : (uint32_t)-pid, signo));
    struct task *target = task_by_pid((uint32_t)pid);
    return sys_ret(target == NULL ? -ESRCH : kill_group(t, target->group, signo));
}

static int kill_thread(struct task *t, int tgid, int tid, const struct lx_siginfo *info)
{
    struct task *target = tid > 0 ? task_by_pid((uint32_t)tid) : NULL;
    if (target == NULL || (tgid > 0 && target->group->pid != (uint32_t)tgid))
        return -ESRCH;
    if (!may_signal(t, target->group, info->si_signo))
        return -EPERM;
    if (info->si_signo == 0)
        return 0;
    return signal_send_task(target, info);
}

struct sys_res sys_tgkill(struct task *t, const struct sys_args *a)
{
    struct lx_siginfo info;
    int tgid = sys_int(a, 0), tid = sys_int(a, 1), signo = sys_int(a, 2);
    if (tgid <= 0 || tid <= 0 || signo < 0 || signo > LX_NSIG)
        return sys_ret(-EINVAL);
    signal_info_user(&info, signo, LX_SI_TKILL, t);
    return sys_ret(kill_thread(t, tgid, tid, &info));
}

struct sys_res sys_tkill(struct task *t, const struct sys_args *a)
{
    struct lx_siginfo info;
    int tid = sys_int(a, 0), signo = sys_int(a, 1);
    if (tid <= 0 || signo < 0 || signo > LX_NSIG)
        return sys_ret(-EINVAL);
    signal_info_user(&info, signo, LX_SI_TKILL, t);
    return sys_ret(kill_thread(t, 0, tid, &info));
}

/* A siginfo of the guest's own: only codes that cannot be mistaken for the kernel's, unless to
 * itself. */
static int queue_info(struct task *t, gaddr_t addr, int signo, uint32_t pid,
                      struct lx_siginfo *info)
{
    if (get_user(t, info, addr) < 0)
        return -EFAULT;
    info->si_signo = signo;
    if ((info->si_code >= 0 || info->si_code == LX_SI_TKILL) && pid != t->group->pid)
        return -EPERM;
    return signo < 0 || signo > LX_NSIG ? -EINVAL : 0;
}

struct sys_res sys_rt_sigqueueinfo(struct task *t, const struct sys_args *a)
{
    struct lx_siginfo info;
    int pid = sys_int(a, 0), signo = sys_int(a, 1);
    int r = queue_info(t, sys_addr(a, 2), signo, (uint32_t)pid, &info);
    if (r < 0)
        return sys_ret(r);
    struct task *target = pid > 0 ? task_by_pid((uint32_t)pid) : NULL;
    if (target == NULL)
        return sys_ret(-ESRCH);
    if (!may_signal(t, target->group, signo))
        return sys_ret(-EPERM);
    return sys_ret(signo == 0 ? 0 : signal_send_group(target->group, &info));
}

struct sys_res sys_rt_tgsigqueueinfo(struct task *t, const struct sys_args *a)
{
    struct lx_siginfo info;
    int tgid = sys_int(a, 0), tid = sys_int(a, 1);
    if (tgid <= 0 || tid <= 0)
        return sys_ret(-EINVAL);
    int r = queue_info(t, sys_addr(a, 3), sys_int(a, 2), (uint32_t)tgid, &info);
    return sys_ret(r < 0 ? r : kill_thread(t, tgid, tid, &info));
}

/* pidfd_send_signal(2): sys_event.c finds the group and copies the siginfo. */
bool signal_may_send(const struct task *t, const struct thread_group *tg, int signo)
{
    return may_signal(t, tg, signo);
}
