/* Regular tmpfs files: everything is the memobj's, with times and seals around it. */
#include "sentry/fs/file.h"

#include "abi/mman.h"

#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

static int64_t tmpfs_read(struct file *f, struct uio *to, uint64_t *pos)
{
    int64_t n = memobj_read(tmpfs_inode_of(f->inode)->obj, *pos, to);

    if (n > 0)
        *pos += (uint64_t)n;
    return n;
}

/* How many bytes the seals let through at pos, or -EPERM. */
static int64_t sealed_length(const struct tmpfs_inode *ti, uint64_t pos, uint64_t len)
{
    if (ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE))
        return -EPERM;
    if (!(ti->seals & LX_F_SEAL_GROW) || len == 0)
        return (int64_t)len;
    if (pos >= ti->inode->size)
        return -EPERM;
    return (int64_t)MIN(len, ti->inode->size - pos);
}

static int64_t tmpfs_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct inode *ino = f->inode;
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);
    int64_t n = sealed_length(ti, *pos, from->left);

    if (n <= 0)
        return n;
    size_t hidden = from->left - (size_t)n;
    from->left = (size_t)n;
    n = memobj_write(ti->obj, *pos, from);
    from->left += hidden;
    if (n <= 0)
        return n;
    *pos += (uint64_t)n;
    ino->size = memobj_size(ti->obj);
    inode_touch(ino, ATTR_MTIME | ATTR_CTIME);
    return n;
}

static int64_t tmpfs_seek(struct file *f, int64_t off, int whence)
{
    struct memobj *o = tmpfs_inode_of(f->inode)->obj;
    int64_t at;

    if (whence != LX_SEEK_DATA && whence != LX_SEEK_HOLE)
        return vfs_seek_generic(f, off, whence, f->inode->size);
    if (off < 0)
        return -ENXIO;
    at = whence == LX_SEEK_DATA ? memobj_seek_data(o, (uint64_t)off)
                                : memobj_seek_hole(o, (uint64_t)off);
    if (at >= 0)
        f->pos = (uint64_t)at;
    return at;
}

static int tmpfs_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(f->inode);

    if (shared && (prot & LX_PROT_WRITE) &&
        (ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE)))
        return -EPERM;
    *ret_backing = (struct map_backing){.obj = memobj_get(ti->obj), .host_fd = -1};
    inode_touch_relatime(f->inode);
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
    uint64_t end = off + len;
    int r;

    if (mode & ~(LX_FALLOC_FL_KEEP_SIZE | LX_FALLOC_FL_PUNCH_HOLE))
        return -EOPNOTSUPP;
    if (mode & LX_FALLOC_FL_PUNCH_HOLE) {
        if (!(mode & LX_FALLOC_FL_KEEP_SIZE))
            return -EOPNOTSUPP;
        if (ti->seals & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE))
            return -EPERM;
        r = memobj_punch(ti->obj, off, len);
    } else {
        if ((ti->seals & LX_F_SEAL_GROW) && end > f->inode->size)
            return -EPERM;
        r = memobj_allocate(ti->obj, off, len);
        if (r == 0 && !(mode & LX_FALLOC_FL_KEEP_SIZE) && end > f->inode->size) {
            r = memobj_resize(ti->obj, end);
            if (r == 0)
                f->inode->size = end;
        }
    }
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
