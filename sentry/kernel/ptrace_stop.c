/*
 * ptrace_stop.c: where a tracee stops, and how it goes on.
 *
 * Every stop is made in context, so that the registers are at hand: a call that is to be looked at
 * is kicked into its context before it begins, and its handler runs there. `at` says what a stop
 * was in the middle of; ptrace_run goes on from there. What stands between a stop and guest code is
 * ptrace_finish: traps, signals (each one a stop), the restart of an interrupted call, single
 * steps.
 *
 * The tracee of a tracer that has gone meanwhile takes the way of all others at the next turn.
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

enum {
    EFLAGS_TF = 0x100,
    SYSGOOD = 0x80
};

/* -- stopping ---------------------------------------------------------------------------------- */

/* SIGCHLD with si_code CLD_TRAPPED or CLD_STOPPED, unless the tracer does not want it; and its
 * waits run again. */
static void notify_tracer(const struct task *t, int code, int status)
{
    const struct task *tracer = t->ptrace->tracer;
    const struct lx_sigaction *act = &tracer->sighand->action[LX_SIGCHLD - 1];
    struct lx_siginfo info = {.si_signo = LX_SIGCHLD, .si_code = code};

    info.si_pid = (int32_t)t->pid;
    info.si_uid = t->cred->uid;
    info.si_status = status;
    if (act->sa_handler != LX_SIG_IGN && !(act->sa_flags & LX_SA_NOCLDSTOP))
        (void)signal_send_group(tracer->group, &info);
    wait_queue_wake(&tracer->group->child_wait, 0);
}

/* The trap flag of a step is not the program's. */
static void take_tf_back(struct task *t)
{
    if (!t->ptrace->forced_tf)
        return;
    t->regs.eflags &= ~(uint64_t)EFLAGS_TF;
    t->ptrace->forced_tf = false;
}

static void stop(struct task *t, enum ptrace_at at, int code, int why,
                 const struct lx_siginfo *info)
{
    struct ptrace *p = t->ptrace;

    KASSERT(t->in_context && p->tracer != NULL);
    take_tf_back(t);
    p->at = at;
    p->code = code;
    p->waitable = true;
    p->resumed = false;
    p->listening = false;
    p->signo = 0;
    p->trap_stop = false;
    p->has_info = info != NULL;
    if (info != NULL) {
        p->info = *info;
        if (info->si_code >> 8 == LX_PTRACE_EVENT_STOP)
            p->trap_notify = false;
    }
    t->state = TASK_TRACED;
    notify_tracer(t, why, code & 0x7f);
}

/* A stop that the tracee reports by itself: SIGTRAP with more in the upper bits. */
static void stop_notify(struct task *t, enum ptrace_at at, int signo, int code, int why)
{
    struct lx_siginfo info = {.si_signo = signo, .si_code = code};
    info.si_pid = (int32_t)t->pid;
    info.si_uid = t->cred->uid;
    stop(t, at, code, why, &info);
}

static void stop_event(struct task *t, enum ptrace_at at, int event, uint64_t message)
{
    t->ptrace->message = message;
    stop_notify(t, at, LX_SIGTRAP, event << 8 | LX_SIGTRAP, LX_CLD_TRAPPED);
}

static void stop_call(struct task *t, enum ptrace_at at, uint64_t message)
{
    struct ptrace *p = t->ptrace;
    int code = LX_SIGTRAP | (p->options & LX_PTRACE_O_TRACESYSGOOD ? SYSGOOD : 0);
    p->message = message;
    stop_notify(t, at, LX_SIGTRAP, code, LX_CLD_TRAPPED);
}

/* Group stop and INTERRUPT. */
static void stop_trap(struct task *t)
{
    const struct thread_group *tg = t->group;
    int signo = tg->stop == GROUP_STOPPED ? t->ptrace->stop_signo : LX_SIGTRAP;
    if (t->ptrace->seized)
        stop_notify(t, PTRACE_AT_TRAP, signo, signo | LX_PTRACE_EVENT_STOP << 8, LX_CLD_STOPPED);
    else
        stop(t, PTRACE_AT_TRAP, signo, LX_CLD_STOPPED, NULL);
}

void ptrace_trap_again(struct task *t)
{
    struct ptrace *p = t->ptrace;

    if (p->at == PTRACE_AT_TRAP) {
        stop_trap(t);
        return;
    }
    /* SETSIGINFO made another stop look like this one: what it interrupted goes on to its end, and
     * the trap, which is noted, comes behind it. */
    p->signo = 0;
    p->listening = false;
    p->waitable = false;
    p->resumed = true;
    dispatch_continue(t);
}

bool ptrace_event_wanted(const struct task *t, int event)
{
    return task_traced(t) && (t->ptrace->options >> event & 1) != 0;
}

/* A call in progress, as registers show it before it has a result. */
static void show_call(struct task *t)
{
    t->regs.rax = (uint64_t)-ENOSYS;
    t->ptrace->orig_rax = t->call.nr;
}

struct sys_res ptrace_event_in_call(struct task *t, int event, uint64_t message)
{
    show_call(t);
    t->restart.active = true;
    stop_event(t, PTRACE_AT_CALL, event, message);
    return (struct sys_res){SYS_BLOCK, 0};
}

bool ptrace_exit_event(struct task *t, int status, struct sys_res *ret_res)
{
    struct ptrace *p = t->ptrace;
    if (!ptrace_event_wanted(t, LX_PTRACE_EVENT_EXIT) || p->exit_told)
        return false;
    if (!t->in_context) {
        *ret_res = (struct sys_res){SYS_KICK, 0};
        return true;
    }
    p->exit_told = true;
    *ret_res = ptrace_event_in_call(t, LX_PTRACE_EVENT_EXIT, (uint64_t)status);
    return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

static void kick_for_call(struct task *t)
{
    t->call_held = true;
    t->want_context = true;
    plat_ops->answer_kick(t->pth, -ENOSYS);
}

bool ptrace_call_enter(struct task *t)
{
    const struct ptrace *p = t->ptrace;
    if (p->tracer == NULL || !(p->trace_calls || p->emulate || p->step))
        return false;
    kick_for_call(t);
    return true;
}

bool ptrace_call_context(struct task *t)
{
    struct ptrace *p = t->ptrace;
    bool held = p->seccomp_held;

    p->seccomp_held = false;
    take_tf_back(t);
    if (p->tracer == NULL)
        return false;
    show_call(t);
    if (held) {
        stop_event(t, PTRACE_AT_SECCOMP, LX_PTRACE_EVENT_SECCOMP, p->message);
        return true;
    }
    if (!p->trace_calls && !p->emulate)
        return false;
    p->emulated = p->emulate;
    stop_call(t, PTRACE_AT_ENTRY, LX_PTRACE_EVENTMSG_SYSCALL_ENTRY);
    return true;
}

bool ptrace_seccomp(struct task *t, uint32_t data)
{
    if (!ptrace_event_wanted(t, LX_PTRACE_EVENT_SECCOMP))
        return false;
    t->ptrace->message = data;
    if (t->in_context) {
        show_call(t);
        stop_event(t, PTRACE_AT_SECCOMP, LX_PTRACE_EVENT_SECCOMP, data);
    } else {
        t->ptrace->seccomp_held = true;
        kick_for_call(t);
    }
    return true;
}

/* The step over a call ends behind it. */
static void step_trap(struct task *t)
{
    struct lx_siginfo info = {.si_signo = LX_SIGTRAP, .si_code = LX_TRAP_BRKPT};
    info.si_addr = t->regs.rip;
    signal_force(t, &info);
}

static bool call_exit(struct task *t)
{
    struct ptrace *p = t->ptrace;
    p->emulated = false;
    if (p->tracer == NULL || p->emulate)
        return false;
    if (p->step) {
        step_trap(t);
        return false;
    }
    if (!p->trace_calls)
        return false;
    stop_call(t, PTRACE_AT_EXIT, LX_PTRACE_EVENTMSG_SYSCALL_EXIT);
    return true;
}

bool ptrace_call_exit(struct task *t, int64_t val)
{
    t->regs.rax = (uint64_t)val;
    t->ptrace->orig_rax = (uint64_t)(int64_t)(int32_t)t->call.nr;
    return call_exit(t);
}

void ptrace_exec(struct task *t, uint32_t old_pid)
{
    struct ptrace *p = t->ptrace;
    struct lx_siginfo info;

    p->forced_tf = false;
    if (p->tracer == NULL)
        return;
    p->exec_done = true;
    p->exec_pid = old_pid;
    if (!ptrace_event_wanted(t, LX_PTRACE_EVENT_EXEC) && !p->seized) {
        signal_info_user(&info, LX_SIGTRAP, LX_SI_USER, t);
        (void)signal_send_task(t, &info);
    }
}

bool ptrace_call_resumed(struct task *t)
{
    struct ptrace *p = t->ptrace;
    bool exec = p->exec_done;

    p->exec_done = false;
    p->orig_rax = exec ? t->call.nr : PTRACE_NO_CALL;
    if (exec && ptrace_event_wanted(t, LX_PTRACE_EVENT_EXEC)) {
        t->regs.rax = (uint64_t)-ENOSYS;
        stop_event(t, PTRACE_AT_EXEC, LX_PTRACE_EVENT_EXEC, p->exec_pid);
        return true;
    }
    return call_exit(t);
}

/* -- on to guest code -------------------------------------------------------------------------- */

bool ptrace_work_pending(const struct task *t)
{
    const struct ptrace *p = t->ptrace;
    return p->trap_stop || p->trap_notify || (signal_pending_set(t) & ~t->blocked) != 0;
}

static bool is_call(const struct ptrace *p)
{
    return (uint32_t)p->orig_rax != UINT32_MAX;
}

/* The call that an interrupted one starts over with is the one that the registers name. */
static void call_of_regs(struct task *t)
{
    const struct plat_regs *r = &t->regs;
    t->call = (struct sys_args){.nr = (uint32_t)t->ptrace->orig_rax,
                                .v = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9},
                                .ip = r->rip};
}

static void untraced_finish(struct task *t)
{
    bool from_call = is_call(t->ptrace);
    int64_t val = (int64_t)t->regs.rax;

    if (from_call)
        call_of_regs(t);
    ptrace_forget(t);
    dispatch_finish(t, from_call, val);
}

static void take_signal(struct task *t, uint64_t set)
{
    struct lx_siginfo info;
    int signo = signal_next(t, set);

    if (signo == 0 || signal_dequeue(t, set, &info) == 0)
        return;
    if (sig_bit(signo) & LX_SIGSET_STOP)
        t->ptrace->stop_dequeued = true;
    stop(t, PTRACE_AT_SIGNAL, signo, LX_CLD_TRAPPED, &info);
}

/* Returns when the task is stopped, gone, or has left. */
static void finish(struct task *t)
{
    struct ptrace *p = t->ptrace;

    while (t->state != TASK_TRACED) {
        uint64_t set = signal_pending_set(t) & ~t->blocked;
        if (t->pth == NULL || t->group->group_exiting)
            return;
        if (p->tracer == NULL) {
            untraced_finish(t);
            return;
        }
        if (set & sig_bit(LX_SIGKILL)) {
            thread_group_exit(t->group, LX_W_SIGNALED(LX_SIGKILL));
            return;
        }
        if (p->trap_stop || p->trap_notify) {
            stop_trap(t);
        } else if (set != 0) {
            take_signal(t, set);
        } else if (t->restore_blocked) {
            t->restore_blocked = false;
            t->blocked = t->saved_blocked;
        } else {
            if (is_call(p)) {
                call_of_regs(t);
                signal_call_result(t, (int64_t)t->regs.rax);
            }
            if (p->step && !(t->regs.eflags & EFLAGS_TF)) {
                t->regs.eflags |= EFLAGS_TF;
                p->forced_tf = true;
            }
            dispatch_leave(t);
            return;
        }
    }
}

void ptrace_finish(struct task *t, bool from_call, int64_t val)
{
    struct ptrace *p = t->ptrace;
    take_tf_back(t);
    if (from_call) {
        t->regs.rax = (uint64_t)val;
        p->orig_rax = t->call.nr;
    } else {
        p->orig_rax = PTRACE_NO_CALL;
    }
    finish(t);
}

bool ptrace_stray_step(const struct task *t, int signo, int code)
{
    return t->ptrace->tracer == NULL && t->ptrace->forced_tf && signo == LX_SIGTRAP &&
           code == LX_TRAP_TRACE;
}

/* -- a signal that the tracer has seen ----------------------------------------------------------
 */

static bool signal_chosen(struct task *t, struct lx_siginfo *info)
{
    struct ptrace *p = t->ptrace;
    int signo = p->signo;

    if (signo == 0)
        return false;
    *info = p->info;
    if (info->si_signo != signo) {
        *info = (struct lx_siginfo){.si_signo = signo, .si_code = LX_SI_USER};
        if (p->tracer != NULL) {
            info->si_pid = (int32_t)p->tracer->group->pid;
            info->si_uid = p->tracer->cred->uid;
        }
    }
    if (t->blocked & sig_bit(signo)) {
        (void)signal_send_task(t, info);
        return false;
    }
    return true;
}

static void die(struct task *t, int signo)
{
    struct ptrace *p = t->ptrace;
    int status = LX_W_SIGNALED(signo);

    if (signo != LX_SIGKILL && ptrace_event_wanted(t, LX_PTRACE_EVENT_EXIT) && !p->exit_told) {
        p->exit_told = true;
        p->death_status = status;
        stop_event(t, PTRACE_AT_DEATH, LX_PTRACE_EVENT_EXIT, (uint64_t)status);
        return;
    }
    thread_group_exit(t->group, status);
}

static void enter_handler(struct task *t, const struct lx_siginfo *info)
{
    struct ptrace *p = t->ptrace;
    uint64_t flags = t->sighand->action[info->si_signo - 1].sa_flags;

    if (is_call(p)) {
        call_of_regs(t);
        signal_call_result_with_handler(t, (int64_t)t->regs.rax, flags);
    }
    signal_enter_handler(t, info->si_signo, info);
    if (p->step && p->tracer != NULL)
        stop_notify(t, PTRACE_AT_TRAP, LX_SIGTRAP, LX_SIGTRAP, LX_CLD_TRAPPED);
}

static void act_on_signal(struct task *t)
{
    struct ptrace *p = t->ptrace;
    struct lx_siginfo info;

    if (!signal_chosen(t, &info))
        return;
    switch (signal_action(t, info.si_signo)) {
    case SIGNAL_ACT_NONE:
        break;
    case SIGNAL_ACT_HANDLER:
        enter_handler(t, &info);
        break;
    case SIGNAL_ACT_STOP:
        if (p->stop_dequeued) {
            signal_group_stop(t->group, info.si_signo);
            p->trap_stop = p->tracer != NULL;
            p->stop_signo = info.si_signo;
        }
        break;
    case SIGNAL_ACT_DIE:
    default:
        die(t, info.si_signo);
        break;
    }
}

/* -- going on -----------------------------------------------------------------------------------
 */

static void run_call(struct task *t, bool after_seccomp)
{
    struct ptrace *p = t->ptrace;
    if (!is_call(p) || p->emulated) {
        t->call.nr = (uint32_t)p->orig_rax;
        dispatch_return(t, (int64_t)t->regs.rax);
        return;
    }
    call_of_regs(t);
    dispatch_call(t, after_seccomp);
}

static void send_chosen(struct task *t)
{
    if (t->ptrace->signo != 0)
        signal_send_kernel_task(t, t->ptrace->signo);
}

static void run_at(struct task *t, enum ptrace_at at)
{
    struct ptrace *p = t->ptrace;

    switch (at) {
    case PTRACE_AT_ENTRY:
        send_chosen(t);
        run_call(t, false);
        break;
    case PTRACE_AT_SECCOMP:
        run_call(t, true);
        break;
    case PTRACE_AT_CALL:
        dispatch_rerun(t);
        break;
    case PTRACE_AT_EXEC:
        t->regs.rax = 0;
        if (!call_exit(t))
            finish(t);
        break;
    case PTRACE_AT_EXIT:
        send_chosen(t);
        finish(t);
        break;
    case PTRACE_AT_SIGNAL:
        act_on_signal(t);
        finish(t);
        break;
    case PTRACE_AT_DEATH:
        thread_group_exit(t->group, p->death_status);
        break;
    case PTRACE_AT_TRAP:
    case PTRACE_AT_NONE:
    default:
        finish(t);
        break;
    }
}

void ptrace_run(struct task *t)
{
    struct ptrace *p = t->ptrace;
    enum ptrace_at at = p->at;

    if (!p->resumed)
        return;
    p->resumed = false;
    p->at = PTRACE_AT_NONE;
    t->state = TASK_AT_GATE;
    run_at(t, at);
}

/* -- group stops ---------------------------------------------------------------------------------
 */

void ptrace_group_stop(struct task *t, int signo)
{
    t->ptrace->stop_signo = signo;
    t->ptrace->trap_stop = true;
    signal_notify_task(t);
}

void ptrace_group_continue(struct task *t)
{
    struct ptrace *p = t->ptrace;

    p->stop_dequeued = false;
    if (!p->seized) {
        p->trap_stop = false;
        return;
    }
    p->trap_notify = true;
    if (p->listening)
        ptrace_trap_again(t);
    else
        signal_notify_task(t);
}
