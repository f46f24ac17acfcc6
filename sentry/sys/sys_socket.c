/*
 * Sockets: making, naming, connecting. There is one family; the others fail as on a kernel that was
 * built without them.
 */
#include <string.h>

#include "sentry/fs/file.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "sentry/sys/install.h"
#include "sentry/sys/sock_util.h"
#include "sentry/sys/sys.h"

#define SOCK_TYPES 11

/* -- shared ----------------------------------------------------------------------------------- */

int sock_lookup(struct task *t, int fd, struct file **ret_file, struct unix_sock **ret_sk)
{
    struct file *f = fd_get_held(t, fd);

    if (!f)
        return -EBADF;
    *ret_sk = file_socket(f);
    if (!*ret_sk) {
        file_put(f);
        return -ENOTSOCK;
    }
    *ret_file = f;
    return 0;
}

int sock_addr_in(struct task *t, gaddr_t addr, int len, struct lx_sockaddr_un *ret_sun)
{
    struct lx_sockaddr_storage ss;

    memset(&ss, 0, sizeof(ss));
    if (len < 0 || len > (int)sizeof(ss))
        return -EINVAL;
    if (len > 0 && copy_from_user(t, &ss, addr, (size_t)len) < 0)
        return -EFAULT;
    memcpy(ret_sun, &ss, sizeof(*ret_sun));
    return 0;
}

int sock_addr_out(struct task *t, const struct unix_addr *a, bool none, gaddr_t addr, gaddr_t ulen)
{
    static const struct lx_sockaddr_un unnamed = {.sun_family = LX_AF_UNIX};
    const struct lx_sockaddr_un *sun = a ? &a->sun : &unnamed;
    uint32_t len = none ? 0 : a ? a->len : (uint32_t)sizeof(unnamed.sun_family);
    int32_t room, out = (int32_t)len;

    if (get_user(t, &room, ulen) < 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    /* A path of 108 bytes is reported with a length that counts the NUL it has no room for. */
    len = MIN(MIN(len, (uint32_t)room), (uint32_t)sizeof(*sun));
    if (len > 0 && copy_to_user(t, addr, sun, len) < 0)
        return -EFAULT;
    return put_user(t, ulen, &out);
}

struct sys_res sock_block(struct task *t, struct file *f, uint32_t mask, uint64_t timeo)
{
    if (timeo && !task_has_deadline(t))
        task_set_deadline(t, clock_after(timeo));
    if (timeo && task_timed_out(t))
        return sys_ret(-EAGAIN);
    return file_block(t, f, mask, timeo ? -EINTR : -ERESTARTSYS);
}

/* -- making ----------------------------------------------------------------------------------- */

/* The checks of socket and socketpair: the kind of socket, or -errno. */
static int socket_type(int family, int type, int protocol)
{
    type &= LX_SOCK_TYPE_MASK;
    if (family < 0 || family >= LX_AF_MAX)
        return -EAFNOSUPPORT;
    if (type >= SOCK_TYPES)
        return -EINVAL;
    if (family != LX_AF_UNIX)
        return -EAFNOSUPPORT;
    if (protocol != 0 && protocol != LX_AF_UNIX)
        return -EPROTONOSUPPORT;
    switch (type) {
    case LX_SOCK_STREAM:
    case LX_SOCK_DGRAM:
    case LX_SOCK_SEQPACKET:
        return type;
    case LX_SOCK_RAW:
        return LX_SOCK_DGRAM;
    default:
        return -ESOCKTNOSUPPORT;
    }
}

static bool socket_flags_ok(int type)
{
    return !((uint32_t)type & ~(uint32_t)(LX_SOCK_TYPE_MASK | LX_SOCK_CLOEXEC | LX_SOCK_NONBLOCK));
}

struct sys_res sys_socket(struct task *t, const struct sys_args *a)
{
    int type = sys_int(a, 1), kind;
    struct file *f = NULL;
    int r;

    if (!socket_flags_ok(type))
        return sys_ret(-EINVAL);
    kind = socket_type(sys_int(a, 0), type, sys_int(a, 2));
    if (kind < 0)
        return sys_ret(kind);
    r = unix_socket_new(kind, (uint32_t)type & LX_SOCK_NONBLOCK, &f);
    return sys_install(t, r, f, (type & LX_SOCK_CLOEXEC) != 0);
}

/* Both files, or none. */
static int pair_new(struct task *t, int kind, uint32_t flags, struct file *f[2])
{
    int r = unix_socket_new(kind, flags, &f[0]);

    if (r < 0)
        return r;
    r = unix_socket_new(kind, flags, &f[1]);
    if (r < 0) {
        file_put(f[0]);
        return r;
    }
    unix_pair(file_socket(f[0]), file_socket(f[1]), t);
    return 0;
}

struct sys_res sys_socketpair(struct task *t, const struct sys_args *a)
{
    int type = sys_int(a, 1), kind, r;
    struct sys_res res;
    struct file *f[2];
    int32_t fds[2];

    if (!socket_flags_ok(type))
        return sys_ret(-EINVAL);
    kind = socket_type(sys_int(a, 0), type, sys_int(a, 2));
    if (kind < 0)
        return sys_ret(kind);
    r = pair_new(t, kind, (uint32_t)type & LX_SOCK_NONBLOCK, f);
    if (r < 0)
        return sys_ret(r);
    res = sys_install(t, 0, f[0], (type & LX_SOCK_CLOEXEC) != 0);
    if (res.val < 0) {
        file_put(f[1]);
        return res;
    }
    fds[0] = (int32_t)res.val;
    res = sys_install(t, 0, f[1], (type & LX_SOCK_CLOEXEC) != 0);
    if (res.val < 0) {
        fdtable_close(t, fds[0]);
        return res;
    }
    fds[1] = (int32_t)res.val;
    r = copy_to_user(t, sys_addr(a, 3), fds, sizeof(fds));
    if (r < 0) {
        fdtable_close(t, fds[0]);
        fdtable_close(t, fds[1]);
    }
    return sys_ret(r);
}

/* -- names ------------------------------------------------------------------------------------ */

struct sys_res sys_bind(struct task *t, const struct sys_args *a)
{
    struct lx_sockaddr_un sun;
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = sock_addr_in(t, sys_addr(a, 1), sys_int(a, 2), &sun);
    if (r == 0)
        r = unix_bind(t, sk, &sun, sys_int(a, 2));
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_listen(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = unix_listen(t, sk, sys_int(a, 1));
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_getsockname(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = sock_addr_out(t, sk->addr, false, sys_addr(a, 1), sys_addr(a, 2));
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_getpeername(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    if (!sk->peer)
        r = -ENOTCONN;
    else
        r = sock_addr_out(t, sk->peer->addr, false, sys_addr(a, 1), sys_addr(a, 2));
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_shutdown(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = unix_shutdown(sk, sys_int(a, 1));
    file_put(f);
    return sys_ret(r);
}

/* -- connections ------------------------------------------------------------------------------ */

/* The backlog of other (counted, consumed) is full. */
static struct sys_res connect_wait(struct task *t, struct unix_sock *sk, struct file *f,
                                   struct unix_sock *other)
{
    struct sys_res res = sys_ret(-EAGAIN);

    if (!file_nonblock(f)) {
        int r = task_wait_on(t, &other->space, 0);

        res = r < 0 ? sys_ret(r) : sock_block(t, f, 0, sk->sndtimeo);
    }
    unix_sock_put(other);
    return res;
}

struct sys_res sys_connect(struct task *t, const struct sys_args *a)
{
    struct unix_sock *sk, *full = NULL;
    int len = sys_int(a, 2);
    struct lx_sockaddr_un sun;
    struct sys_res res;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    r = sock_addr_in(t, sys_addr(a, 1), len, &sun);
    if (r == 0 && len < (int)sizeof(sun.sun_family))
        r = -EINVAL;
    if (r == 0) {
        if (sk->type == LX_SOCK_DGRAM)
            r = unix_dgram_connect(t, sk, &sun, len);
        else
            r = unix_stream_connect(t, sk, &sun, len, &full);
    }
    res = full ? connect_wait(t, sk, f, full) : sys_ret(r);
    file_put(f);
    return res;
}

static struct sys_res do_accept(struct task *t, const struct sys_args *a, uint32_t flags)
{
    struct unix_sock *sk, *end;
    struct file *f, *conn = NULL;
    struct sys_res res;
    int r;

    if (flags & ~(uint32_t)(LX_SOCK_CLOEXEC | LX_SOCK_NONBLOCK))
        return sys_ret(-EINVAL);
    r = sock_lookup(t, sys_int(a, 0), &f, &sk);
    if (r < 0)
        return sys_ret(r);
    r = unix_accept(sk, &end);
    if (r == -EAGAIN && !file_nonblock(f))
        res = sock_block(t, f, LX_POLLIN | LX_POLLRDNORM, sk->rcvtimeo);
    else
        res = sys_ret(r);
    file_put(f);
    if (r < 0)
        return res;
    r = unix_sock_file(end, flags, &conn);
    if (r == 0 && a->v[1]) {
        r = sock_addr_out(t, end->peer ? end->peer->addr : NULL, false, sys_addr(a, 1),
                          sys_addr(a, 2));
        if (r < 0)
            file_put(conn);
    }
    return sys_install(t, r, conn, (flags & LX_SOCK_CLOEXEC) != 0);
}

struct sys_res sys_accept(struct task *t, const struct sys_args *a)
{
    return do_accept(t, a, 0);
}

struct sys_res sys_accept4(struct task *t, const struct sys_args *a)
{
    return do_accept(t, a, sys_uint(a, 3));
}
