/*
 * Making and removing names: mkdir, mknod, symlink, link, unlink, rmdir on a looked-up parent. The
 * order of the checks is Linux's, since which errno wins is part of the ABI: what is there
 * (EEXIST) before a read-only mount, that before permission on the parent.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"

#include "sentry/fs/inotify.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"

/* Whether pl names something that may be created. */
static int check_new_name(const struct parent_lookup *pl, bool want_dir, const struct cred *c)
{
    int r;

    if (pl->last != LAST_NORM || pl->d->inode)
        return -EEXIST;
    if (pl->trailing_slash && !want_dir)
        return -ENOENT;
    r = mount_writable(pl->parent.mnt);
    return r < 0 ? r : may_create(&pl->parent, c);
}

static void created(const struct parent_lookup *pl, uint32_t extra)
{
    fsnotify_name(pl->parent.dentry, pl->d, LX_IN_CREATE | extra, 0);
}

int vfs_mkdir(struct parent_lookup *pl, uint32_t mode, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode;
    int r = check_new_name(pl, true, c);

    if (r < 0)
        return r;
    if (!dir->ops->mkdir)
        return -EPERM;
    r = dir->ops->mkdir(dir, pl->d, LX_S_IFDIR | (mode & (LX_S_IRWXUGO | LX_S_ISVTX)), c);
    if (r == 0)
        created(pl, LX_IN_ISDIR);
    return r;
}

static int check_node_type(uint32_t mode, uint64_t rdev, const struct cred *c)
{
    switch (mode & LX_S_IFMT) {
    case LX_S_IFREG:
    case LX_S_IFIFO:
    case LX_S_IFSOCK:
        return 0;
    case LX_S_IFCHR:
        if (rdev == 0) /* an overlay's whiteout */
            return 0;
        FALLTHROUGH;
    case LX_S_IFBLK:
        return cred_capable(c, LX_CAP_MKNOD) ? 0 : -EPERM;
    case LX_S_IFDIR:
        return -EPERM;
    default:
        return -EINVAL;
    }
}

int vfs_mknod(struct parent_lookup *pl, uint32_t mode, uint64_t rdev, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode;
    int r;

    if (!(mode & LX_S_IFMT))
        mode |= LX_S_IFREG;
    if (LX_S_ISDIR(mode))
        return -EPERM;
    r = check_new_name(pl, false, c);
    if (r == 0)
        r = check_node_type(mode, rdev, c);
    if (r < 0)
        return r;
    if (LX_S_ISREG(mode))
        r = dir->ops->create ? dir->ops->create(dir, pl->d, mode, c) : -EACCES;
    else
        r = dir->ops->mknod ? dir->ops->mknod(dir, pl->d, mode, rdev, c) : -EPERM;
    if (r == 0)
        created(pl, 0);
    return r;
}

int vfs_symlink(struct parent_lookup *pl, const char *target, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode;
    int r = check_new_name(pl, false, c);

    if (r < 0)
        return r;
    if (!dir->ops->symlink)
        return -EPERM;
    r = dir->ops->symlink(dir, pl->d, target, c);
    if (r == 0)
        created(pl, 0);
    return r;
}

int vfs_link(const struct path *old, struct parent_lookup *pl, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode, *ino = old->dentry->inode;
    int r;

    if (pl->last != LAST_NORM || pl->d->inode)
        return -EEXIST;
    if (pl->trailing_slash)
        return -ENOENT;
    r = mount_writable(pl->parent.mnt);
    if (r < 0)
        return r;
    if (old->mnt != pl->parent.mnt)
        return -EXDEV;
    r = may_create(&pl->parent, c);
    if (r < 0)
        return r;
    if (ino->super != dir->super)
        return -EXDEV;
    if (!dir->ops->link || LX_S_ISDIR(ino->mode))
        return -EPERM;
    if (ino->nlink == 0 && !ino->linkable)
        return -ENOENT;
    r = dir->ops->link(ino, dir, pl->d);
    if (r < 0)
        return r;
    ino->linkable = false;
    created(pl, 0);
    fsnotify_inode(ino, LX_IN_ATTRIB);
    return 0;
}

/* The name is gone from the file system: tell, and take the dentry out of the name space. */
static void removed(struct parent_lookup *pl, bool dir)
{
    if (!dir)
        fsnotify_inode(pl->d->inode, LX_IN_ATTRIB);
    /* Nobody else has it open: it ends before its directory hears of it. */
    if (pl->d->inode->nlink == 0 && pl->d->ref == 1)
        inotify_inode_removed(pl->d->inode);
    fsnotify_name(pl->parent.dentry, pl->d, LX_IN_DELETE | (dir ? LX_IN_ISDIR : 0), 0);
    dentry_drop(pl->d);
}

int vfs_unlink(struct parent_lookup *pl, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode;
    int r;

    if (pl->last != LAST_NORM)
        return -EISDIR;
    r = mount_writable(pl->parent.mnt);
    if (r < 0)
        return r;
    if (!pl->d->inode)
        return -ENOENT;
    if (pl->trailing_slash)
        return dentry_is_dir(pl->d) ? -EISDIR : -ENOTDIR;
    r = may_delete(&pl->parent, pl->d, false, c);
    if (r < 0)
        return r;
    if (!dir->ops->unlink)
        return -EPERM;
    if (pl->d->nmounts)
        return -EBUSY;
    r = dir->ops->unlink(dir, pl->d);
    if (r == 0)
        removed(pl, false);
    return r;
}

int vfs_rmdir(struct parent_lookup *pl, const struct cred *c)
{
    struct inode *dir = pl->parent.dentry->inode;
    int r;

    if (pl->last == LAST_DOTDOT)
        return -ENOTEMPTY;
    if (pl->last == LAST_DOT)
        return -EINVAL;
    if (pl->last == LAST_ROOT)
        return -EBUSY;
    r = mount_writable(pl->parent.mnt);
    if (r == 0)
        r = may_delete(&pl->parent, pl->d, true, c);
    if (r < 0)
        return r;
    if (!dir->ops->rmdir)
        return -EPERM;
    if (pl->d->nmounts)
        return -EBUSY;
    r = dir->ops->rmdir(dir, pl->d);
    if (r < 0)
        return r;
    pl->d->inode->dead = true;
    removed(pl, true);
    return 0;
}
