#pragma once
/*
 * What the socket calls share: descriptors that must be sockets, addresses in and out, control
 * messages (cmsg.c).
 */
#include "lib/compiler.h"

#include "abi/socket.h"

#include "sentry/kernel/syscall.h"

struct file;
struct task;
struct unix_addr;
struct unix_recv;
struct unix_send;
struct unix_sock;

/* The file of a socket, counted, and the socket: -EBADF, -ENOTSOCK. Re-runs get the same file
 * (fd_get_held). */
int sock_lookup(struct task *t, int fd, struct file **ret_file, struct unix_sock **ret_sk)
    MUST_CHECK;
/* Copies an address in: -EINVAL for an absurd length, -EFAULT. The rest of *ret_sun is zero. */
int sock_addr_in(struct task *t, gaddr_t addr, int len, struct lx_sockaddr_un *ret_sun) MUST_CHECK;
/* Stores an address (a NULL: only the family, or nothing at all when none is set) and its whole
 * length. */
int sock_addr_out(struct task *t, const struct unix_addr *a, bool none, gaddr_t addr, gaddr_t ulen)
    MUST_CHECK;
/* The call waits on f for mask, not longer than timeo ns from its start (0: for ever). */
struct sys_res sock_block(struct task *t, struct file *f, uint32_t mask, uint64_t timeo);

/* Parses the control messages of sendmsg into s (credentials, descriptors). */
int cmsg_parse(struct task *t, gaddr_t control, uint64_t len, struct unix_send *s) MUST_CHECK;
/* Writes what r carries into the control buffer; descriptors are installed. Returns the bytes used;
 * *ret_flags gets LX_MSG_CTRUNC. */
uint64_t cmsg_deliver(struct task *t, const struct unix_sock *sk, struct unix_recv *r,
                      gaddr_t control, uint64_t len, uint32_t *ret_flags);
