/*
 * sys_stat.c: what files say of themselves: the stat family, statx, statfs, access.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/path_arg.h"
#include "sentry/sys/sys.h"

enum { STATFS_VALID = 0x20 };

static int put_stat(struct task *t, gaddr_t out, const struct kstat *k)
{
    struct lx_stat st = {
        .st_dev = k->dev,
        .st_ino = k->ino,
        .st_nlink = k->nlink,
        .st_mode = k->mode,
        .st_uid = k->uid,
        .st_gid = k->gid,
        .st_rdev = k->rdev,
        .st_size = (int64_t)k->size,
        .st_blksize = k->blksize,
        .st_blocks = (int64_t)k->blocks,
        .st_atim = k->atime,
        .st_mtim = k->mtime,
        .st_ctim = k->ctime,
    };
    return put_user(t, out, &st);
}

static struct sys_res stat_at(struct task *t, int dfd, gaddr_t name, gaddr_t out, uint32_t lookup)
{
    struct path p;
    struct kstat k;
    int r = user_path_at(t, dfd, name, lookup, &p);
    if (r < 0)
        return sys_ret(r);
    r = vfs_getattr(&p, &k);
    path_put(&p);
    return sys_ret(r < 0 ? r : put_stat(t, out, &k));
}

struct sys_res sys_stat(struct task *t, const struct sys_args *a)
{
    return stat_at(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), LOOKUP_FOLLOW);
}

struct sys_res sys_lstat(struct task *t, const struct sys_args *a)
{
    return stat_at(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), 0);
}

static struct sys_res stat_fd(struct task *t, int fd, gaddr_t out)
{
    struct kstat k;
    struct file *f = fd_get_path_ok(t, fd);
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = vfs_getattr(&f->path, &k);
    file_put(f);
    return sys_ret(r < 0 ? r : put_stat(t, out, &k));
}

struct sys_res sys_fstat(struct task *t, const struct sys_args *a)
{
    return stat_fd(t, sys_int(a, 0), sys_addr(a, 1));
}

/* fstat through the C library is newfstatat(fd, "", AT_EMPTY_PATH): not worth a walk. */
static bool empty_name(struct task *t, gaddr_t name)
{
    char c = 'x';
    return gaddr_is_null(name) || (get_user(t, &c, name) == 0 && c == '\0');
}

struct sys_res sys_newfstatat(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 3);
    if (flags & ~(uint32_t)(LX_AT_SYMLINK_NOFOLLOW | LX_AT_NO_AUTOMOUNT | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if ((flags & LX_AT_EMPTY_PATH) && sys_int(a, 0) >= 0 && empty_name(t, sys_addr(a, 1)))
        return stat_fd(t, sys_int(a, 0), sys_addr(a, 2));
    return stat_at(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2), at_lookup_flags(flags));
}

/* -- statx ---------------------------------------------------------------------------------------------------------- */

static struct lx_statx_timestamp stamp(struct lx_timespec ts)
{
    return (struct lx_statx_timestamp){.tv_sec = ts.tv_sec, .tv_nsec = (uint32_t)ts.tv_nsec};
}

static int put_statx(struct task *t, gaddr_t out, const struct kstat *k, const struct path *p)
{
    struct lx_statx sx = {
        .stx_mask = LX_STATX_BASIC_STATS | LX_STATX_MNT_ID,
        .stx_blksize = k->blksize,
        .stx_nlink = (uint32_t)k->nlink,
        .stx_uid = k->uid,
        .stx_gid = k->gid,
        .stx_mode = (uint16_t)k->mode,
        .stx_ino = k->ino,
        .stx_size = k->size,
        .stx_blocks = k->blocks,
        .stx_atime = stamp(k->atime),
        .stx_btime = stamp(k->btime),
        .stx_ctime = stamp(k->ctime),
        .stx_mtime = stamp(k->mtime),
        .stx_rdev_major = lx_major(k->rdev),
        .stx_rdev_minor = lx_minor(k->rdev),
        .stx_dev_major = lx_major(k->dev),
        .stx_dev_minor = lx_minor(k->dev),
        .stx_attributes_mask = LX_STATX_ATTR_MOUNT_ROOT,
    };
    if (k->btime.tv_sec != 0)
        sx.stx_mask |= LX_STATX_BTIME;
    if (p->mnt != NULL) {
        sx.stx_mnt_id = p->mnt->id;
        if (p->mnt->root == p->dentry)
            sx.stx_attributes |= LX_STATX_ATTR_MOUNT_ROOT;
    }
    return put_user(t, out, &sx);
}

struct sys_res sys_statx(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 2), mask = sys_uint(a, 3);
    struct path p;
    struct kstat k;

    if (mask & LX_STATX__RESERVED)
        return sys_ret(-EINVAL);
    if (flags & ~(uint32_t)(LX_AT_SYMLINK_NOFOLLOW | LX_AT_NO_AUTOMOUNT | LX_AT_EMPTY_PATH |
                            LX_AT_STATX_SYNC_TYPE) ||
        (flags & LX_AT_STATX_SYNC_TYPE) == LX_AT_STATX_SYNC_TYPE)
        return sys_ret(-EINVAL);
    int r = user_path_at(t, sys_int(a, 0), sys_addr(a, 1), at_lookup_flags(flags), &p);
    if (r < 0)
        return sys_ret(r);
    r = vfs_getattr(&p, &k);
    if (r == 0)
        r = put_statx(t, sys_addr(a, 4), &k, &p);
    path_put(&p);
    return sys_ret(r);
}

/* -- statfs ---------------------------------------------------------------------------------------------------------- */

static int statfs_path(const struct path *p, struct lx_statfs *st)
{
    struct super *sb = p->dentry->super;
    memset(st, 0, sizeof(*st));
    st->f_type = (int64_t)sb->magic;
    st->f_bsize = sb->blksize;
    st->f_frsize = sb->blksize;
    st->f_namelen = 255;
    int r = sb->ops != NULL && sb->ops->statfs != NULL ? sb->ops->statfs(sb, st) : 0;
    st->f_flags = STATFS_VALID;
    if (p->mnt != NULL)
        st->f_flags |= p->mnt->flags & (MOUNT_RDONLY | MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC | MOUNT_NOATIME);
    return r;
}

struct sys_res sys_statfs(struct task *t, const struct sys_args *a)
{
    struct path p;
    struct lx_statfs st;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW, &p);
    if (r < 0)
        return sys_ret(r);
    r = statfs_path(&p, &st);
    path_put(&p);
    return sys_ret(r < 0 ? r : put_user(t, sys_addr(a, 1), &st));
}

struct sys_res sys_fstatfs(struct task *t, const struct sys_args *a)
{
    struct lx_statfs st;
    struct file *f = fd_get_path_ok(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = statfs_path(&f->path, &st);
    file_put(f);
    return sys_ret(r < 0 ? r : put_user(t, sys_addr(a, 1), &st));
}

struct sys_res sys_ustat(struct task *t, const struct sys_args *a)
{
    (void)t;
    (void)a;
    return sys_ret(-EINVAL);
}

/* -- access ------------------------------------------------------------------------------------------------------------ */

/* access(2) asks with the real ids; capabilities count only if the real user is root. */
static struct cred *real_cred(const struct task *t)
{
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return NULL;
    c->fsuid = c->uid;
    c->fsgid = c->gid;
    c->cap_effective = c->uid == 0 ? c->cap_permitted : 0;
    return c;
}

static struct sys_res do_access(struct task *t, int dfd, gaddr_t name, int mode, uint32_t flags)
{
    struct path p;
    if (mode & ~(LX_R_OK | LX_W_OK | LX_X_OK))
        return sys_ret(-EINVAL);
    if (flags & ~(uint32_t)(LX_AT_EACCESS | LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    struct cred *c = flags & LX_AT_EACCESS ? cred_get(t->cred) : real_cred(t);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    /* The walk itself is permitted by the same ids. */
    struct cred *saved = t->cred;
    t->cred = c;
    int r = user_path_at(t, dfd, name, at_lookup_flags(flags), &p);
    t->cred = saved;
    if (r == 0) {
        const struct inode *ino = p.dentry->inode;
        if ((mode & LX_X_OK) && (ino->mode & LX_S_IFMT) == LX_S_IFREG && p.mnt != NULL &&
            (p.mnt->flags & MOUNT_NOEXEC))
            r = -EACCES;
        else if (mode != 0)
            r = path_permission(&p, c, mode);
        path_put(&p);
    }
    cred_put(c);
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
    return do_access(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), sys_uint(a, 3));
}
