/*
 * futex.c: futex(2) and robust lists (get_robust_list(2)).
 *
 * All operations of all guests come through here on one thread, so a compare and the queueing that
 * follows it are atomic with respect to every wake-up.
 *
 * Words that the kernel itself changes (FUTEX_WAKE_OP, PI locks, robust mutexes of the dead) are
 * changed by a compare-and-exchange that a host thread of the guest's address space makes, so no
 * change that a guest thread makes meanwhile is lost.
 *
 * A waiter is the restart object of its task: it is freed whatever way the call ends. PI locks are
 * in futex_pi.c, futex_waitv in futex_waitv.c.
 */
#include "abi/futex.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/time.h"

#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/list.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/futex_private.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

enum {
    NBUCKETS = 256
};

static struct list_head buckets[NBUCKETS];

struct list_head *futex_bucket(const struct futex_key *key)
{
    uint64_t h = hash_u64((uint64_t)(uintptr_t)key->obj, key->off);
    struct list_head *b = &buckets[h % NBUCKETS];
    if (b->next == NULL)
        list_init(b);
    return b;
}

struct list_head *futex_bucket_at(unsigned i)
{
    if (i >= NBUCKETS)
        return NULL;
    if (buckets[i].next == NULL)
        list_init(&buckets[i]);
    return &buckets[i];
}

static void waiter_free(void *p)
{
    struct futex_waiter *w = p;
    list_del_init(&w->link);
    kfree(w);
}

int futex_key_at(struct task *t, gaddr_t addr, bool shared, struct futex_key *ret_key)
{
    if ((addr.v & 3) != 0)
        return -EINVAL;
    return mm_futex_key(t, addr, shared, ret_key);
}

static int wake_key(const struct futex_key *key, uint32_t n, uint32_t bitset)
{
    struct futex_waiter *w, *tmp;
    int woken = 0;
    list_for_each_entry_safe (w, tmp, futex_bucket(key), link) {
        if (!futex_key_equal(&w->key, key))
            continue;
        if (w->owner != 0)
            return -EINVAL; /* waits for a PI lock */
        if ((w->bitset & bitset) == 0)
            continue;
        if ((uint32_t)woken >= n)
            break;
        w->woken = true;
        list_del_init(&w->link);
        task_wake(w->task);
        woken++;
    }
    return woken;
}

int futex_wake_addr(struct task *t, gaddr_t addr, bool shared, uint32_t n)
{
    struct futex_key key;
    int r = futex_key_at(t, addr, shared, &key);
    return r < 0 ? r : wake_key(&key, n, LX_FUTEX_BITSET_MATCH_ANY);
}

/* -- wait -------------------------------------------------------------------------------------- */

struct wait_args {
    gaddr_t addr;
    bool shared;
    uint32_t val, bitset;
    bool has_timeout;
    uint64_t deadline; /* guest monotonic ns */
};

static sys_fn futex_wait_restart;

static struct sys_res wait_result(struct task *t, const struct wait_args *wa)
{
    struct futex_waiter *w = t->restart.ptr;
    if (w->woken)
        return sys_ret(0);
    if (task_timed_out(t))
        return sys_ret(-ETIMEDOUT);
    if (!wa->has_timeout)
        return task_block(t, -ERESTARTSYS);
    t->restart_block = (struct task_restart_block){
        .fn = futex_wait_restart,
        .deadline = wa->deadline,
        .args = {.v = {wa->addr.v, wa->val, wa->bitset, wa->shared}},
    };
    return task_block(t, -ERESTART_RESTARTBLOCK);
}

static struct sys_res futex_wait(struct task *t, const struct wait_args *wa)
{
    struct futex_key key;
    uint32_t now;

    if (t->restart.active)
        return wait_result(t, wa);
    if (wa->bitset == 0)
        return sys_ret(-EINVAL);
    int r = futex_key_at(t, wa->addr, wa->shared, &key);
    if (r < 0)
        return sys_ret(r);
    if (get_user(t, &now, wa->addr) < 0)
        return sys_ret(-EFAULT);
    if (now != wa->val)
        return sys_ret(-EAGAIN);
    struct futex_waiter *w = kalloc(sizeof(*w));
    if (w == NULL)
        return sys_ret(-ENOMEM);
    w->key = key;
    w->bitset = wa->bitset;
    w->task = t;
    list_add_tail(futex_bucket(&key), &w->link);
    t->restart.ptr = w;
    t->restart.free_ptr = waiter_free;
    if (wa->has_timeout)
        task_set_deadline(t, wa->deadline);
    return wait_result(t, wa);
}

static struct sys_res futex_wait_restart(struct task *t, const struct sys_args *a)
{
    struct wait_args wa = {
        .addr = GADDR(a->v[0]),
        .val = (uint32_t)a->v[1],
        .bitset = (uint32_t)a->v[2],
        .shared = a->v[3] != 0,
        .has_timeout = true,
        .deadline = t->restart_block.deadline,
    };
    return futex_wait(t, &wa);
}

/* WAIT: relative; WAIT_BITSET: absolute on the monotonic or real-time clock. */
static int wait_timeout(struct task *t, gaddr_t addr, bool relative, bool realtime,
                        struct wait_args *wa)
{
    struct lx_timespec ts;
    uint64_t ns;
    if (gaddr_is_null(addr) || t->restart.active) {
        wa->has_timeout = !gaddr_is_null(addr);
        wa->deadline = t->deadline.expires;
        return 0;
    }
    if (get_user(t, &ts, addr) < 0)
        return -EFAULT;
    int r = timespec_to_ns(&ts, &ns);
    if (r < 0)
        return r;
    uint64_t now = clock_monotonic();
    wa->has_timeout = true;
    if (relative) {
        wa->deadline = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
    } else if (realtime) {
        uint64_t rt = clock_realtime();
        wa->deadline = ns <= rt ? now : now + (ns - rt);
    } else {
        wa->deadline = ns;
    }
    return 0;
}

/* -- requeue, wake-op -------------------------------------------------------------------------- */

static int futex_requeue(struct task *t, const struct sys_args *a, bool shared, bool cmp)
{
    struct futex_key from, to;
    struct futex_waiter *w, *tmp;
    int nr_wake = sys_int(a, 2), nr_requeue = (int)(uint32_t)a->v[3];

    if (nr_wake < 0 || nr_requeue < 0)
        return -EINVAL;
    int r = futex_key_at(t, sys_addr(a, 0), shared, &from);
    if (r == 0)
        r = futex_key_at(t, sys_addr(a, 4), shared, &to);
    if (r != 0)
        return r;
    if (cmp) {
        uint32_t now;
        if (get_user(t, &now, sys_addr(a, 0)) < 0)
            return -EFAULT;
        if (now != sys_uint(a, 5))
            return -EAGAIN;
    }
    int done = wake_key(&from, (uint32_t)nr_wake, LX_FUTEX_BITSET_MATCH_ANY);
    if (done < 0)
        return done;
    int woken = done;
    if (futex_key_equal(&from, &to))
        return done;
    list_for_each_entry_safe (w, tmp, futex_bucket(&from), link) {
        if (!futex_key_equal(&w->key, &from) || w->owner != 0)
            continue;
        if (done - woken >= nr_requeue)
            break;
        list_del_init(&w->link);
        w->key = to;
        list_add_tail(futex_bucket(&to), &w->link);
        done++;
    }
    return cmp ? done : woken;
}

static int wake_op_apply(uint32_t op, uint32_t old, uint32_t arg, uint32_t *ret_new)
{
    if ((op >> 28) & LX_FUTEX_OP_OPARG_SHIFT)
        arg = 1u << (arg & 31);
    switch ((op >> 28) & 7) {
    case LX_FUTEX_OP_SET:
        *ret_new = arg;
        return 0;
    case LX_FUTEX_OP_ADD:
        *ret_new = old + arg;
        return 0;
    case LX_FUTEX_OP_OR:
        *ret_new = old | arg;
        return 0;
    case LX_FUTEX_OP_ANDN:
        *ret_new = old & ~arg;
        return 0;
    case LX_FUTEX_OP_XOR:
        *ret_new = old ^ arg;
        return 0;
    default:
        return -ENOSYS;
    }
}

static int wake_op_compare(uint32_t op, int32_t old, int32_t arg)
{
    switch ((op >> 24) & 15) {
    case LX_FUTEX_OP_CMP_EQ:
        return old == arg;
    case LX_FUTEX_OP_CMP_NE:
        return old != arg;
    case LX_FUTEX_OP_CMP_LT:
        return old < arg;
    case LX_FUTEX_OP_CMP_LE:
        return old <= arg;
    case LX_FUTEX_OP_CMP_GT:
        return old > arg;
    case LX_FUTEX_OP_CMP_GE:
        return old >= arg;
    default:
        return -ENOSYS;
    }
}

/* 12-bit field, sign extended. */
static int32_t field12(uint32_t v)
{
    return (int32_t)((v & 0xfff) ^ 0x800) - 0x800;
}

static int futex_wake_op(struct task *t, const struct sys_args *a, bool shared)
{
    struct futex_key k1, k2;
    uint32_t op = sys_uint(a, 5), old, new, found;

    int r = futex_key_at(t, sys_addr(a, 0), shared, &k1);
    if (r == 0)
        r = futex_key_at(t, sys_addr(a, 4), shared, &k2);
    if (r < 0)
        return r;
    if (get_user(t, &found, sys_addr(a, 4)) < 0)
        return -EFAULT;
    int tries = 0;
    do {
        old = found;
        r = wake_op_apply(op, old, (uint32_t)field12(op >> 12), &new);
        if (r < 0)
            return r;
        r = tries++ < FUTEX_TRIES ? user_compare_exchange(t, sys_addr(a, 4), old, new, &found)
                                  : -ESTEP;
        if (r < 0)
            return r;
    } while (found != old);
    int cmp = wake_op_compare(op, (int32_t)old, field12(op));
    if (cmp < 0)
        return cmp;
    int woken = wake_key(&k1, sys_uint(a, 2), LX_FUTEX_BITSET_MATCH_ANY);
    if (woken >= 0 && cmp) {
        int more = wake_key(&k2, (uint32_t)a->v[3], LX_FUTEX_BITSET_MATCH_ANY);
        woken = more < 0 ? more : woken + more;
    }
    return woken;
}

static struct sys_res futex_do_wait(struct task *t, const struct sys_args *a, int cmd, bool shared)
{
    bool bitset = cmd == LX_FUTEX_WAIT_BITSET;
    struct wait_args wa = {
        .addr = sys_addr(a, 0),
        .shared = shared,
        .val = sys_uint(a, 2),
        .bitset = bitset ? sys_uint(a, 5) : LX_FUTEX_BITSET_MATCH_ANY,
    };
    bool realtime = (sys_uint(a, 1) & LX_FUTEX_CLOCK_REALTIME) != 0;
    int r = wait_timeout(t, sys_addr(a, 3), !bitset, realtime, &wa);
    return r < 0 ? sys_ret(r) : futex_wait(t, &wa);
}

/* LOCK_PI: absolute on the real-time clock; LOCK_PI2: on the monotonic one unless told otherwise.
 */
static struct sys_res futex_do_lock_pi(struct task *t, const struct sys_args *a, int cmd,
                                       bool shared)
{
    bool realtime = cmd == LX_FUTEX_LOCK_PI || (sys_uint(a, 1) & LX_FUTEX_CLOCK_REALTIME) != 0;
    struct wait_args wa = {0};
    int r = wait_timeout(t, sys_addr(a, 3), false, realtime, &wa);
    if (r < 0)
        return sys_ret(r);
    return futex_lock_pi(t, sys_addr(a, 0), shared, false, wa.has_timeout ? &wa.deadline : NULL);
}

struct sys_res sys_futex(struct task *t, const struct sys_args *a)
{
    uint32_t op = sys_uint(a, 1);
    int cmd = (int)(op & LX_FUTEX_CMD_MASK);
    bool shared = (op & LX_FUTEX_PRIVATE_FLAG) == 0;
    struct futex_key key;
    int r;

    if ((op & LX_FUTEX_CLOCK_REALTIME) && cmd != LX_FUTEX_WAIT_BITSET && cmd != LX_FUTEX_WAIT &&
        cmd != LX_FUTEX_LOCK_PI2)
        return sys_ret(-ENOSYS);
    switch (cmd) {
    case LX_FUTEX_WAIT:
    case LX_FUTEX_WAIT_BITSET:
        return futex_do_wait(t, a, cmd, shared);
    case LX_FUTEX_WAKE:
    case LX_FUTEX_WAKE_BITSET: {
        uint32_t bitset = cmd == LX_FUTEX_WAKE ? LX_FUTEX_BITSET_MATCH_ANY : sys_uint(a, 5);
        if (bitset == 0)
            return sys_ret(-EINVAL);
        r = futex_key_at(t, sys_addr(a, 0), shared, &key);
        return sys_ret(r < 0 ? r : wake_key(&key, MAX(sys_uint(a, 2), 1u), bitset));
    }
    case LX_FUTEX_REQUEUE:
    case LX_FUTEX_CMP_REQUEUE:
        return sys_ret(futex_requeue(t, a, shared, cmd == LX_FUTEX_CMP_REQUEUE));
    case LX_FUTEX_WAKE_OP:
        return sys_ret(futex_wake_op(t, a, shared));
    case LX_FUTEX_LOCK_PI:
    case LX_FUTEX_LOCK_PI2:
        return futex_do_lock_pi(t, a, cmd, shared);
    case LX_FUTEX_TRYLOCK_PI:
        return futex_lock_pi(t, sys_addr(a, 0), shared, true, NULL);
    case LX_FUTEX_UNLOCK_PI:
        return sys_ret(futex_unlock_pi(t, sys_addr(a, 0), shared));
    default:
        return sys_ret(-ENOSYS);
    }
}

/* -- robust lists ------------------------------------------------------------------------------ */

static void robust_release(struct task *t, uint64_t entry, bool pi, int64_t offset)
{
    gaddr_t word = GADDR(entry + (uint64_t)offset);
    uint32_t val, found;
    if ((word.v & 3) != 0 || get_user(t, &found, word) < 0)
        return;
    for (int i = 0; i < FUTEX_TRIES; i++) {
        val = found;
        if ((val & LX_FUTEX_TID_MASK) != t->pid)
            return;
        uint32_t new = (val & LX_FUTEX_WAITERS) | LX_FUTEX_OWNER_DIED;
        if (user_compare_exchange(t, word, val, new, &found) < 0)
            return;
        if (found != val)
            continue;
        if (!pi && (val & LX_FUTEX_WAITERS)) /* those of a PI lock get it by futex_exit_pi */
            (void)futex_wake_addr(t, word, true, 1);
        return;
    }
}

void futex_exit_robust(struct task *t)
{
    struct lx_robust_list_head head;
    if (gaddr_is_null(t->robust_list) || t->mm == NULL)
        return;
    gaddr_t at = t->robust_list;
    t->robust_list = GADDR_NULL;
    if (get_user(t, &head, at) < 0)
        return;
    uint64_t entry = head.list.next & ~1ull;
    uint64_t pending = head.list_op_pending & ~1ull;
    bool pi = (head.list.next & 1) != 0; /* bit 0 of the pointer to an entry is about the entry */
    for (int i = 0; i < LX_ROBUST_LIST_LIMIT && entry != at.v && entry != 0; i++) {
        struct lx_robust_list node;
        bool ok = get_user(t, &node, GADDR(entry)) == 0;
        if (entry != pending)
            robust_release(t, entry, pi, head.futex_offset);
        if (!ok)
            return;
        entry = node.next & ~1ull;
        pi = (node.next & 1) != 0;
    }
    if (pending != 0)
        robust_release(t, pending, (head.list_op_pending & 1) != 0, head.futex_offset);
}

struct sys_res sys_set_robust_list(struct task *t, const struct sys_args *a)
{
    if (a->v[1] != sizeof(struct lx_robust_list_head))
        return sys_ret(-EINVAL);
    t->robust_list = sys_addr(a, 0);
    t->robust_list_len = a->v[1];
    return sys_ret(0);
}

struct sys_res sys_get_robust_list(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0);
    struct task *other = pid == 0 ? t : task_by_pid((uint32_t)pid);
    if (other == NULL || other->pth == NULL)
        return sys_ret(-ESRCH);
    if (other->cred->euid != t->cred->euid && t->cred->euid != 0)
        return sys_ret(-EPERM);
    uint64_t head = other->robust_list.v, len = sizeof(struct lx_robust_list_head);
    if (put_user(t, sys_addr(a, 2), &len) < 0 || put_user(t, sys_addr(a, 1), &head) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(0);
}
