#pragma once
/*
 * The contract between dispatch and the syscall handlers (docs/writing-a-syscall.md).
 *
 * A handler gets the calling task and its six raw arguments. It copies in and checks everything,
 * then acts, then says how the call ends. A handler that returns SYS_BLOCK runs again from the top
 * when it is woken: nothing may have taken effect before, or its progress is in t->restart.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/types.h"

struct task;
struct host_call;

struct sys_args {
    uint64_t v[6];
    uint64_t nr;
    uint64_t ip; /* address after the syscall instruction */
};

enum sys_kind {
    SYS_RET,    /* the call returns val (a value, -errno, or -ERESTART* when a signal is pending) */
    SYS_BLOCK,  /* parked: run the handler again on wake-up, deadline or signal (see task_block) */
    SYS_HOST,   /* the host executes the call itself: t->host_call, made by gate_policy.h */
    SYS_KICK,   /* run the handler again with the thread's registers at hand (t->in_context) */
    SYS_RESUME, /* t->regs were replaced (sigreturn, execve): go on with them, no return value */
    SYS_GONE,   /* the task has ended, or somebody else answers: dispatch must not touch it again */
};

struct sys_res {
    enum sys_kind kind;
    int64_t val;
};

typedef struct sys_res sys_fn(struct task *t, const struct sys_args *a);

static inline struct sys_res sys_ret(int64_t val)
{
    return (struct sys_res){SYS_RET, val};
}

/* Argument access: unsigned 64 bits, C int, guest address. */
static inline int sys_int(const struct sys_args *a, int i)
{
    return (int)(uint32_t)a->v[i];
}
static inline uint32_t sys_uint(const struct sys_args *a, int i)
{
    return (uint32_t)a->v[i];
}
static inline gaddr_t sys_addr(const struct sys_args *a, int i)
{
    return (gaddr_t){a->v[i]};
}

/*
 * The call would block. Parks the task (the caller has registered on wait queues with
 * task_wait_on and/or set a deadline with task_set_deadline); or, if a signal is to be handled,
 * returns SYS_RET with intr (-EINTR, -ERESTARTSYS, -ERESTARTNOHAND or -ERESTART_RESTARTBLOCK).
 * Use as: return task_block(t, -ERESTARTSYS);
 */
struct sys_res task_block(struct task *t, int intr);

/* As task_block, but signals only make the handler run again (vfork): only death ends the wait. */
struct sys_res task_block_killable(struct task *t);

/*
 * The handler has done enough for one go (about 10 ms): it runs again, from its own progress in
 * t->restart, after everybody else had a turn. With a signal pending: SYS_RET with intr. Not for
 * calls that use the deadline.
 */
struct sys_res task_yield(struct task *t, int intr);
/* As task_yield, but signals are no reason to end early. */
struct sys_res task_yield_killable(struct task *t);

/* SYS_HOST with a copy of *call. */
struct sys_res sys_host(struct task *t, const struct host_call *call);
