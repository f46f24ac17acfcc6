/*
 * Messages: sendto, sendmsg, sendmmsg and their receiving halves.
 *
 * A blocking send of a stream keeps its progress in t->restart.progress, and so does MSG_WAITALL;
 * the control message goes with the first piece. The *mmsg calls count finished messages in
 * t->restart.u[0].
 */
#include <string.h>

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "sentry/sys/sock_util.h"
#include "sentry/sys/sys.h"

#define SEND_READY (LX_POLLOUT | LX_POLLWRNORM)
#define RECV_READY (LX_POLLIN | LX_POLLRDNORM)
#define MMSG_MAX   1024u

enum {
    U_MESSAGES = 0
};

/* -- sending ---------------------------------------------------------------------------------- */

static struct sys_res send_wait(struct task *t, struct file *f, struct unix_sock *sk,
                                struct unix_sock *to)
{
    int64_t done = (int64_t)t->restart.progress;
    struct sys_res res;
    int r = 0;

    if (to && to != sk->peer)
        r = task_wait_on(t, &to->space, 0);
    res = r < 0 ? sys_ret(r) : sock_block(t, f, SEND_READY, sk->sndtimeo);
    if (res.kind == SYS_RET && done)
        res.val = done;
    return res;
}

/* One message. Consumes s->fds. */
static struct sys_res send_message(struct task *t, struct file *f, struct unix_sock *sk,
                                   struct uio *u, struct unix_send *s)
{
    bool nonblock = file_nonblock(f) || (s->flags & LX_MSG_DONTWAIT);
    struct sys_res res;
    int64_t n;

    if (t->restart.progress) {
        uio_advance(u, t->restart.progress);
        scm_fds_put(s->fds);
        s->fds = NULL;
    }
    for (;;) {
        n = unix_send(sk, u, s);
        if (n > 0) {
            t->restart.progress += (uint64_t)n;
            if (u->left > 0 && !nonblock && sk->type == LX_SOCK_STREAM)
                continue;
        }
        break;
    }
    if (n == -EAGAIN && !nonblock) {
        res = send_wait(t, f, sk, s->to);
    } else {
        if (n == -EPIPE && sk->type == LX_SOCK_STREAM && !(s->flags & LX_MSG_NOSIGNAL) &&
            !t->restart.progress)
            signal_send_kernel_task(t, LX_SIGPIPE);
        res = sys_ret(t->restart.progress ? (int64_t)t->restart.progress : n);
    }
    if (res.kind == SYS_RET)
        t->restart.progress = 0;
    scm_fds_put(s->fds);
    s->fds = NULL;
    return res;
}

/* The destination of a send: resolved for datagrams, refused for connections. s->to is counted. */
static int send_resolve(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len,
                        struct unix_send *s)
{
    s->to = NULL;
    if (len == 0)
        return 0;
    if (sk->type == LX_SOCK_STREAM)
        return sk->state == UNIX_CONNECTED ? -EISCONN : -EOPNOTSUPP;
    if (sk->type == LX_SOCK_SEQPACKET)
        return 0;
    return unix_find(t, sun, len, sk->type, &s->to);
}

static struct sys_res do_send(struct task *t, struct file *f, struct unix_sock *sk, struct uio *u,
                              struct lx_sockaddr_un *sun, int len, struct unix_send *s)
{
    int r = send_resolve(t, sk, sun, len, s);
    struct sys_res res;

    if (r < 0) {
        scm_fds_put(s->fds);
        return sys_ret(r);
    }
    res = send_message(t, f, sk, u, s);
    unix_sock_put(s->to);
    return res;
}

struct sys_res sys_sendto(struct task *t, const struct sys_args *a)
{
    struct unix_send s = {.flags = sys_uint(a, 3)};
    int len = a->v[4] ? sys_int(a, 5) : 0;
    struct lx_sockaddr_un sun;
    struct unix_sock *sk;
    struct sys_res res;
    struct file *f;
    struct uio u;
    int r = uio_init_user(&u, t, sys_addr(a, 1), a->v[2]);

    if (r < 0)
        return sys_ret(r);
    r = sock_lookup(t, sys_int(a, 0), &f, &sk);
    if (r < 0)
        return sys_ret(r);
    unix_cred_of(t, &s.cred);
    r = sock_addr_in(t, sys_addr(a, 4), len, &sun);
    res = r < 0 ? sys_ret(r) : do_send(t, f, sk, &u, &sun, len, &s);
    file_put(f);
    return res;
}

static struct sys_res send_msghdr(struct task *t, struct file *f, struct unix_sock *sk,
                                  gaddr_t umsg, uint32_t flags)
{
    struct unix_send s = {.flags = flags};
    struct lx_sockaddr_un sun;
    struct lx_msghdr mh;
    struct sys_res res;
    struct uio u;
    int r = get_user(t, &mh, umsg), len;

    if (r < 0)
        return sys_ret(r);
    len = gaddr_is_null(mh.msg_name) ? 0 : mh.msg_namelen;
    if (mh.msg_namelen < 0)
        return sys_ret(-EINVAL);
    len = MIN(len, (int)sizeof(struct lx_sockaddr_storage));
    r = sock_addr_in(t, mh.msg_name, len, &sun);
    if (r == 0 && mh.msg_iovlen > LX_IOV_MAX)
        r = -EMSGSIZE;
    if (r == 0)
        r = uio_init_iovec(&u, t, mh.msg_iov, mh.msg_iovlen);
    if (r < 0)
        return sys_ret(r);
    unix_cred_of(t, &s.cred);
    r = cmsg_parse(t, mh.msg_control, mh.msg_controllen, &s);
    res = r < 0 ? sys_ret(r) : do_send(t, f, sk, &u, &sun, len, &s);
    uio_done(&u);
    return res;
}

/* -- receiving -------------------------------------------------------------------------------- */

/* One message, or for a stream what there is (all of it with MSG_WAITALL). r->ret_flags is set. */
static struct sys_res recv_message(struct task *t, struct file *f, struct unix_sock *sk,
                                   struct uio *u, struct unix_recv *r)
{
    bool nonblock = file_nonblock(f) || (r->flags & LX_MSG_DONTWAIT);
    bool all =
        (r->flags & LX_MSG_WAITALL) && !(r->flags & LX_MSG_PEEK) && sk->type == LX_SOCK_STREAM;
    struct sys_res res;
    int64_t n;

    if (t->restart.progress)
        uio_advance(u, t->restart.progress);
    if (u->left == 0 && sk->type == LX_SOCK_STREAM) {
        res = sys_ret((int64_t)t->restart.progress);
        t->restart.progress = 0;
        return res;
    }
    do {
        n = unix_recv(sk, u, r);
        if (n > 0)
            t->restart.progress += (uint64_t)n;
    } while (n > 0 && all && u->left > 0 && !r->fds);
    /* What was read with credentials is given out now: they are not kept over a wait. */
    if (n == -EAGAIN && !nonblock &&
        (t->restart.progress == 0 || (all && !(sk->passcred && r->has_cred)))) {
        int64_t done = (int64_t)t->restart.progress;

        res = sock_block(t, f, RECV_READY, sk->rcvtimeo);
        if (res.kind == SYS_RET && done)
            res.val = done;
    } else {
        res = sys_ret(t->restart.progress ? (int64_t)t->restart.progress : n);
    }
    if (res.kind == SYS_RET)
        t->restart.progress = 0;
    return res;
}

struct sys_res sys_recvfrom(struct task *t, const struct sys_args *a)
{
    struct unix_recv r = {.flags = sys_uint(a, 3)};
    struct unix_sock *sk;
    struct sys_res res;
    struct file *f;
    struct uio u;
    int err = uio_init_user(&u, t, sys_addr(a, 1), a->v[2]);

    if (err < 0)
        return sys_ret(err);
    err = sock_lookup(t, sys_int(a, 0), &f, &sk);
    if (err < 0)
        return sys_ret(err);
    res = recv_message(t, f, sk, &u, &r);
    if (res.kind == SYS_RET && res.val >= 0 && a->v[4]) {
        err = sock_addr_out(t, r.addr, !r.addr, sys_addr(a, 4), sys_addr(a, 5));
        if (err < 0)
            res = sys_ret(err);
    }
    unix_recv_done(&r);
    file_put(f);
    return res;
}

/* Writes back what recvmsg reports beside the bytes. */
static int recv_report(struct task *t, struct unix_sock *sk, struct unix_recv *r, gaddr_t umsg,
                       const struct lx_msghdr *mh)
{
    uint32_t flags = r->ret_flags | (r->flags & LX_MSG_CMSG_CLOEXEC);
    uint64_t used;

    if (!gaddr_is_null(mh->msg_name)) {
        int err = sock_addr_out(t, r->addr, !r->addr, mh->msg_name,
                                gaddr_add(umsg, offsetof(struct lx_msghdr, msg_namelen)));

        if (err < 0)
            return err;
    }
    used = cmsg_deliver(t, sk, r, mh->msg_control, mh->msg_controllen, &flags);
    if (put_user(t, gaddr_add(umsg, offsetof(struct lx_msghdr, msg_flags)), &flags) < 0)
        return -EFAULT;
    return put_user(t, gaddr_add(umsg, offsetof(struct lx_msghdr, msg_controllen)), &used);
}

static struct sys_res recv_msghdr(struct task *t, struct file *f, struct unix_sock *sk,
                                  gaddr_t umsg, uint32_t flags)
{
    struct unix_recv r = {.flags = flags};
    struct lx_msghdr mh;
    struct sys_res res;
    struct uio u;
    int err = get_user(t, &mh, umsg);

    if (err < 0)
        return sys_ret(err);
    if (mh.msg_namelen < 0)
        return sys_ret(-EINVAL);
    if (mh.msg_iovlen > LX_IOV_MAX)
        return sys_ret(-EMSGSIZE);
    err = uio_init_iovec(&u, t, mh.msg_iov, mh.msg_iovlen);
    if (err < 0)
        return sys_ret(err);
    res = recv_message(t, f, sk, &u, &r);
    if (res.kind == SYS_RET && res.val >= 0) {
        err = recv_report(t, sk, &r, umsg, &mh);
        if (err < 0)
            res = sys_ret(err);
    }
    unix_recv_done(&r);
    uio_done(&u);
    return res;
}

/* -- by message header, one or many ----------------------------------------------------------- */

typedef struct sys_res msghdr_fn(struct task *t, struct file *f, struct unix_sock *sk, gaddr_t umsg,
                                 uint32_t flags);

static struct sys_res one_message(struct task *t, const struct sys_args *a, msghdr_fn *fn)
{
    struct unix_sock *sk;
    struct sys_res res;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    res = fn(t, f, sk, sys_addr(a, 1), sys_uint(a, 2));
    file_put(f);
    return res;
}

struct sys_res sys_sendmsg(struct task *t, const struct sys_args *a)
{
    return one_message(t, a, send_msghdr);
}

struct sys_res sys_recvmsg(struct task *t, const struct sys_args *a)
{
    return one_message(t, a, recv_msghdr);
}

static gaddr_t mmsg_at(const struct sys_args *a, uint64_t i)
{
    return gaddr_add(sys_addr(a, 1), i * sizeof(struct lx_mmsghdr));
}

/* Stores the length of message i and counts it. */
static int mmsg_finish(struct task *t, const struct sys_args *a, int64_t n)
{
    uint64_t i = t->restart.u[U_MESSAGES]++;
    uint32_t len = (uint32_t)n;

    return put_user(t, gaddr_add(mmsg_at(a, i), offsetof(struct lx_mmsghdr, msg_len)), &len);
}

/* How a call that handles many messages ends: their number counts more than the last error. */
static struct sys_res mmsg_result(struct task *t, struct sys_res res)
{
    if (res.kind == SYS_RET && t->restart.u[U_MESSAGES] > 0)
        res.val = (int64_t)t->restart.u[U_MESSAGES];
    return res;
}

static struct sys_res messages_run(struct task *t, const struct sys_args *a, struct file *f,
                                   struct unix_sock *sk, msghdr_fn *fn)
{
    uint32_t vlen = MIN(sys_uint(a, 2), MMSG_MAX), flags = sys_uint(a, 3);
    struct sys_res res = sys_ret(0);

    while (t->restart.u[U_MESSAGES] < vlen) {
        uint32_t f1 = flags & ~(uint32_t)LX_MSG_WAITFORONE;
        int r;

        if ((flags & LX_MSG_WAITFORONE) && t->restart.u[U_MESSAGES] > 0)
            f1 |= LX_MSG_DONTWAIT;
        res = fn(t, f, sk, mmsg_at(a, t->restart.u[U_MESSAGES]), f1);
        if (res.kind != SYS_RET || res.val < 0)
            break;
        r = mmsg_finish(t, a, res.val);
        if (r < 0)
            return sys_ret(r);
        if (fn == recv_msghdr && task_timed_out(t))
            break;
    }
    return res;
}

static struct sys_res many_messages(struct task *t, const struct sys_args *a, msghdr_fn *fn)
{
    struct unix_sock *sk;
    struct sys_res res;
    struct file *f;
    int r = sock_lookup(t, sys_int(a, 0), &f, &sk);

    if (r < 0)
        return sys_ret(r);
    res = messages_run(t, a, f, sk, fn);
    file_put(f);
    return mmsg_result(t, res);
}

struct sys_res sys_sendmmsg(struct task *t, const struct sys_args *a)
{
    struct sys_args plain = *a;

    /* Only recvmmsg knows it. */
    plain.v[3] &= ~(uint64_t)LX_MSG_WAITFORONE;
    return many_messages(t, &plain, send_msghdr);
}

/* The timeout of recvmmsg: checked only after a message has come, as on Linux. */
static int recvmmsg_timeout(struct task *t, gaddr_t addr)
{
    struct lx_timespec ts;
    uint64_t ns;
    int r;

    if (gaddr_is_null(addr) || task_has_deadline(t))
        return 0;
    r = get_user(t, &ts, addr);
    if (r == 0)
        r = timespec_to_ns(&ts, &ns);
    if (r == 0)
        task_set_deadline(t, clock_after(ns));
    return r;
}

struct sys_res sys_recvmmsg(struct task *t, const struct sys_args *a)
{
    int r = recvmmsg_timeout(t, sys_addr(a, 4));

    return r < 0 ? sys_ret(r) : many_messages(t, a, recv_msghdr);
}
