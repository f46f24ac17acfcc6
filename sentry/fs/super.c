/*
 * Super blocks: one per mounted file system. A super is counted by its mounts. Its root dentry
 * pins the tree; when the last mount goes, what is still cached below the root is dropped, then the
 * root, then the file system frees its own part.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/vfs.h"

/* Minor number of the next unnamed device; st_dev is (0, minor). */
static uint32_t next_dev = 21;

int super_new(const struct super_ops *ops, const char *type, uint64_t magic, struct super **ret_sb)
{
    struct super *sb = kalloc(sizeof(*sb));

    if (!sb)
        return -ENOMEM;
    sb->ref = 1;
    sb->ops = ops;
    sb->type = type;
    sb->magic = magic;
    sb->dev = lx_makedev(0, next_dev++);
    sb->next_ino = 1;
    sb->blksize = 4096;
    *ret_sb = sb;
    return 0;
}

struct super *super_get(struct super *sb)
{
    KASSERT(sb->ref > 0);
    sb->ref++;
    return sb;
}

int statfs_plain(struct super *sb, struct lx_statfs *ret_st)
{
    *ret_st = (struct lx_statfs){
        .f_type = (int64_t)sb->magic,
        .f_bsize = 4096,
        .f_frsize = 4096,
        .f_namelen = LX_NAME_MAX,
    };
    return 0;
}

void super_put(struct super *sb)
{
    if (!sb)
        return;
    KASSERT(sb->ref > 0);
    if (--sb->ref > 0)
        return;
    if (sb->root) {
        struct dentry *root = sb->root;

        sb->root = NULL;
        dentry_prune(root);
        dentry_put(root);
    }
    if (sb->ops && sb->ops->free)
        sb->ops->free(sb);
    kfree(sb->options);
    kfree(sb);
}
