/*
 * Sockets as files: life, readiness, shutdown, and the split between streams and packets.
 *
 * Closing a socket takes its name away, tells the peer (end of stream, or ECONNRESET when it lost
 * something), refuses whoever waits in the backlog, and drops the queue. The peer keeps its pointer
 * to the dead socket until it is closed itself.
 */
#include "sentry/net/socket.h"

#include "abi/ioctl.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

static const struct file_ops unix_file_ops;

void unix_cred_of(const struct task *t, struct lx_ucred *ret_cred)
{
    *ret_cred = (struct lx_ucred){(int32_t)t->group->pid, t->cred->euid, t->cred->egid};
}

struct unix_sock *file_socket(const struct file *f)
{
    return f->ops == &unix_file_ops ? f->priv : NULL;
}

int unix_sock_alloc(int type, struct unix_sock **ret_sk)
{
    struct unix_sock *sk;

    if (limit_charge(LIMIT_SOCK_BYTES, sizeof(*sk)) < 0)
        return -ENOBUFS;
    sk = kalloc(sizeof(*sk));
    if (!sk) {
        limit_release(LIMIT_SOCK_BYTES, sizeof(*sk));
        return -ENOMEM;
    }
    sk->ref = 1;
    sk->type = type;
    wait_queue_init(&sk->wait);
    wait_queue_init(&sk->space);
    list_init(&sk->queue);
    list_init(&sk->accepting);
    list_init(&sk->accept_link);
    list_init(&sk->gc_link);
    sk->sndbuf = sk->rcvbuf = UNIX_BUF_DEFAULT;
    sk->rcvlowat = 1;
    sk->peek_off = -1;
    sk->peercred = (struct lx_ucred){0, UINT32_MAX, UINT32_MAX};
    *ret_sk = sk;
    return 0;
}

struct unix_sock *unix_sock_get(struct unix_sock *sk)
{
    KASSERT(sk->ref > 0 && sk->ref < UINT32_MAX);
    sk->ref++;
    return sk;
}

void unix_sock_put(struct unix_sock *sk)
{
    if (!sk)
        return;
    KASSERT(sk->ref > 0);
    if (--sk->ref > 0)
        return;
    wait_queue_done(&sk->wait);
    wait_queue_done(&sk->space);
    unix_addr_put(sk->addr);
    kfree(sk);
    limit_release(LIMIT_SOCK_BYTES, sizeof(*sk));
}

int unix_sock_file(struct unix_sock *sk, uint32_t file_flags, struct file **ret_file)
{
    struct file *f;
    int r = anon_inode_file_new("socket", LX_S_IFSOCK | 0777, &unix_file_ops,
                                LX_O_RDWR | (file_flags & LX_O_NONBLOCK), sk, &f);

    if (r < 0) {
        unix_sock_release(sk);
        return r;
    }
    sk->file = f;
    *ret_file = f;
    return 0;
}

int unix_socket_new(int type, uint32_t file_flags, struct file **ret_file)
{
    struct unix_sock *sk;
    int r = unix_sock_alloc(type, &sk);

    return r < 0 ? r : unix_sock_file(sk, file_flags, ret_file);
}

void unix_pair(struct unix_sock *a, struct unix_sock *b, const struct task *t)
{
    a->peer = unix_sock_get(b);
    b->peer = unix_sock_get(a);
    a->state = b->state = UNIX_CONNECTED;
    unix_cred_of(t, &a->peercred);
    b->peercred = a->peercred;
}

/* -- closing ---------------------------------------------------------------------------------- */

static void wake_all(struct unix_sock *sk)
{
    wait_queue_wake(&sk->wait, 0);
    wait_queue_wake(&sk->space, 0);
}

/* Everybody who waits, whatever for; who asked for signals is told of the hang-up. */
static void wake_hang_up(struct unix_sock *sk)
{
    wait_queue_wake(&sk->wait, LX_POLLHUP | LX_POLLRDHUP | LX_POLLIN | LX_POLLRDNORM | LX_POLLOUT |
                                   LX_POLLWRNORM);
    wait_queue_wake(&sk->space, 0);
}

static void release_peer(struct unix_sock *sk, bool lost)
{
    struct unix_sock *peer = sk->peer;

    if (!peer)
        return;
    sk->peer = NULL;
    if (sk->type != LX_SOCK_DGRAM && !peer->dead) {
        peer->shutdown = SOCK_SHUT_BOTH;
        if (lost)
            peer->error = ECONNRESET;
        wake_hang_up(peer);
    } else if (!peer->dead && peer->peer == sk) {
        wake_all(peer);
    }
    unix_sock_put(peer);
}

/* Ends sk and gives back the reference of its file (or of the accept queue). */
/* NOLINTNEXTLINE(misc-no-recursion): what waits to be accepted has no such queue itself */
void unix_sock_release(struct unix_sock *sk)
{
    bool lost = !list_empty(&sk->queue) || !sk->file;

    sk->dead = true;
    sk->shutdown = SOCK_SHUT_BOTH;
    if (sk->file && sk->file->inflight == 0)
        list_del_init(&sk->gc_link);
    sk->file = NULL;
    unix_unbind(sk);
    while (!list_empty(&sk->accepting)) {
        struct unix_sock *embryo = list_first(&sk->accepting, struct unix_sock, accept_link);

        list_del_init(&embryo->accept_link);
        unix_sock_release(embryo);
    }
    release_peer(sk, lost);
    while (!list_empty(&sk->queue))
        unix_msg_free(sk, list_first(&sk->queue, struct unix_msg, link));
    wake_all(sk);
    unix_sock_put(sk);
}

static void socket_release(struct file *f)
{
    unix_sock_release(f->priv);
    scm_collect_if_due();
}

int unix_shutdown(struct unix_sock *sk, int how)
{
    uint32_t mode, other = 0;

    if (how < LX_SHUT_RD || how > LX_SHUT_RDWR)
        return -EINVAL;
    mode = (uint32_t)how + 1; /* SHUT_RD 0, SHUT_WR 1, SHUT_RDWR 2 */
    sk->shutdown |= mode;
    if (sk->peer && sk->type != LX_SOCK_DGRAM) {
        if (mode & SOCK_SHUT_RCV)
            other |= SOCK_SHUT_SND;
        if (mode & SOCK_SHUT_SND)
            other |= SOCK_SHUT_RCV;
        sk->peer->shutdown |= other;
        if (other == SOCK_SHUT_BOTH)
            wake_hang_up(sk->peer);
        else
            wake_all(sk->peer);
    }
    wake_all(sk);
    return 0;
}

/* -- data ------------------------------------------------------------------------------------- */

bool unix_writable(const struct unix_sock *sk)
{
    return sk->wmem * 4 <= sk->sndbuf;
}

int64_t unix_send(struct unix_sock *sk, struct uio *from, struct unix_send *s)
{
    if (sk->error) {
        int err = -sk->error;

        sk->error = 0;
        return err;
    }
    return sk->type == LX_SOCK_STREAM ? unix_stream_send(sk, from, s)
                                      : unix_dgram_send(sk, from, s);
}

int64_t unix_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r)
{
    return sk->type == LX_SOCK_STREAM ? unix_stream_recv(sk, to, r) : unix_dgram_recv(sk, to, r);
}

void unix_recv_done(struct unix_recv *r)
{
    scm_fds_put(r->fds);
    unix_addr_put(r->addr);
    r->fds = NULL;
    r->addr = NULL;
}

static int64_t socket_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct unix_recv r = {.flags = 0};
    int64_t n;

    (void)pos;
    if (to->left == 0)
        return 0;
    n = unix_recv(f->priv, to, &r);
    unix_recv_done(&r);
    return n;
}

static int64_t socket_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct unix_send s = {.flags = 0};

    (void)pos;
    if (kernel.current)
        unix_cred_of(kernel.current, &s.cred);
    return unix_send(f->priv, from, &s);
}

static uint32_t stream_poll(struct unix_sock *sk)
{
    uint32_t mask = 0;

    if (sk->state == UNIX_LISTEN)
        return list_empty(&sk->accepting) ? 0 : LX_POLLIN | LX_POLLRDNORM;
    if (sk->state == UNIX_FRESH)
        mask |= LX_POLLHUP;
    if (unix_writable(sk))
        mask |= LX_POLLOUT | LX_POLLWRNORM | LX_POLLWRBAND;
    return mask;
}

static uint32_t dgram_poll(struct unix_sock *sk, struct poll_table *pt)
{
    struct unix_sock *peer = sk->peer;

    if (!unix_writable(sk))
        return 0;
    if (peer && unix_dgram_full(sk, peer)) {
        poll_wait(pt, &peer->space);
        return 0;
    }
    return LX_POLLOUT | LX_POLLWRNORM | LX_POLLWRBAND;
}

static uint32_t socket_poll(struct file *f, struct poll_table *pt)
{
    struct unix_sock *sk = f->priv;
    uint32_t mask = 0;

    poll_wait(pt, &sk->wait);
    if (sk->error)
        mask |= LX_POLLERR;
    if (sk->shutdown == SOCK_SHUT_BOTH)
        mask |= LX_POLLHUP;
    if (sk->shutdown & SOCK_SHUT_RCV)
        mask |= LX_POLLRDHUP | LX_POLLIN | LX_POLLRDNORM;
    if (!list_empty(&sk->queue))
        mask |= LX_POLLIN | LX_POLLRDNORM;
    if (sk->type == LX_SOCK_DGRAM)
        return mask | dgram_poll(sk, pt);
    return mask | stream_poll(sk);
}

/* -- ioctl ------------------------------------------------------------------------------------ */

static int socket_unread(const struct unix_sock *sk, int32_t *ret_n)
{
    const struct unix_msg *m;
    uint64_t n = 0;

    if (sk->state == UNIX_LISTEN)
        return -EINVAL;
    list_for_each_entry (m, &sk->queue, link) {
        n += m->len - m->off;
        if (sk->type == LX_SOCK_DGRAM)
            break;
    }
    *ret_n = n > INT32_MAX ? INT32_MAX : (int32_t)n;
    return 0;
}

static struct sys_res socket_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    struct unix_sock *sk = f->priv;
    int32_t n = 0;
    int r = 0;

    switch (cmd) {
    case LX_SIOCINQ:
        r = socket_unread(sk, &n);
        break;
    case LX_SIOCOUTQ:
        n = (int32_t)MIN(sk->wmem, (uint64_t)INT32_MAX);
        break;
    case LX_SIOCATMARK:
        break;
    case LX_FIOGETOWN:
    case LX_SIOCGPGRP:
        n = file_owner_number(f);
        break;
    case LX_FIOSETOWN:
    case LX_SIOCSPGRP:
        if (get_user(t, &n, GADDR(arg)) < 0)
            return sys_ret(-EFAULT);
        return sys_ret(file_set_owner_number(f, t, n));
    case LX_SIOCGIFCONF:
    case LX_SIOCGIFNAME:
    case LX_SIOCGIFFLAGS:
        /* No interface exists here. */
        return sys_ret(-ENODEV);
    default:
        return sys_ret(-ENOTTY);
    }
    return sys_ret(r < 0 ? r : put_user(t, GADDR(arg), &n));
}

static const struct file_ops unix_file_ops = {
    .read = socket_read,
    .write = socket_write,
    .poll = socket_poll,
    .async = true,
    .ioctl = socket_ioctl,
    .release = socket_release,
};
