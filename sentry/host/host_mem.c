/*
 * host_mem.c: memfds that hold file data which is mapped into guests.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "sentry/host/host.h"

int host_memfd_new(const char *name, uint64_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (size != 0 && ftruncate(fd, (off_t)size) < 0) {
        int e = errno;
        (void)close(fd);
        return -e;
    }
    return fd;
}

int host_ftruncate(int fd, uint64_t size)
{
    return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

int host_punch_hole(int fd, uint64_t off, uint64_t len)
{
    int r = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len);
    return r < 0 ? -errno : 0;
}

int host_fallocate(int fd, uint64_t off, uint64_t len)
{
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len) < 0 ? -errno : 0;
}

int host_fallocate_mode(int fd, int mode, uint64_t off, uint64_t len)
{
    return fallocate(fd, mode, (off_t)off, (off_t)len) < 0 ? -errno : 0;
}

int64_t host_seek_data(int fd, uint64_t off)
{
    return host_lseek(fd, (int64_t)off, SEEK_DATA);
}

int64_t host_seek_hole(int fd, uint64_t off)
{
    return host_lseek(fd, (int64_t)off, SEEK_HOLE);
}

uint64_t host_fd_mtime(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return 0;
    return (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

uint64_t host_fd_blocks(int fd)
{
    struct stat st;
    return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks;
}
