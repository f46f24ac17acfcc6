/*
 * futex_pi.c: FUTEX_LOCK_PI and its relatives: locks whose word names the owner.
 *
 * Guests take and give back such a lock by a compare-and-exchange between 0 and their thread id;
 * whoever finds it taken comes here, and FUTEX_WAITERS in the word makes the owner come here too.
 * It then hands the lock to the waiter of the highest priority, the one that came first among
 * equals. Priorities mean nothing to the host, so there is nothing to inherit: what is kept is the
 * locking, the order, the errors, and what becomes of the lock of a thread that dies.
 *
 * The word is only ever changed by user_compare_exchange. A waiter records the owner that it waits
 * for; no waiter is queued while its word does not have FUTEX_WAITERS.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/futex.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/futex_private.h"
#include "sentry/mm/usercopy.h"

enum {
    CHAIN_MAX = 1024
};

static uint32_t nwaiters;

static void pi_waiter_free(void *p)
{
    struct futex_waiter *w = p;
    list_del_init(&w->link);
    nwaiters--;
    kfree(w);
}

static struct futex_waiter *waiter_of(const struct task *t)
{
    return t->restart.free_ptr == pi_waiter_free ? t->restart.ptr : NULL;
}

/* Who gets the lock next: NULL when nobody waits. */
static struct futex_waiter *top_waiter(const struct futex_key *key)
{
    struct futex_waiter *w, *top = NULL;
    list_for_each_entry (w, futex_bucket(key), link) {
        if (w->owner == 0 || !futex_key_equal(&w->key, key))
            continue;
        if (top == NULL || w->task->rt_priority > top->task->rt_priority)
            top = w;
    }
    return top;
}

/* The lock has a new owner: the others wait for him now. */
static void set_owner(const struct futex_key *key, uint32_t owner)
{
    struct futex_waiter *w;
    list_for_each_entry (w, futex_bucket(key), link) {
        if (w->owner != 0 && futex_key_equal(&w->key, key))
            w->owner = owner;
    }
}

static void hand_over(struct futex_waiter *w)
{
    w->woken = true;
    list_del_init(&w->link);
    set_owner(&w->key, w->task->pid);
    task_wake(w->task);
}

/* Whether owner waits, directly or by way of others, for a lock of t. */
static bool would_deadlock(const struct task *t, const struct task *owner)
{
    for (int i = 0; i < CHAIN_MAX && owner != NULL; i++) {
        const struct futex_waiter *w = waiter_of(owner);
        if (owner == t)
            return true;
        if (w == NULL || w->woken)
            return false;
        owner = task_by_pid(w->owner);
    }
    return false;
}

static int pi_queue(struct task *t, const struct futex_key *key, gaddr_t addr, uint32_t owner)
{
    struct futex_waiter *w = kalloc(sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->key = *key;
    w->bitset = LX_FUTEX_BITSET_MATCH_ANY;
    w->owner = owner;
    w->word = addr;
    w->task = t;
    list_add_tail(futex_bucket(key), &w->link);
    nwaiters++;
    t->restart.ptr = w;
    t->restart.free_ptr = pi_waiter_free;
    return 0;
}

/* One look at the word: 0 with the word changed from val to *ret_new if it is still val, and the
 * owner that is then to be waited for (0: the lock is the caller's); or -errno. */
static int pi_decide(const struct task *t, uint32_t val, bool try, bool contended,
                     uint32_t *ret_new, uint32_t *ret_owner)
{
    uint32_t tid = val & LX_FUTEX_TID_MASK;
    *ret_owner = tid;
    if (tid == t->pid)
        return -EDEADLK;
    if (tid == 0) {
        *ret_new = t->pid | (val & LX_FUTEX_OWNER_DIED) | (contended ? LX_FUTEX_WAITERS : 0);
        return 0;
    }
    if (try)
        return -EAGAIN;
    const struct task *owner = task_by_pid(tid);
    if (owner == NULL || owner->pth == NULL)
        return -ESRCH;
    if (would_deadlock(t, owner))
        return -EDEADLK;
    *ret_new = val | LX_FUTEX_WAITERS;
    return 0;
}

static struct sys_res pi_wait(struct task *t)
{
    const struct futex_waiter *w = t->restart.ptr;
    if (w->woken)
        return sys_ret(0);
    if (task_timed_out(t))
        return sys_ret(-ETIMEDOUT);
    return task_block(t, -ERESTARTNOINTR);
}

struct sys_res futex_lock_pi(struct task *t, gaddr_t addr, bool shared, bool try,
                             const uint64_t *deadline)
{
    struct futex_key key;
    uint32_t val, found, new, owner;

    if (waiter_of(t) != NULL)
        return pi_wait(t);
    int r = futex_key_at(t, addr, shared, &key);
    if (r < 0)
        return sys_ret(r);
    if (get_user(t, &found, addr) < 0)
        return sys_ret(-EFAULT);
    for (int i = 0; i < FUTEX_TRIES; i++) {
        val = found;
        r = pi_decide(t, val, try, top_waiter(&key) != NULL, &new, &owner);
        if (r == 0 && new != val)
            r = user_compare_exchange(t, addr, val, new, &found);
        if (r < 0)
            return sys_ret(r);
        if (found != val)
            continue;
        if (owner == 0) {
            set_owner(&key, t->pid);
            return sys_ret(0);
        }
        r = pi_queue(t, &key, addr, owner);
        if (r < 0)
            return sys_ret(r);
        if (deadline != NULL)
            task_set_deadline(t, *deadline);
        return pi_wait(t);
    }
    return task_yield(t, -ERESTARTNOINTR);
}

int futex_unlock_pi(struct task *t, gaddr_t addr, bool shared)
{
    struct futex_key key;
    uint32_t val, found;

    int r = futex_key_at(t, addr, shared, &key);
    if (r < 0)
        return r;
    if (get_user(t, &found, addr) < 0)
        return -EFAULT;
    for (int i = 0; i < FUTEX_TRIES; i++) {
        struct futex_waiter *top = top_waiter(&key);
        val = found;
        if ((val & LX_FUTEX_TID_MASK) != t->pid)
            return -EPERM;
        uint32_t new = top != NULL ? top->task->pid | LX_FUTEX_WAITERS : 0;
        r = user_compare_exchange(t, addr, val, new, &found);
        if (r < 0)
            return r;
        if (found != val)
            continue;
        if (top != NULL)
            hand_over(top);
        return 0;
    }
    return -EAGAIN; /* somebody else writes to a word that only its owner may change */
}

/* The word of a lock whose owner died: it goes to w, by w's own mapping of it. */
static bool pi_inherit(struct futex_waiter *w, uint32_t dead)
{
    uint32_t val, found;
    if (get_user(w->task, &found, w->word) < 0)
        return false;
    for (int i = 0; i < FUTEX_TRIES; i++) {
        val = found;
        uint32_t tid = val & LX_FUTEX_TID_MASK;
        if (tid != dead && tid != 0)
            return false;
        uint32_t new = w->task->pid | LX_FUTEX_WAITERS | LX_FUTEX_OWNER_DIED;
        if (user_compare_exchange(w->task, w->word, val, new, &found) < 0)
            return false;
        if (found == val)
            return true;
    }
    return false;
}

static void bucket_exit_pi(struct list_head *bucket, const struct task *t)
{
    struct futex_waiter *w, *next;
    bool again;
    do {
        again = false;
        list_for_each_entry_safe (w, next, bucket, link) {
            if (w->owner != t->pid)
                continue;
            struct futex_waiter *top = top_waiter(&w->key);
            if (top != NULL && top->task != t && pi_inherit(top, t->pid)) {
                hand_over(top);
                again = true;
                break;
            }
        }
    } while (again);
}

void futex_exit_pi(struct task *t)
{
    struct list_head *bucket;
    for (unsigned i = 0; nwaiters > 0 && (bucket = futex_bucket_at(i)) != NULL; i++)
        bucket_exit_pi(bucket, t);
}
