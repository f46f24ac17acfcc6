/*
 * Queued messages. A message is charged to its sender's send buffer until it has been read, so a
 * sender that nobody reads from stops; the total of all sockets is bounded by LIMIT_SOCK_BYTES.
 */
#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"

#define MSG_OVERHEAD 512u

int unix_msg_new(struct unix_sock *sk, struct uio *from, size_t len, const struct unix_send *s,
                 struct unix_msg **ret_m)
{
    uint64_t cost = len + MSG_OVERHEAD;
    struct unix_msg *m;
    int64_t n;
    int r = limit_charge(LIMIT_SOCK_BYTES, cost);

    if (r < 0)
        return r;
    m = kalloc(sizeof(*m) + len);
    if (!m) {
        limit_release(LIMIT_SOCK_BYTES, cost);
        return -ENOMEM;
    }
    n = len ? uio_copy_from(from, m->data, len) : 0;
    if (n != (int64_t)len) {
        limit_release(LIMIT_SOCK_BYTES, cost);
        kfree(m);
        return -EFAULT;
    }
    m->len = len;
    m->cost = cost;
    m->owner = unix_sock_get(sk);
    m->addr = sk->addr ? unix_addr_get(sk->addr) : NULL;
    m->cred = s->cred;
    sk->wmem += cost;
    list_init(&m->link);
    *ret_m = m;
    return 0;
}

void unix_msg_queue(struct unix_sock *to, struct unix_msg *m)
{
    list_add_tail(&to->queue, &m->link);
    to->qlen++;
    wait_queue_wake(&to->wait, LX_POLLIN | LX_POLLRDNORM);
}

void unix_msg_free(struct unix_sock *in, struct unix_msg *m)
{
    struct unix_sock *owner = m->owner;
    bool was_writable = unix_writable(owner);

    list_del_init(&m->link);
    if (in) {
        in->qlen--;
        if (in->qlen <= unix_dgram_qlen())
            wait_queue_wake(&in->space, 0);
    }
    owner->wmem -= m->cost;
    limit_release(LIMIT_SOCK_BYTES, m->cost);
    if (!was_writable && unix_writable(owner))
        wait_queue_wake(&owner->wait, LX_POLLOUT | LX_POLLWRNORM | LX_POLLWRBAND);
    if (m->fds) {
        scm_fds_detach(m->fds);
        scm_fds_put(m->fds);
    }
    unix_addr_put(m->addr);
    kfree(m);
    unix_sock_put(owner);
}

int unix_msg_meta(struct unix_sock *sk, struct unix_msg *m, struct unix_recv *r)
{
    if (m->fds) {
        if (r->flags & LX_MSG_PEEK) {
            int err = scm_fds_dup(m->fds, &r->fds);

            if (err < 0)
                return err;
        } else {
            scm_fds_detach(m->fds);
            r->fds = m->fds;
            m->fds = NULL;
        }
    }
    if (!r->has_cred) {
        r->cred = m->cred;
        r->has_cred = true;
    }
    if (!r->addr && m->addr)
        r->addr = unix_addr_get(m->addr);
    (void)sk;
    return 0;
}
