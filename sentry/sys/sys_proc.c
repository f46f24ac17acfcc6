/*
 * sys_proc.c: identity and end of processes, process groups and sessions.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/wait.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/session.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct sys_res sys_exit(struct task *t, const struct sys_args *a)
{
    int status = LX_W_EXITCODE(sys_int(a, 0));
    struct sys_res res;
    if (UNLIKELY(t->ptrace != NULL) && ptrace_exit_event(t, status, &res))
        return res;
    task_exit(t, status);
    return (struct sys_res){SYS_GONE, 0};
}

struct sys_res sys_exit_group(struct task *t, const struct sys_args *a)
{
    int status = LX_W_EXITCODE(sys_int(a, 0));
    struct sys_res res;
    if (UNLIKELY(t->ptrace != NULL) && ptrace_exit_event(t, status, &res))
        return res;
    thread_group_exit(t->group, status);
    return (struct sys_res){SYS_GONE, 0};
}

struct sys_res sys_getpid(struct task *t, const struct sys_args *a)
{
    (void)a;
    return sys_ret(t->group->pid);
}

struct sys_res sys_gettid(struct task *t, const struct sys_args *a)
{
    (void)a;
    return sys_ret(t->pid);
}

struct sys_res sys_getppid(struct task *t, const struct sys_args *a)
{
    (void)a;
    return sys_ret(t->group->parent != NULL ? t->group->parent->pid : 0);
}

struct sys_res sys_set_tid_address(struct task *t, const struct sys_args *a)
{
    t->clear_child_tid = sys_addr(a, 0);
    return sys_ret(t->pid);
}

struct sys_res sys_getpgrp(struct task *t, const struct sys_args *a)
{
    (void)a;
    return sys_ret(t->group->pgrp->id);
}

static struct thread_group *group_or_self(struct task *t, int pid)
{
    if (pid == 0)
        return t->group;
    struct task *other = pid > 0 ? task_by_pid((uint32_t)pid) : NULL;
    return other != NULL && other->group->pgrp != NULL ? other->group : NULL;
}

struct sys_res sys_getpgid(struct task *t, const struct sys_args *a)
{
    struct thread_group *tg = group_or_self(t, sys_int(a, 0));
    return sys_ret(tg == NULL ? -ESRCH : (int64_t)tg->pgrp->id);
}

struct sys_res sys_getsid(struct task *t, const struct sys_args *a)
{
    struct thread_group *tg = group_or_self(t, sys_int(a, 0));
    return sys_ret(tg == NULL ? -ESRCH : (int64_t)tg->pgrp->session->id);
}

struct sys_res sys_setsid(struct task *t, const struct sys_args *a)
{
    (void)a;
    if (pgrp_by_id(t->group->pid) != NULL)
        return sys_ret(-EPERM);
    int r = session_new(t->group);
    return sys_ret(r < 0 ? r : (int64_t)t->group->pid);
}

static int setpgid_check(struct task *t, struct thread_group *tg, uint32_t pgid)
{
    if (tg->parent == t->group) {
        if (tg->pgrp->session != task_session(t))
            return -EPERM;
        if (tg->has_execed)
            return -EACCES;
    } else if (tg != t->group) {
        return -ESRCH;
    }
    if (tg->pgrp->session->id == tg->pid)
        return -EPERM;
    if (pgid != tg->pid) {
        struct pgrp *pg = pgrp_by_id(pgid);
        if (pg == NULL || pg->session != task_session(t))
            return -EPERM;
    }
    return 0;
}

struct sys_res sys_setpgid(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0), pgid = sys_int(a, 1);
    struct thread_group *tg = pid == 0 ? t->group : thread_group_by_pid((uint32_t)pid);

    if (pgid < 0)
        return sys_ret(-EINVAL);
    if (pid < 0 || tg == NULL || tg->pgrp == NULL)
        return sys_ret(-ESRCH);
    uint32_t id = pgid == 0 ? tg->pid : (uint32_t)pgid;
    int r = setpgid_check(t, tg, id);
    return sys_ret(r < 0 ? r : pgrp_join(tg, id));
}
