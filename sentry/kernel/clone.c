/*
 * clone.c: fork(2), vfork(2), clone(2), clone3(2).
 *
 * The new task is made from copies or shared references of the caller's objects, then the platform
 * makes the host thread: in the same host process for CLONE_THREAD, else in a new one
 * (copy-on-write, or on the same memory for CLONE_VM). The child starts in context with a copy of
 * the parent's registers. The parent must be in context, so the handlers ask for a kick first.
 *
 * Namespaces, chosen ids and cgroups (clone3) need a privilege that nobody has here.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "sentry/fs/anon/pidfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cpu_limit.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct clone_request {
    uint64_t flags; /* LX_CLONE_* without the exit signal */
    int exit_signal;
    uint64_t stack; /* 0: the parent's */
    gaddr_t parent_tid, child_tid, pidfd;
    uint64_t tls;
    int event;               /* what the tracer hears, 0: nothing */
    struct file *pidfd_file; /* made with the child; CLONE_PIDFD */
};

static int clone_check(const struct task *t, const struct clone_request *rq)
{
    uint64_t f = rq->flags;
    if ((f & LX_CLONE_FS) && (f & (LX_CLONE_NEWNS | LX_CLONE_NEWUSER)))
        return -EINVAL;
    if ((f & LX_CLONE_SIGHAND) && !(f & LX_CLONE_VM))
        return -EINVAL;
    if ((f & LX_CLONE_THREAD) && !(f & LX_CLONE_SIGHAND))
        return -EINVAL;
    if ((f & LX_CLONE_PIDFD) && (f & (LX_CLONE_THREAD | LX_CLONE_DETACHED)))
        return -EINVAL;
    if (rq->exit_signal < 0 || rq->exit_signal > LX_NSIG)
        return -EINVAL;
    if ((f & LX_CLONE_PARENT) && t->group == kernel.init)
        return -EINVAL;
    return (f & (LX_CLONE_NS_FLAGS | LX_CLONE_NEWTIME)) != 0 ? -EPERM : 0;
}

static int clone_group(struct task *t, const struct clone_request *rq, struct thread_group **ret_tg)
{
    struct thread_group *tg, *from = t->group;
    if (rq->flags & LX_CLONE_THREAD) {
        *ret_tg = thread_group_get(from);
        return 0;
    }
    int r = thread_group_new(&tg);
    if (r < 0)
        return r;
    memcpy(tg->rlimit, from->rlimit, sizeof(tg->rlimit));
    cpu_limit_changed(tg);
    tg->oom_score_adj = from->oom_score_adj;
    tg->exit_signal = rq->flags & LX_CLONE_PARENT ? from->exit_signal : rq->exit_signal;
    tg->dumpable = from->dumpable;
    tg->thp_disabled = from->thp_disabled;
    *ret_tg = tg;
    return 0;
}

static int clone_files(struct task *t, struct task *child, uint64_t flags)
{
    int r = 0;
    if (flags & LX_CLONE_FILES)
        child->files = files_get(t->files);
    else
        r = files_dup(t->files, &child->files);
    if (r < 0)
        return r;
    if (flags & LX_CLONE_FS)
        child->fs = fs_info_get(t->fs);
    else
        r = fs_info_dup(t->fs, &child->fs);
    return r;
}

static int clone_sighand(struct task *t, struct task *child, uint64_t flags)
{
    if (flags & LX_CLONE_SIGHAND) {
        child->sighand = t->sighand;
        child->sighand->ref++;
        return 0;
    }
    child->sighand = sighand_dup(t->sighand);
    if (child->sighand == NULL)
        return -ENOMEM;
    if (flags & LX_CLONE_CLEAR_SIGHAND)
        sighand_reset_caught(child->sighand);
    return 0;
}

static void clone_sched(const struct task *t, struct task *child)
{
    child->nice = t->nice;
    child->policy = t->policy;
    child->rt_priority = t->rt_priority;
    if (!(t->policy & LX_SCHED_RESET_ON_FORK))
        return;
    child->policy &= ~LX_SCHED_RESET_ON_FORK;
    if (child->rt_priority > 0) {
        child->policy = LX_SCHED_NORMAL;
        child->rt_priority = 0;
    }
    child->nice = MAX(child->nice, 0);
}

static void clone_fields(const struct task *t, struct task *child, const struct clone_request *rq)
{
    memcpy(child->comm, t->comm, sizeof(child->comm));
    child->blocked = t->restore_blocked ? t->saved_blocked : t->blocked;
    child->no_new_privs = t->no_new_privs;
    child->seccomp_mode = t->seccomp_mode;
    child->seccomp = t->seccomp != NULL ? seccomp_filter_get(t->seccomp) : NULL;
    child->personality = t->personality;
    clone_sched(t, child);
    child->ioprio = t->ioprio;
    child->affinity = t->affinity;
    child->timer_slack = child->timer_slack_default = t->timer_slack;
    child->tls = (rq->flags & LX_CLONE_SETTLS) ? GADDR(rq->tls) : t->tls;
    child->gs_base = t->gs_base;
    if (!(rq->flags & LX_CLONE_VM) || (rq->flags & LX_CLONE_VFORK))
        child->altstack = t->altstack;
    if (rq->flags & LX_CLONE_CHILD_CLEARTID)
        child->clear_child_tid = rq->child_tid;
}

/* The host thread and the mm. On failure nothing of them is left. */
static int clone_platform(struct task *t, struct task *child, const struct clone_request *rq)
{
    bool set_tls = (rq->flags & LX_CLONE_SETTLS) != 0;
    bool share_vm = (rq->flags & LX_CLONE_VM) != 0;
    struct plat_thread *pth;
    struct plat_as *as;

    if (UNLIKELY(t->ptrace != NULL)) /* its tracer may have changed them */
        (void)plat_ops->set_regs(t->pth, &t->regs);
    if (rq->flags & LX_CLONE_THREAD) {
        int r = plat_ops->thread_clone(t->pth, set_tls, rq->tls, child, &pth);
        if (r < 0)
            return r;
        child->mm = mm_get(t->mm);
        child->pth = pth;
        return 0;
    }
    int r = plat_ops->fork(t->pth, share_vm, set_tls, rq->tls, child, &as, &pth);
    if (r < 0)
        return r;
    if (share_vm) {
        child->mm = mm_get(t->mm);
    } else {
        r = mm_dup(t->mm, as, &child->mm);
        if (r < 0) {
            plat_ops->process_kill(pth);
            return r;
        }
    }
    child->pth = pth;
    return 0;
}

static void clone_destroy(struct task *child, bool new_group)
{
    struct thread_group *tg = child->group;
    if (child->pid != 0)
        pid_free(child->pid);
    task_release_resources(child);
    task_put(child);
    if (new_group)
        thread_group_put(tg);
}

static void clone_publish(struct task *t, struct task *child, const struct clone_request *rq)
{
    struct thread_group *tg = child->group;
    task_link(child, tg);
    if (rq->flags & LX_CLONE_THREAD)
        return;
    tg->pid = child->pid;
    tg->maker_pid = (rq->flags & LX_CLONE_PARENT) ? t->group->maker_pid : t->pid;
    tg->parent = (rq->flags & LX_CLONE_PARENT) ? t->group->parent : t->group;
    if (tg->parent != NULL)
        list_add_tail(&tg->parent->children, &tg->sibling);
    list_add_tail(&kernel.groups, &tg->all_link);
    tg->pgrp = t->group->pgrp;
    tg->pgrp->ref++;
    list_add_tail(&tg->pgrp->members, &tg->pgrp_link);
    tg->child_subreaper = false;
}

static void clone_start(struct task *child, const struct clone_request *rq)
{
    if (plat_ops->get_regs(child->pth, &child->regs) < 0) {
        thread_group_exit(child->group, LX_SIGKILL);
        return;
    }
    child->in_context = true;
    child->regs.rax = 0;
    if (rq->stack != 0)
        child->regs.rsp = rq->stack;
    if (rq->flags & LX_CLONE_CHILD_SETTID) {
        uint32_t tid = child->pid;
        (void)!copy_to_user(child, rq->child_tid, &tid, sizeof(tid));
    }
    dispatch_start(child);
}

/* Everything that can fail; the child is complete but not yet visible. */
static int clone_build(struct task *t, struct clone_request *rq, struct task **ret_child)
{
    struct thread_group *tg;
    struct task *child;
    bool new_group = !(rq->flags & LX_CLONE_THREAD);

    int r = clone_group(t, rq, &tg);
    if (r < 0)
        return r;
    r = limit_charge(LIMIT_TASKS, 1);
    if (r < 0) {
        if (kernel.end_on_pids)
            kernel_end(VERDICT_PIDS_LIMIT);
        thread_group_put(tg);
        return r;
    }
    r = task_new(tg, &child);
    if (r < 0) {
        limit_release(LIMIT_TASKS, 1);
        thread_group_put(tg);
        return r;
    }
    child->cred = cred_get(t->cred);
    clone_fields(t, child, rq);
    r = pid_alloc(child);
    if (r == 0 && UNLIKELY(t->ptrace != NULL))
        r = ptrace_clone_prepare(t, child, rq->flags, rq->exit_signal, &rq->event);
    if (r == 0)
        r = clone_sighand(t, child, rq->flags);
    if (r == 0)
        r = clone_files(t, child, rq->flags);
    if (r == 0 && (rq->flags & LX_CLONE_PIDFD))
        r = pidfd_new(tg, 0, &rq->pidfd_file);
    if (r == 0)
        r = clone_platform(t, child, rq);
    if (r < 0) {
        file_put(rq->pidfd_file);
        clone_destroy(child, new_group);
        if (!new_group)
            thread_group_put(tg);
        return r;
    }
    if (!new_group)
        thread_group_put(tg); /* the task holds its own reference */
    kernel.nclones++;
    *ret_child = child;
    return 0;
}

/* The descriptor for the child goes where CLONE_PARENT_SETTID would put its id. There is room for
 * it (fd_prepare): the child exists. */
static void clone_pidfd(struct task *t, struct clone_request *rq)
{
    if (rq->pidfd_file == NULL)
        return;
    int fd = fd_install(t, rq->pidfd_file, true, 0);
    if (fd < 0)
        file_put(rq->pidfd_file);
    else if (put_user(t, rq->pidfd, &fd) < 0)
        (void)fdtable_close(t, fd);
}

/* The child runs: what is left of the call. u[0]: its id, u[1]: the caller waits for it to exec or
 * exit. */
static struct sys_res clone_rest(struct task *t)
{
    if (t->restart.u[1] != 0) {
        if (!t->vfork_done)
            return task_block_killable(t);
        t->vfork_done = false;
        t->restart.u[1] = 0;
        if (UNLIKELY(ptrace_event_wanted(t, LX_PTRACE_EVENT_VFORK_DONE)))
            return ptrace_event_in_call(t, LX_PTRACE_EVENT_VFORK_DONE, t->restart.u[0]);
    }
    return sys_ret((int64_t)t->restart.u[0]);
}

static struct sys_res do_clone(struct task *t, struct clone_request *rq)
{
    struct task *child;

    if (t->restart.active)
        return clone_rest(t);
    int r = clone_check(t, rq);
    if (r < 0)
        return sys_ret(r);
    if (t->group->group_exiting)
        return sys_ret(-EAGAIN);
    /* A signal that waits is taken first: the new process must not see it. */
    if (!(rq->flags & LX_CLONE_THREAD) && signal_pending(t))
        return sys_ret(-ERESTARTNOINTR);
    /* Where the number of a descriptor goes must be writable before anything is made. */
    uint32_t old;
    if ((rq->flags & LX_CLONE_PIDFD) &&
        (get_user(t, &old, rq->pidfd) < 0 || put_user(t, rq->pidfd, &old) < 0))
        return sys_ret(-EFAULT);
    if (rq->flags & LX_CLONE_PIDFD) {
        r = fd_prepare(t);
        if (r < 0)
            return sys_ret(r);
    }
    if (!t->in_context)
        return (struct sys_res){SYS_KICK, 0};
    r = clone_build(t, rq, &child);
    if (r < 0)
        return sys_ret(r);
    uint32_t pid = child->pid;
    clone_publish(t, child, rq);
    if (UNLIKELY(t->ptrace != NULL))
        ptrace_clone_attach(t, child);
    clone_pidfd(t, rq);
    if (rq->flags & LX_CLONE_PARENT_SETTID)
        (void)!copy_to_user(t, rq->parent_tid, &pid, sizeof(pid));
    if (rq->flags & LX_CLONE_VFORK) {
        child->vfork_parent = task_get(t);
        t->vfork_done = false;
    }
    t->restart.u[0] = pid;
    t->restart.u[1] = (rq->flags & LX_CLONE_VFORK) != 0;
    clone_start(child, rq);
    if (UNLIKELY(rq->event != 0) && ptrace_event_wanted(t, rq->event))
        return ptrace_event_in_call(t, rq->event, pid);
    return clone_rest(t);
}

struct sys_res sys_clone(struct task *t, const struct sys_args *a)
{
    struct clone_request rq = {
        .flags = a->v[0] & 0xffffffffull & ~LX_CLONE_NEWTIME & ~LX_CSIGNAL,
        .exit_signal = (int)(a->v[0] & LX_CSIGNAL),
        .stack = a->v[1],
        .parent_tid = sys_addr(a, 2),
        .pidfd = sys_addr(a, 2),
        .child_tid = sys_addr(a, 3),
        .tls = a->v[4],
    };
    if ((rq.flags & LX_CLONE_PIDFD) && (rq.flags & LX_CLONE_PARENT_SETTID))
        return sys_ret(-EINVAL); /* one address for both */
    return do_clone(t, &rq);
}

static int clone3_check(const struct lx_clone_args *c, uint64_t size)
{
    const uint64_t known = 0xffffffffull | LX_CLONE_CLEAR_SIGHAND | LX_CLONE_INTO_CGROUP;

    if (c->set_tid_size > LX_MAX_PID_NS_LEVEL || (c->set_tid != 0) != (c->set_tid_size != 0))
        return -EINVAL;
    if (c->exit_signal > LX_NSIG)
        return -EINVAL;
    if ((c->flags & LX_CLONE_INTO_CGROUP) &&
        (c->cgroup > INT32_MAX || size < LX_CLONE_ARGS_SIZE_VER2))
        return -EINVAL;
    if (c->flags & ~known || c->flags & (LX_CLONE_DETACHED | (LX_CSIGNAL & ~LX_CLONE_NEWTIME)))
        return -EINVAL;
    if ((c->flags & LX_CLONE_SIGHAND) && (c->flags & LX_CLONE_CLEAR_SIGHAND))
        return -EINVAL;
    if ((c->flags & (LX_CLONE_THREAD | LX_CLONE_PARENT)) && c->exit_signal != 0)
        return -EINVAL;
    if ((c->stack != 0) != (c->stack_size != 0) || !user_range_ok(c->stack, c->stack_size))
        return -EINVAL;
    return 0;
}

struct sys_res sys_clone3(struct task *t, const struct sys_args *a)
{
    struct lx_clone_args c = {0};
    uint64_t size = a->v[1];

    if (t->restart.active)
        return clone_rest(t);
    if (size > LX_PAGE_SIZE)
        return sys_ret(-E2BIG);
    if (size < LX_CLONE_ARGS_SIZE_VER0)
        return sys_ret(-EINVAL);
    int r = copy_struct_from_user(t, &c, sizeof(c), sys_addr(a, 0), size);
    if (r == 0)
        r = clone3_check(&c, size);
    if (r < 0)
        return sys_ret(r);
    struct clone_request rq = {
        .flags = c.flags & ~LX_CLONE_INTO_CGROUP,
        .exit_signal = (int)c.exit_signal,
        .stack = c.stack + c.stack_size,
        .parent_tid = GADDR(c.parent_tid),
        .child_tid = GADDR(c.child_tid),
        .pidfd = GADDR(c.pidfd),
        .tls = c.tls,
    };
    r = clone_check(t, &rq);
    if (r == 0 && (c.flags & LX_CLONE_INTO_CGROUP))
        r = -EBADF; /* no descriptor is one of a cgroup */
    if (r == 0 && c.set_tid_size != 0)
        r = -EPERM;
    return r < 0 ? sys_ret(r) : do_clone(t, &rq);
}

struct sys_res sys_fork(struct task *t, const struct sys_args *a)
{
    struct clone_request rq = {.exit_signal = LX_SIGCHLD};
    (void)a;
    return do_clone(t, &rq);
}

struct sys_res sys_vfork(struct task *t, const struct sys_args *a)
{
    struct clone_request rq = {.flags = LX_CLONE_VFORK | LX_CLONE_VM, .exit_signal = LX_SIGCHLD};
    (void)a;
    return do_clone(t, &rq);
}
