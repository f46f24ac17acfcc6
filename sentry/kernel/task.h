#pragma once
/*
 * Tasks (threads), thread groups (processes), process groups and sessions.
 *
 * A task is counted (task_get/put); the pid table holds one reference until it is reaped.
 * Everything is touched by the worker thread only.
 */
#include "lib/compiler.h"

#include "abi/rlimit.h"
#include "abi/signal.h"
#include "abi/types.h"

#include "platform/gate_policy.h"
#include "platform/platform.h"

#include "lib/list.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/signal.h"
#include "sentry/kernel/syscall.h"
#include "sentry/kernel/timer.h"
#include "sentry/kernel/waitqueue.h"

struct files;
struct fs_info;
struct mm;
struct file;
struct tty;
struct strace_state;
struct ptrace;

enum task_state {
    TASK_RUNNING, /* executes guest code (or is on its way back to it) */
    TASK_AT_GATE, /* its call is being handled right now */
    TASK_BLOCKED, /* parked in a call */
    TASK_STOPPED, /* job control stop; parked at the gate or in context */
    TASK_TRACED,  /* ptrace stop; parked in context (ptrace.h) */
    TASK_DEAD,    /* host thread gone; zombie until reaped if it is a group leader */
};

/* Progress of a call that blocked, zero at every fresh call. Handlers use the field of their topic.
 */
struct task_restart {
    bool active;       /* this is a re-run */
    uint64_t progress; /* bytes done so far by read/write/splice/... */
    uint64_t u[4];     /* free for the handler */
    void *ptr; /* owned object of the handler; freed by free_ptr when the call ends in any way */
    void (*free_ptr)(void *ptr);
};

/* What restart_syscall(2) resumes (nanosleep, poll, futex with relative timeouts). */
struct task_restart_block {
    sys_fn *fn;
    struct sys_args args;
    uint64_t deadline;
};

struct task {
    uint32_t ref;
    uint32_t pid; /* the thread id; equals group->pid for the first leader */
    struct thread_group *group;
    struct list_head group_link; /* thread_group.threads */
    struct list_head run_link;   /* run queue */
    struct plat_thread *pth;     /* NULL once dead */
    enum task_state state;

    struct mm *mm;       /* NULL once dead */
    struct files *files; /* NULL once dead */
    struct fs_info *fs;  /* NULL once dead */
    struct cred *cred;
    struct sighand *sighand;

    /* the call in progress */
    bool in_syscall;   /* a call waits for its answer */
    bool in_context;   /* registers are at hand (regs) and the thread waits in its context */
    bool want_context; /* a kick for the handler is on its way */
    bool kicked;       /* a kick or interrupt for signals is on its way */
    struct plat_regs regs;
    struct sys_args call;
    struct task_restart restart;
    struct task_restart_block restart_block;
    struct host_call host_call;
    int64_t pending_ret; /* result of the call while a kick for signal delivery is on its way */
    bool interrupted;    /* re-run because of a signal */
    bool yielded;        /* blocked only to let others have a turn (task_yield) */
    bool has_deadline, timed_out;
    struct timer deadline;
    struct list_head waits; /* pool entries of this task that are queued somewhere */

    /* signals */
    uint64_t blocked, saved_blocked;
    bool restore_blocked; /* saved_blocked is to be restored at return */
    struct sigpending pending;
    struct lx_stack altstack;

    /* thread details */
    char comm[16];
    gaddr_t clear_child_tid, robust_list, tls, gs_base;
    uint64_t robust_list_len;
    int pdeath_signal;
    bool no_new_privs;
    uint8_t seccomp_mode;           /* LX_SECCOMP_MODE_* */
    struct seccomp_filter *seccomp; /* counted, NULL: none */
    int exit_code;                  /* wait status */
    bool exiting;
    uint32_t personality;
    uint64_t start_time;       /* monotonic ns */
    struct task *vfork_parent; /* borrowed: parked until we exec or exit */
    bool vfork_done;
    int nice, policy, rt_priority, ioprio;
    uint64_t affinity;
    uint64_t timer_slack, timer_slack_default;
    struct strace_state *strace;
    uint64_t nsyscalls;
    struct ptrace *ptrace;    /* owned; NULL: not traced */
    struct list_head tracees; /* ptrace.link */
    bool call_held;           /* the call has not begun: its tracer wants its context */
};

enum group_stop {
    GROUP_RUNNING,
    GROUP_STOPPED
};

struct thread_group {
    uint32_t ref;
    uint32_t pid;
    struct task *leader; /* counted */
    struct list_head threads;
    uint32_t nthreads;           /* live ones */
    uint32_t traced_zombies;     /* ended threads that their tracers have not waited for */
    uint32_t maker_pid;          /* the thread of the parent that made the group */
    struct thread_group *parent; /* NULL only for the sandbox's first process and orphans of init */
    struct list_head children, sibling;
    struct list_head all_link;   /* kernel.groups */
    struct list_head fatal_link; /* a fatal signal arrived: ended at the next safe point */
    struct pgrp *pgrp;           /* counted */
    struct list_head pgrp_link;
    struct sigpending shared_pending;
    uint32_t nqueued;              /* signals in the queues of the group and its threads */
    struct wait_queue signal_wait; /* signal queued for the group */
    struct wait_queue child_wait;  /* a child changed state: for wait4 of this group */
    struct wait_queue exit_wait;   /* this group became a zombie (pidfd poll) */
    struct lx_rlimit rlimit[16];
    enum group_stop stop;
    bool stop_reported, cont_pending; /* for WUNTRACED / WCONTINUED */
    int stop_signal;
    bool zombie, group_exiting;
    int exit_code;   /* wait status, set once */
    int exit_signal; /* to the parent at exit; 0: none */
    bool child_subreaper, dumpable, has_execed, thp_disabled;
    uint64_t cpu_dead;                /* ns of CPU of ended threads and earlier images */
    uint64_t cpu_children;            /* of reaped children */
    uint64_t maxrss, maxrss_children; /* KiB: largest address space seen, of reaped children */
    uint64_t start_time;
    struct timer cpu_limit; /* next look at RLIMIT_CPU (cpu_limit.c) */
    struct timer itimer_real;
    uint64_t itimer_real_interval;
    struct list_head posix_timers;
    uint32_t next_timer_id;
    int oom_score_adj; /* what /proc/PID/oom_score_adj was told; inherited by fork */
};

struct pgrp {
    uint32_t ref;
    uint32_t id;
    struct session *session;  /* counted */
    struct list_head members; /* thread_group.pgrp_link */
    struct list_head all_link;
};

struct session {
    uint32_t ref;
    uint32_t id;
    struct tty *tty;          /* controlling terminal, counted by the tty layer; or NULL */
    uint32_t foreground_pgid; /* of tty */
};

struct task *task_get(struct task *t);
void task_put(struct task *t);
/* Borrowed pointers, NULL when there is none. */
struct task *task_by_pid(uint32_t pid);
struct thread_group *thread_group_by_pid(uint32_t pid);
struct pgrp *pgrp_by_id(uint32_t pgid);
struct thread_group *thread_group_get(struct thread_group *tg);
void thread_group_put(struct thread_group *tg);

/* Iteration over all live and zombie groups, in pid order of creation (proc): NULL-terminated. */
struct thread_group *thread_group_first(void);
struct thread_group *thread_group_next(struct thread_group *tg);

/* Puts a blocked task on the run queue: its handler runs again. */
void task_wake(struct task *t);

/* Kernel code that must end everything of a group: exit_group semantics, status is a wait status.
 */
void thread_group_exit(struct thread_group *tg, int status);

static inline struct lx_rlimit *task_rlimit(const struct task *t, int resource)
{
    return &t->group->rlimit[resource];
}

/* One letter of /proc/PID/stat: R S D T t Z. */
char task_state_letter(const struct task *t);
/* ns of CPU time, live and dead threads. */
uint64_t thread_group_cputime(const struct thread_group *tg);
/* KiB that are likely to be resident (mm_resident). */
uint64_t thread_group_rss(const struct thread_group *tg);
uint64_t task_cputime(const struct task *t);
