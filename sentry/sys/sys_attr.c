/*
 * sys_attr.c: changing files: mode, owner, times, size, space; umask; the sync family.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/rlimit.h"
#include "sentry/fs/file.h"
#include "sentry/fs/inotify.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/path_arg.h"
#include "sentry/sys/sys.h"

static struct sys_res set_path(struct task *t, int dfd, gaddr_t name, uint32_t lookup, struct iattr *attr)
{
    struct path p;
    int r = user_path_at(t, dfd, name, lookup, &p);
    if (r < 0)
        return sys_ret(r);
    r = vfs_setattr(&p, attr, t->cred);
    path_put(&p);
    return sys_ret(r);
}

static struct sys_res set_fd(struct task *t, int fd, struct iattr *attr)
{
    struct file *f = fd_get(t, fd);
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = vfs_setattr(&f->path, attr, t->cred);
    file_put(f);
    return sys_ret(r);
}

/* -- mode and owner -------------------------------------------------------------------------------------------------- */

static struct iattr mode_attr(uint32_t mode)
{
    return (struct iattr){.valid = ATTR_MODE, .mode = mode & 07777};
}

struct sys_res sys_chmod(struct task *t, const struct sys_args *a)
{
    struct iattr attr = mode_attr(sys_uint(a, 1));
    return set_path(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &attr);
}

struct sys_res sys_fchmod(struct task *t, const struct sys_args *a)
{
    struct iattr attr = mode_attr(sys_uint(a, 1));
    return set_fd(t, sys_int(a, 0), &attr);
}

struct sys_res sys_fchmodat(struct task *t, const struct sys_args *a)
{
    struct iattr attr = mode_attr(sys_uint(a, 2));
    return set_path(t, sys_int(a, 0), sys_addr(a, 1), LOOKUP_FOLLOW, &attr);
}

static struct sys_res chmod_nofollow(struct task *t, const struct sys_args *a, struct iattr *attr, uint32_t lookup)
{
    struct path p;
    int r = user_path_at(t, sys_int(a, 0), sys_addr(a, 1), lookup, &p);
    if (r < 0)
        return sys_ret(r);
    bool link = (p.dentry->inode->mode & LX_S_IFMT) == LX_S_IFLNK;
    r = link ? -EOPNOTSUPP : vfs_setattr(&p, attr, t->cred);
    path_put(&p);
    return sys_ret(r);
}

struct sys_res sys_fchmodat2(struct task *t, const struct sys_args *a)
{
    struct iattr attr = mode_attr(sys_uint(a, 2));
    uint32_t flags = sys_uint(a, 3);
    if (flags & ~(uint32_t)(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    return chmod_nofollow(t, a, &attr, at_lookup_flags(flags));
}

static struct iattr owner_attr(uint32_t uid, uint32_t gid)
{
    struct iattr attr = {.uid = uid, .gid = gid};
    if (uid != UINT32_MAX)
        attr.valid |= ATTR_UID;
    if (gid != UINT32_MAX)
        attr.valid |= ATTR_GID;
    return attr;
}

struct sys_res sys_chown(struct task *t, const struct sys_args *a)
{
    struct iattr attr = owner_attr(sys_uint(a, 1), sys_uint(a, 2));
    return set_path(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &attr);
}

struct sys_res sys_lchown(struct task *t, const struct sys_args *a)
{
    struct iattr attr = owner_attr(sys_uint(a, 1), sys_uint(a, 2));
    return set_path(t, LX_AT_FDCWD, sys_addr(a, 0), 0, &attr);
}

struct sys_res sys_fchown(struct task *t, const struct sys_args *a)
{
    struct iattr attr = owner_attr(sys_uint(a, 1), sys_uint(a, 2));
    return set_fd(t, sys_int(a, 0), &attr);
}

struct sys_res sys_fchownat(struct task *t, const struct sys_args *a)
{
    struct iattr attr = owner_attr(sys_uint(a, 2), sys_uint(a, 3));
    uint32_t flags = sys_uint(a, 4);
    if (flags & ~(uint32_t)(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    return set_path(t, sys_int(a, 0), sys_addr(a, 1), at_lookup_flags(flags), &attr);
}

struct sys_res sys_umask(struct task *t, const struct sys_args *a)
{
    uint32_t old = t->fs->umask;
    t->fs->umask = sys_uint(a, 0) & 0777;
    return sys_ret(old);
}

/* -- times --------------------------------------------------------------------------------------------------------- */

/* now: both times were asked to be the present one. */
static int apply_times(struct task *t, const struct path *p, struct iattr *attr, bool now)
{
    const struct inode *ino = p->dentry->inode;
    int r = mount_writable(p->mnt);
    if (r < 0)
        return r;
    if (attr->valid == 0)
        return 0;
    if (!inode_owner_or_capable(ino, t->cred)) {
        if (!now)
            return -EPERM;
        r = inode_permission(p->dentry->inode, t->cred, LX_W_OK);
        if (r < 0)
            return r == -EPERM ? -EACCES : r;
    }
    return vfs_setattr(p, attr, t->cred);
}

static struct sys_res set_times(struct task *t, int dfd, gaddr_t name, uint32_t flags, struct iattr *attr, bool now)
{
    struct path p;
    if (gaddr_is_null(name) && dfd != LX_AT_FDCWD) {
        struct file *f = fd_get(t, dfd);
        if (f == NULL)
            return sys_ret(-EBADF);
        int r = apply_times(t, &f->path, attr, now);
        file_put(f);
        return sys_ret(r);
    }
    int r = user_path_at(t, dfd, name, at_lookup_flags(flags), &p);
    if (r < 0)
        return sys_ret(r);
    r = apply_times(t, &p, attr, now);
    path_put(&p);
    return sys_ret(r);
}

static struct iattr times_now(void)
{
    struct lx_timespec ts = timespec_from_ns(clock_realtime());
    return (struct iattr){.valid = ATTR_ATIME | ATTR_MTIME, .atime = ts, .mtime = ts};
}

static int one_time(struct lx_timespec *ts, uint32_t bit, struct iattr *attr, bool *now)
{
    if (ts->tv_nsec == LX_UTIME_OMIT) {
        *now = false;
        return 0;
    }
    attr->valid |= bit;
    if (ts->tv_nsec == LX_UTIME_NOW) {
        *ts = timespec_from_ns(clock_realtime());
        return 0;
    }
    *now = false;
    return ts->tv_nsec < 0 || ts->tv_nsec >= LX_NSEC_PER_SEC ? -EINVAL : 0;
}

struct sys_res sys_utimensat(struct task *t, const struct sys_args *a)
{
    struct iattr attr = {0};
    struct lx_timespec ts[2];
    uint32_t flags = sys_uint(a, 3);
    bool now = true;

    if (gaddr_is_null(sys_addr(a, 2))) {
        attr = times_now();
    } else {
        if (copy_from_user(t, ts, sys_addr(a, 2), sizeof(ts)) < 0)
            return sys_ret(-EFAULT);
        if (ts[0].tv_nsec == LX_UTIME_OMIT && ts[1].tv_nsec == LX_UTIME_OMIT)
            return sys_ret(0);
        int r = one_time(&ts[0], ATTR_ATIME, &attr, &now);
        if (r == 0)
            r = one_time(&ts[1], ATTR_MTIME, &attr, &now);
        if (r < 0)
            return sys_ret(r);
        attr.atime = ts[0];
        attr.mtime = ts[1];
    }
    if (flags & ~(uint32_t)(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    return set_times(t, sys_int(a, 0), sys_addr(a, 1), flags, &attr, now);
}

static struct sys_res do_utimes(struct task *t, int dfd, gaddr_t name, gaddr_t times)
{
    struct iattr attr = times_now();
    struct lx_timeval tv[2];
    bool now = gaddr_is_null(times);
    if (!now) {
        if (copy_from_user(t, tv, times, sizeof(tv)) < 0)
            return sys_ret(-EFAULT);
        for (int i = 0; i < 2; i++) {
            if (tv[i].tv_usec < 0 || tv[i].tv_usec >= LX_USEC_PER_SEC)
                return sys_ret(-EINVAL);
        }
        attr.atime = (struct lx_timespec){tv[0].tv_sec, tv[0].tv_usec * 1000};
        attr.mtime = (struct lx_timespec){tv[1].tv_sec, tv[1].tv_usec * 1000};
    }
    return set_times(t, dfd, name, 0, &attr, now);
}

struct sys_res sys_utimes(struct task *t, const struct sys_args *a)
{
    return do_utimes(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1));
}

struct sys_res sys_futimesat(struct task *t, const struct sys_args *a)
{
    return do_utimes(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2));
}

struct sys_res sys_utime(struct task *t, const struct sys_args *a)
{
    struct iattr attr = times_now();
    struct lx_utimbuf ub;
    bool now = gaddr_is_null(sys_addr(a, 1));
    if (!now) {
        if (get_user(t, &ub, sys_addr(a, 1)) < 0)
            return sys_ret(-EFAULT);
        attr.atime = (struct lx_timespec){ub.actime, 0};
        attr.mtime = (struct lx_timespec){ub.modtime, 0};
    }
    return set_times(t, LX_AT_FDCWD, sys_addr(a, 0), 0, &attr, now);
}

/* -- size and space --------------------------------------------------------------------------------------------------- */

struct sys_res sys_truncate(struct task *t, const struct sys_args *a)
{
    struct path p;
    if ((int64_t)a->v[1] < 0)
        return sys_ret(-EINVAL);
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &p);
    if (r < 0)
        return sys_ret(r);
    r = vfs_truncate(&p, a->v[1], t);
    path_put(&p);
    return sys_ret(r);
}

struct sys_res sys_ftruncate(struct task *t, const struct sys_args *a)
{
    if ((int64_t)a->v[1] < 0)
        return sys_ret(-EINVAL);
    struct file *f = fd_get(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = -EINVAL;
    if ((f->inode->mode & LX_S_IFMT) == LX_S_IFREG && file_writable(f))
        r = inode_truncate(&f->path, a->v[1], t);
    file_put(f);
    return sys_ret(r);
}

static int allocate(struct task *t, struct file *f, int mode, uint64_t off, uint64_t len)
{
    uint32_t type = f->inode->mode & LX_S_IFMT;
    if (!file_writable(f))
        return -EBADF;
    if (type == LX_S_IFIFO)
        return -ESPIPE;
    if (type == LX_S_IFDIR)
        return -EISDIR;
    if (type != LX_S_IFREG)
        return -ENODEV;
    if ((int64_t)(off + len) < 0)
        return -EFBIG;
    if (!(mode & LX_FALLOC_FL_KEEP_SIZE) && off + len > f->inode->size &&
        off + len > task_rlimit(t, LX_RLIMIT_FSIZE)->rlim_cur) {
        signal_send_kernel_task(t, LX_SIGXFSZ);
        return -EFBIG;
    }
    return f->ops->fallocate != NULL ? f->ops->fallocate(f, mode, off, len) : -EOPNOTSUPP;
}

struct sys_res sys_fallocate(struct task *t, const struct sys_args *a)
{
    if ((int64_t)a->v[2] < 0 || (int64_t)a->v[3] <= 0)
        return sys_ret(-EINVAL);
    struct file *f = fd_get(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = allocate(t, f, sys_int(a, 1), a->v[2], a->v[3]);
    file_put(f);
    return sys_ret(r);
}

/* -- sync: memory and an image that cannot change are always in sync ------------------------------------------------------ */

static struct sys_res do_fsync(struct task *t, int fd, bool datasync)
{
    struct file *f = fd_get(t, fd);
    if (f == NULL)
        return sys_ret(-EBADF);
    uint32_t type = f->inode->mode & LX_S_IFMT;
    int r = 0;
    if (f->ops->fsync != NULL)
        r = f->ops->fsync(f, datasync);
    else if (type != LX_S_IFREG && type != LX_S_IFDIR)
        r = -EINVAL;
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_fsync(struct task *t, const struct sys_args *a)
{
    return do_fsync(t, sys_int(a, 0), false);
}

struct sys_res sys_fdatasync(struct task *t, const struct sys_args *a)
{
    return do_fsync(t, sys_int(a, 0), true);
}

struct sys_res sys_sync(struct task *t, const struct sys_args *a)
{
    (void)t;
    (void)a;
    return sys_ret(0);
}

struct sys_res sys_syncfs(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    file_put(f);
    return sys_ret(0);
}

struct sys_res sys_sync_file_range(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    uint32_t type = f->inode->mode & LX_S_IFMT;
    file_put(f);
    if (sys_uint(a, 3) & ~7u || (int64_t)a->v[1] < 0 || (int64_t)(a->v[1] + a->v[2]) < 0)
        return sys_ret(-EINVAL);
    return sys_ret(type == LX_S_IFREG || type == LX_S_IFDIR || type == LX_S_IFBLK ? 0 : -ESPIPE);
}
