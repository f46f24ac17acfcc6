/*
 * Extended attributes: who may touch which name space, as in xattr(7), before the inode's own
 * operation. Files that cannot have any say EOPNOTSUPP.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/misc.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static int check_user(struct inode *ino, const struct cred *c, bool write)
{
    if (!LX_S_ISREG(ino->mode) && !LX_S_ISDIR(ino->mode))
        return write ? -EPERM : -ENODATA;
    if (write && LX_S_ISDIR(ino->mode) && (ino->mode & LX_S_ISVTX) &&
        !inode_owner_or_capable(ino, c))
        return -EPERM;
    return inode_permission(ino, c, write ? LX_W_OK : LX_R_OK);
}

static int xattr_permission(struct inode *ino, const char *name, const struct cred *c, bool write)
{
    if (has_prefix(name, "user.") && name[5])
        return check_user(ino, c, write);
    if (has_prefix(name, "trusted.") && name[8])
        return cred_capable(c, LX_CAP_SYS_ADMIN) ? 0 : write ? -EPERM : -ENODATA;
    if (has_prefix(name, "security.") && name[9]) {
        int cap = strcmp(name, "security.capability") == 0 ? LX_CAP_SETFCAP : LX_CAP_SYS_ADMIN;

        return !write || cred_capable(c, cap) ? 0 : -EPERM;
    }
    return -EOPNOTSUPP;
}

int64_t vfs_getxattr(const struct path *p, const char *name, void *buf, size_t cap,
                     const struct cred *c)
{
    struct inode *ino = p->dentry->inode;
    int r = xattr_permission(ino, name, c, false);

    if (r < 0)
        return r;
    return ino->ops->getxattr ? ino->ops->getxattr(ino, name, buf, cap) : -EOPNOTSUPP;
}

int vfs_setxattr(const struct path *p, const char *name, const void *val, size_t len, int flags,
                 const struct cred *c)
{
    struct inode *ino = p->dentry->inode;
    int r = mount_writable(p->mnt);

    if (r == 0)
        r = xattr_permission(ino, name, c, true);
    if (r == 0)
        r = ino->ops->setxattr ? ino->ops->setxattr(ino, name, val, len, flags) : -EOPNOTSUPP;
    if (r == 0)
        fsnotify(p, LX_IN_ATTRIB, 0);
    return r;
}

int64_t vfs_listxattr(const struct path *p, char *buf, size_t cap, const struct cred *c)
{
    struct inode *ino = p->dentry->inode;

    (void)c;
    return ino->ops->listxattr ? ino->ops->listxattr(ino, buf, cap) : 0;
}

int vfs_removexattr(const struct path *p, const char *name, const struct cred *c)
{
    struct inode *ino = p->dentry->inode;
    int r = mount_writable(p->mnt);

    if (r == 0)
        r = xattr_permission(ino, name, c, true);
    if (r == 0)
        r = ino->ops->removexattr ? ino->ops->removexattr(ino, name) : -EOPNOTSUPP;
    if (r == 0)
        fsnotify(p, LX_IN_ATTRIB, 0);
    return r;
}
