/*
 * Permission checks with the emulated credentials, in Linux's order: a read-only file system before
 * the mode bits, the mode bits before a read-only mount, capabilities last.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"

static int mode_permission(const struct inode *ino, const struct cred *c, uint32_t mask)
{
    uint32_t mode = ino->mode;

    if (c->fsuid == ino->uid)
        mode >>= 6;
    else if ((mode & LX_S_IRWXG) >> 3 != (mode & LX_S_IRWXO) && cred_in_group(c, ino->gid))
        mode >>= 3;
    return (mask & ~mode & 7) ? -EACCES : 0;
}

static int generic_permission(const struct inode *ino, const struct cred *c, uint32_t mask)
{
    if (mode_permission(ino, c, mask) == 0)
        return 0;
    if (LX_S_ISDIR(ino->mode)) {
        if (!(mask & LX_W_OK) && cred_capable(c, LX_CAP_DAC_READ_SEARCH))
            return 0;
        return cred_capable(c, LX_CAP_DAC_OVERRIDE) ? 0 : -EACCES;
    }
    if (mask == LX_R_OK && cred_capable(c, LX_CAP_DAC_READ_SEARCH))
        return 0;
    if ((!(mask & LX_X_OK) || (ino->mode & (LX_S_IXUSR | LX_S_IXGRP | LX_S_IXOTH))) &&
        cred_capable(c, LX_CAP_DAC_OVERRIDE))
        return 0;
    return -EACCES;
}

int inode_permission(struct inode *ino, const struct cred *c, int mask)
{
    uint32_t bits = (uint32_t)mask & 7;

    if ((bits & LX_W_OK) && ino->super->readonly &&
        (LX_S_ISREG(ino->mode) || LX_S_ISDIR(ino->mode) || LX_S_ISLNK(ino->mode)))
        return -EROFS;
    if (ino->ops->permission)
        return ino->ops->permission(ino, c, (int)bits);
    return generic_permission(ino, c, bits);
}

int inode_permission_by_mode(const struct inode *ino, const struct cred *c, int mask)
{
    return generic_permission(ino, c, (uint32_t)mask & 7);
}

static bool special_file(uint32_t mode)
{
    return LX_S_ISCHR(mode) || LX_S_ISBLK(mode) || LX_S_ISFIFO(mode) || LX_S_ISSOCK(mode);
}

int path_permission(const struct path *p, const struct cred *c, int mask)
{
    int r = inode_permission(p->dentry->inode, c, mask);

    if (r == 0 && (mask & LX_W_OK) && !special_file(p->dentry->inode->mode))
        r = mount_writable(p->mnt);
    return r;
}

bool inode_owner_or_capable(const struct inode *ino, const struct cred *c)
{
    return c->fsuid == ino->uid || cred_capable(c, LX_CAP_FOWNER);
}

int may_create(const struct path *dir, const struct cred *c)
{
    if (dir->dentry->inode->dead)
        return -ENOENT;
    return inode_permission(dir->dentry->inode, c, LX_W_OK | LX_X_OK);
}

static bool sticky_forbids(const struct inode *dir, const struct inode *victim,
                           const struct cred *c)
{
    return (dir->mode & LX_S_ISVTX) && c->fsuid != victim->uid && c->fsuid != dir->uid &&
           !cred_capable(c, LX_CAP_FOWNER);
}

int may_delete(const struct path *dir, const struct dentry *victim, bool want_dir,
               const struct cred *c)
{
    struct inode *dino = dir->dentry->inode;
    int r;

    if (!victim->inode)
        return -ENOENT;
    r = inode_permission(dino, c, LX_W_OK | LX_X_OK);
    if (r < 0)
        return r;
    if (sticky_forbids(dino, victim->inode, c))
        return -EPERM;
    if (want_dir && !dentry_is_dir(victim))
        return -ENOTDIR;
    if (!want_dir && dentry_is_dir(victim))
        return -EISDIR;
    if (dino->dead)
        return -ENOENT;
    return 0;
}

/* Whether c may keep a setgid bit on something that belongs to gid. */
static bool in_group_or_capable(const struct cred *c, uint32_t gid)
{
    return cred_in_group(c, gid) || cred_capable(c, LX_CAP_FSETID);
}

void inode_init_owner(struct inode *ino, const struct inode *dir, uint32_t mode,
                      const struct cred *c)
{
    ino->uid = c->fsuid;
    ino->gid = c->fsgid;
    if (dir && (dir->mode & LX_S_ISGID)) {
        ino->gid = dir->gid;
        if (LX_S_ISDIR(mode))
            mode |= LX_S_ISGID;
        else if ((mode & (LX_S_ISGID | LX_S_IXGRP)) == (LX_S_ISGID | LX_S_IXGRP) &&
                 !in_group_or_capable(c, dir->gid))
            mode &= ~(uint32_t)LX_S_ISGID;
    }
    ino->mode = mode;
}

uint32_t inode_mode_without_privs(const struct inode *ino, const struct cred *c)
{
    uint32_t mode = ino->mode & ~(uint32_t)LX_S_ISUID;

    if ((mode & LX_S_ISGID) && ((mode & LX_S_IXGRP) || !in_group_or_capable(c, ino->gid)))
        mode &= ~(uint32_t)LX_S_ISGID;
    return mode;
}
