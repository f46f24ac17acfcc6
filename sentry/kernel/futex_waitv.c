/*
 * futex_waitv.c: futex_waitv(2): a wait for the first of several futexes. The waiters of a call are
 * one restart object.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/futex.h"
#include "abi/time.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/futex_private.h"
#include "sentry/kernel/rusage.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct waitv {
    uint32_t n;
    struct lx_futex_waitv in[LX_FUTEX_WAITV_MAX];
    struct futex_waiter w[LX_FUTEX_WAITV_MAX];
};

static void waitv_free(void *p)
{
    struct waitv *v = p;
    for (uint32_t i = 0; i < v->n; i++)
        list_del_init(&v->w[i].link);
    kfree(v);
}

static int waitv_check(const struct waitv *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct lx_futex_waitv *in = &v->in[i];
        if (in->flags & ~(uint32_t)(LX_FUTEX2_SIZE_MASK | LX_FUTEX2_PRIVATE) || in->reserved != 0)
            return -EINVAL;
        if ((in->flags & LX_FUTEX2_SIZE_MASK) != LX_FUTEX2_SIZE_U32 || in->val > UINT32_MAX)
            return -EINVAL;
    }
    return 0;
}

/* All keys first, then the values: nothing is queued before the last check. */
static int waitv_queue(struct task *t, struct waitv *v)
{
    uint32_t now;
    for (uint32_t i = 0; i < v->n; i++) {
        bool shared = (v->in[i].flags & LX_FUTEX2_PRIVATE) == 0;
        int r = futex_key_at(t, GADDR(v->in[i].uaddr), shared, &v->w[i].key);
        if (r < 0)
            return r;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (get_user(t, &now, GADDR(v->in[i].uaddr)) < 0)
            return -EFAULT;
        if (now != (uint32_t)v->in[i].val)
            return -EAGAIN;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        v->w[i].bitset = LX_FUTEX_BITSET_MATCH_ANY;
        v->w[i].task = t;
        list_add_tail(futex_bucket(&v->w[i].key), &v->w[i].link);
    }
    return 0;
}

static int waitv_deadline(struct task *t, const struct sys_args *a)
{
    struct lx_timespec ts;
    int clock = sys_int(a, 4);
    uint64_t ns;
    if (gaddr_is_null(sys_addr(a, 3)))
        return 0;
    if (clock != LX_CLOCK_MONOTONIC && clock != LX_CLOCK_REALTIME)
        return -EINVAL;
    if (get_user(t, &ts, sys_addr(a, 3)) < 0)
        return -EFAULT;
    int r = timespec_to_ns(&ts, &ns);
    if (r < 0)
        return r;
    if (clock == LX_CLOCK_REALTIME) {
        uint64_t real = clock_realtime(), now = clock_monotonic();
        ns = ns <= real ? now : now + (ns - real);
    }
    task_set_deadline(t, ns);
    return 0;
}

static struct sys_res waitv_result(struct task *t)
{
    const struct waitv *v = t->restart.ptr;
    for (uint32_t i = v->n; i-- > 0;) {
        if (v->w[i].woken)
            return sys_ret(i);
    }
    return task_timed_out(t) ? sys_ret(-ETIMEDOUT) : task_block(t, -ERESTARTSYS);
}

struct sys_res sys_futex_waitv(struct task *t, const struct sys_args *a)
{
    uint32_t n = sys_uint(a, 1);

    if (t->restart.active)
        return waitv_result(t);
    if (sys_uint(a, 2) != 0 || n == 0 || n > LX_FUTEX_WAITV_MAX || gaddr_is_null(sys_addr(a, 0)))
        return sys_ret(-EINVAL);
    int r = waitv_deadline(t, a);
    if (r < 0)
        return sys_ret(r);
    struct waitv *v = kalloc(sizeof(*v));
    if (v == NULL)
        return sys_ret(-ENOMEM);
    v->n = n;
    for (uint32_t i = 0; i < n; i++)
        list_init(&v->w[i].link);
    r = copy_from_user(t, v->in, sys_addr(a, 0), n * sizeof(v->in[0]));
    if (r == 0)
        r = waitv_check(v);
    if (r == 0)
        r = waitv_queue(t, v);
    if (r < 0) {
        waitv_free(v);
        return sys_ret(r);
    }
    t->restart.ptr = v;
    t->restart.free_ptr = waitv_free;
    return waitv_result(t);
}
