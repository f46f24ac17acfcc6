/* Files of tmpfs: data, seals, attributes, extended attributes. */
#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

#define XATTR_TOTAL_MAX 65536u
#define XATTR_CREATE    1
#define XATTR_REPLACE   2

static int64_t tmpfs_read(struct file *f, struct uio *to, uint64_t *pos)
{
    int64_t n = memobj_read(tmpfs_inode_of(f->inode)->obj, *pos, to);

    if (n > 0)
        *pos += (uint64_t)n;
    return n;
}

static int64_t tmpfs_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(f->inode);
    uint64_t end;
    int64_t n;
    int r;

    if (ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE))
        return -EPERM;
    if (!checked_add(*pos, (uint64_t)from->left, &end))
        return -EFBIG;
    if ((ti->seals & LX_F_SEAL_GROW) && end > f->inode->size)
        return -EPERM;
    r = end > f->inode->size ? tmpfs_room(ti, end - MAX(*pos, f->inode->size)) : 0;
    if (r < 0)
        return r;
    n = memobj_write(ti->obj, *pos, from);
    if (n > 0) {
        *pos += (uint64_t)n;
        tmpfs_account(ti);
        inode_touch(f->inode, ATTR_MTIME | ATTR_CTIME);
    }
    return n;
}

static int64_t tmpfs_seek(struct file *f, int64_t off, int whence)
{
    struct memobj *o = tmpfs_inode_of(f->inode)->obj;
    int64_t r;

    if (whence != LX_SEEK_DATA && whence != LX_SEEK_HOLE)
        return vfs_seek_generic(f, off, whence, memobj_size(o));
    if (off < 0)
        return -ENXIO;
    r = whence == LX_SEEK_DATA ? memobj_seek_data(o, (uint64_t)off)
                               : memobj_seek_hole(o, (uint64_t)off);
    if (r >= 0)
        f->pos = (uint64_t)r;
    return r;
}

static int tmpfs_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(f->inode);

    if (shared && (prot & LX_PROT_WRITE) &&
        (ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE)))
        return -EPERM;
    *ret_backing = (struct map_backing){.obj = memobj_get(ti->obj), .host_fd = -1};
    return 0;
}

static int tmpfs_fsync(struct file *f, bool datasync)
{
    (void)f;
    (void)datasync;
    return 0;
}

static int tmpfs_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(f->inode);
    bool keep = mode & LX_FALLOC_FL_KEEP_SIZE;
    uint64_t end;
    int r;

    if (!checked_add(off, len, &end) || end > INT64_MAX)
        return -EFBIG;
    if (mode == (LX_FALLOC_FL_PUNCH_HOLE | LX_FALLOC_FL_KEEP_SIZE)) {
        r = ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE)
                ? -EPERM
                : memobj_punch(ti->obj, off, len);
    } else if (mode & ~LX_FALLOC_FL_KEEP_SIZE) {
        return -EOPNOTSUPP;
    } else {
        if (!keep && (ti->seals & LX_F_SEAL_GROW) && end > f->inode->size)
            return -EPERM;
        r = tmpfs_room(ti, len);
        if (r == 0)
            r = memobj_allocate(ti->obj, off, len);
        if (r == 0 && !keep && end > memobj_size(ti->obj))
            r = memobj_resize(ti->obj, end);
    }
    tmpfs_account(ti);
    if (r == 0)
        inode_touch(f->inode, ATTR_MTIME | ATTR_CTIME);
    return r;
}

const struct file_ops tmpfs_file_ops = {
    .read = tmpfs_read,
    .write = tmpfs_write,
    .seek = tmpfs_seek,
    .map = tmpfs_map,
    .fsync = tmpfs_fsync,
    .fallocate = tmpfs_fallocate,
};

int tmpfs_open(struct inode *ino, struct file *f)
{
    switch (ino->mode & LX_S_IFMT) {
    case LX_S_IFREG:
        f->ops = &tmpfs_file_ops;
        return 0;
    case LX_S_IFDIR:
        f->ops = &tmpfs_dir_ops;
        return 0;
    case LX_S_IFCHR:
        return chrdev_open(ino, f);
    case LX_S_IFIFO:
        return fifo_open(ino, f);
    default:
        return -ENXIO;
    }
}

/* -- attributes
 * ---------------------------------------------------------------------------------------- */

int tmpfs_getattr(struct inode *ino, struct kstat *ret_st)
{
    tmpfs_account(tmpfs_inode_of(ino));
    ret_st->size = ino->size;
    ret_st->blocks = ino->blocks;
    return 0;
}

static int set_size(struct tmpfs_inode *ti, uint64_t size)
{
    uint64_t old = memobj_size(ti->obj);
    int r;

    if ((size < old && (ti->seals & LX_F_SEAL_SHRINK)) ||
        (size > old && (ti->seals & LX_F_SEAL_GROW)))
        return -EPERM;
    r = memobj_resize(ti->obj, size);
    tmpfs_account(ti);
    return r;
}

int tmpfs_setattr(struct inode *ino, const struct iattr *attr)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    int r = 0;

    if ((attr->valid & ATTR_MODE) && (ti->seals & LX_F_SEAL_EXEC) &&
        ((attr->mode ^ ino->mode) & 0111))
        return -EPERM;
    if ((attr->valid & ATTR_SIZE) && ti->obj)
        r = set_size(ti, attr->size);
    if (r == 0)
        inode_store_attr(ino, attr);
    return r;
}

int64_t tmpfs_readlink(struct inode *ino, char *buf, size_t cap)
{
    const char *target = tmpfs_inode_of(ino)->target;
    size_t n;

    if (!target)
        return -EINVAL;
    n = MIN(strlen(target), cap);
    memcpy(buf, target, n);
    return (int64_t)n;
}

/* -- seals
 * -----------------------------------------------------------------------------------------------
 */

static struct tmpfs_inode *sealable(struct inode *ino)
{
    return ino->ops == &tmpfs_inode_ops && LX_S_ISREG(ino->mode) ? tmpfs_inode_of(ino) : NULL;
}

int tmpfs_get_seals(struct inode *ino)
{
    struct tmpfs_inode *ti = sealable(ino);

    return ti ? (int)ti->seals : -EINVAL;
}

int tmpfs_add_seals(struct inode *ino, uint32_t seals)
{
    struct tmpfs_inode *ti = sealable(ino);

    if (!ti || (seals & ~(uint32_t)(LX_F_SEAL_SEAL | LX_F_SEAL_SHRINK | LX_F_SEAL_GROW |
                                    LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE | LX_F_SEAL_EXEC)))
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

/* -- extended attributes
 * ---------------------------------------------------------------------------------- */

static struct tmpfs_xattr *xattr_find(struct tmpfs_inode *ti, const char *name)
{
    struct tmpfs_xattr *x;

    list_for_each_entry (x, &ti->xattrs, link) {
        if (strcmp(x->name, name) == 0)
            return x;
    }
    return NULL;
}

static void xattr_free(struct tmpfs_xattr *x)
{
    list_del_init(&x->link);
    kfree(x->name);
    kfree(x->value);
    kfree(x);
}

void tmpfs_xattrs_free(struct tmpfs_inode *ti)
{
    while (!list_empty(&ti->xattrs))
        xattr_free(list_first(&ti->xattrs, struct tmpfs_xattr, link));
}

static size_t xattr_total(const struct tmpfs_inode *ti)
{
    struct tmpfs_xattr *x;
    size_t n = 0;

    list_for_each_entry (x, &ti->xattrs, link)
        n += strlen(x->name) + 1 + x->len;
    return n;
}

int64_t tmpfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap)
{
    struct tmpfs_xattr *x = xattr_find(tmpfs_inode_of(ino), name);

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

int tmpfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    struct tmpfs_xattr *old = xattr_find(ti, name), *x;

    if (old && (flags & XATTR_CREATE))
        return -EEXIST;
    if (!old && (flags & XATTR_REPLACE))
        return -ENODATA;
    if (xattr_total(ti) + strlen(name) + 1 + len > XATTR_TOTAL_MAX)
        return -ENOSPC;
    x = kalloc(sizeof(*x));
    if (!x)
        return -ENOMEM;
    list_init(&x->link);
    x->name = kstrdup(name);
    x->value = kmemdup(val, len);
    x->len = len;
    if (!x->name || !x->value) {
        xattr_free(x);
        return -ENOMEM;
    }
    list_add_tail(&ti->xattrs, &x->link);
    if (old)
        xattr_free(old);
    inode_touch(ino, ATTR_CTIME);
    return 0;
}

int64_t tmpfs_listxattr(struct inode *ino, char *buf, size_t cap)
{
    struct tmpfs_xattr *x;
    size_t n = 0;

    list_for_each_entry (x, &tmpfs_inode_of(ino)->xattrs, link) {
        size_t len = strlen(x->name) + 1;

        if (cap && n + len > cap)
            return -ERANGE;
        if (cap)
            memcpy(buf + n, x->name, len);
        n += len;
    }
    return (int64_t)n;
}

int tmpfs_removexattr(struct inode *ino, const char *name)
{
    struct tmpfs_xattr *x = xattr_find(tmpfs_inode_of(ino), name);

    if (!x)
        return -ENODATA;
    xattr_free(x);
    inode_touch(ino, ATTR_CTIME);
    return 0;
}
