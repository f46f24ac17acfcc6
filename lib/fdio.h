#pragma once
/*
 * Descriptors of the host: whole reads and writes, descriptors over a socket. Interrupted calls are
 * repeated. All return -errno of the host on failure. The sentry's kernel code does not call this;
 * sentry/host, the platform and the other programs do.
 */
#include "lib/compiler.h"

/* Reads until n bytes or the end; returns the bytes read. */
int64_t fd_read_full(int fd, void *buf, size_t n) MUST_CHECK;
int64_t fd_pread_full(int fd, void *buf, size_t n, uint64_t offset) MUST_CHECK;
/* Writes all n bytes; 0 or -errno (a part may have been written). */
int fd_write_full(int fd, const void *buf, size_t n) MUST_CHECK;
/* text in one write to a file that is there, as those of /proc and of cgroups want it; dir as for
 * openat(2). */
int fd_put_text(int dir, const char *path, const char *text) MUST_CHECK;
/* The whole file from the current position, at most max bytes (-EFBIG beyond), in a block with a
 * NUL behind it that the caller kfrees. */
int fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_len) MUST_CHECK;

enum {
    FD_SEND_MAX = 16
}; /* descriptors in one message */

/* One message of n > 0 bytes with nfds descriptors (borrowed); flags as for sendmsg. Returns bytes
 * sent. SIGPIPE is never raised. */
int64_t fd_send(int sock, const void *buf, size_t n, const int *fds, size_t nfds, int flags)
    MUST_CHECK;
/* One message: returns its bytes, 0 at the end of the stream. Received descriptors are
 * close-on-exec and the caller's. More than max_fds descriptors, or a message cut by n, is
 * -EMSGSIZE, and none of its descriptors stays open. */
int64_t fd_recv(int sock, void *buf, size_t n, int *fds, size_t max_fds, size_t *ret_nfds,
                int flags) MUST_CHECK;

/* Standard streams that the caller has closed are /dev/null from then on: what is opened later
 * would take their numbers, and be a program's input or output. */
int fd_fill_standard(void) MUST_CHECK;
/* Closes; harmless on a negative fd. */
void fd_close(int fd);
int fd_set_cloexec(int fd, bool on) MUST_CHECK;
int fd_set_nonblock(int fd, bool on) MUST_CHECK;
