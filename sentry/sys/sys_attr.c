/*
 * Changing and asking for attributes: access, chmod, chown, utimes, truncate, fallocate, umask, and
 * the sync family (nothing here survives the sandbox, so syncing only checks its arguments).
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/rlimit.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

/* -- access --------------------------------------------------------------------------------------
 */

/* Credentials with the real ids, as access(2) asks for. */
static struct cred real_cred(const struct task *t)
{
    struct cred c = *t->cred;

    c.fsuid = c.uid;
    c.fsgid = c.gid;
    c.cap_effective = c.uid == 0 ? c.cap_permitted : 0;
    return c;
}

static int check_access(const struct path *p, const struct cred *c, int mode)
{
    if ((mode & LX_X_OK) && LX_S_ISREG(p->dentry->inode->mode) && (p->mnt->flags & MOUNT_NOEXEC))
        return -EACCES;
    return path_permission(p, c, mode);
}

static struct sys_res do_access(struct task *t, int dfd, gaddr_t name, int mode, int flags)
{
    static const int known = LX_AT_EACCESS | LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH;
    struct cred real, *saved = t->cred;
    uint32_t lookup = flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
    struct path p;
    int r;

    if ((mode & ~7) || (flags & ~known))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    if (!(flags & LX_AT_EACCESS)) {
        real = real_cred(t);
        t->cred = &real; /* the walk is done with the real ids as well */
    }
    r = user_path_at(t, dfd, name, lookup, &p);
    if (r == 0) {
        r = mode ? check_access(&p, t->cred, mode) : 0;
        path_put(&p);
    }
    t->cred = saved;
    return sys_ret(r);
}

struct sys_res sys_access(struct task *t, const struct sys_args *a)
{
    return do_access(t, LX_AT_FDCWD, sys_addr(a, 0), sys_int(a, 1), 0);
}

struct sys_res sys_faccessat(struct task *t, const struct sys_args *a)
{
    return do_access(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), 0);
}

struct sys_res sys_faccessat2(struct task *t, const struct sys_args *a)
{
    return do_access(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), sys_int(a, 3));
}

/* -- mode and owner ------------------------------------------------------------------------------
 */

static struct sys_res set_path(struct task *t, int dfd, gaddr_t name, uint32_t lookup,
                               struct iattr *attr)
{
    struct path p;
    int r = user_path_at(t, dfd, name, lookup, &p);

    if (r < 0)
        return sys_ret(r);
    if ((attr->valid & ATTR_MODE) && dentry_is_symlink(p.dentry))
        r = -EOPNOTSUPP;
    else
        r = vfs_setattr(&p, attr, t->cred);
    path_put(&p);
    return sys_ret(r);
}

static struct sys_res set_fd(struct task *t, int fd, struct iattr *attr)
{
    struct file *f = fd_get(t, fd);
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = vfs_setattr(&f->path, attr, t->cred);
    file_put(f);
    return sys_ret(r);
}

static struct sys_res do_chmod(struct task *t, int dfd, gaddr_t name, uint32_t mode,
                               uint32_t lookup)
{
    struct iattr attr = {.valid = ATTR_MODE, .mode = mode & LX_S_IALLUGO};

    return set_path(t, dfd, name, lookup, &attr);
}

struct sys_res sys_chmod(struct task *t, const struct sys_args *a)
{
    return do_chmod(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1), LOOKUP_FOLLOW);
}

struct sys_res sys_fchmodat(struct task *t, const struct sys_args *a)
{
    return do_chmod(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2), LOOKUP_FOLLOW);
}

struct sys_res sys_fchmodat2(struct task *t, const struct sys_args *a)
{
    int flags = sys_int(a, 3);
    uint32_t lookup = flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

    if (flags & ~(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    return do_chmod(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2), lookup);
}

struct sys_res sys_fchmod(struct task *t, const struct sys_args *a)
{
    struct iattr attr = {.valid = ATTR_MODE, .mode = sys_uint(a, 1) & LX_S_IALLUGO};

    return set_fd(t, sys_int(a, 0), &attr);
}

/* -1 leaves an id as it is. */
static struct iattr owner_attr(uint32_t uid, uint32_t gid)
{
    struct iattr attr = {.uid = uid, .gid = gid};

    attr.valid = (uid != UINT32_MAX ? (uint32_t)ATTR_UID : 0u) |
                 (gid != UINT32_MAX ? (uint32_t)ATTR_GID : 0u);
    return attr;
}

static struct sys_res do_chown(struct task *t, int dfd, gaddr_t name, uint32_t uid, uint32_t gid,
                               uint32_t lookup)
{
    struct iattr attr = owner_attr(uid, gid);

    return set_path(t, dfd, name, lookup, &attr);
}

struct sys_res sys_chown(struct task *t, const struct sys_args *a)
{
    return do_chown(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1), sys_uint(a, 2), LOOKUP_FOLLOW);
}

struct sys_res sys_lchown(struct task *t, const struct sys_args *a)
{
    return do_chown(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1), sys_uint(a, 2), 0);
}

struct sys_res sys_fchownat(struct task *t, const struct sys_args *a)
{
    int flags = sys_int(a, 4);
    uint32_t lookup = flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

    if (flags & ~(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    return do_chown(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2), sys_uint(a, 3), lookup);
}

struct sys_res sys_fchown(struct task *t, const struct sys_args *a)
{
    struct iattr attr = owner_attr(sys_uint(a, 1), sys_uint(a, 2));

    return set_fd(t, sys_int(a, 0), &attr);
}

struct sys_res sys_umask(struct task *t, const struct sys_args *a)
{
    uint32_t old = t->fs->umask;

    t->fs->umask = sys_uint(a, 0) & 0777;
    return sys_ret(old);
}

/* -- size ----------------------------------------------------------------------------------------
 */

struct sys_res sys_truncate(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r;

    if ((int64_t)a->v[1] < 0)
        return sys_ret(-EINVAL);
    r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &p);
    if (r == 0) {
        r = vfs_truncate(&p, a->v[1], t);
        path_put(&p);
    }
    return sys_ret(r);
}

struct sys_res sys_ftruncate(struct task *t, const struct sys_args *a)
{
    struct file *f;
    int r;

    if ((int64_t)a->v[1] < 0)
        return sys_ret(-EINVAL);
    f = fd_get(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    if (!LX_S_ISREG(f->inode->mode) || !file_writable(f))
        r = -EINVAL;
    else
        r = inode_truncate(&f->path, a->v[1], t);
    file_put(f);
    return sys_ret(r);
}

static int check_fallocate(const struct file *f, int mode, int64_t off, int64_t len)
{
    static const int known = LX_FALLOC_FL_KEEP_SIZE | LX_FALLOC_FL_PUNCH_HOLE |
                             LX_FALLOC_FL_COLLAPSE_RANGE | LX_FALLOC_FL_ZERO_RANGE |
                             LX_FALLOC_FL_INSERT_RANGE | LX_FALLOC_FL_UNSHARE_RANGE;
    int64_t end;

    if (off < 0 || len <= 0)
        return -EINVAL;
    if (mode & ~known)
        return -EOPNOTSUPP;
    if (!file_writable(f))
        return -EBADF;
    if (LX_S_ISFIFO(f->inode->mode))
        return -ESPIPE;
    if (LX_S_ISDIR(f->inode->mode))
        return -EISDIR;
    if (!LX_S_ISREG(f->inode->mode))
        return -ENODEV;
    return checked_add(off, len, &end) ? 0 : -EFBIG;
}

static int do_fallocate(struct task *t, struct file *f, int mode, uint64_t off, uint64_t len)
{
    int r;

    inode_refresh(f->inode);
    if (!(mode & LX_FALLOC_FL_KEEP_SIZE) && off + len > f->inode->size &&
        off + len > task_rlimit(t, LX_RLIMIT_FSIZE)->rlim_cur) {
        signal_send_kernel_task(t, LX_SIGXFSZ);
        return -EFBIG;
    }
    if (!f->ops->fallocate)
        return -EOPNOTSUPP;
    r = f->ops->fallocate(f, mode, off, len);
    if (r == 0)
        fsnotify(&f->path, LX_IN_MODIFY, 0);
    return r;
}

struct sys_res sys_fallocate(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    int mode = sys_int(a, 1), r;

    if (!f)
        return sys_ret(-EBADF);
    r = check_fallocate(f, mode, (int64_t)a->v[2], (int64_t)a->v[3]);
    if (r == 0)
        r = do_fallocate(t, f, mode, a->v[2], a->v[3]);
    file_put(f);
    return sys_ret(r);
}

/* -- sync ----------------------------------------------------------------------------------------
 */

static struct sys_res do_fsync(struct task *t, int fd, bool datasync)
{
    struct file *f = fd_get(t, fd);
    bool plain;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    plain = LX_S_ISREG(f->inode->mode) || LX_S_ISDIR(f->inode->mode);
    if (f->ops->fsync)
        r = f->ops->fsync(f, datasync);
    else
        r = plain ? 0 : -EINVAL;
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

    if (!f)
        return sys_ret(-EBADF);
    file_put(f);
    return sys_ret(0);
}

struct sys_res sys_sync_file_range(struct task *t, const struct sys_args *a)
{
    int64_t off = (int64_t)a->v[1], len = (int64_t)a->v[2], end;
    struct file *f = fd_get(t, sys_int(a, 0));
    int r = 0;

    if (!f)
        return sys_ret(-EBADF);
    if ((sys_uint(a, 3) & ~7u) || off < 0 || len < 0 || !checked_add(off, len, &end))
        r = -EINVAL;
    else if (LX_S_ISFIFO(f->inode->mode) || LX_S_ISSOCK(f->inode->mode) ||
             LX_S_ISCHR(f->inode->mode))
        r = -ESPIPE;
    file_put(f);
    return sys_ret(r);
}
