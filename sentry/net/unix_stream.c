/*
 * Connections and byte streams.
 *
 * connect makes the other end at once and puts it on the listener's accept queue, so the client can
 * write before anybody accepts. A stream is a queue of pieces; a piece that carries descriptors
 * ends a read, and a reader with SO_PASSCRED never gets bytes of two senders in one read.
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"

#define PIECE_MAX 32768u

int unix_listen(struct task *t, struct unix_sock *sk, int backlog)
{
    if (sk->type == LX_SOCK_DGRAM)
        return -EOPNOTSUPP;
    if (!sk->addr)
        return -EINVAL;
    if (sk->state == UNIX_CONNECTED)
        return -EINVAL;
    uint64_t most = sysctl_number("net.core.somaxconn", LX_SOMAXCONN);
    if ((uint32_t)backlog > most)
        backlog = (int)most;
    if ((uint32_t)backlog > sk->backlog)
        wait_queue_wake(&sk->space, 0);
    sk->backlog = (uint32_t)backlog;
    sk->state = UNIX_LISTEN;
    /* Who connects sees these as the credentials of its peer. */
    unix_cred_of(t, &sk->peercred);
    return 0;
}

/* The server's end of a connection from sk to listener. */
static int connect_to(struct task *t, struct unix_sock *sk, struct unix_sock *listener)
{
    struct unix_sock *end;
    int r = unix_sock_alloc(sk->type, &end);

    if (r < 0)
        return r;
    end->addr = unix_addr_get(listener->addr);
    end->state = UNIX_CONNECTED;
    end->peer = unix_sock_get(sk);
    end->passcred = listener->passcred;
    unix_cred_of(t, &end->peercred);
    sk->peercred = listener->peercred;
    sk->peer = unix_sock_get(end);
    sk->state = UNIX_CONNECTED;
    list_add_tail(&listener->accepting, &end->accept_link);
    listener->nacceptable++;
    wait_queue_wake(&listener->wait, LX_POLLIN | LX_POLLRDNORM);
    wait_queue_wake(&sk->wait, LX_POLLOUT | LX_POLLWRNORM);
    return 0;
}

int unix_stream_connect(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len,
                        struct unix_sock **ret_full)
{
    struct unix_sock *other;
    uint32_t n;
    int r = unix_addr_check(sun, len, &n);

    if (r == 0 && sk->passcred)
        r = unix_autobind(sk);
    if (r == 0)
        r = unix_find(t, sun, len, sk->type, &other);
    if (r != 0)
        return r;
    if (other->state != UNIX_LISTEN || (other->shutdown & SOCK_SHUT_RCV)) {
        r = -ECONNREFUSED;
    } else if (sk->state != UNIX_FRESH) {
        r = sk->state == UNIX_CONNECTED ? -EISCONN : -EINVAL;
    } else if (other->nacceptable > other->backlog) {
        *ret_full = other;
        return -EAGAIN;
    } else {
        r = connect_to(t, sk, other);
    }
    unix_sock_put(other);
    return r;
}

int unix_accept(struct unix_sock *sk, struct unix_sock **ret_sk)
{
    struct unix_sock *end;

    if (sk->type == LX_SOCK_DGRAM)
        return -EOPNOTSUPP;
    if (sk->state != UNIX_LISTEN)
        return -EINVAL;
    if (list_empty(&sk->accepting))
        return sk->shutdown & SOCK_SHUT_RCV ? -EINVAL : -EAGAIN;
    end = list_first(&sk->accepting, struct unix_sock, accept_link);
    list_del_init(&end->accept_link);
    sk->nacceptable--;
    wait_queue_wake(&sk->space, 0);
    *ret_sk = end;
    return 0;
}

/* -- sending ---------------------------------------------------------------------------------- */

int64_t unix_stream_send(struct unix_sock *sk, struct uio *from, struct unix_send *s)
{
    int64_t done = 0;

    if (s->flags & LX_MSG_OOB)
        return -EOPNOTSUPP;
    if (sk->state != UNIX_CONNECTED || !sk->peer)
        return -ENOTCONN;
    if (sk->shutdown & SOCK_SHUT_SND)
        return -EPIPE;
    while (from->left > 0) {
        struct unix_sock *peer = sk->peer;
        struct unix_msg *m;
        int r;

        if (peer->dead || (peer->shutdown & SOCK_SHUT_RCV))
            return done ? done : -EPIPE;
        if (sk->wmem >= sk->sndbuf)
            return done ? done : -EAGAIN;
        r = unix_msg_new(sk, from, MIN(from->left, (size_t)PIECE_MAX), s, &m);
        if (r < 0)
            return done ? done : r;
        m->fds = s->fds;
        s->fds = NULL;
        if (m->fds)
            scm_fds_attach(m->fds);
        done += (int64_t)m->len;
        unix_msg_queue(peer, m);
    }
    return done;
}

/* -- receiving -------------------------------------------------------------------------------- */

static int stream_recv_empty(struct unix_sock *sk)
{
    if (sk->error) {
        int err = -sk->error;

        sk->error = 0;
        return err;
    }
    return sk->shutdown & SOCK_SHUT_RCV ? 0 : -EAGAIN;
}

static bool same_sender(const struct unix_recv *r, const struct unix_msg *m)
{
    return !r->has_cred || memcmp(&r->cred, &m->cred, sizeof(m->cred)) == 0;
}

/* Reads from the queue, starting at its first piece; peek leaves everything where it is. */
int64_t unix_stream_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r)
{
    bool peek = (r->flags & LX_MSG_PEEK) != 0;
    struct unix_msg *m, *next;
    int64_t done = 0;

    if (r->flags & LX_MSG_OOB)
        return -EINVAL;
    if (sk->state != UNIX_CONNECTED)
        return -EINVAL;
    if (list_empty(&sk->queue))
        return stream_recv_empty(sk);
    list_for_each_entry_safe (m, next, &sk->queue, link) {
        size_t want = MIN(m->len - m->off, to->left);
        bool had_fds = m->fds != NULL;
        int64_t n = 0;
        int err;

        if (to->left == 0 || (sk->passcred && !same_sender(r, m)))
            break;
        n = uio_copy_to(to, m->data + m->off, want);
        if (n < 0)
            return done ? done : n;
        err = unix_msg_meta(sk, m, r);
        if (err < 0)
            return done ? done : err;
        done += n;
        if (!peek) {
            m->off += (size_t)n;
            if (m->off == m->len)
                unix_msg_free(sk, m);
        }
        if ((size_t)n < want || had_fds)
            break;
    }
    return done;
}
