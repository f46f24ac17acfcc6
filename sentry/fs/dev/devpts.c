/*
 * /dev/pts: ptmx, and one node for every pty that exists. Owner and mode of a node are kept in the
 * tty, so an inode is made anew at each lookup and dropped when it is no longer used.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/dev/tty_priv.h"
#include "sentry/fs/proc/gen.h"

#define PTS_INO 3u

static const struct inode_ops pts_dir_ops, pts_node_ops;

/* The index of a pts inode; only those have the slave major. */
static uint32_t pts_index(const struct inode *ino)
{
    return lx_minor(ino->rdev);
}

static bool is_pts(const struct inode *ino)
{
    return LX_S_ISCHR(ino->mode) && lx_major(ino->rdev) == LX_UNIX98_PTY_SLAVE_MAJOR;
}

static bool pts_refresh(struct inode *ino)
{
    struct tty_pts_attr a;

    if (!is_pts(ino))
        return true;
    if (!tty_pts_attr(pts_index(ino), &a))
        return false;
    ino->mode = LX_S_IFCHR | a.mode;
    ino->uid = a.uid;
    ino->gid = a.gid;
    return true;
}

static int node_new(struct super *sb, uint32_t mode, uint64_t rdev, uint64_t nr,
                    struct inode **ret_inode)
{
    struct inode *ino;
    int r = inode_new(sb, &pts_node_ops, LX_S_IFCHR | mode, &ino);

    if (r < 0)
        return r;
    ino->rdev = rdev;
    ino->ino = nr;
    ino->nlink = 1;
    inode_touch(ino, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
    (void)pts_refresh(ino);
    *ret_inode = ino;
    return 0;
}

static int pts_lookup(struct inode *dir, struct dentry *d)
{
    struct inode *ino;
    uint32_t index;
    int r;

    if (d->name_len == 4 && memcmp(d->name, "ptmx", 4) == 0) {
        r = node_new(dir->super, 0666, lx_makedev(LX_TTYAUX_MAJOR, 2), 2, &ino);
    } else {
        if (!gen_parse_u32(d->name, d->name_len, &index) || !tty_by_index(index))
            return 0;
        r = node_new(dir->super, 0620, lx_makedev(LX_UNIX98_PTY_SLAVE_MAJOR, index),
                     index + PTS_INO, &ino);
    }
    if (r < 0)
        return r;
    dentry_instantiate(d, ino);
    return 0;
}

static bool pts_revalidate(struct dentry *d)
{
    return d->inode && pts_refresh(d->inode);
}

static int pts_setattr(struct inode *ino, const struct iattr *attr)
{
    int r = is_pts(ino) ? tty_pts_setattr(pts_index(ino), attr) : 0;

    if (r < 0)
        return r;
    if (!is_pts(ino)) {
        if (attr->valid & ATTR_MODE)
            ino->mode = (ino->mode & LX_S_IFMT) | (attr->mode & LX_S_IALLUGO);
        if (attr->valid & ATTR_UID)
            ino->uid = attr->uid;
        if (attr->valid & ATTR_GID)
            ino->gid = attr->gid;
    }
    if (attr->valid & ATTR_ATIME)
        ino->atime = attr->atime;
    if (attr->valid & ATTR_MTIME)
        ino->mtime = attr->mtime;
    (void)pts_refresh(ino);
    return 0;
}

static int pts_readdir(struct file *f, struct dir_context *dc)
{
    char name[16];
    int i;

    if (f->pos < 2 && !dir_emit_dots(f, dc))
        return 0;
    if (f->pos == 2) {
        if (!dc->emit(dc, "ptmx", 4, 2, LX_DT_CHR, 3))
            return 0;
        f->pos = 3;
    }
    while (f->pos < UINT32_MAX && (i = tty_pts_next((uint32_t)f->pos - 3)) >= 0) {
        int n = snprintf(name, sizeof(name), "%d", i);

        if (!dc->emit(dc, name, (size_t)n, (uint64_t)i + PTS_INO, LX_DT_CHR, (uint64_t)i + 4))
            return 0;
        f->pos = (uint64_t)i + 4;
    }
    return 0;
}

static int64_t pts_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT32_MAX);
}

static const struct file_ops pts_dir_file_ops = {
    .seek = pts_dir_seek,
    .readdir = pts_readdir,
};

static int pts_dir_open(struct inode *ino, struct file *f)
{
    (void)ino;
    f->ops = &pts_dir_file_ops;
    return 0;
}

static const struct inode_ops pts_dir_ops = {
    .lookup = pts_lookup,
    .open = pts_dir_open,
    .setattr = pts_setattr,
};

static const struct inode_ops pts_node_ops = {
    .setattr = pts_setattr,
    .open = chrdev_open,
    .revalidate = pts_revalidate,
};

static bool pts_drop_dentry(const struct dentry *d)
{
    return !d->inode || is_pts(d->inode);
}

static const struct super_ops pts_super_ops = {
    .statfs = statfs_plain,
    .drop_dentry = pts_drop_dentry,
};

int devpts_mount_new(struct super **ret_sb)
{
    struct super *sb;
    struct inode *ino;
    int r = super_new(&pts_super_ops, "devpts", LX_DEVPTS_SUPER_MAGIC, &sb);

    if (r < 0)
        return r;
    sb->blksize = 1024;
    sb->options = kstrdup("gid=5,mode=620,ptmxmode=666");
    r = sb->options ? 0 : -ENOMEM;
    if (r == 0)
        r = inode_new(sb, &pts_dir_ops, LX_S_IFDIR | 0755, &ino);
    if (r == 0) {
        ino->ino = 1;
        ino->nlink = 2;
        inode_touch(ino, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
        r = dentry_new_root(sb, ino, &sb->root);
    }
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
