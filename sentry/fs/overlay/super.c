/* Mounting the overlay: the root is the two roots merged. */
#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/overlay/overlay.h"
#include "sentry/kernel/cred.h"

static int ovl_statfs(struct super *sb, struct lx_statfs *ret_st)
{
    struct ovl *fs = sb->priv;
    struct super *upper = fs->upper_mnt->super;
    int r = upper->ops->statfs ? upper->ops->statfs(upper, ret_st) : -ENOSYS;

    if (r == 0)
        ret_st->f_type = (int64_t)sb->magic;
    return r;
}

static void ovl_free(struct super *sb)
{
    struct ovl *fs = sb->priv;

    if (!fs)
        return;
    while (!list_empty(&fs->pinned))
        ovl_unpin(list_first(&fs->pinned, struct ovl_inode, pin_link));
    hash_done(&fs->by_upper);
    hash_done(&fs->by_lower);
    mount_put(fs->lower_mnt);
    mount_put(fs->upper_mnt);
    cred_put(fs->cred);
    kfree(fs);
    sb->priv = NULL;
}

static const struct super_ops ovl_super_ops = {
    .statfs = ovl_statfs,
    .evict = ovl_evict,
    .free = ovl_free,
};

const struct inode_ops ovl_inode_ops = {
    .lookup = ovl_lookup,
    .create = ovl_create,
    .mkdir = ovl_mkdir,
    .mknod = ovl_mknod,
    .symlink = ovl_symlink,
    .link = ovl_link,
    .tmpfile = ovl_tmpfile,
    .unlink = ovl_unlink,
    .rmdir = ovl_rmdir,
    .rename = ovl_rename,
    .readlink = ovl_readlink,
    .getattr = ovl_getattr,
    .setattr = ovl_setattr,
    .open = ovl_open,
    .getxattr = ovl_getxattr,
    .setxattr = ovl_setxattr,
    .listxattr = ovl_listxattr,
    .removexattr = ovl_removexattr,
};

static int make_mounts(struct ovl *fs, const struct path *lower, struct super *upper)
{
    int r = mount_clone_internal(lower, &fs->lower_mnt);

    if (r < 0) {
        super_put(upper);
        return r;
    }
    return mount_new_internal(upper, &fs->upper_mnt);
}

static int make_root(struct ovl *fs)
{
    struct dentry *lower = fs->lower_mnt->root, *upper = fs->upper_mnt->root;
    struct inode *ino;
    int r = ovl_copy_attr(lower->inode, upper->inode);

    if (r < 0)
        return r;
    r = ovl_inode_new(fs, upper->inode, upper, lower, NULL, NULL, &ino);
    if (r < 0)
        return r;
    return dentry_new_root(fs->super, ino, &fs->super->root);
}

/* Takes over one reference of the upper, as mounting it would. */
int overlay_mount_on(const struct path *lower, struct super *upper_tmpfs, struct super **ret_sb)
{
    struct ovl *fs;
    struct super *sb;
    int r = super_new(&ovl_super_ops, "overlay", LX_OVERLAYFS_SUPER_MAGIC, &sb);

    fs = r == 0 ? kalloc(sizeof(*fs)) : NULL;
    if (!fs) {
        if (r == 0)
            super_put(sb);
        super_put(upper_tmpfs);
        return -ENOMEM;
    }
    sb->priv = fs;
    fs->super = sb;
    fs->next_ino = 1ull << 32;
    list_init(&fs->pinned);
    hash_init(&fs->by_upper);
    hash_init(&fs->by_lower);
    r = make_mounts(fs, lower, upper_tmpfs);
    if (r == 0) {
        fs->cred = cred_new();
        r = fs->cred ? 0 : -ENOMEM;
    }
    if (r == 0) {
        fs->cred->cap_effective = fs->cred->cap_permitted = LX_CAP_FULL_SET;
        r = make_root(fs);
    }
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}

/* Takes over one reference of lower and upper. */
int overlay_mount_new(struct super *lower, struct super *upper_tmpfs, struct super **ret_sb)
{
    struct path p = {.dentry = lower->root};
    int r = mount_new_internal(lower, &p.mnt);

    if (r < 0) {
        super_put(upper_tmpfs);
        return r;
    }
    r = overlay_mount_on(&p, upper_tmpfs, ret_sb);
    mount_put(p.mnt);
    return r;
}
