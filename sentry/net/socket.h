#pragma once
/*
 * AF_UNIX sockets, the only family there is. A socket is counted: by its file, by the peer pointer
 * of the other side, by queued messages that it sent, and by the accept queue. Its file's release
 * takes it out of the name space and drops what it holds; the block itself goes with the last
 * reference.
 *
 * The functions that move data never block and have no effect when they return -EAGAIN.
 */
#include "lib/compiler.h"

#include "abi/socket.h"

#include "lib/hash.h"
#include "lib/list.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/waitqueue.h"

struct file;
struct poll_table;
struct task;
struct uio;

/* A bound name, shared by a listener and the sockets accepted from it. */
struct unix_addr {
    uint32_t ref;
    uint32_t len; /* of the sockaddr: 2 + name */
    bool hashed;  /* abstract: in the table of names */
    struct hash_node node;
    struct unix_sock *owner; /* borrowed: whoever bound it */
    struct lx_sockaddr_un sun;
    struct inode *inode; /* counted: the S_IFSOCK inode of a path name, until the owner is gone */
};

/* Descriptors in flight (net/scm.c). */
struct scm_fds {
    uint32_t n;
    struct file *files[LX_SCM_MAX_FD]; /* counted, and counted in inflight */
};

/* One queued message, or a piece of a stream. */
struct unix_msg {
    struct list_head link;
    size_t len, off;         /* off: read so far (streams) */
    uint64_t cost;           /* charged to owner->wmem and LIMIT_SOCK_BYTES */
    struct unix_sock *owner; /* counted sender */
    struct unix_addr *addr;  /* counted name of the sender, or NULL */
    struct lx_ucred cred;
    struct scm_fds *fds;
    uint8_t data[];
};

enum unix_state {
    UNIX_FRESH,
    UNIX_LISTEN,
    UNIX_CONNECTED
};

struct unix_sock {
    uint32_t ref;
    int type; /* LX_SOCK_STREAM, DGRAM, SEQPACKET */
    enum unix_state state;
    bool dead;               /* released */
    struct wait_queue wait;  /* readiness */
    struct wait_queue space; /* others wait for room in our queue or backlog */
    struct file *file;       /* borrowed; NULL before accept */
    struct unix_sock *peer;  /* counted */
    struct unix_addr *addr;  /* counted */
    struct list_head queue;  /* unix_msg.link */
    uint32_t qlen;
    struct list_head accepting; /* listener: embryo.accept_link */
    struct list_head accept_link;
    uint32_t nacceptable, backlog;
    uint64_t wmem;     /* cost of what we sent and nobody has read */
    uint32_t shutdown; /* SOCK_SHUT_* */
    int error;         /* positive errno, reported once */
    struct lx_ucred peercred;
    struct list_head gc_link; /* scm.c: sockets with inflight references */
    uint32_t gc_refs;
    bool gc_candidate;
    /* options */
    uint32_t sndbuf, rcvbuf;
    bool passcred, reuseaddr, keepalive, broadcast, passsec;
    uint32_t kept; /* sys_sockopt.c: options that are remembered and mean nothing here */
    int priority, rcvlowat, peek_off;
    struct lx_linger linger;
    uint64_t rcvtimeo, sndtimeo; /* ns, 0: none */
};

enum {
    SOCK_SHUT_RCV = 1,
    SOCK_SHUT_SND = 2,
    SOCK_SHUT_BOTH = 3
};

#define UNIX_BUF_DEFAULT 212992u
#define UNIX_DGRAM_QLEN  10u

/* What goes with a message besides the bytes. */
struct unix_send {
    uint32_t flags;       /* LX_MSG_* */
    struct lx_ucred cred; /* of the sender, or as it claims */
    struct scm_fds *fds;  /* taken when something was sent */
    struct unix_sock *to; /* datagrams: explicit destination, borrowed */
};
struct unix_recv {
    uint32_t flags;     /* LX_MSG_* in */
    uint32_t ret_flags; /* MSG_TRUNC */
    bool has_cred;
    struct lx_ucred cred;
    struct scm_fds *fds;    /* owned by the caller: scm_fds_put */
    struct unix_addr *addr; /* counted name of the sender */
};

/* socket.c */
int unix_socket_new(int type, uint32_t file_flags, struct file **ret_file) MUST_CHECK;
int unix_sock_alloc(int type, struct unix_sock **ret_sk) MUST_CHECK;
int unix_sock_file(struct unix_sock *sk CONSUMES, uint32_t file_flags, struct file **ret_file)
    MUST_CHECK;
/* The socket of a file (borrowed), or NULL. */
struct unix_sock *file_socket(const struct file *f);
struct unix_sock *unix_sock_get(struct unix_sock *sk);
void unix_sock_put(struct unix_sock *sk);
void unix_sock_release(struct unix_sock *sk);
void unix_cred_of(const struct task *t, struct lx_ucred *ret_cred);
bool unix_writable(const struct unix_sock *sk);
int unix_shutdown(struct unix_sock *sk, int how) MUST_CHECK;
void unix_pair(struct unix_sock *a, struct unix_sock *b, const struct task *t);
int64_t unix_send(struct unix_sock *sk, struct uio *from, struct unix_send *s) MUST_CHECK;
int64_t unix_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r) MUST_CHECK;
void unix_recv_done(struct unix_recv *r);

/* unix_addr.c */
/* Checks what the guest passed: -EINVAL. *ret_len: the length with the NUL of a path name. */
int unix_addr_check(struct lx_sockaddr_un *sun, int len, uint32_t *ret_len) MUST_CHECK;
int unix_bind(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len) MUST_CHECK;
int unix_autobind(struct unix_sock *sk) MUST_CHECK;
/* The socket bound to a name, counted: -ECONNREFUSED, -EPROTOTYPE, -EACCES, errors of the path. */
int unix_find(struct task *t, struct lx_sockaddr_un *sun, int len, int type,
              struct unix_sock **ret_sk) MUST_CHECK;
struct unix_addr *unix_addr_get(struct unix_addr *a);
void unix_addr_put(struct unix_addr *a);
void unix_unbind(struct unix_sock *sk);

/* unix_stream.c */
int unix_listen(struct task *t, struct unix_sock *sk, int backlog) MUST_CHECK;
/* -EAGAIN with *ret_full (counted) set: the backlog is full, wait on its space queue. */
int unix_stream_connect(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len,
                        struct unix_sock **ret_full) MUST_CHECK;
/* The next connection, handed over; -EAGAIN, -EINVAL. */
int unix_accept(struct unix_sock *sk, struct unix_sock **ret_sk) MUST_CHECK;
int64_t unix_stream_send(struct unix_sock *sk, struct uio *from, struct unix_send *s) MUST_CHECK;
int64_t unix_stream_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r) MUST_CHECK;

/* unix_dgram.c: datagrams and sequenced packets */
int unix_dgram_connect(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len)
    MUST_CHECK;
int64_t unix_dgram_send(struct unix_sock *sk, struct uio *from, struct unix_send *s) MUST_CHECK;
int64_t unix_dgram_recv(struct unix_sock *sk, struct uio *to, struct unix_recv *r) MUST_CHECK;
/* Whether a datagram from sk to other would have to wait for room. */
/* net.unix.max_dgram_qlen */
uint64_t unix_dgram_qlen(void);
bool unix_dgram_full(const struct unix_sock *sk, const struct unix_sock *other);

/* unix_msg.c */
/* Reads len bytes into a new message from sk, charged: -ENOMEM, -ENOBUFS, -EFAULT. */
int unix_msg_new(struct unix_sock *sk, struct uio *from, size_t len, const struct unix_send *s,
                 struct unix_msg **ret_m) MUST_CHECK;
/* Appends to the queue of to and wakes it. */
void unix_msg_queue(struct unix_sock *to, struct unix_msg *m);
/* Unlinks, gives back what was charged and frees. */
void unix_msg_free(struct unix_sock *in, struct unix_msg *m);
/* Credentials and descriptors of m for the reader; peek: m keeps its own. */
int unix_msg_meta(struct unix_sock *sk, struct unix_msg *m, struct unix_recv *r) MUST_CHECK;

/* scm.c */
/* Takes references and counts them as in flight. */
void scm_fds_attach(struct scm_fds *fds);
void scm_fds_detach(struct scm_fds *fds);
/* Drops the files and the block; not in flight any more. */
void scm_fds_put(struct scm_fds *fds);
int scm_fds_dup(const struct scm_fds *fds, struct scm_fds **ret_fds) MUST_CHECK;
/* Finds sockets that only queued messages refer to, and empties their queues. */
void scm_collect(void);
/* The same if there is reason to and it was not done just now: when a socket is closed. */
void scm_collect_if_due(void);
/* The last reference to a file from outside of queues has gone. */
void scm_suspect(void);
uint32_t scm_inflight(void);
