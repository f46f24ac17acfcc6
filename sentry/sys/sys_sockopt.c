/*
 * getsockopt and setsockopt. What has a meaning for AF_UNIX has it; options of networks that do not
 * exist here can be set and read at level SOL_SOCKET, and do nothing.
 */
#include "sentry/fs/anon/pidfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "sentry/sys/sock_util.h"
#include "sentry/sys/sys.h"

#define BUF_MAX    212992u /* net.core.wmem_max, rmem_max */
#define SNDBUF_MIN 4608u
#define RCVBUF_MIN 2304u

/* Linux doubles the value to make room for its own overhead. */
static uint32_t buf_size(int v, uint32_t min, bool force)
{
    uint32_t n = (uint32_t)v;

    if (force)
        n = v < 0 ? 0 : n;
    else
        n = MIN(n, BUF_MAX); /* a negative one is a large one */
    n = MIN(n, (uint32_t)INT32_MAX / 2);
    return MAX(n * 2, min);
}

static int set_timeout(struct task *t, gaddr_t addr, uint32_t len, uint64_t *ret_ns)
{
    struct lx_timeval tv;

    if (len < sizeof(tv))
        return -EINVAL;
    if (get_user(t, &tv, addr) < 0)
        return -EFAULT;
    if (tv.tv_usec < 0 || tv.tv_usec >= LX_USEC_PER_SEC)
        return -EDOM;
    if (tv.tv_sec < 0)
        *ret_ns = 1; /* times out at once */
    else if (tv.tv_sec > INT64_MAX / LX_NSEC_PER_SEC - 1)
        *ret_ns = 0;
    else
        *ret_ns = (uint64_t)(tv.tv_sec * LX_NSEC_PER_SEC + tv.tv_usec * LX_NSEC_PER_USEC);
    return 0;
}

static int set_linger(struct task *t, struct unix_sock *sk, gaddr_t addr, uint32_t len)
{
    struct lx_linger ling;

    if (len < sizeof(ling))
        return -EINVAL;
    if (get_user(t, &ling, addr) < 0)
        return -EFAULT;
    sk->linger = ling;
    return 0;
}

/* The bit in unix_sock.kept of an option without a meaning here; 0: it is none of those. */
static uint32_t kept_bit(int opt)
{
    static const int opts[] = {LX_SO_DONTROUTE, LX_SO_OOBINLINE, LX_SO_NO_CHECK, LX_SO_TIMESTAMP,
                               LX_SO_RXQ_OVFL};

    for (uint32_t i = 0; i < ARRAY_LEN(opts); i++)
        if (opts[i] == opt)
            return 1u << i;
    return 0;
}

static int set_int(struct task *t, struct unix_sock *sk, int opt, int v)
{
    switch (opt) {
    case LX_SO_SNDBUF:
    case LX_SO_SNDBUFFORCE:
        if (opt == LX_SO_SNDBUFFORCE && !cred_capable(t->cred, 12 /* CAP_NET_ADMIN */))
            return -EPERM;
        sk->sndbuf = buf_size(v, SNDBUF_MIN, opt == LX_SO_SNDBUFFORCE);
        wait_queue_wake(&sk->wait, LX_POLLOUT | LX_POLLWRNORM);
        return 0;
    case LX_SO_RCVBUF:
    case LX_SO_RCVBUFFORCE:
        if (opt == LX_SO_RCVBUFFORCE && !cred_capable(t->cred, 12 /* CAP_NET_ADMIN */))
            return -EPERM;
        sk->rcvbuf = buf_size(v, RCVBUF_MIN, opt == LX_SO_RCVBUFFORCE);
        return 0;
    case LX_SO_PASSCRED:
        sk->passcred = v != 0;
        return 0;
    case LX_SO_PASSSEC:
        sk->passsec = v != 0;
        return 0;
    case LX_SO_REUSEADDR:
        sk->reuseaddr = v != 0;
        return 0;
    case LX_SO_KEEPALIVE:
        sk->keepalive = v != 0;
        return 0;
    case LX_SO_BROADCAST:
        sk->broadcast = v != 0;
        return 0;
    case LX_SO_PRIORITY:
        if (v < 0 || v > 6)
            return -EPERM;
        sk->priority = v;
        return 0;
    case LX_SO_RCVLOWAT:
        sk->rcvlowat = v < 0 ? INT32_MAX : v ? v : 1;
        return 0;
    case LX_SO_DEBUG:
        return v ? -EACCES : 0;
    case LX_SO_REUSEPORT:
        return -EOPNOTSUPP;
    default:
        if (!kept_bit(opt))
            return -ENOPROTOOPT;
        sk->kept = v ? sk->kept | kept_bit(opt) : sk->kept & ~kept_bit(opt);
        return 0;
    }
}

struct sys_res sys_setsockopt(struct task *t, const struct sys_args *a)
{
    int level = sys_int(a, 1), opt = sys_int(a, 2), len = sys_int(a, 4), v = 0;
    gaddr_t val = sys_addr(a, 3);
    struct unix_sock *sk;
    struct file *f;
    int r;

    if (len < 0)
        return sys_ret(-EINVAL);
    r = sock_lookup(t, sys_int(a, 0), &f, &sk);
    if (r < 0)
        return sys_ret(r);
    if (level != LX_SOL_SOCKET)
        r = -EOPNOTSUPP;
    else if (opt == LX_SO_RCVTIMEO || opt == LX_SO_RCVTIMEO_NEW)
        r = set_timeout(t, val, (uint32_t)len, &sk->rcvtimeo);
    else if (opt == LX_SO_SNDTIMEO || opt == LX_SO_SNDTIMEO_NEW)
        r = set_timeout(t, val, (uint32_t)len, &sk->sndtimeo);
    else if (len < (int)sizeof(v))
        r = -EINVAL;
    else if (get_user(t, &v, val) < 0)
        r = -EFAULT;
    else if (opt == LX_SO_LINGER)
        r = set_linger(t, sk, val, (uint32_t)len);
    else
        r = set_int(t, sk, opt, v);
    file_put(f);
    return sys_ret(r);
}

/* -- reading ---------------------------------------------------------------------------------- */

static int get_error(struct unix_sock *sk)
{
    int err = sk->error;

    sk->error = 0;
    return err;
}

static int get_int(struct unix_sock *sk, int opt, int *ret_v)
{
    switch (opt) {
    case LX_SO_TYPE:
        *ret_v = sk->type;
        return 0;
    case LX_SO_DOMAIN:
        *ret_v = LX_AF_UNIX;
        return 0;
    case LX_SO_ERROR:
        *ret_v = get_error(sk);
        return 0;
    case LX_SO_SNDBUF:
        *ret_v = (int)sk->sndbuf;
        return 0;
    case LX_SO_RCVBUF:
        *ret_v = (int)sk->rcvbuf;
        return 0;
    case LX_SO_ACCEPTCONN:
        *ret_v = sk->state == UNIX_LISTEN;
        return 0;
    case LX_SO_PASSCRED:
        *ret_v = sk->passcred;
        return 0;
    case LX_SO_PASSSEC:
        *ret_v = sk->passsec;
        return 0;
    case LX_SO_REUSEADDR:
        *ret_v = sk->reuseaddr;
        return 0;
    case LX_SO_KEEPALIVE:
        *ret_v = sk->keepalive;
        return 0;
    case LX_SO_BROADCAST:
        *ret_v = sk->broadcast;
        return 0;
    case LX_SO_PRIORITY:
        *ret_v = sk->priority;
        return 0;
    case LX_SO_RCVLOWAT:
        *ret_v = sk->rcvlowat;
        return 0;
    case LX_SO_SNDLOWAT:
        *ret_v = 1;
        return 0;
    case LX_SO_PROTOCOL:
    case LX_SO_DEBUG:
    case LX_SO_REUSEPORT:
    case LX_SO_MARK:
    case LX_SO_BSDCOMPAT:
        *ret_v = 0;
        return 0;
    default:
        if (!kept_bit(opt))
            return -ENOPROTOOPT;
        *ret_v = (sk->kept & kept_bit(opt)) != 0;
        return 0;
    }
}

/* Value of an option that is a structure: its size, 0: not such an option, -errno. */
static int get_struct(struct task *t, struct unix_sock *sk, int opt, void *buf)
{
    switch (opt) {
    case LX_SO_PEERCRED:
        *(struct lx_ucred *)buf = sk->peercred;
        return sizeof(struct lx_ucred);
    case LX_SO_LINGER:
        *(struct lx_linger *)buf = sk->linger;
        return sizeof(struct lx_linger);
    case LX_SO_RCVTIMEO:
    case LX_SO_SNDTIMEO:
    case LX_SO_RCVTIMEO_NEW:
    case LX_SO_SNDTIMEO_NEW: {
        bool rcv = opt == LX_SO_RCVTIMEO || opt == LX_SO_RCVTIMEO_NEW;
        uint64_t us = (rcv ? sk->rcvtimeo : sk->sndtimeo) / 1000;

        *(struct lx_timeval *)buf =
            (struct lx_timeval){(int64_t)(us / 1000000), (int64_t)(us % 1000000)};
        return sizeof(struct lx_timeval);
    }
    case LX_SO_COOKIE:
        *(uint64_t *)buf = sk->file ? sk->file->inode->ino : 0;
        return sizeof(uint64_t);
    case LX_SO_PEERPIDFD: {
        struct thread_group *tg = thread_group_by_pid((uint32_t)sk->peercred.pid);
        struct file *f;
        int r = tg ? pidfd_new(tg, 0, &f) : sk->peercred.pid ? -ESRCH : -ENODATA;

        if (r < 0)
            return r;
        r = fd_install(t, f, true, 0);
        if (r < 0) {
            file_put(f);
            return r;
        }
        *(int32_t *)buf = r;
        return sizeof(int32_t);
    }
    default:
        return 0;
    }
}

/* As much of the address as is asked for; to ask for more than there is, is an error. */
static int get_peer_name(struct task *t, const struct unix_sock *sk, gaddr_t to, gaddr_t len_at,
                         int room)
{
    struct lx_sockaddr_un sun = {.sun_family = LX_AF_UNIX};
    uint32_t len = sizeof(sun.sun_family);

    if (!sk->peer)
        return -ENOTCONN;
    if (sk->peer->addr) {
        sun = sk->peer->addr->sun;
        len = sk->peer->addr->len;
    }
    if (len < (uint32_t)room)
        return -EINVAL;
    if (room > 0 && copy_to_user(t, to, &sun, (size_t)room) < 0)
        return -EFAULT;
    return put_user(t, len_at, &room);
}

static int get_option(struct task *t, struct unix_sock *sk, const struct sys_args *a)
{
    union {
        struct lx_ucred cred;
        struct lx_timeval tv;
        struct lx_linger linger;
        uint64_t u64;
        int v;
    } buf = {.u64 = 0};
    int opt = sys_int(a, 2), n, room;

    if (get_user(t, &room, sys_addr(a, 4)) < 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (sys_int(a, 1) != LX_SOL_SOCKET)
        return -EOPNOTSUPP;
    if (opt == LX_SO_PEERNAME)
        return get_peer_name(t, sk, sys_addr(a, 3), sys_addr(a, 4), room);
    n = get_struct(t, sk, opt, &buf);
    if (n < 0)
        return n;
    if (n == 0) {
        int r = get_int(sk, opt, &buf.v);

        if (r < 0)
            return r;
        n = sizeof(int);
    }
    n = MIN(n, room);
    if (n > 0 && copy_to_user(t, sys_addr(a, 3), &buf, (size_t)n) < 0)
        return -EFAULT;
    return put_user(t, sys_addr(a, 4), &n);
}

struct sys_res sys_getsockopt(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = get_option(t, sk, a);
    file_put(f);
    return sys_ret(r);
}
