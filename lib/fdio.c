/* Whole reads and writes, descriptors over a socket; see fdio.h. */
#include "lib/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"

enum {
    READ_ALL_STEP = 16 * 1024
};

void cleanup_fd(const int *fd)
{
    fd_close(*fd);
}

void fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = saved;
}

int64_t fd_read_full(int fd, void *buf, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = read(fd, (char *)buf + done, n - done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        done += (size_t)r;
    }
    return (int64_t)done;
}

int64_t fd_pread_full(int fd, void *buf, size_t n, uint64_t offset)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        done += (size_t)r;
    }
    return (int64_t)done;
}

int fd_write_full(int fd, const void *buf, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = write(fd, (const char *)buf + done, n - done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        done += (size_t)r;
    }
    return 0;
}

int fd_fill_standard(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            return -errno;
    }
    return 0;
}

int fd_put_text(int dir, const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fd_write_full(fd, text, strlen(text));
    fd_close(fd);
    return r;
}

int fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_len)
{
    auto_free char *data = NULL;
    size_t len = 0;

    for (;;) {
        char *grown = krealloc(data, len + READ_ALL_STEP + 1);
        if (!grown)
            return -ENOMEM;
        data = grown;
        int64_t r = fd_read_full(fd, data + len, READ_ALL_STEP);
        if (r < 0)
            return (int)r;
        len += (size_t)r;
        if (len > max)
            return -EFBIG;
        if (r < READ_ALL_STEP)
            break;
    }
    data[len] = '\0';
    *ret_data = take_ptr(data);
    *ret_len = len;
    return 0;
}

int64_t fd_send(int sock, const void *buf, size_t n, const int *fds, size_t nfds, int flags)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * FD_SEND_MAX)];
    } control;
    struct iovec iov = {.iov_base = unconst(buf), .iov_len = n};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (nfds > FD_SEND_MAX || n == 0)
        return -EINVAL;
    if (nfds) {
        memset(&control, 0, sizeof(control));
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
        struct cmsghdr *cmsg = &control.align; /* the first one */
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
        memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * nfds);
    }
    for (;;) {
        ssize_t r = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
        if (r >= 0)
            return r;
        if (errno != EINTR)
            return -errno;
    }
}

/* Moves the descriptors of msg into fds; closes those beyond max. True when all fitted. */
static bool collect_fds(struct msghdr *msg, int *fds, size_t max, size_t *ret_n)
{
    bool fitted = true;
    size_t n = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (n < max) {
                fds[n++] = fd;
            } else {
                fd_close(fd);
                fitted = false;
            }
        }
    }
    *ret_n = n;
    return fitted;
}

int64_t fd_recv(int sock, void *buf, size_t n, int *fds, size_t max_fds, size_t *ret_nfds,
                int flags)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * FD_SEND_MAX)];
    } control;
    struct iovec iov = {.iov_base = buf, .iov_len = n};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    size_t nfds = 0;
    ssize_t r;

    do {
        r = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return -errno;
    bool fitted = collect_fds(&msg, fds, max_fds, &nfds);
    if (!fitted || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        for (size_t i = 0; i < nfds; i++)
            fd_close(fds[i]);
        return -EMSGSIZE;
    }
    *ret_nfds = nfds;
    return r;
}

static int change_flags(int fd, int get, int set, int bit, bool on)
{
    int flags = fcntl(fd, get);

    if (flags < 0)
        return -errno;
    int want = on ? flags | bit : flags & ~bit;
    if (want != flags && fcntl(fd, set, want) < 0)
        return -errno;
    return 0;
}

int fd_set_cloexec(int fd, bool on)
{
    return change_flags(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

int fd_set_nonblock(int fd, bool on)
{
    return change_flags(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}
