/*
 * Attributes: stat, and the checks and side effects of changing mode, owner, times and size. The
 * file system's setattr is called with what is really to be stored; NULL means the inode's fields
 * are all there is.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/rlimit.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/task.h"

void inode_fill_stat(const struct inode *ino, struct kstat *ret_st)
{
    *ret_st = (struct kstat){
        .ino = ino->ino,
        .nlink = ino->nlink,
        .size = ino->size,
        .blocks = ino->blocks,
        .mode = ino->mode,
        .uid = ino->uid,
        .gid = ino->gid,
        .blksize = ino->super->blksize,
        .dev = ino->super->dev,
        .rdev = ino->rdev,
        .atime = ino->atime,
        .mtime = ino->mtime,
        .ctime = ino->ctime,
        .btime = ino->btime,
    };
}

int vfs_getattr(const struct path *p, struct kstat *ret_st)
{
    struct inode *ino = p->dentry->inode;

    inode_fill_stat(ino, ret_st);
    return ino->ops->getattr ? ino->ops->getattr(ino, ret_st) : 0;
}

static int check_chown(const struct inode *ino, const struct iattr *a, const struct cred *c)
{
    bool owner = c->fsuid == ino->uid;

    if ((a->valid & ATTR_UID) && !(owner && a->uid == ino->uid) && !cred_capable(c, LX_CAP_CHOWN))
        return -EPERM;
    if ((a->valid & ATTR_GID) && !(owner && (a->gid == ino->gid || cred_in_group(c, a->gid))) &&
        !cred_capable(c, LX_CAP_CHOWN))
        return -EPERM;
    return 0;
}

static void chown_side_effects(const struct inode *ino, struct iattr *a, const struct cred *c)
{
    if (LX_S_ISDIR(ino->mode) || (a->valid & ATTR_MODE))
        return;
    a->mode = inode_mode_without_privs(ino, c);
    if (a->mode != ino->mode)
        a->valid |= ATTR_MODE;
}

int vfs_setattr(const struct path *p, struct iattr *attr, const struct cred *c)
{
    struct inode *ino = p->dentry->inode;
    int r = mount_writable(p->mnt);

    if (r < 0)
        return r;
    inode_refresh(ino);
    if (attr->valid & (ATTR_UID | ATTR_GID)) {
        r = check_chown(ino, attr, c);
        if (r < 0)
            return r;
    }
    if (attr->valid & ATTR_MODE) {
        uint32_t gid = attr->valid & ATTR_GID ? attr->gid : ino->gid;

        if (!inode_owner_or_capable(ino, c))
            return -EPERM;
        if (!cred_in_group(c, gid) && !cred_capable(c, LX_CAP_FSETID))
            attr->mode &= ~(uint32_t)LX_S_ISGID;
        attr->mode = (ino->mode & LX_S_IFMT) | (attr->mode & LX_S_IALLUGO);
    } else if (attr->valid & (ATTR_UID | ATTR_GID)) {
        chown_side_effects(ino, attr, c);
    }
    if (!ino->ops->setattr)
        return -EPERM;
    attr->valid |= ATTR_CTIME;
    attr->ctime = inode_now();
    r = ino->ops->setattr(ino, attr);
    if (r == 0)
        fsnotify(p, LX_IN_ATTRIB, 0);
    return r;
}

/* For the common case of a setattr op: stores all but the size into the inode. */
void inode_store_attr(struct inode *ino, const struct iattr *a)
{
    if (a->valid & ATTR_MODE)
        ino->mode = (ino->mode & LX_S_IFMT) | (a->mode & LX_S_IALLUGO);
    if (a->valid & ATTR_UID)
        ino->uid = a->uid;
    if (a->valid & ATTR_GID)
        ino->gid = a->gid;
    if (a->valid & ATTR_ATIME)
        ino->atime = a->atime;
    if (a->valid & ATTR_MTIME)
        ino->mtime = a->mtime;
    if (a->valid & ATTR_CTIME)
        ino->ctime = a->ctime;
}

int inode_truncate(const struct path *p, uint64_t size, struct task *t)
{
    struct iattr attr = {.valid = ATTR_SIZE | ATTR_MTIME | ATTR_CTIME, .size = size};
    struct inode *ino = p->dentry->inode;
    int r;

    inode_refresh(ino);
    if (size > ino->size && size > task_rlimit(t, LX_RLIMIT_FSIZE)->rlim_cur) {
        signal_send_kernel_task(t, LX_SIGXFSZ);
        return -EFBIG;
    }
    if (!ino->ops->setattr)
        return -EPERM;
    if (ino->mode & (LX_S_ISUID | LX_S_ISGID)) {
        attr.mode = inode_mode_without_privs(ino, t->cred);
        attr.valid |= attr.mode != ino->mode ? ATTR_MODE : 0;
    }
    attr.mtime = attr.ctime = inode_now();
    r = ino->ops->setattr(ino, &attr);
    if (r == 0)
        fsnotify(p, LX_IN_MODIFY, 0);
    return r;
}

int vfs_truncate(const struct path *p, uint64_t size, struct task *t)
{
    struct inode *ino = p->dentry->inode;
    int r;

    if (LX_S_ISDIR(ino->mode))
        return -EISDIR;
    if (!LX_S_ISREG(ino->mode))
        return -EINVAL;
    r = mount_writable(p->mnt);
    if (r == 0)
        r = inode_permission(ino, t->cred, LX_W_OK);
    if (r == 0)
        r = inode_write_get(ino);
    if (r < 0)
        return r;
    r = inode_truncate(p, size, t);
    inode_write_put(ino);
    return r;
}
