/*
 * Datagrams, and sequenced packets, which are datagrams over a connection. One message is one
 * datagram; what the reader's buffer does not take is lost (MSG_TRUNC).
 */
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"

uint64_t unix_dgram_qlen(void)
{
    return sysctl_number("net.unix.max_dgram_qlen", UNIX_DGRAM_QLEN);
}

bool unix_dgram_full(const struct unix_sock *sk, const struct unix_sock *other)
{
    /* Two sockets connected to each other are bounded by the send buffers alone. */
    return other->peer != sk && !other->dead && other->qlen > unix_dgram_qlen();
}

int unix_dgram_connect(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len)
{
    struct unix_sock *other = NULL;
    int r = 0;

    if (sun->sun_family == LX_AF_UNSPEC) {
        sk->state = UNIX_FRESH;
    } else {
        r = unix_find(t, sun, len, sk->type, &other);
        if (r == 0 && sk->passcred)
            r = unix_autobind(sk);
        if (r == 0 && other->peer && other->peer != sk)
            r = -EPERM;
        if (r < 0) {
            unix_sock_put(other);
            return r;
        }
        sk->state = UNIX_CONNECTED;
        sk->peercred = other->peercred;
    }
    unix_sock_put(sk->peer);
    sk->peer = other;
    wait_queue_wake(&sk->wait, 0);
    return 0;
}

/* 0, or why other cannot take a message now or ever. */
static int dgram_check(struct unix_sock *sk, struct unix_sock *other)
{
    if (other->dead) {
        if (sk->type == LX_SOCK_SEQPACKET)
            return -EPIPE;
        if (sk->peer == other) {
            sk->peer = NULL;
            sk->state = UNIX_FRESH;
            unix_sock_put(other);
        }
        return -ECONNREFUSED;
    }
    if (sk->type == LX_SOCK_DGRAM && other->peer && other->peer != sk)
        return -EPERM;
    if (other->shutdown & SOCK_SHUT_RCV)
        return -EPIPE;
    if (sk->type == LX_SOCK_DGRAM && sk != other && unix_dgram_full(sk, other))
        return -EAGAIN;
    return 0;
}

int64_t unix_dgram_send(struct unix_sock *sk, struct uio *from, struct unix_send *s)
{
    struct unix_sock *other = s->to && sk->type == LX_SOCK_DGRAM ? s->to : sk->peer;
    size_t len = from->left;
    struct unix_msg *m;
    int r;

    if (s->flags & LX_MSG_OOB)
        return -EOPNOTSUPP;
    if (!other || (sk->type == LX_SOCK_SEQPACKET && sk->state != UNIX_CONNECTED))
        return -ENOTCONN;
    if (len > sk->sndbuf - 32)
        return -EMSGSIZE;
    if (sk->shutdown & SOCK_SHUT_SND)
        return -EPIPE;
    if (sk->wmem >= sk->sndbuf)
        return -EAGAIN;
    r = dgram_check(sk, other);
    if (r == 0 && sk->passcred)
        r = unix_autobind(sk);
    if (r == 0)
        r = unix_msg_new(sk, from, len, s, &m);
    if (r != 0)
        return r;
    m->fds = s->fds;
    s->fds = NULL;
    if (m->fds)
        scm_fds_attach(m->fds);
    unix_msg_queue(other, m);
    return (int64_t)len;
}

int64_t unix_dgram_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r)
{
    struct unix_msg *m;
    int64_t n = 0;
    size_t len;
    int err;

    if (r->flags & LX_MSG_OOB)
        return -EOPNOTSUPP;
    if (sk->type == LX_SOCK_SEQPACKET && sk->state != UNIX_CONNECTED)
        return -ENOTCONN;
    if (sk->error) {
        err = -sk->error;
        sk->error = 0;
        return err;
    }
    if (list_empty(&sk->queue))
        return sk->shutdown & SOCK_SHUT_RCV ? 0 : -EAGAIN;
    m = list_first(&sk->queue, struct unix_msg, link);
    len = m->len;
    if (MIN(len, to->left) > 0)
        n = uio_copy_to(to, m->data, MIN(len, to->left));
    if (n < 0)
        return n;
    err = unix_msg_meta(sk, m, r);
    if (err < 0)
        return err;
    if ((size_t)n < len)
        r->ret_flags |= LX_MSG_TRUNC;
    if (!(r->flags & LX_MSG_PEEK))
        unix_msg_free(sk, m);
    return r->flags & LX_MSG_TRUNC ? (int64_t)len : n;
}
