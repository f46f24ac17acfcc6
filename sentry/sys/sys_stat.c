/* The stat family, statx, statfs and ustat. */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

static int put_stat(struct task *t, gaddr_t dst, const struct path *p)
{
    struct kstat st;
    int r = vfs_getattr(p, &st);

    if (r < 0)
        return r;
    struct lx_stat out = {
        .st_dev = st.dev,
        .st_ino = st.ino,
        .st_nlink = st.nlink,
        .st_mode = st.mode,
        .st_uid = st.uid,
        .st_gid = st.gid,
        .st_rdev = st.rdev,
        .st_size = (int64_t)st.size,
        .st_blksize = (int64_t)st.blksize,
        .st_blocks = (int64_t)st.blocks,
        .st_atim = st.atime,
        .st_mtim = st.mtime,
        .st_ctim = st.ctime,
    };
    return put_user(t, dst, &out);
}

static struct sys_res stat_path(struct task *t, int dfd, gaddr_t name, gaddr_t dst, uint32_t lookup)
{
    struct path p;
    int r = user_path_at(t, dfd, name, lookup, &p);

    if (r == 0) {
        r = put_stat(t, dst, &p);
        path_put(&p);
    }
    return sys_ret(r);
}

struct sys_res sys_stat(struct task *t, const struct sys_args *a)
{
    return stat_path(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), LOOKUP_FOLLOW);
}

struct sys_res sys_lstat(struct task *t, const struct sys_args *a)
{
    return stat_path(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), 0);
}

static struct sys_res stat_fd(struct task *t, int fd, gaddr_t dst)
{
    struct file *f = fd_get_path_ok(t, fd);
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = put_stat(t, dst, &f->path);
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_fstat(struct task *t, const struct sys_args *a)
{
    return stat_fd(t, sys_int(a, 0), sys_addr(a, 1));
}

static uint32_t lookup_of(int at_flags)
{
    uint32_t lookup = at_flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

    return at_flags & LX_AT_EMPTY_PATH ? lookup | LOOKUP_EMPTY : lookup;
}

struct sys_res sys_newfstatat(struct task *t, const struct sys_args *a)
{
    static const int known = LX_AT_SYMLINK_NOFOLLOW | LX_AT_NO_AUTOMOUNT | LX_AT_EMPTY_PATH;
    int flags = sys_int(a, 3);

    if (flags & ~known)
        return sys_ret(-EINVAL);
    if ((flags & LX_AT_EMPTY_PATH) && gaddr_is_null(sys_addr(a, 1)) && sys_int(a, 0) >= 0)
        return stat_fd(t, sys_int(a, 0), sys_addr(a, 2));
    return stat_path(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2), lookup_of(flags));
}

static struct lx_statx_timestamp statx_time(const struct lx_timespec *ts)
{
    return (struct lx_statx_timestamp){.tv_sec = ts->tv_sec, .tv_nsec = (uint32_t)ts->tv_nsec};
}

static int put_statx(struct task *t, gaddr_t dst, const struct path *p)
{
    struct kstat st;
    int r = vfs_getattr(p, &st);

    if (r < 0)
        return r;
    struct lx_statx out = {
        .stx_mask = LX_STATX_BASIC_STATS | LX_STATX_BTIME | LX_STATX_MNT_ID,
        .stx_blksize = st.blksize,
        .stx_attributes_mask = LX_STATX_ATTR_MOUNT_ROOT,
        .stx_attributes = p->dentry == p->mnt->root ? LX_STATX_ATTR_MOUNT_ROOT : 0,
        .stx_nlink = (uint32_t)st.nlink,
        .stx_uid = st.uid,
        .stx_gid = st.gid,
        .stx_mode = (uint16_t)st.mode,
        .stx_ino = st.ino,
        .stx_size = st.size,
        .stx_blocks = st.blocks,
        .stx_atime = statx_time(&st.atime),
        .stx_btime = statx_time(&st.btime),
        .stx_ctime = statx_time(&st.ctime),
        .stx_mtime = statx_time(&st.mtime),
        .stx_rdev_major = lx_major(st.rdev),
        .stx_rdev_minor = lx_minor(st.rdev),
        .stx_dev_major = lx_major(st.dev),
        .stx_dev_minor = lx_minor(st.dev),
        .stx_mnt_id = p->mnt->id,
    };
    return put_user(t, dst, &out);
}

struct sys_res sys_statx(struct task *t, const struct sys_args *a)
{
    static const int known =
        LX_AT_SYMLINK_NOFOLLOW | LX_AT_NO_AUTOMOUNT | LX_AT_EMPTY_PATH | LX_AT_STATX_SYNC_TYPE;
    int flags = sys_int(a, 2);
    struct path p;
    int r;

    if (sys_uint(a, 3) & LX_STATX__RESERVED)
        return sys_ret(-EINVAL);
    if ((flags & ~known) || (flags & LX_AT_STATX_SYNC_TYPE) == LX_AT_STATX_SYNC_TYPE)
        return sys_ret(-EINVAL);
    if ((flags & LX_AT_EMPTY_PATH) && gaddr_is_null(sys_addr(a, 1)))
        r = path_lookup(t, sys_int(a, 0), "", LOOKUP_EMPTY, &p);
    else
        r = user_path_at(t, sys_int(a, 0), sys_addr(a, 1), lookup_of(flags), &p);
    if (r < 0)
        return sys_ret(r);
    r = put_statx(t, sys_addr(a, 4), &p);
    path_put(&p);
    return sys_ret(r);
}

/* -- file systems --------------------------------------------------------------------------------
 */

static int64_t statfs_flags(const struct path *p)
{
    static const struct {
        uint32_t mount;
        int64_t st;
    } map[] = {{MOUNT_NOSUID, LX_ST_NOSUID},
               {MOUNT_NODEV, LX_ST_NODEV},
               {MOUNT_NOEXEC, LX_ST_NOEXEC},
               {MOUNT_NOATIME, LX_ST_NOATIME}};
    int64_t flags = LX_ST_VALID;

    if (mount_writable(p->mnt) < 0)
        flags |= LX_ST_RDONLY;
    for (size_t i = 0; i < ARRAY_LEN(map); i++) {
        if (p->mnt->flags & map[i].mount)
            flags |= map[i].st;
    }
    return p->mnt->flags & MOUNT_NOATIME ? flags : flags | LX_ST_RELATIME;
}

static int put_statfs(struct task *t, gaddr_t dst, const struct path *p)
{
    struct super *sb = p->dentry->super;
    struct lx_statfs st = {.f_type = (int64_t)sb->magic, .f_namelen = LX_NAME_MAX};
    int r = sb->ops->statfs ? sb->ops->statfs(sb, &st) : 0;

    if (r < 0)
        return r;
    if (!st.f_bsize)
        st.f_bsize = sb->blksize;
    if (!st.f_frsize)
        st.f_frsize = st.f_bsize;
    st.f_fsid.val[0] = (int32_t)sb->dev;
    st.f_flags = statfs_flags(p);
    return put_user(t, dst, &st);
}

struct sys_res sys_statfs(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &p);

    if (r == 0) {
        r = put_statfs(t, sys_addr(a, 1), &p);
        path_put(&p);
    }
    return sys_ret(r);
}

struct sys_res sys_fstatfs(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_path_ok(t, sys_int(a, 0));
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = put_statfs(t, sys_addr(a, 1), &f->path);
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_ustat(struct task *t, const struct sys_args *a)
{
    struct mount *m;

    list_for_each_entry (m, &kernel.mounts, all_link) {
        struct lx_statfs st = {0};
        struct lx_ustat out = {0};

        if (m->super->dev != sys_uint(a, 0))
            continue;
        if (m->super->ops->statfs) {
            int r = m->super->ops->statfs(m->super, &st);

            if (r < 0)
                return sys_ret(r);
        }
        out.f_tfree = (int32_t)st.f_bfree;
        out.f_tinode = st.f_ffree;
        return sys_ret(put_user(t, sys_addr(a, 1), &out));
    }
    return sys_ret(-EINVAL);
}
