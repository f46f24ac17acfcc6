/*
 * task.c: task objects and the pid table.
 *
 * A pid names a task (thread). The table is an array indexed by pid; it holds one reference of the
 * task until the task is reaped. Process group and session ids live on their own (session.c) and
 * keep their numbers from being handed out again.
 */
#include "sentry/kernel/task.h"

#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/sys/strace.h"

enum {
    PID_MAX = 32768,
    PID_RESERVED = 300
};

static struct task *pid_table[PID_MAX];
static uint32_t pid_last;
static uint32_t pids_used;

struct task *task_get(struct task *t)
{
    t->ref++;
    return t;
}

void task_put(struct task *t)
{
    if (t == NULL || --t->ref != 0)
        return;
    KASSERT(t->pth == NULL && t->mm == NULL && list_empty(&t->tracees));
    ptrace_forget(t);
    cred_put(t->cred);
    seccomp_filter_put(t->seccomp);
    sighand_put(t->sighand);
    sigpending_flush(&t->pending);
    timer_cancel(&t->deadline);
    thread_group_put(t->group);
    strace_gone(t);
    kfree(t);
}

static bool pid_in_use(uint32_t pid)
{
    return pid_table[pid] != NULL || pgrp_by_id(pid) != NULL;
}

int pid_alloc(struct task *t)
{
    if (pids_used >= PID_MAX - 1)
        return -EAGAIN;
    uint32_t pid = pid_last;
    for (uint32_t i = 0; i < PID_MAX; i++) {
        pid = pid + 1 >= PID_MAX ? PID_RESERVED : pid + 1;
        if (!pid_in_use(pid)) {
            pid_last = pid;
            t->pid = pid;
            pid_table[pid] = task_get(t);
            pids_used++;
            return 0;
        }
    }
    return -EAGAIN;
}

uint32_t pid_last_used(void)
{
    return pid_last;
}

bool pid_set_last(uint32_t pid)
{
    if (pid >= PID_MAX)
        return false;
    pid_last = pid;
    return true;
}

void pid_set(uint32_t pid, struct task *t)
{
    pid_table[pid] = t;
}

void pid_free(uint32_t pid)
{
    struct task *t = pid_table[pid];
    if (t == NULL)
        return;
    pid_table[pid] = NULL;
    pids_used--;
    task_put(t);
}

struct task *task_by_pid(uint32_t pid)
{
    return pid < PID_MAX ? pid_table[pid] : NULL;
}

struct thread_group *thread_group_by_pid(uint32_t pid)
{
    struct task *t = task_by_pid(pid);
    return t != NULL && t->group->pid == pid ? t->group : NULL;
}

void pid_table_reset(void)
{
    memset(pid_table, 0, sizeof(pid_table));
    pid_last = 0;
    pids_used = 0;
}

static void task_deadline_fire(struct timer *tm)
{
    struct task *t = container_of(tm, struct task, deadline);
    t->timed_out = true;
    task_wake(t);
}

int task_new(struct thread_group *tg, struct task **ret_t)
{
    struct task *t = kalloc(sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->ref = 1;
    t->group = thread_group_get(tg);
    list_init(&t->group_link);
    list_init(&t->run_link);
    list_init(&t->waits);
    list_init(&t->tracees);
    sigpending_init(&t->pending);
    timer_init(&t->deadline, task_deadline_fire);
    t->state = TASK_AT_GATE;
    t->altstack.ss_flags = LX_SS_DISABLE;
    t->start_time = clock_monotonic();
    t->affinity = UINT64_MAX;
    t->timer_slack = t->timer_slack_default = 50000;
    *ret_t = t;
    return 0;
}

/* Makes t a live thread of tg; cannot fail. */
void task_link(struct task *t, struct thread_group *tg)
{
    list_add_tail(&tg->threads, &t->group_link);
    tg->nthreads++;
    if (tg->leader == NULL)
        tg->leader = task_get(t);
}

void task_set_comm(struct task *t, const char *name)
{
    size_t n = strnlen(name, sizeof(t->comm) - 1);
    memset(t->comm, 0, sizeof(t->comm));
    memcpy(t->comm, name, n);
}

char task_state_letter(const struct task *t)
{
    switch (t->state) {
    case TASK_RUNNING:
    case TASK_AT_GATE:
        return t->group->stop == GROUP_STOPPED ? 'T' : 'R';
    case TASK_BLOCKED:
        return t->group->stop == GROUP_STOPPED ? 'T' : 'S';
    case TASK_STOPPED:
        return 'T';
    case TASK_TRACED:
        return 't';
    case TASK_DEAD:
    default:
        return 'Z';
    }
}

uint64_t task_cputime(const struct task *t)
{
    return t->pth != NULL ? plat_ops->thread_cputime(t->pth) : 0;
}
