/*
 * Open regular files. Each holds an open file of its layer and forwards to it. A file that was
 * opened for reading before the copy-up is opened again on the upper layer at its next use. Sizes
 * and times of the overlay inode follow after each change.
 */
#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/overlay/overlay.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

struct ovl_file {
    struct file *real; /* counted */
    bool upper;
};

#define REAL_FLAGS (LX_O_ACCMODE | LX_O_NOATIME | LX_O_LARGEFILE | LX_O_DIRECT)

/* A file on the upper layer has no need of a name there. */
static int open_upper(struct ovl_inode *oi, uint32_t flags, struct file **ret_real)
{
    struct path p = {oi->fs->upper_mnt, NULL};
    int r = dentry_new_unlinked(oi->fs->upper_mnt->root, "file", inode_get(oi->upper), &p.dentry);

    if (r < 0)
        return r;
    r = vfs_open_path(&p, flags & REAL_FLAGS, oi->fs->cred, ret_real);
    dentry_put(p.dentry);
    return r;
}

int ovl_open_real(struct ovl_inode *oi, uint32_t flags, struct file **ret_real)
{
    struct path p = {oi->fs->lower_mnt, oi->lower};

    if (oi->upper)
        return open_upper(oi, flags, ret_real);
    return vfs_open_path(&p, flags & REAL_FLAGS, oi->fs->cred, ret_real);
}

/* The real file as it is now: borrowed. */
static int real_of(struct file *f, struct file **ret_real)
{
    struct ovl_file *of = f->priv;
    struct ovl_inode *oi = ovl_inode_of(f->inode);
    struct file *real;
    int r;

    if (!of->upper && oi->upper) {
        r = open_upper(oi, f->flags, &real);
        if (r < 0)
            return r;
        file_put(of->real);
        of->real = real;
        of->upper = true;
    }
    *ret_real = of->real;
    return 0;
}

static int64_t ovl_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct file *real;
    int r = real_of(f, &real);

    if (r < 0)
        return r;
    return real->ops->read ? real->ops->read(real, to, pos) : -EINVAL;
}

static int64_t ovl_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct file *real;
    int64_t n = real_of(f, &real);

    if (n < 0)
        return n;
    n = real->ops->write ? real->ops->write(real, from, pos) : -EINVAL;
    ovl_refresh(ovl_inode_of(f->inode));
    return n;
}

static int64_t ovl_seek(struct file *f, int64_t off, int whence)
{
    struct file *real;
    int64_t n = real_of(f, &real);

    if (n < 0)
        return n;
    if (!real->ops->seek)
        return -ESPIPE;
    real->pos = f->pos;
    n = real->ops->seek(real, off, whence);
    if (n >= 0)
        f->pos = real->pos;
    return n;
}

static int ovl_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    struct file *real;
    int r = real_of(f, &real);

    if (r < 0)
        return r;
    return real->ops->map ? real->ops->map(real, shared, prot, ret_backing) : -ENODEV;
}

static int ovl_fsync(struct file *f, bool datasync)
{
    struct file *real;
    int r = real_of(f, &real);

    if (r < 0)
        return r;
    return real->ops->fsync ? real->ops->fsync(real, datasync) : 0;
}

static int ovl_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
    struct file *real;
    int r = real_of(f, &real);

    if (r < 0)
        return r;
    r = real->ops->fallocate ? real->ops->fallocate(real, mode, off, len) : -EOPNOTSUPP;
    ovl_refresh(ovl_inode_of(f->inode));
    return r;
}

static void ovl_release(struct file *f)
{
    struct ovl_file *of = f->priv;

    if (of)
        file_put(of->real);
    kfree(of);
    f->priv = NULL;
}

static const struct file_ops ovl_file_ops = {
    .read = ovl_read,
    .write = ovl_write,
    .seek = ovl_seek,
    .map = ovl_map,
    .fsync = ovl_fsync,
    .fallocate = ovl_fallocate,
    .release = ovl_release,
};

static int open_regular(struct ovl_inode *oi, struct file *f)
{
    struct ovl_file *of;
    int r = 0;

    if (file_writable(f) || (f->flags & LX_O_TRUNC))
        r = ovl_copy_up(oi, f->flags & LX_O_TRUNC ? 0 : UINT64_MAX);
    if (r < 0)
        return r;
    of = kalloc(sizeof(*of));
    if (!of)
        return -ENOMEM;
    r = ovl_open_real(oi, f->flags, &of->real);
    if (r < 0) {
        kfree(of);
        return r;
    }
    of->upper = oi->upper != NULL;
    f->priv = of;
    f->ops = &ovl_file_ops;
    return 0;
}

int ovl_open(struct inode *ino, struct file *f)
{
    switch (ino->mode & LX_S_IFMT) {
    case LX_S_IFREG:
        return open_regular(ovl_inode_of(ino), f);
    case LX_S_IFDIR:
        f->ops = &ovl_dir_ops;
        return 0;
    case LX_S_IFCHR:
        return chrdev_open(ino, f);
    case LX_S_IFIFO:
        return fifo_open(ino, f);
    default:
        return -ENXIO;
    }
}
