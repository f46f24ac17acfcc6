/*
 * Regular files and symlinks of the image. Reads go from the donated host descriptor through one
 * bounce buffer of the super into the guest; mappings get the descriptor itself.
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/host/host.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

static int64_t goferfs_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct gofer_inode *gi = gofer_inode_of(f->inode);
    uint8_t *bounce = gi->fs->bounce;
    int64_t done = 0;
    int fd, r;

    if (to->left == 0 || *pos >= f->inode->size)
        return 0;
    r = goferfs_fd(gi, &fd);
    if (r < 0)
        return r;
    while (to->left) {
        uint64_t left = f->inode->size - *pos;
        size_t step = MIN(to->left, (size_t)GOFERFS_BOUNCE);
        size_t want = left < step ? (size_t)left : step;
        int64_t n = want ? host_pread(fd, bounce, want, *pos) : 0;
        int64_t c;

        if (n < 0)
            return done ? done : host_to_guest(n);
        if (n == 0)
            break;
        c = uio_copy_to(to, bounce, (size_t)n);
        if (c < 0)
            return done ? done : c;
        *pos += (uint64_t)c;
        done += c;
        if (c < n)
            break;
    }
    return done;
}

static int64_t goferfs_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, f->inode->size);
}

static int goferfs_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    int fd, r;

    (void)shared;
    (void)prot;
    r = goferfs_fd(gofer_inode_of(f->inode), &fd);
    if (r < 0)
        return r;
    *ret_backing = (struct map_backing){.obj = NULL, .host_fd = fd};
    return 0;
}

static const struct file_ops goferfs_file_ops = {
    .read = goferfs_read,
    .seek = goferfs_seek,
    .map = goferfs_map,
};

static int goferfs_open(struct inode *ino, struct file *f)
{
    if (LX_S_ISDIR(ino->mode))
        f->ops = &goferfs_dir_ops;
    else if (LX_S_ISREG(ino->mode))
        f->ops = &goferfs_file_ops;
    else if (LX_S_ISCHR(ino->mode))
        return chrdev_open(ino, f);
    else if (LX_S_ISFIFO(ino->mode))
        return fifo_open(ino, f);
    else
        return -ENXIO;
    return 0;
}

static int64_t goferfs_readlink(struct inode *ino, char *buf, size_t cap)
{
    struct gofer_inode *gi = gofer_inode_of(ino);
    size_t n;

    if (!gi->link) {
        char *link = kalloc(GOFER_LINK_MAX + 1);
        int64_t len;

        if (!link)
            return -ENOMEM;
        len = gofer_readlink(gi->fs->client, gi->node, link, GOFER_LINK_MAX);
        if (len < 0) {
            kfree(link);
            return len;
        }
        gi->link = link;
        gi->link_len = (size_t)len;
    }
    n = MIN(gi->link_len, cap);
    memcpy(buf, gi->link, n);
    return (int64_t)n;
}

static int64_t goferfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap)
{
    struct gofer_inode *gi = gofer_inode_of(ino);

    return gofer_getxattr(gi->fs->client, gi->node, name, buf, cap);
}

static int64_t goferfs_listxattr(struct inode *ino, char *buf, size_t cap)
{
    struct gofer_inode *gi = gofer_inode_of(ino);

    return gofer_listxattr(gi->fs->client, gi->node, buf, cap);
}

const struct inode_ops goferfs_inode_ops = {
    .lookup = goferfs_lookup,
    .lookup_ahead = goferfs_lookup_ahead,
    .readlink = goferfs_readlink,
    .open = goferfs_open,
    .getxattr = goferfs_getxattr,
    .listxattr = goferfs_listxattr,
};
