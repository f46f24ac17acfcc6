/*
 * ptrace.c: the link between a tracer and its tracees: attaching, letting go, detaching, and what
 * the end of either means for the other.
 */
#include "sentry/kernel/ptrace.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/sched.h"
#include "abi/wait.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"

/* -- attaching --------------------------------------------------------------------------------- */

static int ptrace_alloc(struct task *t)
{
    struct ptrace *p = t->ptrace;
    if (p == NULL) {
        p = kalloc(sizeof(*p));
        if (p == NULL)
            return -ENOMEM;
        p->task = t;
        p->orig_rax = PTRACE_NO_CALL;
        list_init(&p->link);
        t->ptrace = p;
    }
    return 0;
}

static void ptrace_link(struct task *t, struct task *tracer, bool seized, uint32_t options)
{
    struct ptrace *p = t->ptrace;
    p->tracer = tracer;
    p->seized = seized;
    p->options = options;
    p->trace_calls = p->emulate = p->step = false;
    p->trap_stop = p->trap_notify = false;
    p->exit_told = false;
    p->stop_signo = t->group->stop_signal;
    list_add_tail(&tracer->tracees, &p->link);
}

/* The thread that made t's process, or another one of its process. */
static struct task *parent_thread(const struct task *t)
{
    struct thread_group *parent = t->group->parent;
    struct task *maker = task_by_pid(t->group->maker_pid), *other;
    if (parent == NULL || parent->zombie || parent->group_exiting)
        return NULL;
    if (maker != NULL && maker->group == parent && maker->pth != NULL)
        return maker;
    list_for_each_entry (other, &parent->threads, group_link) {
        if (other->pth != NULL)
            return other;
    }
    return NULL;
}

int ptrace_traceme(struct task *t)
{
    struct task *tracer = parent_thread(t);
    if (task_traced(t) || tracer == NULL || !ptrace_may_be_tracer(tracer, t))
        return -EPERM;
    int r = ptrace_alloc(t);
    if (r == 0)
        ptrace_link(t, tracer, false, 0);
    return r;
}

int ptrace_attach(struct task *tracer, struct task *t, bool seize, uint32_t options)
{
    if (tracer->group == t->group || !ptrace_may_access(tracer, t, PTRACE_MODE_REALCREDS))
        return -EPERM;
    if (t->pth == NULL || task_traced(t))
        return -EPERM;
    int r = ptrace_alloc(t);
    if (r < 0)
        return r;
    ptrace_link(t, tracer, seize, options);
    if (!seize)
        signal_send_kernel_task(t, LX_SIGSTOP);
    /* A job control stop becomes a stop of the tracer's at once. */
    if (t->group->stop == GROUP_STOPPED) {
        t->ptrace->trap_stop = true;
        dispatch_continue(t);
        signal_notify_task(t);
    }
    return 0;
}

int ptrace_clone_prepare(struct task *t, struct task *child, uint64_t flags, int exit_signal,
                         int *ret_event)
{
    int event = LX_PTRACE_EVENT_FORK;
    *ret_event = 0;
    if (!task_traced(t))
        return 0;
    if (flags & LX_CLONE_VFORK)
        event = LX_PTRACE_EVENT_VFORK;
    else if (exit_signal != LX_SIGCHLD)
        event = LX_PTRACE_EVENT_CLONE;
    if (!(flags & LX_CLONE_UNTRACED) && ptrace_event_wanted(t, event))
        *ret_event = event;
    return *ret_event != 0 || (flags & LX_CLONE_PTRACE) ? ptrace_alloc(child) : 0;
}

void ptrace_clone_attach(struct task *t, struct task *child)
{
    struct ptrace *p = t->ptrace;
    if (child->ptrace == NULL || p->tracer == NULL)
        return;
    ptrace_link(child, p->tracer, p->seized, p->options);
    if (p->seized)
        child->ptrace->trap_stop = true;
    else
        child->pending.set |= sig_bit(LX_SIGSTOP);
}

/* -- letting go -------------------------------------------------------------------------------- */

bool ptrace_is_stopped(const struct task *t)
{
    return t->state == TASK_TRACED && !t->ptrace->resumed && !t->ptrace->listening;
}

void ptrace_resume(struct task *t, int request, int signo)
{
    struct ptrace *p = t->ptrace;
    p->trace_calls = request == LX_PTRACE_SYSCALL;
    p->emulate = request == LX_PTRACE_SYSEMU || request == LX_PTRACE_SYSEMU_SINGLESTEP;
    p->step = request == LX_PTRACE_SINGLESTEP || request == LX_PTRACE_SYSEMU_SINGLESTEP;
    p->signo = signo;
    p->resumed = true;
    p->waitable = false;
    p->listening = false;
    dispatch_continue(t);
}

void ptrace_interrupt(struct task *t)
{
    struct ptrace *p = t->ptrace;
    p->trap_stop = true;
    if (p->listening)
        ptrace_trap_again(t);
    else
        signal_notify_task(t);
}

bool ptrace_listen(struct task *t)
{
    struct ptrace *p = t->ptrace;
    if (!p->has_info || p->info.si_code >> 8 != LX_PTRACE_EVENT_STOP)
        return false;
    p->listening = true;
    p->waitable = false;
    if (p->trap_notify)
        ptrace_trap_again(t);
    return true;
}

static void ptrace_unlink(struct ptrace *p)
{
    list_del_init(&p->link);
    p->tracer = NULL;
    p->options = 0;
    p->seized = false;
    p->trap_stop = p->trap_notify = false;
    p->waitable = false;
}

void ptrace_detach(struct task *t, int signo)
{
    struct ptrace *p = t->ptrace;
    bool was_stopped = t->state == TASK_TRACED;
    bool resumed = p->resumed;
    ptrace_unlink(p);
    if (!was_stopped)
        return;
    ptrace_resume(t, LX_PTRACE_CONT, resumed ? p->signo : signo);
}

/* What a stop leaves to be delivered when its tracer ends: one that was not waited for has not been
 * seen, and is as if it had never been. */
static int unseen_signal(const struct ptrace *p)
{
    return p->waitable && p->at == PTRACE_AT_SIGNAL ? p->code : 0;
}

void ptrace_tracer_exit(struct task *t)
{
    while (!list_empty(&t->tracees)) {
        struct ptrace *p = list_first(&t->tracees, struct ptrace, link);
        struct task *tracee = p->task;
        task_get(tracee);
        if (tracee->pth == NULL) {
            ptrace_release_zombie(tracee);
        } else {
            if (p->options & LX_PTRACE_O_EXITKILL)
                signal_send_kernel_task(tracee, LX_SIGKILL);
            ptrace_detach(tracee, unseen_signal(p));
        }
        task_put(tracee);
    }
}

/* -- the end of a tracee ----------------------------------------------------------------------- */

void ptrace_forget(struct task *t)
{
    struct ptrace *p = t->ptrace;
    if (p == NULL)
        return;
    list_del_init(&p->link);
    t->ptrace = NULL;
    kfree(p);
}

void ptrace_notify_exit(struct task *t)
{
    struct thread_group *tg = t->ptrace->tracer->group;
    struct lx_siginfo info = {.si_signo = LX_SIGCHLD};
    info.si_pid = (int32_t)t->pid;
    info.si_uid = t->cred->uid;
    signal_info_ended(&info, t->exit_code);
    if (t == t->group->leader && tg == t->group->parent)
        info.si_signo = t->group->exit_signal;
    if (info.si_signo != 0)
        (void)signal_send_group(tg, &info);
    wait_queue_wake(&tg->child_wait, 0);
}

bool ptrace_keep_zombie(struct task *t)
{
    struct ptrace *p = t->ptrace;
    if (!task_traced(t))
        return false;
    p->zombie = true;
    p->at = PTRACE_AT_NONE;
    p->waitable = false;
    p->listening = false;
    t->group->traced_zombies++;
    ptrace_notify_exit(t);
    return true;
}

void ptrace_release_zombie(struct task *t)
{
    struct thread_group *tg = t->group;
    bool thread = t->ptrace->zombie;
    struct thread_group *tracer = t->ptrace->tracer->group;

    ptrace_forget(t);
    if (thread) {
        tg->traced_zombies--;
        pid_free(t->pid);
        if (tg->traced_zombies == 0 && tg->zombie)
            thread_group_zombie_ready(tg);
    } else if (tg->zombie && tg->traced_zombies == 0 && tg->parent != tracer) {
        /* The child of somebody else, who hears of the end only now. */
        thread_group_zombie_ready(tg);
    }
}
