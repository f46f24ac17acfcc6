/*
 * epoll: creation, control, waiting. The objects are in fs/anon/epoll.c.
 */
#include "lib/compiler.h"

#include "abi/poll.h"

#include "sentry/fs/anon/epoll.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/install.h"
#include "sentry/sys/poll_time.h"
#include "sentry/sys/sys.h"

static struct sys_res do_epoll_create(struct task *t, uint32_t flags)
{
    struct file *f = NULL;
    int r;

    if (flags & ~(uint32_t)LX_EPOLL_CLOEXEC)
        return sys_ret(-EINVAL);
    r = epoll_new(&f);
    return sys_install(t, r, f, (flags & LX_EPOLL_CLOEXEC) != 0);
}

struct sys_res sys_epoll_create(struct task *t, const struct sys_args *a)
{
    return sys_int(a, 0) <= 0 ? sys_ret(-EINVAL) : do_epoll_create(t, 0);
}

struct sys_res sys_epoll_create1(struct task *t, const struct sys_args *a)
{
    return do_epoll_create(t, sys_uint(a, 0));
}

static int epoll_control(struct file *ep, struct file *f, int op, int fd, struct lx_epoll_event *ev)
{
    if (!f->ops->poll)
        return -EPERM;
    if (ep == f || !file_is_epoll(ep))
        return -EINVAL;
    ev->events &= ~LX_EPOLLWAKEUP;
    switch (op) {
    case LX_EPOLL_CTL_ADD:
        return epoll_add(ep, f, fd, ev);
    case LX_EPOLL_CTL_MOD:
        return epoll_mod(ep, f, fd, ev);
    case LX_EPOLL_CTL_DEL:
        return epoll_del(ep, f, fd);
    default:
        return -EINVAL;
    }
}

struct sys_res sys_epoll_ctl(struct task *t, const struct sys_args *a)
{
    int op = sys_int(a, 1), fd = sys_int(a, 2), r = -EBADF;
    struct lx_epoll_event ev = {0, 0};
    struct file *ep, *f;

    if (op != LX_EPOLL_CTL_DEL && get_user(t, &ev, sys_addr(a, 3)) < 0)
        return sys_ret(-EFAULT);
    ep = fd_get(t, sys_int(a, 0));
    f = ep ? fd_get(t, fd) : NULL;
    if (f)
        r = epoll_control(ep, f, op, fd, &ev);
    file_put(f);
    file_put(ep);
    return sys_ret(r);
}

struct epoll_out {
    struct task *task;
    gaddr_t addr;
};

static int epoll_put(void *arg, const struct lx_epoll_event *ev, uint32_t n)
{
    struct epoll_out *out = arg;
    int r = copy_to_user(out->task, out->addr, ev, n * sizeof(*ev));

    out->addr = gaddr_add(out->addr, n * sizeof(*ev));
    return r;
}

/* ns < 0: no timeout. */
static struct sys_res do_epoll_wait(struct task *t, const struct sys_args *a, int64_t ns)
{
    const int max_events = (int)(INT32_MAX / sizeof(struct lx_epoll_event));
    struct epoll_out out = {t, sys_addr(a, 1)};
    int max = sys_int(a, 2), n;
    struct sys_res res;
    struct file *ep;

    if (max <= 0 || max > max_events)
        return sys_ret(-EINVAL);
    if (out.addr.v >= LX_TASK_SIZE)
        return sys_ret(-EFAULT);
    ep = fd_get_held(t, sys_int(a, 0));
    if (!ep)
        return sys_ret(-EBADF);
    if (!file_is_epoll(ep)) {
        file_put(ep);
        return sys_ret(-EINVAL);
    }
    poll_set_timeout(t, ns);
    n = epoll_collect(ep, (uint32_t)max, epoll_put, &out);
    res = sys_ret(n);
    if (n == 0 && ns != 0 && !task_timed_out(t)) {
        n = epoll_wait_on(t, ep);
        file_hold(t, ep);
        res = n < 0 ? sys_ret(n) : task_block(t, -EINTR);
    }
    file_put(ep);
    return res;
}

static int64_t ms_to_ns(int ms)
{
    return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

struct sys_res sys_epoll_wait(struct task *t, const struct sys_args *a)
{
    return do_epoll_wait(t, a, ms_to_ns(sys_int(a, 3)));
}

struct sys_res sys_epoll_pwait(struct task *t, const struct sys_args *a)
{
    int r = poll_sigmask(t, sys_addr(a, 4), a->v[5]);

    return r < 0 ? sys_ret(r) : do_epoll_wait(t, a, ms_to_ns(sys_int(a, 3)));
}

struct sys_res sys_epoll_pwait2(struct task *t, const struct sys_args *a)
{
    int64_t ns;
    int r = poll_timespec(t, sys_addr(a, 3), &ns);

    if (r == 0)
        r = poll_sigmask(t, sys_addr(a, 4), a->v[5]);
    return r < 0 ? sys_ret(r) : do_epoll_wait(t, a, ns);
}
