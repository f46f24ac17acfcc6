/*
 * The host's calls that sentry/host makes, so that tests can let one fail: the second kind of
 * failure of for_each_failure (fixture.h). A unit test program reaches the C library's functions
 * through these; nothing fails unless a loop asks for it.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include "tests/support/fixture.h"

static uint64_t left; /* the one that makes it 0 fails */
static bool happened;

static void host_fail_after(uint64_t n)
{
    left = n;
    happened = false;
}

static bool host_failed(void)
{
    return happened;
}

static const struct failure_source source = {host_fail_after, host_failed};

__attribute__((constructor)) static void add(void)
{
    failure_add_source(&source);
}

static bool fails(int err)
{
    if (left == 0 || --left > 0)
        return false;
    happened = true;
    errno = err;
    return true;
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(EMFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t len)
{
    return fails(ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int fallocate(int fd, int mode, off_t off, off_t len)
{
    return fails(ENOSPC) ? -1 : (int)syscall(SYS_fallocate, fd, mode, off, len);
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
    return fails(EIO) ? -1 : syscall(SYS_pread64, fd, buf, n, off);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
    return fails(ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, buf, n, off);
}

ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
    return fails(EIO) ? -1 : syscall(SYS_preadv2, fd, iov, n, off, 0, flags);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
    return fails(EIO) ? -1 : syscall(SYS_pwritev2, fd, iov, n, off, 0, flags);
}

int epoll_create1(int flags)
{
    return fails(EMFILE) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_epoll_ctl, ep, op, fd, ev);
}

int timerfd_create(int clock, int flags)
{
    return fails(EMFILE) ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}
