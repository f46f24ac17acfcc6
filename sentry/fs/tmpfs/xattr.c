/* Extended attributes of tmpfs inodes: a short list each, charged to the file system's bytes. */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/tmpfs/tmpfs.h"

enum {
    XATTR_OVERHEAD = 64,
    XATTRS_MAX = 128
};

static struct tmpfs_xattr *find(const struct tmpfs_inode *ti, const char *name)
{
    struct tmpfs_xattr *x;

    list_for_each_entry (x, &ti->xattrs, link) {
        if (strcmp(x->name, name) == 0)
            return x;
    }
    return NULL;
}

static void xattr_free(struct tmpfs_inode *ti, struct tmpfs_xattr *x)
{
    list_del_init(&x->link);
    ti->nxattrs--;
    memobj_quota_release(ti->fs->quota, x->charged);
    kfree(x->name);
    kfree(x->value);
    kfree(x);
}

void tmpfs_xattrs_free(struct tmpfs_inode *ti)
{
    while (!list_empty(&ti->xattrs))
        xattr_free(ti, list_first(&ti->xattrs, struct tmpfs_xattr, link));
}

int64_t tmpfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap)
{
    const struct tmpfs_xattr *x = find(tmpfs_inode_of(ino), name);

    if (!x)
        return -ENODATA;
    if (cap == 0)
        return (int64_t)x->len;
    if (x->len > cap)
        return -ERANGE;
    if (x->len)
        memcpy(buf, x->value, x->len);
    return (int64_t)x->len;
}

static int add(struct tmpfs_inode *ti, const char *name, const void *val, size_t len)
{
    struct tmpfs_xattr *x = kalloc(sizeof(*x));

    if (!x)
        return -ENOMEM;
    list_init(&x->link);
    x->len = len;
    x->charged = len + strlen(name) + XATTR_OVERHEAD;
    x->name = kstrdup(name);
    x->value = kmemdup(val, len);
    if (!x->name || !x->value || memobj_quota_charge(ti->fs->quota, x->charged) < 0) {
        bool memory = !x->name || !x->value;

        kfree(x->name);
        kfree(x->value);
        kfree(x);
        return memory ? -ENOMEM : -ENOSPC;
    }
    list_add_tail(&ti->xattrs, &x->link);
    ti->nxattrs++;
    return 0;
}

int tmpfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    struct tmpfs_xattr *old = find(ti, name);
    int r;

    if (old && (flags & LX_XATTR_CREATE))
        return -EEXIST;
    if (!old && (flags & LX_XATTR_REPLACE))
        return -ENODATA;
    if (!old && ti->nxattrs >= XATTRS_MAX)
        return -ENOSPC;
    r = add(ti, name, val, len);
    if (r < 0)
        return r;
    if (old)
        xattr_free(ti, old);
    inode_touch(ino, ATTR_CTIME);
    return 0;
}

int64_t tmpfs_listxattr(struct inode *ino, char *buf, size_t cap)
{
    const struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    const struct tmpfs_xattr *x;
    size_t total = 0;

    list_for_each_entry (x, &ti->xattrs, link) {
        size_t n = strlen(x->name) + 1;

        if (cap != 0) {
            if (n > cap - total)
                return -ERANGE;
            memcpy(buf + total, x->name, n);
        }
        total += n;
    }
    return (int64_t)total;
}

int tmpfs_removexattr(struct inode *ino, const char *name)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    struct tmpfs_xattr *x = find(ti, name);

    if (!x)
        return -ENODATA;
    xattr_free(ti, x);
    inode_touch(ino, ATTR_CTIME);
    return 0;
}
