/*
 * sys_sem.c: System V semaphores (semget(2), semop(2), semctl(2)).
 *
 * An operation array is tried on a copy of the values: either all of it applies, or the caller
 * waits until something of the set changes and tries again. SEM_UNDO adjustments hang at the set,
 * by process, and are applied when the process ends (ipc_exit).
 */
#include "lib/compiler.h"

#include <inttypes.h>
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/buf.h"
#include "lib/list.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct sem_undo {
    struct list_head link; /* sem_set.undos */
    uint32_t pid;
    int16_t adjust[];
};

/* The restart object of a task that waits: what it waits for. */
struct sem_waiter {
    struct list_head link; /* sem_set.waiters */
    uint16_t num;
    bool zero;
};

struct sem_set {
    struct ipc_object ipc;
    struct list_head undos;
    struct list_head waiters;
    struct wait_queue wait;
    int64_t otime, ctime;
    uint32_t n;
    struct {
        uint16_t value;
        uint32_t pid;
    } sems[];
};

static struct ipc_table sets;

static struct sem_set *set_of(int32_t id)
{
    return (struct sem_set *)(void *)ipc_find(&sets, id);
}

static size_t set_charge(uint32_t n)
{
    return sizeof(struct sem_set) + (size_t)n * 8;
}

struct sys_res sys_semget(struct task *t, const struct sys_args *a)
{
    struct ipc_object *o;
    int n = sys_int(a, 1);
    if (n < 0 || n > LX_SEMMSL)
        return sys_ret(-EINVAL);
    int r = ipc_lookup_key(&sets, t, sys_int(a, 0), sys_int(a, 2), &o);
    if (r == 0)
        return sys_ret((uint32_t)n > ((struct sem_set *)(void *)o)->n ? -EINVAL : o->id);
    if (r < 0)
        return sys_ret(r);
    if (n == 0)
        return sys_ret(-EINVAL);
    if (limit_charge(LIMIT_IPC, set_charge((uint32_t)n)) < 0)
        return sys_ret(-ENOSPC);
    struct sem_set *s = kalloc(sizeof(*s) + (size_t)n * sizeof(s->sems[0]));
    r = s == NULL ? -ENOMEM : ipc_add(&sets, t, sys_int(a, 0), sys_int(a, 2), &s->ipc);
    if (r < 0) {
        kfree(s);
        limit_release(LIMIT_IPC, set_charge((uint32_t)n));
        return sys_ret(r);
    }
    s->n = (uint32_t)n;
    list_init(&s->undos);
    list_init(&s->waiters);
    wait_queue_init(&s->wait);
    s->ctime = ipc_seconds();
    return sys_ret(s->ipc.id);
}

static size_t undo_size(const struct sem_set *s)
{
    return sizeof(struct sem_undo) + s->n * sizeof(int16_t);
}

static void undo_free(struct sem_set *s, struct sem_undo *u)
{
    list_del_init(&u->link);
    limit_release(LIMIT_IPC, undo_size(s));
    kfree(u);
}

static void set_remove(struct sem_set *s)
{
    struct sem_undo *u, *tmp;
    ipc_remove(&sets, &s->ipc);
    wait_queue_done(&s->wait);
    while (!list_empty(&s->waiters))
        list_del_init(s->waiters.next);
    list_for_each_entry_safe (u, tmp, &s->undos, link)
        undo_free(s, u);
    limit_release(LIMIT_IPC, set_charge(s->n));
    kfree(s);
}

static struct sem_undo *undo_of(struct sem_set *s, uint32_t pid, bool make)
{
    struct sem_undo *u;
    list_for_each_entry (u, &s->undos, link) {
        if (u->pid == pid)
            return u;
    }
    if (!make)
        return NULL;
    if (limit_charge(LIMIT_IPC, undo_size(s)) < 0)
        return NULL;
    u = kalloc(undo_size(s));
    if (u == NULL) {
        limit_release(LIMIT_IPC, undo_size(s));
        return NULL;
    }
    u->pid = pid;
    list_add_tail(&s->undos, &u->link);
    return u;
}

static uint16_t value_kept(int v)
{
    return v < 0 ? 0 : v > LX_SEMVMX ? LX_SEMVMX : (uint16_t)v;
}

void ipc_exit(struct thread_group *tg)
{
    for (int i = 0; i < IPC_SLOTS && sets.count > 0; i++) {
        struct sem_set *s = (struct sem_set *)(void *)sets.slots[i];
        struct sem_undo *u = s != NULL ? undo_of(s, tg->pid, false) : NULL;
        if (u == NULL)
            continue;
        for (uint32_t j = 0; j < s->n; j++)
            s->sems[j].value = value_kept(s->sems[j].value + u->adjust[j]);
        undo_free(s, u);
        wait_queue_wake(&s->wait, 0);
    }
}

enum {
    OPS_MAX = 500
};

/* 0: applied; 1: must wait (*ret_at: the operation that does); -errno. */
static int ops_try(const struct lx_sembuf *ops, uint32_t n, uint16_t *values,
                   const struct lx_sembuf **ret_at)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t *v = &values[ops[i].sem_num];
        *ret_at = &ops[i];
        if (ops[i].sem_op == 0) {
            if (*v != 0)
                return 1;
            continue;
        }
        int next = *v + ops[i].sem_op;
        if (next < 0)
            return 1;
        if (next > LX_SEMVMX)
            return -ERANGE;
        *v = (uint16_t)next;
    }
    return 0;
}

/* All adjustments or none: -ERANGE. */
static int undo_adjust(struct sem_undo *u, const struct lx_sembuf *ops, uint32_t n)
{
    uint32_t i;
    for (i = 0; i < n; i++) {
        if (!(ops[i].sem_flg & LX_SEM_UNDO))
            continue;
        int next = u->adjust[ops[i].sem_num] - ops[i].sem_op;
        if (next < -LX_SEMAEM - 1 || next > LX_SEMAEM)
            break;
        u->adjust[ops[i].sem_num] = (int16_t)next;
    }
    if (i == n)
        return 0;
    while (i-- > 0) {
        if (ops[i].sem_flg & LX_SEM_UNDO)
            u->adjust[ops[i].sem_num] = (int16_t)(u->adjust[ops[i].sem_num] + ops[i].sem_op);
    }
    return -ERANGE;
}

static int ops_apply(struct task *t, struct sem_set *s, const struct lx_sembuf *ops, uint32_t n,
                     const uint16_t *values)
{
    bool undo = false;
    for (uint32_t i = 0; i < n; i++)
        undo |= (ops[i].sem_flg & LX_SEM_UNDO) != 0;
    if (undo) {
        struct sem_undo *u = undo_of(s, t->group->pid, true);
        int r = u != NULL ? undo_adjust(u, ops, n) : -ENOMEM;
        if (r < 0)
            return r;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = ops[i].sem_num;
        s->sems[k].value = values[k];
        s->sems[k].pid = t->group->pid;
    }
    s->otime = ipc_seconds();
    wait_queue_wake(&s->wait, 0);
    return 0;
}

static int ops_check(struct task *t, const struct sem_set *s, const struct lx_sembuf *ops,
                     uint32_t n)
{
    bool alters = false;
    for (uint32_t i = 0; i < n; i++) {
        if (ops[i].sem_num >= s->n)
            return -EFBIG;
        alters |= ops[i].sem_op != 0;
    }
    return ipc_permission(t, &s->ipc.perm, alters ? 2 : 4);
}

static int ops_run(struct task *t, struct sem_set *s, const struct lx_sembuf *ops, uint32_t n,
                   const struct lx_sembuf **ret_at)
{
    uint16_t *values = kalloc(s->n * sizeof(values[0]));
    if (values == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        values[i] = s->sems[i].value;
    int r = ops_try(ops, n, values, ret_at);
    if (r == 0)
        r = ops_apply(t, s, ops, n, values);
    kfree(values);
    return r;
}

static void waiter_free(void *p)
{
    struct sem_waiter *w = p;
    list_del_init(&w->link);
    kfree(w);
}

static int waiter_note(struct task *t, struct sem_set *s, const struct lx_sembuf *at)
{
    struct sem_waiter *w = t->restart.ptr;
    if (w == NULL) {
        w = kalloc(sizeof(*w));
        if (w == NULL)
            return -ENOMEM;
        list_init(&w->link);
        t->restart.ptr = w;
        t->restart.free_ptr = waiter_free;
    }
    w->num = at->sem_num;
    w->zero = at->sem_op == 0;
    list_del_init(&w->link);
    list_add_tail(&s->waiters, &w->link);
    return 0;
}

static int waiter_count(const struct sem_set *s, uint32_t num, bool zero)
{
    struct sem_waiter *w;
    int n = 0;
    list_for_each_entry (w, &s->waiters, link)
        n += w->num == num && w->zero == zero;
    return n;
}

static struct sys_res do_semop(struct task *t, const struct sys_args *a)
{
    static struct lx_sembuf ops[OPS_MAX]; /* one worker, one buffer */
    uint32_t n = sys_uint(a, 2);
    const struct lx_sembuf *at = NULL;

    if (n == 0 || sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    if (n > OPS_MAX)
        return sys_ret(-E2BIG);
    if (copy_from_user(t, ops, sys_addr(a, 1), n * sizeof(ops[0])) < 0)
        return sys_ret(-EFAULT);
    struct sem_set *s = set_of(sys_int(a, 0));
    if (s == NULL)
        return sys_ret(t->restart.active ? -EIDRM : -EINVAL);
    int r = ops_check(t, s, ops, n);
    if (r == 0)
        r = ops_run(t, s, ops, n, &at);
    if (r <= 0)
        return sys_ret(r);
    KASSERT(at != NULL);
    if ((at->sem_flg & LX_IPC_NOWAIT) || task_timed_out(t))
        return sys_ret(-EAGAIN);
    r = waiter_note(t, s, at);
    if (r == 0)
        r = task_wait_on(t, &s->wait, 0);
    return r < 0 ? sys_ret(r) : task_block(t, -EINTR);
}

struct sys_res sys_semop(struct task *t, const struct sys_args *a)
{
    return do_semop(t, a);
}

struct sys_res sys_semtimedop(struct task *t, const struct sys_args *a)
{
    struct lx_timespec ts;
    uint64_t ns;
    if (!gaddr_is_null(sys_addr(a, 3)) && !task_has_deadline(t)) {
        if (get_user(t, &ts, sys_addr(a, 3)) < 0)
            return sys_ret(-EFAULT);
        if (timespec_to_ns(&ts, &ns) < 0)
            return sys_ret(-EINVAL);
        task_set_deadline(t, clock_after(ns));
    }
    return do_semop(t, a);
}

/* -- semctl ------------------------------------------------------------------------------------ */

static void undo_clear(struct sem_set *s, uint32_t num)
{
    struct sem_undo *u;
    list_for_each_entry (u, &s->undos, link)
        u->adjust[num] = 0;
}

static int64_t sem_set_value(struct task *t, struct sem_set *s, uint32_t num, uint16_t value)
{
    s->sems[num].value = value;
    s->sems[num].pid = t->group->pid;
    undo_clear(s, num);
    s->ctime = ipc_seconds();
    wait_queue_wake(&s->wait, 0);
    return 0;
}

static int64_t sem_all(struct task *t, struct sem_set *s, gaddr_t addr, bool set)
{
    size_t bytes = s->n * sizeof(uint16_t);
    uint16_t *v = kalloc(bytes);
    int64_t r = 0;
    if (v == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n && !set; i++)
        v[i] = s->sems[i].value;
    if (!set)
        r = copy_to_user(t, addr, v, bytes);
    else if (copy_from_user(t, v, addr, bytes) < 0)
        r = -EFAULT;
    for (uint32_t i = 0; set && r == 0 && i < s->n; i++)
        r = v[i] > LX_SEMVMX ? -ERANGE : 0;
    for (uint32_t i = 0; set && r == 0 && i < s->n; i++)
        r = sem_set_value(t, s, i, v[i]);
    kfree(v);
    return r;
}

static int64_t sem_one(struct task *t, struct sem_set *s, uint32_t num, int cmd, uint64_t arg)
{
    bool write = cmd == LX_SETVAL;
    if (num >= s->n)
        return -EINVAL;
    int r = ipc_permission(t, &s->ipc.perm, write ? 2 : 4);
    if (r < 0)
        return r;
    switch (cmd) {
    case LX_GETVAL:
        return s->sems[num].value;
    case LX_GETPID:
        return s->sems[num].pid;
    case LX_SETVAL:
        return sem_set_value(t, s, num, (uint16_t)arg); /* within its range */
    default:
        return waiter_count(s, num, cmd == LX_GETZCNT);
    }
}

static int64_t sem_stat(struct task *t, struct sem_set *s, gaddr_t out, int cmd)
{
    int r = cmd == LX_SEM_STAT_ANY ? 0 : ipc_permission(t, &s->ipc.perm, 4);
    if (r < 0)
        return r;
    struct lx_semid_ds ds = {
        .sem_perm = s->ipc.perm,
        .sem_otime = s->otime,
        .sem_ctime = s->ctime,
        .sem_nsems = s->n,
    };
    r = put_user(t, out, &ds);
    return r < 0 ? r : cmd == LX_IPC_STAT ? 0 : s->ipc.id;
}

static int64_t sem_info(struct task *t, int cmd, gaddr_t out)
{
    struct lx_seminfo si = {
        .semmap = LX_SEMMNS,
        .semmni = IPC_SLOTS,
        .semmns = LX_SEMMNS,
        .semmnu = LX_SEMMNS,
        .semmsl = LX_SEMMSL,
        .semopm = LX_SEMOPM,
        .semume = LX_SEMOPM,
        .semusz = 20,
        .semvmx = LX_SEMVMX,
        .semaem = LX_SEMAEM,
    };
    int64_t top = 0;
    int32_t used = 0;
    for (int i = 0; i < IPC_SLOTS; i++) {
        const struct sem_set *s = (struct sem_set *)(void *)sets.slots[i];
        if (s == NULL)
            continue;
        top = i;
        used += (int32_t)s->n;
    }
    if (cmd == LX_SEM_INFO) {
        si.semusz = (int32_t)sets.count;
        si.semaem = used;
    }
    int r = put_user(t, out, &si);
    return r < 0 ? r : top;
}

static int64_t sem_change(struct task *t, struct sem_set *s, int cmd, gaddr_t in)
{
    struct lx_semid_ds ds;
    if (cmd == LX_IPC_SET && get_user(t, &ds, in) < 0)
        return -EFAULT;
    if (ipc_owner(t, &s->ipc.perm) < 0)
        return -EPERM;
    if (cmd == LX_IPC_RMID) {
        set_remove(s);
        return 0;
    }
    ipc_set(&s->ipc.perm, &ds.sem_perm);
    s->ctime = ipc_seconds();
    return 0;
}

struct sys_res sys_semctl(struct task *t, const struct sys_args *a)
{
    int cmd = sys_int(a, 2);
    if (sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    if (cmd == LX_IPC_INFO || cmd == LX_SEM_INFO)
        return sys_ret(sem_info(t, cmd, GADDR(a->v[3])));
    int value = sys_int(a, 3);
    if (cmd == LX_SETVAL && (value < 0 || value > LX_SEMVMX))
        return sys_ret(-ERANGE);
    bool by_index = cmd == LX_SEM_STAT || cmd == LX_SEM_STAT_ANY;
    struct sem_set *s = by_index ? (struct sem_set *)(void *)sets.slots[sys_int(a, 0) % IPC_SLOTS]
                                 : set_of(sys_int(a, 0));
    if (s == NULL)
        return sys_ret(-EINVAL);
    int r;
    switch (cmd) {
    case LX_IPC_STAT:
    case LX_SEM_STAT:
    case LX_SEM_STAT_ANY:
        return sys_ret(sem_stat(t, s, GADDR(a->v[3]), cmd));
    case LX_GETALL:
    case LX_SETALL:
        r = ipc_permission(t, &s->ipc.perm, cmd == LX_SETALL ? 2 : 4);
        return sys_ret(r < 0 ? r : sem_all(t, s, GADDR(a->v[3]), cmd == LX_SETALL));
    case LX_GETVAL:
    case LX_GETPID:
    case LX_GETNCNT:
    case LX_GETZCNT:
    case LX_SETVAL:
        return sys_ret(sem_one(t, s, sys_uint(a, 1), cmd, a->v[3]));
    case LX_IPC_SET:
    case LX_IPC_RMID:
        return sys_ret(sem_change(t, s, cmd, GADDR(a->v[3])));
    default:
        return sys_ret(-EINVAL);
    }
}

int sem_show(struct buf *out)
{
    int r =
        buf_puts(out, "       key      semid perms      nsems   uid   gid  cuid  cgid      otime"
                      "      ctime\n");
    for (int i = 0; i < IPC_SLOTS && r == 0; i++) {
        const struct sem_set *s = (struct sem_set *)(void *)sets.slots[i];
        if (s == NULL)
            continue;
        const struct lx_ipc_perm *p = &s->ipc.perm;
        r = buf_printf(out, "%10d %10d  %4o %10u %5u %5u %5u %5u %10" PRId64 " %10" PRId64 "\n",
                       p->key, s->ipc.id, p->mode, s->n, p->uid, p->gid, p->cuid, p->cgid, s->otime,
                       s->ctime);
    }
    return r;
}

bool ipc_has_undo(const struct thread_group *tg)
{
    for (int i = 0; i < IPC_SLOTS && sets.count > 0; i++) {
        struct sem_set *s = (struct sem_set *)(void *)sets.slots[i];
        if (s != NULL && undo_of(s, tg->pid, false) != NULL)
            return true;
    }
    return false;
}

void sem_done(void)
{
    for (int i = 0; i < IPC_SLOTS; i++) {
        if (sets.slots[i] != NULL)
            set_remove((struct sem_set *)(void *)sets.slots[i]);
    }
}
