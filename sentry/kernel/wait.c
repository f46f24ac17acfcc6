/*
 * wait.c: wait4(2) and waitid(2).
 *
 * Children are looked through in order of creation, then the tracees of the group's threads, which
 * are threads, and need not be children. A wait that finds none ready but some that may become so
 * waits on the group's child_wait queue.
 */
#include "abi/wait.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "sentry/fs/anon/pidfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct wait_request {
    bool nonblock; /* a pidfd with O_NONBLOCK: -EAGAIN instead of waiting */
    int type;      /* LX_P_* */
    uint32_t id;
    uint32_t options;
};

struct wait_result {
    uint32_t pid, uid;
    int status; /* wait status */
    int code;   /* si_code, 0: as the status has it */
    struct lx_rusage usage;
};

static bool wait_matches(const struct thread_group *tg, const struct wait_request *rq)
{
    bool clone_child = tg->exit_signal != LX_SIGCHLD;
    if (!(rq->options & LX___WALL) && clone_child != ((rq->options & LX___WCLONE) != 0))
        return false;
    switch (rq->type) {
    case LX_P_PID:
    case LX_P_PIDFD:
        return tg->pid == rq->id;
    case LX_P_PGID:
        return tg->pgrp != NULL && tg->pgrp->id == rq->id;
    default:
        return true;
    }
}

static void wait_fill(const struct thread_group *tg, int status, struct wait_result *res)
{
    res->pid = tg->pid;
    res->uid = tg->leader != NULL ? tg->leader->cred->uid : 0;
    res->status = status;
    rusage_fill(&res->usage, tg->cpu_dead + tg->cpu_children, tg->maxrss);
}

static bool wait_continued(struct thread_group *tg, const struct wait_request *rq,
                           struct wait_result *res)
{
    if (!(rq->options & LX_WCONTINUED) || !tg->cont_pending)
        return false;
    wait_fill(tg, LX_W_CONTINUED, res);
    tg->cont_pending = (rq->options & LX_WNOWAIT) != 0;
    return true;
}

/* True when this child answers the request; consumes the state change unless WNOWAIT. */
static bool wait_try(struct thread_group *tg, const struct wait_request *rq,
                     struct wait_result *res)
{
    bool keep = (rq->options & LX_WNOWAIT) != 0;
    if (tg->zombie) {
        if (!(rq->options & LX_WEXITED) || tg->traced_zombies != 0 ||
            (tg->leader != NULL && task_traced(tg->leader)))
            return false;
        wait_fill(tg, tg->exit_code, res);
        if (!keep)
            thread_group_reap(tg);
        return true;
    }
    if ((rq->options & LX_WSTOPPED) && tg->stop == GROUP_STOPPED && !tg->stop_reported) {
        wait_fill(tg, LX_W_STOPCODE(tg->stop_signal), res);
        tg->stop_reported = !keep;
        return true;
    }
    return wait_continued(tg, rq, res);
}

/* -- tracees ----------------------------------------------------------------------------------- */

static bool tracee_matches(const struct task *t, const struct wait_request *rq)
{
    switch (rq->type) {
    case LX_P_PID:
    case LX_P_PIDFD:
        return t->pid == rq->id;
    case LX_P_PGID:
        return t->group->pgrp != NULL && t->group->pgrp->id == rq->id;
    default:
        return true;
    }
}

static void tracee_fill(const struct task *t, int status, struct wait_result *res)
{
    const struct thread_group *tg = t->group;
    bool leader = t == tg->leader;
    res->pid = t->pid;
    res->uid = t->cred->uid;
    res->status = status;
    rusage_fill(&res->usage, leader ? tg->cpu_dead + tg->cpu_children : task_cputime(t),
                tg->maxrss);
}

static bool tracee_ended(const struct task *t)
{
    const struct thread_group *tg = t->group;
    return t->ptrace->zombie || (t == tg->leader && tg->zombie && tg->traced_zombies == 0);
}

/* A zombie of the tracer's own child is then reaped; another's goes to its parent. */
static void tracee_reap(struct task *t, const struct thread_group *tracer)
{
    struct thread_group *tg = t->group;
    bool reap = t == tg->leader && tg->parent == tracer;
    ptrace_release_zombie(t);
    if (reap)
        thread_group_reap(tg);
}

static bool tracee_try(struct task *t, const struct wait_request *rq, struct wait_result *res)
{
    struct ptrace *p = t->ptrace;
    bool keep = (rq->options & LX_WNOWAIT) != 0;

    if (tracee_ended(t)) {
        if (!(rq->options & LX_WEXITED))
            return false;
        tracee_fill(t, t->group->group_exiting ? t->group->exit_code : t->exit_code, res);
        if (!keep)
            tracee_reap(t, p->tracer->group);
        return true;
    }
    if (t->state == TASK_TRACED && p->waitable) {
        tracee_fill(t, (p->code << 8) | 0x7f, res);
        res->code = LX_CLD_TRAPPED;
        p->waitable = keep;
        return true;
    }
    return t == t->group->leader && wait_continued(t->group, rq, res);
}

/* As wait_scan, for what self traces. */
static int scan_tracees(const struct task *self, const struct wait_request *rq,
                        struct wait_result *res)
{
    struct ptrace *p, *tmp;
    bool any = false;
    list_for_each_entry_safe (p, tmp, &self->tracees, link) {
        if (!tracee_matches(p->task, rq))
            continue;
        any = true;
        if (tracee_try(p->task, rq, res))
            return 1;
    }
    return any ? 0 : -ECHILD;
}

static int scan_all_tracees(const struct task *t, const struct wait_request *rq,
                            struct wait_result *res)
{
    const struct task *other;
    int r = -ECHILD;
    if (rq->options & LX___WNOTHREAD)
        return scan_tracees(t, rq, res);
    list_for_each_entry (other, &t->group->threads, group_link) {
        int one = scan_tracees(other, rq, res);
        if (one > 0)
            return one;
        r = MAX(r, one);
    }
    return r;
}

/* -- both -------------------------------------------------------------------------------------- */

/* A traced child of the tracer's is looked at as a tracee. */
static bool own_tracee(const struct thread_group *tg, const struct thread_group *tracer)
{
    const struct task *leader = tg->leader;
    return leader != NULL && task_traced(leader) && leader->ptrace->tracer->group == tracer;
}

/* 1: res is filled; 0: none ready; -ECHILD. */
static int wait_scan(struct task *t, const struct wait_request *rq, struct wait_result *res)
{
    struct thread_group *tg, *tmp;
    bool any = false;
    list_for_each_entry_safe (tg, tmp, &t->group->children, sibling) {
        if (!wait_matches(tg, rq) || own_tracee(tg, t->group))
            continue;
        any = true;
        if (wait_try(tg, rq, res))
            return 1;
    }
    int r = scan_all_tracees(t, rq, res);
    return any ? MAX(r, 0) : r;
}

/* 1, 0 (WNOHANG), or a negative errno; blocks through *ret_block. */
static int do_wait(struct task *t, const struct wait_request *rq, struct wait_result *res,
                   struct sys_res *ret_block)
{
    int r = wait_scan(t, rq, res);
    if (r != 0 || (rq->options & LX_WNOHANG))
        return r;
    if (rq->nonblock)
        return -EAGAIN;
    r = task_wait_on(t, &t->group->child_wait, 0);
    if (r < 0)
        return r;
    *ret_block = task_block(t, -ERESTARTSYS);
    if (ret_block->kind == SYS_RET)
        return (int)ret_block->val;
    return 0;
}

struct sys_res sys_wait4(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0);
    uint32_t options = sys_uint(a, 2);
    struct wait_result res = {0};
    struct sys_res block = {SYS_RET, 0};
    struct wait_request rq = {.options = options | LX_WEXITED};

    if (options & ~(uint32_t)(LX_WNOHANG | LX_WUNTRACED | LX_WCONTINUED | LX___WNOTHREAD |
                              LX___WCLONE | LX___WALL))
        return sys_ret(-EINVAL);
    if (pid == INT32_MIN)
        return sys_ret(-ESRCH);
    if (pid == -1) {
        rq.type = LX_P_ALL;
    } else if (pid < 0) {
        rq.type = LX_P_PGID;
        rq.id = (uint32_t)-pid;
    } else if (pid == 0) {
        rq.type = LX_P_PGID;
        rq.id = t->group->pgrp->id;
    } else {
        rq.type = LX_P_PID;
        rq.id = (uint32_t)pid;
    }
    int r = do_wait(t, &rq, &res, &block);
    if (block.kind == SYS_BLOCK)
        return block;
    if (r <= 0)
        return sys_ret(r);
    if (!gaddr_is_null(sys_addr(a, 1)) && put_user(t, sys_addr(a, 1), &res.status) < 0)
        return sys_ret(-EFAULT);
    if (!gaddr_is_null(sys_addr(a, 3)) && put_user(t, sys_addr(a, 3), &res.usage) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(res.pid);
}

static void waitid_info(const struct wait_result *res, struct lx_siginfo *info)
{
    int st = res->status;
    info->si_signo = LX_SIGCHLD;
    info->si_pid = (int32_t)res->pid;
    info->si_uid = res->uid;
    if (res->code != 0) {
        info->si_code = res->code;
        info->si_status = st >> 8;
    } else if (st == LX_W_CONTINUED) {
        info->si_code = LX_CLD_CONTINUED;
        info->si_status = LX_SIGCONT;
    } else if ((st & 0xff) == 0x7f) {
        info->si_code = LX_CLD_STOPPED;
        info->si_status = (st >> 8) & 0xff;
    } else {
        signal_info_ended(info, st);
    }
}

/* The fields that waitid(2) writes: 0-12 and 16-28 of siginfo. */
static int put_waitid_info(struct task *t, gaddr_t addr, const struct lx_siginfo *info)
{
    if (gaddr_is_null(addr))
        return 0;
    if (copy_to_user(t, addr, info, 12) < 0)
        return -EFAULT;
    return copy_to_user(t, gaddr_add(addr, 16), (const char *)info + 16, 12);
}

static int waitid_request(struct task *t, const struct sys_args *a, struct wait_request *rq)
{
    rq->type = sys_int(a, 0);
    rq->id = sys_uint(a, 1);
    rq->options = sys_uint(a, 3);
    if (rq->options & ~(uint32_t)(LX_WNOHANG | LX_WNOWAIT | LX_WEXITED | LX_WSTOPPED |
                                  LX_WCONTINUED | LX___WNOTHREAD | LX___WCLONE | LX___WALL))
        return -EINVAL;
    if (!(rq->options & (LX_WEXITED | LX_WSTOPPED | LX_WCONTINUED)))
        return -EINVAL;
    switch (rq->type) {
    case LX_P_ALL:
        return 0;
    case LX_P_PID:
        return (int32_t)rq->id <= 0 ? -EINVAL : 0;
    case LX_P_PGID:
        if ((int32_t)rq->id < 0)
            return -EINVAL;
        if (rq->id == 0)
            rq->id = t->group->pgrp->id;
        return 0;
    case LX_P_PIDFD: {
        if ((int32_t)rq->id < 0)
            return -EINVAL;
        struct file *f = fd_get(t, (int)rq->id);
        if (f == NULL)
            return -EBADF;
        struct thread_group *tg = pidfd_group(f);
        rq->id = tg != NULL ? tg->pid : 0;
        rq->nonblock = file_nonblock(f);
        file_put(f);
        return tg != NULL ? 0 : -EBADF;
    }
    default:
        return -EINVAL;
    }
}

struct sys_res sys_waitid(struct task *t, const struct sys_args *a)
{
    struct wait_request rq = {0};
    struct wait_result res = {0};
    struct lx_siginfo info = {0};
    struct sys_res block = {SYS_RET, 0};

    int r = waitid_request(t, a, &rq);
    if (r < 0)
        return sys_ret(r);
    r = do_wait(t, &rq, &res, &block);
    if (block.kind == SYS_BLOCK)
        return block;
    if (r < 0)
        return sys_ret(r);
    if (r > 0)
        waitid_info(&res, &info);
    if (!gaddr_is_null(sys_addr(a, 4)) && r > 0 && put_user(t, sys_addr(a, 4), &res.usage) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(put_waitid_info(t, sys_addr(a, 2), &info));
}
