/* The host calls behind host.h; nothing here knows nodes. */
#include "gofer/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* As the kernel's getdents64 has it. */
struct host_dirent {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

int host_open(int dir_fd, const char *path, uint64_t flags, uint64_t mode, bool cross)
{
    struct open_how how = {
        .flags = flags | O_NOFOLLOW | O_CLOEXEC,
        .mode = mode,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    };
    if (!cross)
        how.resolve |= RESOLVE_NO_XDEV;
    for (;;) {
        long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        /* EAGAIN: something was renamed meanwhile, and the kernel cannot be sure. */
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

int host_statx(int dir_fd, const char *name, struct statx *ret)
{
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH);
    unsigned wanted = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
    return statx(dir_fd, name, flags, wanted, ret) < 0 ? -errno : 0;
}

static struct gofer_time time_of(const struct statx_timestamp *ts)
{
    return (struct gofer_time){.sec = ts->tv_sec, .nsec = MIN(ts->tv_nsec, 999999999u)};
}

void host_attr(const struct statx *st, struct gofer_attr *ret)
{
    *ret = (struct gofer_attr){
        .ino = st->stx_ino,
        .size = st->stx_size,
        .blocks = st->stx_blocks,
        .mode = st->stx_mode,
        .nlink = st->stx_nlink,
        .uid = st->stx_uid,
        .gid = st->stx_gid,
        .dev_major = st->stx_dev_major,
        .dev_minor = st->stx_dev_minor,
        .rdev_major = st->stx_rdev_major,
        .rdev_minor = st->stx_rdev_minor,
        .blksize = st->stx_blksize,
        .atime = time_of(&st->stx_atime),
        .mtime = time_of(&st->stx_mtime),
        .ctime = time_of(&st->stx_ctime),
    };
    if (st->stx_mask & STATX_BTIME)
        ret->btime = time_of(&st->stx_btime);
}

int host_statfs(int fd, struct gofer_statfs *ret)
{
    struct statfs st;
    if (fstatfs(fd, &st) < 0)
        return -errno;
    *ret = (struct gofer_statfs){
        .type = (uint64_t)st.f_type & UINT32_MAX,
        .bsize = (uint64_t)st.f_bsize,
        .blocks = st.f_blocks,
        .bfree = st.f_bfree,
        .bavail = st.f_bavail,
        .files = st.f_files,
        .ffree = st.f_ffree,
        .namelen = (uint64_t)st.f_namelen,
        .frsize = (uint64_t)st.f_frsize,
        .flags = (uint64_t)st.f_flags,
    };
    return 0;
}

static uint32_t entries_put(const uint8_t *entries, size_t size, uint64_t *cookie,
                            struct gofer_out *out)
{
    uint32_t count = 0;
    const struct host_dirent *e;
    for (size_t at = 0; at + offsetof(struct host_dirent, name) < size; at += e->reclen) {
        e = (const struct host_dirent *)(const void *)(entries + at);
        size_t len = strnlen(e->name, e->reclen - offsetof(struct host_dirent, name));
        *cookie = (uint64_t)e->off;
        if (!gofer_name_valid(e->name, len))
            continue;
        struct gofer_dirent_wire wire = {
            .ino = e->ino, .cookie = (uint64_t)e->off, .length = (uint16_t)len, .type = e->type};
        gofer_put(out, &wire, sizeof(wire));
        gofer_put(out, e->name, len);
        gofer_put(out, "", 1);
        count++;
    }
    return count;
}

int host_readdir(int dir_fd, uint64_t *cookie, struct gofer_out *out)
{
    static _Alignas(8) uint8_t entries[HOST_ENTRIES_BYTES];
    struct gofer_readdir_rep *rep = gofer_put_space(out, sizeof(*rep));
    if (!rep)
        return -EIO;
    /* A batch without one entry that counts would look like the end. */
    while (rep->count == 0) {
        long size = syscall(SYS_getdents64, dir_fd, entries, sizeof(entries));
        if (size < 0)
            return -errno;
        if (size == 0)
            break;
        rep->count = entries_put(entries, (size_t)size, cookie, out);
    }
    return 0;
}

size_t host_xattr_filter(char *names, size_t len)
{
    size_t kept = 0;
    size_t left = len;
    for (const char *at = names; left > 0;) {
        size_t size = strnlen(at, left - 1) + 1;
        if (gofer_xattr_served(at)) {
            memmove(names + kept, at, size);
            kept += size;
        }
        at += size;
        left -= size;
    }
    return kept;
}
