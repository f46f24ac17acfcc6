/*
 * dispatch.c: from an event of the platform to the answer.
 *
 * A call comes in as EV_SYSCALL: dispatch_event notes it in the task and runs the handler from the
 * one table. What the handler says decides how the task leaves the gate:
 *
 *   SYS_RET     dispatch_return: answer, unless a signal handler must be entered first; then the
 *               thread is kicked, and EV_CONTEXT brings its registers to signal_deliver
 *   SYS_BLOCK   nothing: the task is parked; task_wake puts it on the run queue, and the handler
 *               runs again from the top
 *   SYS_HOST    the host executes the thread's own call
 *   SYS_KICK    the handler runs again when EV_CONTEXT has brought the registers
 *   SYS_RESUME  t->regs were replaced
 *   SYS_GONE    the task ended
 *
 * While its group is stopped a task is held at whatever point it has reached (TASK_STOPPED). A
 * traced task stops where its tracer wants it to (ptrace_stop.c): before a call, behind it, at each
 * signal; all of that is behind one test of t->ptrace.
 */
#include "sentry/kernel/dispatch.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/syscalls.h"

#include "lib/assert.h"
#include "lib/log.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/mm/mm.h"
#include "sentry/sys/strace.h"
#include "sentry/sys/table.h"

static struct list_head run_queue = {&run_queue, &run_queue};

/* -- leaving the gate -----------------------------------------------------------------------------
 */

void task_call_done(struct task *t)
{
    task_cancel_waits(t);
    timer_cancel(&t->deadline);
    t->has_deadline = false;
    t->timed_out = false;
    t->interrupted = false;
    if (t->restart.ptr != NULL && t->restart.free_ptr != NULL)
        t->restart.free_ptr(t->restart.ptr);
    t->restart = (struct task_restart){0};
}

static void task_hold(struct task *t, int64_t val)
{
    t->pending_ret = val;
    t->state = TASK_STOPPED;
}

/* In context, registers final: enter guest code. */
void dispatch_leave(struct task *t)
{
    t->in_context = false;
    t->in_syscall = false;
    t->kicked = false;
    t->state = TASK_RUNNING;
    (void)plat_ops->set_regs(t->pth, &t->regs);
    plat_ops->resume(t->pth);
}

/* In context: signals, then on into guest code. from_call: a call with result val is ending. */
void dispatch_finish(struct task *t, bool from_call, int64_t val)
{
    if (UNLIKELY(t->ptrace != NULL)) {
        ptrace_finish(t, from_call, val);
        return;
    }
    switch (signal_resolve(t)) {
    case SIGNAL_GONE:
        return;
    case SIGNAL_STOP:
        t->in_syscall = from_call;
        task_hold(t, val);
        return;
    case SIGNAL_HANDLER:
    case SIGNAL_NONE:
    default:
        break;
    }
    signal_deliver(t, from_call, val);
    if (t->pth == NULL)
        return;
    /* A stop signal waited behind the one whose handler was entered. */
    if (t->group->stop == GROUP_STOPPED) {
        t->in_syscall = false;
        task_hold(t, 0);
        return;
    }
    dispatch_leave(t);
}

static bool is_restart(int64_t val)
{
    return val == -ERESTARTSYS || val == -ERESTARTNOINTR || val == -ERESTARTNOHAND ||
           val == -ERESTART_RESTARTBLOCK;
}

/* NOLINTBEGIN(misc-no-recursion): a call starts over only after a pending signal was taken off that
 * turned out to be ignored */

/* The interrupted call starts over, without the guest noticing. */
static void restart_call(struct task *t, int64_t val)
{
    if (val == -ERESTART_RESTARTBLOCK)
        t->call.nr = SYS_NR_RESTART_SYSCALL;
    t->state = TASK_AT_GATE;
    dispatch_rerun(t);
}

static void gate_return(struct task *t, int64_t val)
{
    switch (signal_resolve(t)) {
    case SIGNAL_GONE:
        return;
    case SIGNAL_STOP:
        task_hold(t, val);
        return;
    case SIGNAL_HANDLER:
        t->pending_ret = val;
        t->kicked = true;
        plat_ops->answer_kick(t->pth, is_restart(val) ? -EINTR : val);
        return;
    case SIGNAL_NONE:
    default:
        break;
    }
    if (is_restart(val)) {
        restart_call(t, val);
        return;
    }
    t->in_syscall = false;
    t->state = TASK_RUNNING;
    plat_ops->answer(t->pth, val);
}

void dispatch_return(struct task *t, int64_t val)
{
    task_call_done(t);
    if (kernel.strace)
        strace_exit(t, val);
    if (t->in_context) {
        if (LIKELY(t->ptrace == NULL) || !ptrace_call_exit(t, val))
            dispatch_finish(t, true, val);
    } else {
        gate_return(t, val);
    }
}

/* The call runs in the thread's stub, and its result is in rax. */
static void host_call_in_context(struct task *t)
{
    struct plat_regs regs;

    plat_ops->answer_host(t->pth, &t->host_call);
    if (plat_ops->get_regs(t->pth, &regs) < 0) {
        thread_group_exit(t->group, LX_SIGKILL);
        return;
    }
    mm_quarantine_release(t->mm, t);
    dispatch_return(t, (int64_t)regs.rax);
}

static void dispatch_result(struct task *t, struct sys_res res)
{
    switch (res.kind) {
    case SYS_RET:
        if (res.val == -ESTEP)
            (void)task_yield_killable(t);
        else
            dispatch_return(t, res.val);
        break;
    case SYS_BLOCK:
        break;
    case SYS_HOST:
        if (t->in_context) {
            host_call_in_context(t);
            break;
        }
        task_call_done(t);
        if (kernel.strace)
            strace_exit(t, 0);
        t->in_syscall = false;
        t->state = TASK_RUNNING;
        plat_ops->answer_host(t->pth, &t->host_call);
        if (signal_pending(t))
            signal_notify_task(t);
        break;
    case SYS_KICK:
        t->want_context = true;
        plat_ops->answer_kick(t->pth, 0);
        break;
    case SYS_RESUME:
        task_call_done(t);
        if (kernel.strace)
            strace_exit(t, (int64_t)t->regs.rax);
        if (LIKELY(t->ptrace == NULL) || !ptrace_call_resumed(t))
            dispatch_finish(t, false, 0);
        break;
    case SYS_GONE:
    default:
        break;
    }
}

static struct sys_res call_handler(struct task *t)
{
    sys_fn *fn = syscall_handler(t->call.nr);
    if (fn != NULL)
        return fn(t, &t->call);
    if (t->call.nr < ARRAY_LEN(kernel.unsupported))
        kernel.unsupported[t->call.nr]++;
    return sys_ret(syscall_refusal(t->call.nr));
}

void dispatch_rerun(struct task *t)
{
    task_get(t);
    kernel.current = t;
    struct sys_res res = call_handler(t);
    kernel.current = NULL;
    /* A handler may have ended its own task. */
    if (t->pth != NULL || res.kind == SYS_GONE)
        dispatch_result(t, res);
    task_put(t);
}
/* NOLINTEND(misc-no-recursion) */

struct sys_res task_block(struct task *t, int intr)
{
    if (signal_pending(t))
        return sys_ret(intr);
    return task_block_killable(t);
}

struct sys_res task_block_killable(struct task *t)
{
    t->state = TASK_BLOCKED;
    t->restart.active = true;
    t->interrupted = false;
    if (t->has_deadline && !t->deadline.armed) {
        if (t->deadline.expires <= clock_monotonic())
            task_wake(t);
        else
            timer_arm(&t->deadline, t->deadline.expires);
    }
    return (struct sys_res){SYS_BLOCK, 0};
}

struct sys_res task_yield_killable(struct task *t)
{
    struct sys_res res;

    t->has_deadline = false;
    res = task_block_killable(t);
    /* By way of the timer, not of the run queue, which would not let an event in between. */
    timer_arm(&t->deadline, clock_monotonic());
    t->yielded = true;
    return res;
}

struct sys_res task_yield(struct task *t, int intr)
{
    return signal_pending(t) ? sys_ret(intr) : task_yield_killable(t);
}

struct sys_res sys_host(struct task *t, const struct host_call *call)
{
    t->host_call = *call;
    return (struct sys_res){SYS_HOST, 0};
}

/* -- events ------------------------------------------------------------------------------------ */

void dispatch_call(struct task *t, bool after_seccomp)
{
    int64_t val = 0;
    switch (seccomp_check(t, after_seccomp, &val)) {
    case SECCOMP_GO:
        dispatch_rerun(t);
        break;
    case SECCOMP_ANSWER:
        dispatch_return(t, val);
        break;
    case SECCOMP_GONE:
    default:
        break;
    }
}

static void event_syscall(struct task *t, const struct plat_event *ev)
{
    t->call.nr = ev->nr;
    for (int i = 0; i < 6; i++)
        t->call.v[i] = ev->args[i];
    t->call.ip = ev->ip;
    t->in_syscall = true;
    t->state = TASK_AT_GATE;
    t->nsyscalls++;
    kernel.nsyscalls++;
    if (!list_empty(&t->mm->quarantine))
        mm_quarantine_release(t->mm, t);
    if (kernel.strace)
        strace_enter(t, t->call.nr, t->call.v);
    if (LIKELY(t->ptrace == NULL) || !ptrace_call_enter(t))
        dispatch_call(t, false);
}

static void begin_held_call(struct task *t)
{
    t->call_held = false;
    if (t->ptrace == NULL || !ptrace_call_context(t))
        dispatch_call(t, false);
}

static void event_context(struct task *t)
{
    t->in_context = true;
    if (!list_empty(&t->mm->quarantine))
        mm_quarantine_release(t->mm, t);
    if (plat_ops->get_regs(t->pth, &t->regs) < 0) {
        thread_group_exit(t->group, LX_SIGKILL);
        return;
    }
    if (t->want_context) {
        t->want_context = false;
        if (UNLIKELY(t->call_held))
            begin_held_call(t);
        else
            dispatch_rerun(t);
        return;
    }
    bool from_call = t->in_syscall;
    dispatch_finish(t, from_call, t->pending_ret);
}

static void event_fault(struct task *t, const struct plat_event *ev)
{
    t->in_context = true;
    if (!list_empty(&t->mm->quarantine))
        mm_quarantine_release(t->mm, t);
    t->in_syscall = false;
    t->state = TASK_AT_GATE;
    if (plat_ops->get_regs(t->pth, &t->regs) < 0) {
        thread_group_exit(t->group, LX_SIGKILL);
        return;
    }
    int code = ev->code;
    int signo = ev->signo;
    if (UNLIKELY(t->ptrace != NULL) && ptrace_stray_step(t, signo, code))
        signo = 0;
    if (signo == LX_SIGSEGV || signo == LX_SIGBUS)
        signo = mm_fault(t, ev->signo, ev->code, ev->fault_addr, &code);
    if (signo != 0) {
        struct lx_siginfo info = {.si_signo = signo, .si_code = code};
        info.si_addr = ev->fault_addr;
        LOG_D(CH_SIG, "fault %d at %#llx ip %#llx", signo, (unsigned long long)ev->fault_addr,
              (unsigned long long)t->regs.rip);
        signal_force(t, &info);
    }
    dispatch_finish(t, false, 0);
}

void dispatch_event(const struct plat_event *ev)
{
    struct task *t = ev->thread != NULL ? plat_ops->thread_owner(ev->thread) : NULL;

    if (t != NULL) {
        task_get(t);
        log_set_task(t->group->pid, t->pid);
    } else if (ev->kind != PLAT_EV_NONE && ev->kind != PLAT_EV_FATAL) {
        kernel.fatal = "an event of a thread that nobody owns";
        return;
    }
    switch (ev->kind) {
    case PLAT_EV_NONE:
        host_poll_dispatch();
        break;
    case PLAT_EV_SYSCALL:
        event_syscall(t, ev);
        break;
    case PLAT_EV_CONTEXT:
        event_context(t);
        break;
    case PLAT_EV_FAULT:
        event_fault(t, ev);
        break;
    case PLAT_EV_THREAD_DEAD:
        thread_group_exit(t->group, LX_SIGKILL);
        break;
    case PLAT_EV_FATAL:
        kernel.fatal = ev->text;
        break;
    default:
        kernel.fatal = "unknown platform event";
        break;
    }
    log_set_task(0, 0);
    task_put(t);
}

void dispatch_start(struct task *t)
{
    task_get(t);
    dispatch_finish(t, false, 0);
    task_put(t);
}

/* -- run queue --------------------------------------------------------------------------------- */

static void run_queue_add(struct task *t)
{
    if (!list_empty(&t->run_link))
        return;
    task_get(t);
    list_add_tail(&run_queue, &t->run_link);
}

void task_wake(struct task *t)
{
    if (t->state == TASK_BLOCKED)
        run_queue_add(t);
}

void dispatch_continue(struct task *t)
{
    if (t->state == TASK_STOPPED || t->state == TASK_TRACED)
        run_queue_add(t);
}

/* A stop had held it on its way to guest code. */
static void run_held(struct task *t)
{
    t->state = TASK_AT_GATE;
    if (t->in_context)
        dispatch_finish(t, t->in_syscall, t->pending_ret);
    else
        gate_return(t, t->pending_ret);
}

static void run_queued(struct task *t)
{
    if (t->pth == NULL)
        return;
    if (t->state == TASK_TRACED) {
        ptrace_run(t);
    } else if (t->state == TASK_STOPPED) {
        run_held(t);
    } else if (t->state == TASK_BLOCKED) {
        task_cancel_waits(t);
        t->state = TASK_AT_GATE;
        t->yielded = false;
        dispatch_rerun(t);
    }
}

/* A call that merely let others have a turn is not asleep: it goes on to its end, as in Linux. */
static bool is_stopped(const struct task *t)
{
    return t->group->stop == GROUP_STOPPED && t->pth != NULL && !t->group->group_exiting &&
           !t->yielded && !task_traced(t) && t->state != TASK_TRACED;
}

/*
 * A task of a stopped group stays queued: it is put aside and queued again when the group goes on.
 */
static bool run_one(struct list_head *aside)
{
    if (list_empty(&run_queue))
        return false;
    struct task *t = list_first(&run_queue, struct task, run_link);
    list_del_init(&t->run_link);
    if (is_stopped(t)) {
        list_add_tail(aside, &t->run_link);
        return true;
    }
    run_queued(t);
    task_put(t);
    return true;
}

/* Runs the queue once; true when a group went on whose task had been put aside. */
static bool run_all(void)
{
    struct list_head aside;
    bool again = false;

    list_init(&aside);
    do {
        signal_run_fatal();
        if (kernel.ended || kernel.fatal != NULL)
            break;
    } while (run_one(&aside));
    signal_run_fatal();
    while (!list_empty(&aside)) {
        struct task *t = list_first(&aside, struct task, run_link);
        list_del_init(&t->run_link);
        list_add_tail(&run_queue, &t->run_link);
        again |= !is_stopped(t);
    }
    return again && !kernel.ended && kernel.fatal == NULL;
}

void dispatch_run_queue(void)
{
    while (run_all())
        ;
}
