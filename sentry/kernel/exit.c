/*
 * exit.c: the end of tasks and thread groups (exit(2), exit_group(2), wait(2) notes on zombies).
 *
 * task_exit ends one thread. thread_group_exit ends all of a group at once, whatever its threads
 * are doing: the platform kills the host process, so nothing of it runs any more when resources are
 * released. The group then is a zombie until its parent reaps it; the end of the sandbox's first
 * process ends the run.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/wait.h"

#include "lib/alloc.h"
#include "lib/log.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/strace.h"

void vfork_done(struct task *t)
{
    struct task *parent = t->vfork_parent;
    if (parent == NULL)
        return;
    t->vfork_parent = NULL;
    parent->vfork_done = true;
    task_wake(parent);
    task_put(parent);
}

void task_release_resources(struct task *t)
{
    task_call_done(t);
    if (!list_empty(&t->run_link)) {
        list_del_init(&t->run_link);
        task_put(t);
    }
    sigpending_flush(&t->pending);
    if (t->files != NULL)
        files_put(t->files);
    if (t->fs != NULL)
        fs_info_put(t->fs);
    if (t->mm != NULL) {
        mm_quarantine_release(t->mm, t);
        mm_put(t->mm);
    }
    t->files = NULL;
    t->fs = NULL;
    t->mm = NULL;
    t->pth = NULL;
    t->state = TASK_DEAD;
    t->in_context = false;
    vfork_done(t);
    limit_release(LIMIT_TASKS, 1);
}

/* The words that other threads wait for: robust futexes and the clear_child_tid word. */
static void release_user_words(struct task *t)
{
    futex_exit_robust(t);
    futex_exit_pi(t);
    /* Nobody is left to wait on a word of memory that goes with the process. */
    if (gaddr_is_null(t->clear_child_tid) || t->mm->ref <= 1)
        return;
    uint32_t zero = 0;
    if (copy_to_user(t, t->clear_child_tid, &zero, sizeof(zero)) == 0)
        (void)futex_wake_addr(t, t->clear_child_tid, true, 1);
    t->clear_child_tid = GADDR_NULL;
}

/* Unlinks a dead thread; the leader keeps its pid until the group is reaped. */
static void task_unlink(struct task *t)
{
    struct thread_group *tg = t->group;
    list_del_init(&t->group_link);
    tg->nthreads--;
    if (t != tg->leader && !ptrace_keep_zombie(t))
        pid_free(t->pid);
    task_put(t); /* the reference of creation */
}

void thread_group_reap(struct thread_group *tg)
{
    struct task *leader = tg->leader;
    if (tg->parent != NULL) {
        tg->parent->cpu_children += tg->cpu_dead + tg->cpu_children;
        tg->parent->maxrss_children = MAX(tg->parent->maxrss_children, tg->maxrss);
    }
    list_del_init(&tg->sibling);
    list_del_init(&tg->all_link);
    pgrp_leave(tg);
    tg->leader = NULL;
    if (leader != NULL) {
        ptrace_forget(leader);
        pid_free(leader->pid);
        task_put(leader);
    }
    thread_group_put(tg); /* the reference of creation */
}

/* True when the parent does not want to wait for it; *ret_silent: nor hear of it. */
static bool parent_ignores(const struct thread_group *parent, bool *ret_silent)
{
    struct task *t;
    list_for_each_entry (t, &parent->threads, group_link) {
        const struct lx_sigaction *act = &t->sighand->action[LX_SIGCHLD - 1];
        *ret_silent = act->sa_handler == LX_SIG_IGN;
        return *ret_silent || (act->sa_flags & LX_SA_NOCLDWAIT) != 0;
    }
    return true;
}

static void chld_info(const struct thread_group *tg, struct lx_siginfo *info)
{
    info->si_pid = (int32_t)tg->pid;
    info->si_uid = tg->leader != NULL ? tg->leader->cred->uid : 0;
    signal_info_ended(info, tg->exit_code);
    info->si_utime = (int64_t)(tg->cpu_dead / (NSEC_PER_SEC / 100));
}

/* code 0: an exit; else CLD_STOPPED / CLD_CONTINUED with status. */
void thread_group_notify_parent(struct thread_group *tg, int signo, int code, int status)
{
    struct thread_group *parent = tg->parent;
    struct lx_siginfo info = {.si_signo = signo, .si_code = code};
    if (parent == NULL || parent->zombie)
        return;
    if (code == 0) {
        chld_info(tg, &info);
    } else {
        info.si_pid = (int32_t)tg->pid;
        info.si_uid = tg->leader != NULL ? tg->leader->cred->uid : 0;
        info.si_status = status;
        struct task *t = list_empty(&parent->threads)
                             ? NULL
                             : list_first(&parent->threads, struct task, group_link);
        if (t != NULL && (t->sighand->action[LX_SIGCHLD - 1].sa_flags & LX_SA_NOCLDSTOP))
            signo = 0;
    }
    if (signo != 0)
        (void)signal_send_group(parent, &info);
    wait_queue_wake(&parent->child_wait, 0);
}

/* Tells the parent of a zombie; one that nobody waits for goes at once. A tracer comes first. */
static void zombie_report(struct thread_group *tg)
{
    struct thread_group *parent = tg->parent;
    if (tg->traced_zombies != 0 || (tg->leader != NULL && task_traced(tg->leader)))
        return;
    bool silent = false;
    bool reap = parent == NULL || parent->zombie ||
                (tg->exit_signal == LX_SIGCHLD && parent_ignores(parent, &silent));
    thread_group_notify_parent(tg, silent ? 0 : tg->exit_signal, 0, 0);
    if (reap)
        thread_group_reap(tg);
}

void thread_group_zombie_ready(struct thread_group *tg)
{
    if (tg->leader != NULL && task_traced(tg->leader))
        ptrace_notify_exit(tg->leader);
    else
        zombie_report(tg);
}

static void reparent_children(struct thread_group *tg)
{
    struct thread_group *child, *tmp, *heir = tg->parent;
    while (heir != NULL && !heir->child_subreaper && heir != kernel.init)
        heir = heir->parent;
    if (heir == NULL)
        heir = kernel.init;
    list_for_each_entry_safe (child, tmp, &tg->children, sibling) {
        list_del_init(&child->sibling);
        child->parent = heir != tg ? heir : NULL;
        if (child->parent == NULL)
            continue;
        list_add_tail(&heir->children, &child->sibling);
        struct task *leader = child->leader;
        if (leader != NULL && leader->pdeath_signal != 0 && leader->pth != NULL)
            signal_send_kernel_task(leader, leader->pdeath_signal);
        session_check_orphan(child, tg);
        child->exit_signal = LX_SIGCHLD;
        if (child->zombie)
            zombie_report(child);
    }
}

static void become_zombie(struct thread_group *tg)
{
    tg->zombie = true;
    list_del_init(&tg->fatal_link);
    timer_cancel(&tg->itimer_real);
    timer_cancel(&tg->cpu_limit);
    posix_timers_exit(tg);
    ipc_exit(tg);
    session_check_orphans(tg);
    reparent_children(tg);
    wait_queue_wake(&tg->exit_wait, 0);
    if (tg == kernel.init) {
        kernel_init_ended(tg->exit_code);
        return;
    }
    if (tg->traced_zombies == 0)
        thread_group_zombie_ready(tg);
}

void thread_group_exit(struct thread_group *tg, int status)
{
    struct task *t, *tmp;

    if (tg->zombie || tg->group_exiting)
        return;
    tg->group_exiting = true;
    tg->exit_code = status;
    thread_group_get(tg);
    tg->cpu_dead = thread_group_cputime(tg);
    tg->maxrss = MAX(tg->maxrss, thread_group_rss(tg));
    kernel.cpu_done += tg->cpu_dead;
    struct plat_thread *any = NULL;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->pth == NULL)
            continue;
        ptrace_tracer_exit(t);
        strace_gone(t);
        release_user_words(t);
        any = t->pth;
    }
    if (any != NULL) {
        usage_before_loss(usage_now()->touchable);
        plat_ops->process_kill(any);
    }
    list_for_each_entry_safe (t, tmp, &tg->threads, group_link) {
        t->exit_code = status;
        if (t->pth != NULL) {
            t->pth = NULL;
            task_release_resources(t);
        }
        task_unlink(t);
    }
    become_zombie(tg);
    thread_group_put(tg);
}

void thread_group_kill_others(struct task *keep)
{
    struct thread_group *tg = keep->group;
    struct task *t, *tmp;

    list_for_each_entry_safe (t, tmp, &tg->threads, group_link) {
        if (t == keep)
            continue;
        bool dead = t->pth == NULL;
        if (!dead) {
            ptrace_tracer_exit(t);
            release_user_words(t);
            task_release_resources(t);
            t->exit_code = 0;
        }
        if (t == tg->leader) {
            ptrace_forget(t);
            continue; /* exec takes its pid over */
        }
        task_unlink(t);
    }
}

void task_exit(struct task *t, int status)
{
    struct thread_group *tg = t->group;

    if (tg->nthreads == 1) {
        thread_group_exit(tg, status);
        return;
    }
    struct task *other;
    unsigned live = 0;
    list_for_each_entry (other, &tg->threads, group_link) {
        if (other->pth != NULL)
            live++;
    }
    if (live <= 1) {
        thread_group_exit(tg, status);
        return;
    }
    t->exit_code = status;
    ptrace_tracer_exit(t);
    release_user_words(t);
    plat_ops->thread_exit(t->pth);
    task_release_resources(t);
    if (t == tg->leader)
        return; /* stays linked: the group's zombie leader */
    task_unlink(t);
}
