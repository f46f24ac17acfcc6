#pragma once
/*
 * ptrace(2): one task, the tracer, holds others where it wants to look at them.
 *
 * A task that is or was traced has a `struct ptrace`; all others have none, and every hook below is
 * behind that one test. A tracee in a ptrace stop is parked in its context (TASK_TRACED): its
 * registers are t->regs, and `at` says where it goes on when the tracer lets it. A stopped task is
 * on no wait queue and asks nothing of the platform: it can be killed as any other.
 *
 * The tracer's list of tracees holds no references: a tracee leaves it when it is detached, when
 * the tracer ends, or when its zombie is waited for (a traced thread that has ended keeps its pid
 * until then).
 */
#include "lib/compiler.h"

#include "abi/ptrace.h"
#include "abi/signal.h"

#include "lib/list.h"
#include "sentry/kernel/syscall.h"

struct task;
struct thread_group;
struct cred;

enum ptrace_at {
    PTRACE_AT_NONE,    /* runs */
    PTRACE_AT_ENTRY,   /* a call, before seccomp and handler */
    PTRACE_AT_SECCOMP, /* a call, before its handler */
    PTRACE_AT_CALL,    /* inside of a handler, which runs again */
    PTRACE_AT_EXEC,    /* the registers of the new program are set */
    PTRACE_AT_EXIT,    /* a call that has its result; signals come next */
    PTRACE_AT_SIGNAL,  /* a signal was taken off its queue, and may be another or none now */
    PTRACE_AT_TRAP,    /* group stop, INTERRUPT, a step into a handler */
    PTRACE_AT_DEATH,   /* a fatal signal will end the group */
};

struct ptrace {
    struct task *task;     /* whose this is */
    struct task *tracer;   /* borrowed; NULL: not traced any more, goes when the task runs on */
    struct list_head link; /* task.tracees of the tracer */
    uint32_t options;      /* LX_PTRACE_O_* */
    bool seized;
    bool trace_calls, emulate, step; /* how it was let go: SYSCALL, SYSEMU, SINGLESTEP */
    bool emulated;                   /* the call in progress is not to be executed */
    bool trap_stop, trap_notify;     /* stop before guest code runs again (JOBCTL_TRAP_*) */
    int stop_signo;                  /* of the group stop that it is to take part in */
    bool stop_dequeued;              /* no SIGCONT came since the stop signal was taken */
    bool forced_tf;                  /* EFLAGS.TF is ours */
    bool exec_done;                  /* an execve is on its way to its event */
    bool exit_told;                  /* EVENT_EXIT was reported */
    bool seccomp_held;               /* on its way to EVENT_SECCOMP, with message */
    bool zombie;                     /* a thread that ended; its pid is kept for the wait */

    enum ptrace_at at;
    bool resumed;   /* let go, on the run queue */
    bool listening; /* LISTEN: stopped, but without answers */
    bool waitable;  /* not yet reported by wait */
    int code;       /* reported as code << 8 | 0x7f */
    int signo;      /* what the tracer wants to be delivered */
    bool has_info;
    struct lx_siginfo info;
    uint64_t message; /* GETEVENTMSG */
    uint64_t orig_rax;
    uint32_t exec_pid; /* exec_done: the id before it */
    int death_status;  /* AT_DEATH */
};

#define PTRACE_NO_CALL UINT64_MAX

/* Needs the definition of struct task. */
#define task_traced(t) (UNLIKELY((t)->ptrace != NULL) && (t)->ptrace->tracer != NULL)

/* -- ptrace_access.c: __ptrace_may_access ------------------------------------------------------ */

enum ptrace_mode {
    PTRACE_MODE_FSCREDS = 1,
    PTRACE_MODE_REALCREDS = 2
};
bool ptrace_may_access(const struct task *caller, const struct task *target, enum ptrace_mode mode);
/* TRACEME: whether a parent that was not asked has the capabilities for it. */
bool ptrace_may_be_tracer(const struct task *tracer, const struct task *t);
/* Memory of a tracee that has become undumpable since it was attached to. */
bool ptrace_may_copy(const struct task *tracer, const struct task *t);
/* A set-id program does not get its ids under this tracer. */
bool ptrace_forbids_setid(const struct task *t);

/* -- ptrace.c: links between tracer and tracee --------------------------------------------------
 */

/* -EPERM, -ENOMEM. attach: SIGSTOP is sent. */
int ptrace_traceme(struct task *t) MUST_CHECK;
int ptrace_attach(struct task *tracer, struct task *t, bool seize, uint32_t options) MUST_CHECK;
/* t is stopped or (at the end of its tracer) not. signo: what is delivered. */
void ptrace_detach(struct task *t, int signo);
/* The tracer ends. */
void ptrace_tracer_exit(struct task *t);
/* Whether a tracee that has just ended stays for its tracer's wait. */
bool ptrace_keep_zombie(struct task *t);
/* The zombie of a traced thread or leader was waited for. */
void ptrace_release_zombie(struct task *t);
/* The task goes: no trace of it is left at its tracer. */
void ptrace_forget(struct task *t);
/* SIGCHLD to the tracer for an ended tracee. */
void ptrace_notify_exit(struct task *t);
/* The stopped tracee goes on: request is CONT, SYSCALL, SINGLESTEP, SYSEMU... */
void ptrace_resume(struct task *t, int request, int signo);
void ptrace_interrupt(struct task *t);
/* LISTEN: false when it is not in a stop that can be listened from. */
bool ptrace_listen(struct task *t);
/* Requests that need a stopped tracee of this tracer. */
bool ptrace_is_stopped(const struct task *t);

/* -- ptrace_stop.c: where tracees stop, and how they go on --------------------------------------
 */

/* dispatch.c: a call came in. true: held back until its context arrives. */
bool ptrace_call_enter(struct task *t);
/* Its context is there. true: stopped. */
bool ptrace_call_context(struct task *t);
/* The call's result is known, in context. true: stopped. */
bool ptrace_call_exit(struct task *t, int64_t val);
/* t->regs were replaced by sigreturn or execve. true: stopped. */
bool ptrace_call_resumed(struct task *t);
/* In context, on the way to guest code: signals, stops, and on. */
void ptrace_finish(struct task *t, bool from_call, int64_t val);
/* The step of a tracer that is gone: not the program's trap. */
bool ptrace_stray_step(const struct task *t, int signo, int code);
/* The run queue has come to a task whose tracer let it go. */
void ptrace_run(struct task *t);
/* seccomp: RET_TRACE. true: the tracer decides. */
bool ptrace_seccomp(struct task *t, uint32_t data);
/* An event in a handler, which runs again when the tracer lets it. */
struct sys_res ptrace_event_in_call(struct task *t, int event, uint64_t message);
bool ptrace_event_wanted(const struct task *t, int event);
/* exit, exit_group: true, and *ret_res is what the handler returns, while the tracer has not seen
 * it. */
bool ptrace_exit_event(struct task *t, int status, struct sys_res *ret_res);
/* The tracee stopped for job control again: for INTERRUPT and SIGCONT while it listens. */
void ptrace_trap_again(struct task *t);

/* clone.c. prepare: before the child is made; *ret_event: the event to report, 0: none. */
int ptrace_clone_prepare(struct task *t, struct task *child, uint64_t flags, int exit_signal,
                         int *ret_event) MUST_CHECK;
void ptrace_clone_attach(struct task *t, struct task *child);
/* exec_task.c: the new image is in place; old_pid is the id the caller had. */
void ptrace_exec(struct task *t, uint32_t old_pid);

/* -- signal.c's side ----------------------------------------------------------------------------
 */

/* Something is to be done before the tracee runs guest code: stop, signal. */
bool ptrace_work_pending(const struct task *t);
/* The group of the tracee stops, or SIGCONT came. */
void ptrace_group_stop(struct task *t, int signo);
void ptrace_group_continue(struct task *t);

/* -- ptrace_regs.c: t is stopped ----------------------------------------------------------------
 */

void ptrace_get_regs(const struct task *t, struct lx_user_regs *ret_regs);
/* -EIO for values that no program can have; nothing has changed then. */
int ptrace_set_regs(struct task *t, const struct lx_user_regs *regs) MUST_CHECK;
/* The FXSAVE area, 512 bytes. */
int ptrace_get_fpregs(struct task *t, void *buf) MUST_CHECK;
int ptrace_set_fpregs(struct task *t, const void *buf) MUST_CHECK;
/* NT_X86_XSTATE: bytes, or -ENODEV where there is none. The buffer is borrowed until the next call.
 */
int64_t ptrace_get_xstate(struct task *t, const void **ret_buf) MUST_CHECK;
int ptrace_set_xstate(struct task *t, const void *buf, size_t len) MUST_CHECK;
/* code: LX_ARCH_SET_FS or LX_ARCH_SET_GS. */
int ptrace_set_base(struct task *t, int code, uint64_t base) MUST_CHECK;
