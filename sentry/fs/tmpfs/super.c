/*
 * Mounting, inodes, eviction. An evicted directory takes its entries along; that may cascade as
 * deep as a guest likes, so directories whose entries are to go wait in a list that the outermost
 * eviction works off.
 */
#include <stdio.h>
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/memobj.h"

const struct inode_ops tmpfs_inode_ops = {
    .lookup = tmpfs_lookup,
    .create = tmpfs_create,
    .mkdir = tmpfs_mkdir,
    .mknod = tmpfs_mknod,
    .symlink = tmpfs_symlink,
    .link = tmpfs_link,
    .tmpfile = tmpfs_tmpfile,
    .unlink = tmpfs_unlink,
    .rmdir = tmpfs_rmdir,
    .rename = tmpfs_rename,
    .readlink = tmpfs_readlink,
    .getattr = tmpfs_getattr,
    .setattr = tmpfs_setattr,
    .open = tmpfs_open,
    .getxattr = tmpfs_getxattr,
    .setxattr = tmpfs_setxattr,
    .listxattr = tmpfs_listxattr,
    .removexattr = tmpfs_removexattr,
};

int tmpfs_room(const struct tmpfs_inode *ti, uint64_t n)
{
    const struct tmpfs *fs = ti->fs;

    if (fs->max_bytes && (n > fs->max_bytes || fs->bytes > fs->max_bytes - n))
        return -ENOSPC;
    return 0;
}

void tmpfs_account(struct tmpfs_inode *ti)
{
    uint64_t now = ti->obj ? memobj_allocated(ti->obj) : 0;

    ti->fs->bytes += now - ti->counted;
    ti->counted = now;
    ti->inode->blocks = now / 512;
    if (ti->obj)
        ti->inode->size = memobj_size(ti->obj);
}

static int charge_inode(struct tmpfs *fs)
{
    int r;

    if (fs->max_inodes && fs->inodes >= fs->max_inodes)
        return -ENOSPC;
    r = limit_charge(LIMIT_DISK_INODES, 1);
    if (r == 0)
        fs->inodes++;
    return r;
}

static void release_inode(struct tmpfs *fs)
{
    fs->inodes--;
    limit_release(LIMIT_DISK_INODES, 1);
}

int tmpfs_inode_new(struct super *sb, const struct inode *dir, uint32_t mode, const struct cred *c,
                    struct inode **ret_inode)
{
    struct tmpfs *fs = sb->priv;
    struct tmpfs_inode *ti;
    struct inode *ino;
    int r = charge_inode(fs);

    if (r < 0)
        return r;
    ti = kalloc(sizeof(*ti));
    r = ti ? 0 : -ENOMEM;
    if (r == 0 && LX_S_ISREG(mode))
        r = memobj_new(0, &ti->obj);
    if (r == 0)
        r = inode_new(sb, &tmpfs_inode_ops, mode, &ino);
    if (r < 0) {
        if (ti)
            memobj_put(ti->obj);
        kfree(ti);
        release_inode(fs);
        return r;
    }
    ti->fs = fs;
    ti->inode = ino;
    ti->seals = LX_F_SEAL_SEAL;
    hash_init(&ti->entries);
    list_init(&ti->order);
    list_init(&ti->xattrs);
    list_init(&ti->doomed);
    ino->priv = ti;
    ino->nlink = LX_S_ISDIR(mode) ? 2 : 1;
    if (dir)
        inode_init_owner(ino, dir, mode, c);
    *ret_inode = ino;
    return 0;
}

static struct list_head doomed = {&doomed, &doomed};

static void free_inode(struct tmpfs_inode *ti)
{
    struct tmpfs *fs = ti->fs;

    hash_done(&ti->entries);
    tmpfs_xattrs_free(ti);
    fs->bytes -= ti->counted;
    memobj_put(ti->obj);
    kfree(ti->target);
    kfree(ti);
    release_inode(fs);
}

static void free_doomed(void)
{
    static bool busy;

    if (busy)
        return;
    busy = true;
    while (!list_empty(&doomed)) {
        struct tmpfs_inode *ti = list_first(&doomed, struct tmpfs_inode, doomed);

        if (list_empty(&ti->order)) {
            list_del_init(&ti->doomed);
            free_inode(ti);
        } else {
            struct tmpfs_entry *e = list_first(&ti->order, struct tmpfs_entry, link);
            struct inode *ino = e->inode;

            tmpfs_entry_free(ti, e);
            inode_put(ino);
        }
    }
    busy = false;
}

static void tmpfs_evict(struct inode *ino)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);

    if (!ti)
        return;
    ino->priv = NULL;
    ti->inode = NULL;
    list_add(&doomed, &ti->doomed);
    free_doomed();
}

static int tmpfs_statfs(struct super *sb, struct lx_statfs *ret_st)
{
    const struct tmpfs *fs = sb->priv;
    uint64_t max = limit_max(LIMIT_DISK_BYTES), used = limit_used(LIMIT_DISK_BYTES);
    uint64_t imax = limit_max(LIMIT_DISK_INODES), iused = limit_used(LIMIT_DISK_INODES);
    uint64_t left = max - MIN(used, max), ileft = imax - MIN(iused, imax);

    memset(ret_st, 0, sizeof(*ret_st));
    ret_st->f_type = (int64_t)sb->magic;
    ret_st->f_bsize = ret_st->f_frsize = PAGE_SIZE;
    ret_st->f_namelen = LX_NAME_MAX;
    ret_st->f_flags = LX_ST_VALID;
    if (fs->max_bytes && fs->max_bytes < max) {
        max = fs->max_bytes;
        left = MIN(left, max - MIN(fs->bytes, max));
    }
    ret_st->f_blocks = max / PAGE_SIZE;
    ret_st->f_bfree = ret_st->f_bavail = left / PAGE_SIZE;
    ret_st->f_files = imax;
    ret_st->f_ffree = ileft;
    return 0;
}

static void tmpfs_free(struct super *sb)
{
    kfree(sb->priv);
    sb->priv = NULL;
}

static const struct super_ops tmpfs_super_ops = {
    .statfs = tmpfs_statfs,
    .evict = tmpfs_evict,
    .free = tmpfs_free,
};

static int set_options(struct super *sb, const struct tmpfs_options *opt)
{
    char text[96];
    int n = 0;

    if (opt->max_bytes)
        n = snprintf(text, sizeof(text), "size=%lluk,", (unsigned long long)(opt->max_bytes >> 10));
    snprintf(text + n, sizeof(text) - (size_t)n, "mode=%o", opt->mode & LX_S_IALLUGO);
    sb->options = kstrdup(text);
    return sb->options ? 0 : -ENOMEM;
}

static int make_root(struct super *sb, const struct tmpfs_options *opt)
{
    struct inode *ino;
    int r = tmpfs_inode_new(sb, NULL, LX_S_IFDIR | (opt->mode & LX_S_IALLUGO), NULL, &ino);

    if (r < 0)
        return r;
    ino->uid = opt->uid;
    ino->gid = opt->gid;
    return dentry_new_root(sb, ino, &sb->root);
}

int tmpfs_mount_new(const struct tmpfs_options *opt, struct super **ret_sb)
{
    struct tmpfs *fs;
    struct super *sb;
    int r = super_new(&tmpfs_super_ops, "tmpfs", LX_TMPFS_MAGIC, &sb);

    if (r < 0)
        return r;
    fs = kalloc(sizeof(*fs));
    r = fs ? 0 : -ENOMEM;
    if (r == 0) {
        fs->super = sb;
        fs->max_bytes = opt->max_bytes;
        fs->max_inodes = opt->max_inodes;
        sb->priv = fs;
        r = set_options(sb, opt);
    }
    if (r == 0)
        r = make_root(sb, opt);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}

/* -- files without a name
 * ----------------------------------------------------------------------------- */

/* The mount of memfds and shared anonymous files; made on first use, lives as long as the kernel.
 */
static struct mount *internal;

int tmpfs_anon_inode(const char *name, struct path *ret_path)
{
    static const struct tmpfs_options opt = {.mode = 0777};
    struct super *sb;
    struct inode *ino;
    struct dentry *d;
    int r = 0;

    if (!internal) {
        r = tmpfs_mount_new(&opt, &sb);
        if (r == 0)
            r = mount_new_internal(sb, &internal);
    }
    if (r == 0)
        r = tmpfs_inode_new(internal->super, NULL, LX_S_IFREG | 0777, NULL, &ino);
    if (r < 0)
        return r;
    ino->nlink = 0;
    r = dentry_new_unlinked(internal->root, name, ino, &d);
    if (r < 0)
        return r;
    *ret_path = (struct path){mount_get(internal), d};
    return 0;
}
