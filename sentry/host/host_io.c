/*
 * host_io.c: descriptors of the host that the kernel uses: donated image files, memfds, and the
 * caller's standard streams.
 *
 * Stream descriptors belong to the caller, so their file status flags may not be changed
 * (O_NONBLOCK is shared with everybody who has the description). Instead a stream is polled
 * first, and pipes are written in pieces of at most PIPE_BUF, which cannot block after POLLOUT.
 * RWF_NOWAIT is used where the host offers it.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include "sentry/host/host.h"

enum {
    STREAM_CHUNK = 4096
};

int64_t host_pread(int fd, void *buf, size_t len, uint64_t off)
{
    for (;;) {
        ssize_t n = pread(fd, buf, len, (off_t)off);
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return -errno;
    }
}

int64_t host_pwrite(int fd, const void *buf, size_t len, uint64_t off)
{
    for (;;) {
        ssize_t n = pwrite(fd, buf, len, (off_t)off);
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return -errno;
    }
}

int64_t host_pwrite_at(int fd, const void *buf, size_t len, uint64_t *pos, uint32_t flags)
{
    struct iovec iov = {.iov_base = unconst(buf), .iov_len = len};
    bool append = flags & HOST_WRITE_APPEND;
    int rwf = (append ? RWF_APPEND : 0) | (flags & HOST_WRITE_SYNC ? RWF_SYNC : 0) |
              (flags & HOST_WRITE_DSYNC ? RWF_DSYNC : 0);
    ssize_t n;
    do
        n = pwritev2(fd, &iov, 1, append ? -1 : (off_t)*pos, rwf);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    off_t end = append ? lseek(fd, 0, SEEK_CUR) : (off_t)*pos + n;
    if (end >= 0)
        *pos = (uint64_t)end;
    return n;
}

int host_fsync(int fd, bool datasync)
{
    int r;
    do
        r = datasync ? fdatasync(fd) : fsync(fd);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

uint32_t host_poll_now(int fd, uint32_t events)
{
    struct pollfd p = {.fd = fd, .events = (short)events};
    int r = poll(&p, 1, 0);
    return r > 0 ? (uint32_t)(unsigned short)p.revents : 0;
}

int64_t host_read_nowait(int fd, void *buf, size_t len)
{
    struct iovec iov = {.iov_base = buf, .iov_len = len};
    ssize_t n = preadv2(fd, &iov, 1, -1, RWF_NOWAIT);
    if (n >= 0)
        return n;
    if (errno != EOPNOTSUPP)
        return errno == EINTR ? -EAGAIN : -errno;
    if (!(host_poll_now(fd, POLLIN) & (POLLIN | POLLHUP | POLLERR)))
        return -EAGAIN;
    n = read(fd, buf, len);
    if (n >= 0)
        return n;
    return errno == EINTR ? -EAGAIN : -errno;
}

int64_t host_write_nowait(int fd, const void *buf, size_t len)
{
    struct iovec iov = {.iov_base = unconst(buf), .iov_len = len};
    ssize_t n = pwritev2(fd, &iov, 1, -1, RWF_NOWAIT);
    if (n >= 0)
        return n;
    if (errno != EOPNOTSUPP)
        return errno == EINTR ? -EAGAIN : -errno;
    uint32_t mode = 0;
    uint64_t size;
    bool regular = host_fstat(fd, &mode, &size) == 0 && S_ISREG(mode);
    if (!regular) {
        if (!(host_poll_now(fd, POLLOUT) & (POLLOUT | POLLHUP | POLLERR)))
            return -EAGAIN;
        len = MIN(len, (size_t)STREAM_CHUNK);
    }
    n = write(fd, buf, len);
    if (n >= 0)
        return n;
    return errno == EINTR ? -EAGAIN : -errno;
}

int64_t host_lseek(int fd, int64_t off, int whence)
{
    off_t r = lseek(fd, off, whence);
    return r < 0 ? -errno : r;
}

void host_close(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

int host_fstat(int fd, uint32_t *ret_mode, uint64_t *ret_size)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret_mode = st.st_mode;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

bool host_isatty(int fd)
{
    struct termios tio;
    return tcgetattr(fd, &tio) == 0;
}

int host_dup(int fd)
{
    int r = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return r < 0 ? -errno : r;
}

/* -- readiness -----------------------------------------------------------------------------------
 */

static int epoll_fd = -1;

int host_poll_fd(void)
{
    if (epoll_fd < 0)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_fd;
}

int host_watch_init(struct host_watch *w, int fd, void (*ready)(struct host_watch *, uint32_t))
{
    *w = (struct host_watch){.fd = fd, .ready = ready};
    struct epoll_event ev = {.events = EPOLLONESHOT, .data.ptr = w};
    if (epoll_ctl(host_poll_fd(), EPOLL_CTL_ADD, fd, &ev) == 0) {
        w->registered = true;
        return 0;
    }
    /* Regular files cannot be watched: they are always ready. */
    return errno == EPERM ? 0 : -errno;
}

int host_watch_arm(struct host_watch *w, uint32_t events)
{
    if (!w->registered)
        return 0;
    if (w->armed && (w->events | events) == w->events)
        return 0;
    w->events |= events;
    struct epoll_event ev = {.events = w->events | EPOLLONESHOT, .data.ptr = w};
    if (epoll_ctl(host_poll_fd(), EPOLL_CTL_MOD, w->fd, &ev) < 0)
        return -errno;
    w->armed = true;
    return 0;
}

/* What one look found and has not been told yet. */
static struct epoll_event found[8];
static int nfound;

void host_watch_done(struct host_watch *w)
{
    for (int i = 0; i < nfound; i++) {
        if (found[i].data.ptr == w)
            found[i].data.ptr = NULL;
    }
    if (w->registered)
        (void)epoll_ctl(host_poll_fd(), EPOLL_CTL_DEL, w->fd, NULL);
    w->registered = false;
    w->armed = false;
}

static void poll_dispatch(int timeout)
{
    int n = epoll_wait(host_poll_fd(), found, (int)ARRAY_LEN(found), timeout);
    nfound = MAX(n, 0);
    for (int i = 0; i < nfound; i++) {
        struct host_watch *w = found[i].data.ptr;
        if (w == NULL)
            continue;
        w->armed = false;
        w->events = 0;
        w->ready(w, found[i].events);
    }
    nfound = 0;
}

void host_poll_dispatch(void)
{
    poll_dispatch(0);
}

void host_poll_wait(void)
{
    poll_dispatch(-1);
}

/* -- the one timer ----------------------------------------------------------------------------- */

/* A timerfd in the same epoll set: waiting with a timeout would cost a clock look and a host timer
 * a wait. */
static struct host_watch timer_watch;
static void (*timer_fired)(void);
static uint64_t timer_at;

static void timer_ready(struct host_watch *w, uint32_t events)
{
    uint64_t count;
    (void)events;
    (void)!read(w->fd, &count, sizeof(count));
    timer_at = 0;
    (void)host_watch_arm(w, EPOLLIN);
    timer_fired();
}

int host_timer_init(void (*fired)(void))
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    timer_fired = fired;
    timer_at = 0;
    int r = host_watch_init(&timer_watch, fd, timer_ready);
    return r < 0 ? r : host_watch_arm(&timer_watch, EPOLLIN);
}

void host_timer_set(uint64_t ns)
{
    struct itimerspec its = {.it_value = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}};
    if (ns == timer_at)
        return;
    timer_at = ns;
    (void)timerfd_settime(timer_watch.fd, TFD_TIMER_ABSTIME, &its, NULL);
}
