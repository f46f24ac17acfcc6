/* tmpfs inodes: making, attributes, symlinks, seals, and the end of one. */
#include <string.h>

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/limits.h"

/* Symlinks shorter than this count as inodes only. */
enum {
    SHORT_TARGET = 128
};

static const struct inode_ops *ops_for(uint32_t mode)
{
    switch (mode & LX_S_IFMT) {
    case LX_S_IFREG:
        return &tmpfs_file_iops;
    case LX_S_IFDIR:
        return &tmpfs_dir_iops;
    case LX_S_IFLNK:
        return &tmpfs_symlink_iops;
    default:
        return &tmpfs_special_iops;
    }
}

static int charge_inode(struct tmpfs *fs)
{
    if (fs->max_inodes && fs->inodes >= fs->max_inodes)
        return -ENOSPC;
    if (limit_charge(LIMIT_DISK_INODES, 1) < 0)
        return -ENOSPC;
    fs->inodes++;
    return 0;
}

static void release_inode(struct tmpfs *fs)
{
    fs->inodes--;
    limit_release(LIMIT_DISK_INODES, 1);
}

int tmpfs_inode_new(struct tmpfs *fs, const struct inode *dir, uint32_t mode, const struct cred *c,
                    struct inode **ret_inode)
{
    struct tmpfs_inode *ti;
    struct inode *ino;
    int r = charge_inode(fs);

    if (r < 0)
        return r;
    ti = kalloc(sizeof(*ti));
    if (!ti) {
        release_inode(fs);
        return -ENOMEM;
    }
    ti->fs = fs;
    ti->seals = LX_F_SEAL_SEAL;
    ti->next_cookie = 2;
    rb_init(&ti->entries, NULL);
    list_init(&ti->xattrs);
    list_init(&ti->work);
    r = inode_new(fs->super, ops_for(mode), mode, &ino);
    if (r < 0) {
        kfree(ti);
        release_inode(fs);
        return r;
    }
    ino->priv = ti;
    ti->inode = ino;
    if (c)
        inode_init_owner(ino, dir, mode, c);
    if (LX_S_ISDIR(mode))
        ino->nlink = 2;
    if (LX_S_ISREG(mode)) {
        r = memobj_new_in(fs->quota, 0, &ti->obj);
        if (r < 0) {
            inode_put(ino);
            return r;
        }
    }
    *ret_inode = ino;
    return 0;
}

int tmpfs_set_target(struct tmpfs_inode *ti, const char *target)
{
    size_t len = strlen(target);
    uint32_t pages = len >= SHORT_TARGET ? PAGE_SIZE : 0;
    int r = pages ? memobj_quota_charge(ti->fs->quota, pages) : 0;

    if (r < 0)
        return r;
    ti->target = kstrdup(target);
    if (!ti->target) {
        memobj_quota_release(ti->fs->quota, pages);
        return -ENOMEM;
    }
    ti->target_charge = pages;
    ti->inode->size = len;
    return 0;
}

void tmpfs_evict(struct inode *ino)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);

    if (!ti)
        return;
    memobj_put(ti->obj);
    memobj_quota_release(ti->fs->quota, ti->target_charge);
    kfree(ti->target);
    tmpfs_xattrs_free(ti);
    release_inode(ti->fs);
    kfree(ti);
    ino->priv = NULL;
}

static int set_size(struct tmpfs_inode *ti, uint64_t size)
{
    struct inode *ino = ti->inode;
    int r;

    if (size < ino->size && (ti->seals & LX_F_SEAL_SHRINK))
        return -EPERM;
    if (size > ino->size && (ti->seals & LX_F_SEAL_GROW))
        return -EPERM;
    r = memobj_resize(ti->obj, size);
    if (r == 0)
        ino->size = size;
    return r;
}

int tmpfs_setattr(struct inode *ino, const struct iattr *attr)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);

    if (attr->valid & ATTR_SIZE) {
        int r = ti->obj ? set_size(ti, attr->size) : -EINVAL;

        if (r < 0)
            return r;
    }
    if ((attr->valid & ATTR_MODE) && (ti->seals & LX_F_SEAL_EXEC) &&
        ((attr->mode ^ ino->mode) & 0111))
        return -EPERM;
    /* Times that are set count from here on. */
    if (ti->obj && (attr->valid & ATTR_MTIME))
        (void)memobj_changed(ti->obj);
    inode_store_attr(ino, attr);
    return 0;
}

static bool earlier(const struct lx_timespec *a, const struct lx_timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The host notes when a guest first writes to a page of a mapping. */
static void times_of_mappings(struct inode *ino, struct memobj *obj)
{
    uint64_t at = memobj_changed(obj);
    struct lx_timespec ts = {(int64_t)(at / 1000000000u), (int64_t)(at % 1000000000u)};

    if (at && earlier(&ino->mtime, &ts))
        ino->mtime = ts;
    if (at && earlier(&ino->ctime, &ts))
        ino->ctime = ts;
}

static int tmpfs_getattr(struct inode *ino, struct kstat *ret_st)
{
    const struct tmpfs_inode *ti = tmpfs_inode_of(ino);

    ret_st->blocks = (ti->obj ? memobj_allocated(ti->obj) : ti->target_charge) / 512;
    if (ti->obj) {
        times_of_mappings(ino, ti->obj);
        ret_st->mtime = ino->mtime;
        ret_st->ctime = ino->ctime;
    }
    return 0;
}

static int64_t tmpfs_readlink(struct inode *ino, char *buf, size_t cap)
{
    const struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    size_t n = MIN((size_t)ino->size, cap);

    memcpy(buf, ti->target, n);
    return (int64_t)n;
}

/* -- seals ------------------------------------------------------------------------------------- */

static struct tmpfs_inode *sealable(const struct inode *ino)
{
    return ino->ops == &tmpfs_file_iops ? tmpfs_inode_of(ino) : NULL;
}

int tmpfs_get_seals(struct inode *ino)
{
    const struct tmpfs_inode *ti = sealable(ino);

    return ti ? (int)ti->seals : -EINVAL;
}

int tmpfs_add_seals(struct inode *ino, uint32_t seals)
{
    static const uint32_t known = LX_F_SEAL_SEAL | LX_F_SEAL_SHRINK | LX_F_SEAL_GROW |
                                  LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE | LX_F_SEAL_EXEC;
    struct tmpfs_inode *ti = sealable(ino);

    if (!ti || (seals & ~known))
        return -EINVAL;
    if (ti->seals & LX_F_SEAL_SEAL)
        return -EPERM;
    if ((seals & LX_F_SEAL_EXEC) && (ino->mode & 0111))
        seals |= LX_F_SEAL_SHRINK | LX_F_SEAL_GROW | LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE;
    ti->seals |= seals;
    return 0;
}

void tmpfs_set_seals(struct inode *ino, uint32_t seals)
{
    struct tmpfs_inode *ti = sealable(ino);

    if (ti)
        ti->seals = seals;
}

/* -- operations ---------------------------------------------------------------------------------
 */

static int open_regular(struct inode *ino, struct file *f)
{
    (void)ino;
    f->ops = &tmpfs_file_ops;
    return 0;
}

#define XATTR_OPS                                                                         \
    .getxattr = tmpfs_getxattr, .setxattr = tmpfs_setxattr, .listxattr = tmpfs_listxattr, \
    .removexattr = tmpfs_removexattr

const struct inode_ops tmpfs_file_iops = {
    .open = open_regular,
    .getattr = tmpfs_getattr,
    .setattr = tmpfs_setattr,
    XATTR_OPS,
};

const struct inode_ops tmpfs_symlink_iops = {
    .readlink = tmpfs_readlink,
    .getattr = tmpfs_getattr,
    .setattr = tmpfs_setattr,
    XATTR_OPS,
};

const struct inode_ops tmpfs_special_iops = {
    .setattr = tmpfs_setattr,
    XATTR_OPS,
};
