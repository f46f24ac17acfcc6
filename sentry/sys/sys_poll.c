/*
 * poll and ppoll, select and pselect6.
 *
 * Every run looks at all files afresh; as long as nothing is ready it also registers on their
 * queues, so the run that finds nothing can park. The relative timeout becomes a deadline in the
 * first run. poll writes revents only: the guest may change events meanwhile, and owns it.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/misc.h"
#include "abi/poll.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/poll_time.h"
#include "sentry/sys/sys.h"

#define POLL_ALWAYS (LX_POLLERR | LX_POLLHUP)

/* -- time and masks, shared with epoll -------------------------------------------------------- */

void poll_set_timeout(struct task *t, int64_t ns)
{
    if (!task_has_deadline(t) && ns > 0)
        task_set_deadline(t, clock_after((uint64_t)ns));
}

int poll_timespec(struct task *t, gaddr_t addr, int64_t *ret_ns)
{
    struct lx_timespec ts;
    uint64_t ns;
    int r;

    if (gaddr_is_null(addr)) {
        *ret_ns = -1;
        return 0;
    }
    r = get_user(t, &ts, addr);
    if (r < 0)
        return r;
    r = timespec_to_ns(&ts, &ns);
    if (r < 0)
        return r;
    *ret_ns = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
    return 0;
}

int poll_sigmask(struct task *t, gaddr_t addr, uint64_t size)
{
    uint64_t set;
    int r;

    if (gaddr_is_null(addr))
        return 0;
    if (size != sizeof(set))
        return -EINVAL;
    r = get_user(t, &set, addr);
    if (r == 0)
        signal_set_temporary_mask(t, set);
    return r;
}

/* Time left until the deadline of the call; 0 when there is none. */
static uint64_t time_left(struct task *t)
{
    uint64_t now = clock_monotonic();

    return task_has_deadline(t) && t->deadline.expires > now ? t->deadline.expires - now : 0;
}

/* -- poll ------------------------------------------------------------------------------------- */

/* One allocation: what the guest asked, its answers, and the segments that scatter them. */
struct poll_set {
    uint32_t n;
    struct lx_pollfd *fds;
    struct lx_iovec *iov;
    int16_t *revents;
};

#define POLL_ENTRY (sizeof(struct lx_iovec) + sizeof(struct lx_pollfd) + sizeof(int16_t))

static int poll_set_init(struct poll_set *ps, struct task *t, gaddr_t ufds, uint32_t n)
{
    int r;

    *ps = (struct poll_set){.n = n};
    if (n > task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur)
        return -EINVAL;
    if (n == 0)
        return 0;
    ps->iov = kalloc((size_t)n * POLL_ENTRY);
    if (!ps->iov)
        return -ENOMEM;
    ps->fds = (struct lx_pollfd *)(void *)(ps->iov + n);
    ps->revents = (int16_t *)(void *)(ps->fds + n);
    r = copy_from_user(t, ps->fds, ufds, n * sizeof(struct lx_pollfd));
    if (r < 0)
        kfree(ps->iov);
    return r;
}

static int poll_scan(struct poll_set *ps, struct task *t, struct poll_table *pt)
{
    int count = 0;

    for (uint32_t i = 0; i < ps->n; i++) {
        uint32_t want = (uint16_t)ps->fds[i].events | POLL_ALWAYS, got = LX_POLLNVAL;
        struct file *f;

        ps->revents[i] = 0;
        if (ps->fds[i].fd < 0)
            continue;
        f = fd_get(t, ps->fds[i].fd);
        if (f) {
            pt->mask = want;
            got = vfs_poll(f, count ? NULL : pt) & want;
            file_put(f);
        }
        ps->revents[i] = (int16_t)got;
        if (got)
            count++;
    }
    return count;
}

/* Stores revents alone, all with one copy: the cursor's segments are the fields. */
static int poll_put(struct poll_set *ps, struct task *t, gaddr_t ufds)
{
    size_t len = ps->n * sizeof(int16_t);
    struct uio u = {.task = t, .iov = ps->iov, .niov = ps->n, .left = len};

    if (ps->n == 0)
        return 0;
    for (uint32_t i = 0; i < ps->n; i++)
        ps->iov[i] = (struct lx_iovec){
            gaddr_add(ufds, i * sizeof(struct lx_pollfd) + offsetof(struct lx_pollfd, revents)),
            sizeof(int16_t)};
    u.one = ps->iov[0]; /* a cursor over one segment keeps it itself */
    return uio_copy_to(&u, ps->revents, len) == (int64_t)len ? 0 : -EFAULT;
}

/* ns < 0: no timeout. */
static struct sys_res do_poll(struct task *t, gaddr_t ufds, uint32_t n, int64_t ns, int intr)
{
    struct poll_table pt = {.task = t};
    struct poll_set ps;
    struct sys_res res;
    int r = poll_set_init(&ps, t, ufds, n);

    if (r < 0)
        return sys_ret(r);
    poll_set_timeout(t, ns);
    r = poll_scan(&ps, t, &pt);
    if (r == 0 && pt.error < 0)
        r = pt.error;
    if (r == 0 && ns != 0 && !task_timed_out(t)) {
        res = task_block(t, intr);
    } else {
        int err = r >= 0 ? poll_put(&ps, t, ufds) : 0;

        res = sys_ret(err < 0 ? err : r);
    }
    kfree(ps.iov);
    return res;
}

static sys_fn poll_restart;

static struct sys_res poll_run(struct task *t, gaddr_t ufds, uint32_t n, int64_t ns)
{
    struct sys_res res = do_poll(t, ufds, n, ns, -ERESTART_RESTARTBLOCK);

    if (res.kind == SYS_RET && res.val == -ERESTART_RESTARTBLOCK)
        t->restart_block = (struct task_restart_block){
            .fn = poll_restart,
            .args = {.v = {ufds.v, n, ns < 0 ? 0 : 1}},
            .deadline = ns < 0 ? 0 : t->deadline.expires,
        };
    return res;
}

static struct sys_res poll_restart(struct task *t, const struct sys_args *a)
{
    struct task_restart_block rb = t->restart_block;
    int64_t ns = -1;

    if (a->v[2]) {
        if (!task_has_deadline(t))
            task_set_deadline(t, rb.deadline);
        ns = 1;
    }
    return poll_run(t, GADDR(rb.args.v[0]), (uint32_t)rb.args.v[1], ns);
}

struct sys_res sys_poll(struct task *t, const struct sys_args *a)
{
    int ms = sys_int(a, 2);

    return poll_run(t, sys_addr(a, 0), sys_uint(a, 1), ms < 0 ? -1 : (int64_t)ms * 1000000);
}

/* A personality of old: the rest of the time is not stored, so the call cannot be restarted. */
static bool sticky_timeouts(const struct task *t, struct sys_res *res)
{
    if (!(t->personality & LX_STICKY_TIMEOUTS))
        return false;
    if (res->val == -ERESTARTNOHAND)
        res->val = -EINTR;
    return true;
}

struct sys_res sys_ppoll(struct task *t, const struct sys_args *a)
{
    struct sys_res res;
    int64_t ns;
    int r = poll_timespec(t, sys_addr(a, 2), &ns);

    if (r == 0)
        r = poll_sigmask(t, sys_addr(a, 3), a->v[4]);
    if (r < 0)
        return sys_ret(r);
    res = do_poll(t, sys_addr(a, 0), sys_uint(a, 1), ns, -ERESTARTNOHAND);
    if (res.kind == SYS_RET && ns >= 0 && !sticky_timeouts(t, &res)) {
        struct lx_timespec left = timespec_from_ns(time_left(t));

        /* As on Linux the result stands even if the rest cannot be stored. */
        if (put_user(t, sys_addr(a, 2), &left) < 0 && res.val == -ERESTARTNOHAND)
            res.val = -EINTR;
    }
    return res;
}

/* -- select ----------------------------------------------------------------------------------- */

#define SELECT_IN  (LX_POLLIN | LX_POLLRDNORM | LX_POLLRDBAND | LX_POLLHUP | LX_POLLERR)
#define SELECT_OUT (LX_POLLOUT | LX_POLLWRNORM | LX_POLLWRBAND | LX_POLLERR)
#define SELECT_EX  LX_POLLPRI

static const uint32_t select_masks[3] = {SELECT_IN, SELECT_OUT, SELECT_EX};

struct select_set {
    uint32_t n, words;
    uint64_t *in[3], *out[3]; /* one block */
    gaddr_t addr[3];
};

static int select_init(struct select_set *s, struct task *t, const struct sys_args *a)
{
    int n = sys_int(a, 0), r;

    if (n < 0)
        return -EINVAL;
    s->n = MIN((uint32_t)n, t->files->nslots);
    s->words = (s->n + LX_NFDBITS - 1) / LX_NFDBITS;
    s->in[0] = kalloc_array(6u * s->words + 1, sizeof(uint64_t));
    if (!s->in[0])
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        s->in[i] = s->in[0] + (size_t)i * s->words;
        s->out[i] = s->in[0] + (size_t)(3 + i) * s->words;
        s->addr[i] = sys_addr(a, 1 + i);
        if (gaddr_is_null(s->addr[i]))
            continue;
        r = copy_from_user(t, s->in[i], s->addr[i], s->words * sizeof(uint64_t));
        if (r < 0) {
            kfree(s->in[0]);
            return r;
        }
    }
    return 0;
}

static int select_one(struct select_set *s, struct task *t, uint32_t fd, struct poll_table *pt)
{
    uint64_t bit = 1ull << (fd % LX_NFDBITS);
    uint32_t w = fd / LX_NFDBITS, got;
    struct file *f = fd_get(t, (int)fd);
    int count = 0;

    if (!f)
        return -EBADF;
    if (pt) {
        pt->mask = POLL_ALWAYS;
        for (int i = 0; i < 3; i++)
            if (s->in[i][w] & bit)
                pt->mask |= select_masks[i];
    }
    got = vfs_poll(f, pt);
    file_put(f);
    for (int i = 0; i < 3; i++) {
        if (!(s->in[i][w] & bit) || !(got & select_masks[i]))
            continue;
        s->out[i][w] |= bit;
        count++;
    }
    return count;
}

static int select_scan(struct select_set *s, struct task *t, struct poll_table *pt)
{
    int count = 0;

    for (uint32_t w = 0; w < s->words; w++) {
        uint64_t all = s->in[0][w] | s->in[1][w] | s->in[2][w];

        while (all) {
            uint32_t fd = w * LX_NFDBITS + (uint32_t)__builtin_ctzll(all);
            int r;

            all &= all - 1;
            if (fd >= s->n)
                break;
            r = select_one(s, t, fd, count ? NULL : pt);
            if (r < 0)
                return r;
            count += r;
        }
    }
    return count;
}

static int select_put(struct select_set *s, struct task *t)
{
    for (int i = 0; i < 3; i++)
        if (!gaddr_is_null(s->addr[i]) &&
            copy_to_user(t, s->addr[i], s->out[i], s->words * sizeof(uint64_t)) < 0)
            return -EFAULT;
    return 0;
}

static struct sys_res do_select(struct task *t, const struct sys_args *a, int64_t ns)
{
    struct poll_table pt = {.task = t};
    struct select_set s;
    struct sys_res res;
    int r = select_init(&s, t, a);

    if (r < 0)
        return sys_ret(r);
    poll_set_timeout(t, ns);
    r = select_scan(&s, t, &pt);
    if (r == 0 && pt.error < 0)
        r = pt.error;
    if (r == 0 && ns != 0 && !task_timed_out(t)) {
        res = task_block(t, -ERESTARTNOHAND);
    } else {
        int err = r >= 0 ? select_put(&s, t) : 0;

        res = sys_ret(err < 0 ? err : r);
    }
    kfree(s.in[0]);
    return res;
}

struct sys_res sys_select(struct task *t, const struct sys_args *a)
{
    gaddr_t utv = sys_addr(a, 4);
    struct lx_timespec ts;
    struct lx_timeval tv;
    struct sys_res res;
    int64_t ns = -1;
    uint64_t v;

    if (!gaddr_is_null(utv)) {
        if (get_user(t, &tv, utv) < 0)
            return sys_ret(-EFAULT);
        if (tv.tv_sec < 0 || tv.tv_usec < 0 ||
            !checked_add(tv.tv_sec, tv.tv_usec / LX_USEC_PER_SEC, &ts.tv_sec))
            return sys_ret(-EINVAL);
        ts.tv_nsec = tv.tv_usec % LX_USEC_PER_SEC * LX_NSEC_PER_USEC;
        if (timespec_to_ns(&ts, &v) < 0)
            return sys_ret(-EINVAL);
        ns = v > INT64_MAX ? INT64_MAX : (int64_t)v;
    }
    res = do_select(t, a, ns);
    if (res.kind == SYS_RET && ns >= 0 && !sticky_timeouts(t, &res)) {
        uint64_t left = time_left(t) / 1000;

        tv = (struct lx_timeval){(int64_t)(left / 1000000), (int64_t)(left % 1000000)};
        if (put_user(t, utv, &tv) < 0 && res.val == -ERESTARTNOHAND)
            res.val = -EINTR;
    }
    return res;
}

struct sys_res sys_pselect6(struct task *t, const struct sys_args *a)
{
    struct lx_sigset_argpack pack = {0, 0};
    struct sys_res res;
    int64_t ns;
    int r;

    if (a->v[5] && get_user(t, &pack, sys_addr(a, 5)) < 0)
        return sys_ret(-EFAULT);
    r = poll_timespec(t, sys_addr(a, 4), &ns);
    if (r == 0)
        r = poll_sigmask(t, GADDR(pack.p), pack.size);
    if (r < 0)
        return sys_ret(r);
    res = do_select(t, a, ns);
    if (res.kind == SYS_RET && ns >= 0 && !sticky_timeouts(t, &res)) {
        struct lx_timespec left = timespec_from_ns(time_left(t));

        if (put_user(t, sys_addr(a, 4), &left) < 0 && res.val == -ERESTARTNOHAND)
            res.val = -EINTR;
    }
    return res;
}
