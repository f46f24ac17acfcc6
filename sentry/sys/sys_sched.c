/*
 * sys_sched.c: scheduling calls. Priorities and policies are remembered and reported, they do not
 * change how the host schedules guest threads; affinity is remembered too.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/sched.h"
#include "abi/time.h"

#include "sentry/host/host.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

static struct task *task_or_self(struct task *t, int pid)
{
    if (pid == 0)
        return t;
    /* A zombie still has what it had. */
    return pid > 0 ? task_by_pid((uint32_t)pid) : NULL;
}

static bool may_change(const struct task *t, const struct task *other)
{
    return t->cred->euid == other->cred->euid || t->cred->euid == other->cred->uid ||
           cred_capable(t->cred, LX_CAP_SYS_NICE);
}

struct sys_res sys_sched_yield(struct task *t, const struct sys_args *a)
{
    (void)t;
    (void)a;
    return sys_ret(0);
}

static bool policy_realtime(int policy)
{
    return policy == LX_SCHED_FIFO || policy == LX_SCHED_RR;
}

static int sched_set(struct task *t, struct task *other, int policy, int priority)
{
    int base = policy & ~LX_SCHED_RESET_ON_FORK;
    if (base != LX_SCHED_NORMAL && base != LX_SCHED_BATCH && base != LX_SCHED_IDLE &&
        !policy_realtime(base))
        return -EINVAL;
    if (policy_realtime(base) ? priority < 1 || priority > 99 : priority != 0)
        return -EINVAL;
    if (!may_change(t, other) || (policy_realtime(base) && !cred_capable(t->cred, LX_CAP_SYS_NICE)))
        return -EPERM;
    other->policy = policy;
    other->rt_priority = priority;
    return 0;
}

struct sys_res sys_sched_setscheduler(struct task *t, const struct sys_args *a)
{
    struct lx_sched_param p;
    int policy = sys_int(a, 1);
    if (gaddr_is_null(sys_addr(a, 2)) || policy < 0 || sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    if (get_user(t, &p, sys_addr(a, 2)) < 0)
        return sys_ret(-EFAULT);
    struct task *other = task_or_self(t, sys_int(a, 0));
    return sys_ret(other == NULL ? -ESRCH : sched_set(t, other, policy, p.sched_priority));
}

struct sys_res sys_sched_getscheduler(struct task *t, const struct sys_args *a)
{
    if (sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    struct task *other = task_or_self(t, sys_int(a, 0));
    return sys_ret(other == NULL ? -ESRCH : other->policy);
}

struct sys_res sys_sched_setparam(struct task *t, const struct sys_args *a)
{
    struct lx_sched_param p;
    if (gaddr_is_null(sys_addr(a, 1)) || sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    if (get_user(t, &p, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    struct task *other = task_or_self(t, sys_int(a, 0));
    return sys_ret(other == NULL ? -ESRCH : sched_set(t, other, other->policy, p.sched_priority));
}

struct sys_res sys_sched_getparam(struct task *t, const struct sys_args *a)
{
    if (gaddr_is_null(sys_addr(a, 1)) || sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (other == NULL)
        return sys_ret(-ESRCH);
    struct lx_sched_param p = {other->rt_priority};
    return sys_ret(put_user(t, sys_addr(a, 1), &p));
}

struct sys_res sys_sched_get_priority_max(struct task *t, const struct sys_args *a)
{
    int policy = sys_int(a, 0);
    (void)t;
    if (policy_realtime(policy))
        return sys_ret(99);
    bool known = policy == LX_SCHED_NORMAL || policy == LX_SCHED_BATCH || policy == LX_SCHED_IDLE ||
                 policy == LX_SCHED_DEADLINE;
    return sys_ret(known ? 0 : -EINVAL);
}

struct sys_res sys_sched_get_priority_min(struct task *t, const struct sys_args *a)
{
    struct sys_res r = sys_sched_get_priority_max(t, a);
    return sys_ret(r.val == 99 ? 1 : r.val);
}

struct sys_res sys_sched_rr_get_interval(struct task *t, const struct sys_args *a)
{
    if (sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (other == NULL)
        return sys_ret(-ESRCH);
    struct lx_timespec ts = {0, other->policy == LX_SCHED_RR ? 100000000 : 4000000};
    if (other->policy == LX_SCHED_FIFO)
        ts.tv_nsec = 0;
    return sys_ret(put_user(t, sys_addr(a, 1), &ts));
}

static uint64_t cpu_mask_all(void)
{
    uint32_t n = host_ncpus();
    return n >= 64 ? UINT64_MAX : (1ull << n) - 1;
}

struct sys_res sys_sched_setaffinity(struct task *t, const struct sys_args *a)
{
    uint64_t mask = 0;
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (copy_from_user(t, &mask, sys_addr(a, 2), MIN((size_t)sys_uint(a, 1), sizeof(mask))) < 0)
        return sys_ret(-EFAULT);
    if (other == NULL)
        return sys_ret(-ESRCH);
    if (!may_change(t, other))
        return sys_ret(-EPERM);
    if ((mask & cpu_mask_all()) == 0)
        return sys_ret(-EINVAL);
    other->affinity = mask & cpu_mask_all();
    return sys_ret(0);
}

struct sys_res sys_sched_getaffinity(struct task *t, const struct sys_args *a)
{
    uint32_t len = sys_uint(a, 1);
    if (len < 8 || (len & 7) != 0)
        return sys_ret(-EINVAL);
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (other == NULL)
        return sys_ret(-ESRCH);
    uint64_t mask = other->affinity & cpu_mask_all();
    if (put_user(t, sys_addr(a, 2), &mask) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(8);
}

struct sys_res sys_sched_setattr(struct task *t, const struct sys_args *a)
{
    struct lx_sched_attr attr = {0};
    uint32_t size;
    if (gaddr_is_null(sys_addr(a, 1)) || sys_int(a, 0) < 0 || sys_uint(a, 2) != 0)
        return sys_ret(-EINVAL);
    if (get_user(t, &size, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (size == 0)
        size = LX_SCHED_ATTR_SIZE_VER0;
    if (size < LX_SCHED_ATTR_SIZE_VER0 || size > 4096)
        return sys_ret(-E2BIG);
    int r = copy_struct_from_user(t, &attr, sizeof(attr), sys_addr(a, 1), size);
    if (r < 0)
        return sys_ret(r);
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (other == NULL)
        return sys_ret(-ESRCH);
    r = sched_set(t, other, (int)attr.sched_policy, (int)attr.sched_priority);
    if (r == 0 && attr.sched_nice >= other->nice)
        other->nice = MIN(attr.sched_nice, LX_MAX_NICE);
    return sys_ret(r);
}

struct sys_res sys_sched_getattr(struct task *t, const struct sys_args *a)
{
    uint32_t size = sys_uint(a, 2);
    if (gaddr_is_null(sys_addr(a, 1)) || sys_int(a, 0) < 0 || size < LX_SCHED_ATTR_SIZE_VER0 ||
        size > 4096 || sys_uint(a, 3) != 0)
        return sys_ret(-EINVAL);
    struct task *other = task_or_self(t, sys_int(a, 0));
    if (other == NULL)
        return sys_ret(-ESRCH);
    struct lx_sched_attr attr = {
        .size = MIN(size, (uint32_t)sizeof(attr)),
        .sched_policy = (uint32_t)other->policy,
        .sched_nice = other->nice,
        .sched_priority = (uint32_t)other->rt_priority,
    };
    return sys_ret(copy_to_user(t, sys_addr(a, 1), &attr, attr.size));
}

/* -- nice values ------------------------------------------------------------------------------- */

static int nice_change(const struct task *t, struct task *other, int nice)
{
    nice = MAX(MIN(nice, LX_MAX_NICE), LX_MIN_NICE);
    if (!may_change(t, other))
        return -EPERM;
    if (nice < other->nice && !cred_capable(t->cred, LX_CAP_SYS_NICE))
        return -EACCES;
    other->nice = nice;
    return 0;
}

/* What is done to every task that (which, who) names. */
struct prio_walk {
    struct task *caller;
    void (*visit)(struct prio_walk *w, struct task *other);
    int value, result;
};

static void nice_get(struct prio_walk *w, struct task *other)
{
    w->result = MAX(w->result, 20 - other->nice);
}

static void nice_set(struct prio_walk *w, struct task *other)
{
    int r = nice_change(w->caller, other, w->value);
    w->result = w->result == -ESRCH || r < 0 ? r : w->result;
}

static void prio_walk(struct prio_walk *w, int which, uint32_t who)
{
    struct thread_group *tg;
    struct task *other;
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        if (tg->leader == NULL || tg->zombie)
            continue;
        if (which == LX_PRIO_PGRP && (tg->pgrp == NULL || tg->pgrp->id != who))
            continue;
        if (which == LX_PRIO_USER && tg->leader->cred->uid != who)
            continue;
        list_for_each_entry (other, &tg->threads, group_link)
            w->visit(w, other);
    }
}

static struct sys_res do_priority(int which, int who, struct prio_walk *w)
{
    struct task *t = w->caller;
    w->result = -ESRCH;
    switch (which) {
    case LX_PRIO_PROCESS: {
        struct task *other = task_or_self(t, who);
        if (other != NULL)
            w->visit(w, other);
        break;
    }
    case LX_PRIO_PGRP:
        prio_walk(w, which, who == 0 ? t->group->pgrp->id : (uint32_t)who);
        break;
    case LX_PRIO_USER:
        prio_walk(w, which, who == 0 ? t->cred->uid : (uint32_t)who);
        break;
    default:
        return sys_ret(-EINVAL);
    }
    return sys_ret(w->result);
}

struct sys_res sys_getpriority(struct task *t, const struct sys_args *a)
{
    struct prio_walk w = {.caller = t, .visit = nice_get};
    return do_priority(sys_int(a, 0), sys_int(a, 1), &w);
}

struct sys_res sys_setpriority(struct task *t, const struct sys_args *a)
{
    struct prio_walk w = {.caller = t, .visit = nice_set, .value = sys_int(a, 2)};
    return do_priority(sys_int(a, 0), sys_int(a, 1), &w);
}

/* -- I/O priority: which is numbered one higher, otherwise the same walk ------------------------
 */

static void io_get(struct prio_walk *w, struct task *other)
{
    w->result = w->result == -ESRCH ? other->ioprio : MIN(w->result, other->ioprio);
}

static void io_set(struct prio_walk *w, struct task *other)
{
    int r = may_change(w->caller, other) ? 0 : -EPERM;
    if (r == 0)
        other->ioprio = w->value;
    w->result = w->result == -ESRCH || r < 0 ? r : w->result;
}

static int ioprio_check(const struct task *t, int value)
{
    switch (value >> LX_IOPRIO_CLASS_SHIFT) {
    case 0:
        return (value & 7) == 0 ? 0 : -EINVAL;
    case LX_IOPRIO_CLASS_RT:
        if (!cred_capable(t->cred, LX_CAP_SYS_ADMIN) && !cred_capable(t->cred, LX_CAP_SYS_NICE))
            return -EPERM;
        return 0;
    case LX_IOPRIO_CLASS_BE:
    case LX_IOPRIO_CLASS_IDLE:
        return 0;
    default:
        return -EINVAL;
    }
}

/* The words of ioprio_get(2) begin at 1, those of getpriority(2) at 0; any number may be asked. */
static int io_which(const struct sys_args *a)
{
    return (int)((uint32_t)sys_int(a, 0) - 1);
}

struct sys_res sys_ioprio_get(struct task *t, const struct sys_args *a)
{
    struct prio_walk w = {.caller = t, .visit = io_get};
    return do_priority(io_which(a), sys_int(a, 1), &w);
}

struct sys_res sys_ioprio_set(struct task *t, const struct sys_args *a)
{
    struct prio_walk w = {.caller = t, .visit = io_set, .value = sys_int(a, 2)};
    int r = ioprio_check(t, w.value);
    return r < 0 ? sys_ret(r) : do_priority(io_which(a), sys_int(a, 1), &w);
}

struct sys_res sys_getcpu(struct task *t, const struct sys_args *a)
{
    /* One that the task may run on: which one it is, the host does not say. */
    uint64_t allowed = t->affinity & cpu_mask_all();
    const uint32_t v[2] = {allowed != 0 ? (uint32_t)__builtin_ctzll(allowed) : 0, 0};
    for (int i = 0; i < 2; i++) {
        if (!gaddr_is_null(sys_addr(a, i)) && put_user(t, sys_addr(a, i), &v[i]) < 0)
            return sys_ret(-EFAULT);
    }
    return sys_ret(0);
}
