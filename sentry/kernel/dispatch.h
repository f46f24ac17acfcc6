#pragma once
/*
 * dispatch.h: what the files of sentry/kernel share about calls, contexts and the run queue.
 *
 * A task at the gate leaves it through exactly one of: dispatch_return (a value), dispatch_resume
 * (replaced registers), the host (SYS_HOST) or its end.
 */
#include "lib/compiler.h"

#include "sentry/kernel/task.h"

struct plat_event;

/* One event of the platform. */
void dispatch_event(const struct plat_event *ev);
/* Runs everything that was woken and every deferred end, until nothing is left. */
void dispatch_run_queue(void);
/* Queues a task that a job control stop, or its tracer, held back. */
void dispatch_continue(struct task *t);
/* The call in progress ended in whatever way: drops waits, deadline and restart state. */
void task_call_done(struct task *t);
void task_cancel_waits(struct task *t);
/* Starts a new task whose thread is in context. */
void dispatch_start(struct task *t);
/* For ptrace_stop.c, in context: the call in t->call begins (its seccomp filters have had their
 * say: after_seccomp), runs again, returns val; signals and on; on without another look. */
void dispatch_call(struct task *t, bool after_seccomp);
void dispatch_rerun(struct task *t);
void dispatch_return(struct task *t, int64_t val);
void dispatch_finish(struct task *t, bool from_call, int64_t val);
void dispatch_leave(struct task *t);

/* signal.c / sigframe.c */
/* What is to be done before t runs guest code again. */
enum signal_work {
    SIGNAL_NONE,    /* nothing */
    SIGNAL_HANDLER, /* a handler must be entered: the registers are needed */
    SIGNAL_STOP,    /* hold the task */
    SIGNAL_GONE,    /* the group ended */
};
enum signal_work signal_resolve(struct task *t);
/* Enters the handlers of all pending signals on t->regs; from_call: a call with result val is
 * ending. */
void signal_deliver(struct task *t, bool from_call, int64_t val);
/* The pieces of it that ptrace_stop.c puts together otherwise: what the interrupted call leaves in
 * the registers, without a handler or with one of these flags; entering the handler. */
void signal_call_result(struct task *t, int64_t val);
void signal_call_result_with_handler(struct task *t, int64_t val, uint64_t sa_flags);
void signal_enter_handler(struct task *t, int signo, const struct lx_siginfo *info);
/* What a signal that was taken off its queue does to t. */
enum signal_act {
    SIGNAL_ACT_NONE,
    SIGNAL_ACT_HANDLER,
    SIGNAL_ACT_STOP,
    SIGNAL_ACT_DIE
};
enum signal_act signal_action(const struct task *t, int signo);
void signal_group_stop(struct thread_group *tg, int signo);
/* A fault of t's own instruction: cannot be blocked or ignored. */
void signal_force(struct task *t, const struct lx_siginfo *info);
/* Builds the frame of one handler on t->regs; false: the stack is not writable (SIGSEGV was
 * forced). */
bool sigframe_push(struct task *t, const struct lx_sigaction *act, const struct lx_siginfo *info);
void signal_notify_task(struct task *t);
/* What signal_dequeue would take; 0: none. */
int signal_next(struct task *t, uint64_t set);
void sigpending_init(struct sigpending *p);
void sigpending_flush(struct sigpending *p);
/* Takes the signals of set back. */
void sigpending_remove(struct sigpending *p, uint64_t set);
/* Of tg, whose limit counts. timer: the one that sends it, or NULL. -EAGAIN: the queue is full. */
int sigpending_add(struct sigpending *p, struct thread_group *tg, const struct lx_siginfo *info,
                   struct posix_timer *timer) MUST_CHECK;
/* What comes first of a set that is not empty: synchronous signals, then by number. */
int sigset_first(uint64_t set);
struct sighand *sighand_new(void);
struct sighand *sighand_dup(const struct sighand *from);
void sighand_put(struct sighand *sh);
void sighand_reset_caught(struct sighand *sh);
/* Ends the groups that a fatal signal has reached. */
void signal_run_fatal(void);

/* exit.c */
void task_exit(struct task *t, int status);
void thread_group_reap(struct thread_group *tg);
/* Drops everything a task owns but its identity; its host thread is gone or going. */
void task_release_resources(struct task *t);
void vfork_done(struct task *t);
/* Ends every thread of keep's group but keep (execve). */
void thread_group_kill_others(struct task *keep);
void thread_group_notify_parent(struct thread_group *tg, int signo, int code, int status);
/* Nothing holds the zombie back any more: whoever waits for it is told, or it goes. */
void thread_group_zombie_ready(struct thread_group *tg);

/* task.c, thread_group.c */
int task_new(struct thread_group *tg, struct task **ret_t) MUST_CHECK;
int thread_group_new(struct thread_group **ret_tg) MUST_CHECK;
void task_link(struct task *t, struct thread_group *tg);
int pid_alloc(struct task *t) MUST_CHECK;
void pid_set(uint32_t pid, struct task *t);
void pid_free(uint32_t pid);
/* The id that was given out last; the next one is searched from there on. */
uint32_t pid_last_used(void);
bool pid_set_last(uint32_t pid);
void pid_table_reset(void);
void task_set_comm(struct task *t, const char *name);

/* session.c */
int session_new(struct thread_group *tg) MUST_CHECK;
int pgrp_join(struct thread_group *tg, uint32_t pgid) MUST_CHECK;
void pgrp_leave(struct thread_group *tg);
bool pgrp_is_orphaned(const struct pgrp *pg, const struct thread_group *ignore);
/* The end of a process may orphan its own group, and those of its children (once they have a new
 * parent). */
void session_check_orphans(struct thread_group *exiting);
void session_check_orphan(struct thread_group *child, const struct thread_group *exiting);

/* futex.c */
void futex_exit_robust(struct task *t);
/* The PI locks of a thread that ends go to those who wait for them. */
void futex_exit_pi(struct task *t);
int futex_wake_addr(struct task *t, gaddr_t addr, bool shared, uint32_t n);

/* thread_group.c: SIGALRM of the group is delivered: the next period of setitimer starts. */
void itimer_real_taken(struct thread_group *tg);
/* posix_timer.c */
void posix_timers_exit(struct thread_group *tg);
/* Exec: timers of timer_create go, interval timers stay. */
void posix_timers_exec(struct thread_group *tg);
/* The signal of pt has been put into a queue, is delivered, has left the queue in whatever way. */
void posix_timer_queued(struct posix_timer *pt);
void posix_timer_delivered(struct posix_timer *pt, struct lx_siginfo *info);
void posix_timer_dequeued(struct posix_timer *pt);

/* POSIX timers queue at most one signal each; the timer is told when it is taken. */
int signal_send_timer(struct thread_group *tg, struct task *only, const struct lx_siginfo *info,
                      struct posix_timer *timer);
void signal_forget_timer(struct thread_group *tg, const struct posix_timer *timer);
