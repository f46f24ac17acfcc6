/*
 * /dev: a tmpfs that is populated once. The directories pts and shm are mount points for the boot
 * code; everything else is a device node or a symlink, as a container runtime would make it.
 */
#include <string.h>

#include "sentry/fs/dev/dev.h"
#include "sentry/kernel/cred.h"

struct entry {
    const char *name;
    uint32_t mode;
    uint32_t major, minor;
    const char *target;
};

static const struct entry entries[] = {
    {"null", LX_S_IFCHR | 0666, LX_MEM_MAJOR, DEV_NULL_MINOR, NULL},
    {"zero", LX_S_IFCHR | 0666, LX_MEM_MAJOR, DEV_ZERO_MINOR, NULL},
    {"full", LX_S_IFCHR | 0666, LX_MEM_MAJOR, DEV_FULL_MINOR, NULL},
    {"random", LX_S_IFCHR | 0666, LX_MEM_MAJOR, DEV_RANDOM_MINOR, NULL},
    {"urandom", LX_S_IFCHR | 0666, LX_MEM_MAJOR, DEV_URANDOM_MINOR, NULL},
    {"tty", LX_S_IFCHR | 0666, LX_TTYAUX_MAJOR, 0, NULL},
    {"console", LX_S_IFCHR | 0620, LX_TTYAUX_MAJOR, 1, NULL},
    {"pts", LX_S_IFDIR | 0755, 0, 0, NULL},
    {"shm", LX_S_IFDIR | 01777, 0, 0, NULL},
    {"ptmx", LX_S_IFLNK, 0, 0, "pts/ptmx"},
    {"fd", LX_S_IFLNK, 0, 0, "/proc/self/fd"},
    {"stdin", LX_S_IFLNK, 0, 0, "/proc/self/fd/0"},
    {"stdout", LX_S_IFLNK, 0, 0, "/proc/self/fd/1"},
    {"stderr", LX_S_IFLNK, 0, 0, "/proc/self/fd/2"},
};

static int entry_make(struct dentry *dir, const struct entry *e, const struct cred *c)
{
    struct inode *ino = dir->inode;
    struct dentry *d;
    int r;

    r = dentry_lookup(dir, e->name, strlen(e->name), &d);
    if (r < 0)
        return r;
    if (d->inode)
        r = 0;
    else if (LX_S_ISDIR(e->mode))
        r = ino->ops->mkdir(ino, d, e->mode, c);
    else if (LX_S_ISLNK(e->mode))
        r = ino->ops->symlink(ino, d, e->target, c);
    else
        r = ino->ops->mknod(ino, d, e->mode, lx_makedev(e->major, e->minor), c);
    dentry_put(d);
    return r;
}

int devfs_populate(struct dentry *dir)
{
    const struct inode_ops *ops = dir->inode->ops;
    struct cred *c;
    int r = 0;

    if (!ops->mkdir || !ops->symlink || !ops->mknod)
        return -EROFS;
    c = cred_new();
    if (!c)
        return -ENOMEM;
    for (size_t i = 0; i < ARRAY_LEN(entries) && r == 0; i++)
        r = entry_make(dir, &entries[i], c);
    cred_put(c);
    return r;
}

int devfs_mount_new(struct super **ret_sb)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *sb;
    int r;

    r = tmpfs_mount_new(&opt, &sb);
    if (r < 0)
        return r;
    r = devfs_populate(sb->root);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
