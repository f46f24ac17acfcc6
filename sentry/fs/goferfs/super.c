/*
 * Mount, inode table and eviction. The table holds every live inode once, so that two hard links
 * are one inode. Node ids that are no longer needed are collected and given back in batches; since
 * the gofer hands out the same id for the same name until it is told to forget it, an id that comes
 * back in an answer is taken off the pending batch.
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/host/host.h"

#define GOFERFS_MAGIC 0xe0f5e1e2u

static struct list_head *bucket_of(struct goferfs *fs, uint64_t dev, uint64_t ino)
{
    uint64_t h = (ino ^ (dev << 32)) * 0x9e3779b97f4a7c15ull;

    return &fs->buckets[(h >> 40) % GOFERFS_BUCKETS];
}

static uint64_t attr_dev(const struct gofer_attr *a)
{
    return lx_makedev(a->dev_major, a->dev_minor);
}

void goferfs_forget_flush(struct goferfs *fs)
{
    if (fs->nforget && !gofer_client_dead(fs->client)) {
        int r = gofer_forget(fs->client, fs->forget, fs->nforget);

        (void)r; /* a dead gofer has forgotten everything */
    }
    fs->nforget = 0;
}

static void forget_node(struct goferfs *fs, uint32_t node)
{
    if (fs->nforget == GOFERFS_FORGET)
        goferfs_forget_flush(fs);
    fs->forget[fs->nforget++] = node;
}

static void unforget_node(struct goferfs *fs, uint32_t node)
{
    for (uint32_t i = 0; i < fs->nforget; i++) {
        if (fs->forget[i] == node)
            fs->forget[i--] = fs->forget[--fs->nforget];
    }
}

static struct gofer_inode *find_inode(struct goferfs *fs, uint64_t dev, uint64_t ino, uint32_t mode)
{
    struct list_head *head = bucket_of(fs, dev, ino);
    struct gofer_inode *gi;

    list_for_each_entry (gi, head, hash_link) {
        if (gi->inode->ino == ino && gi->dev == dev && ((gi->inode->mode ^ mode) & LX_S_IFMT) == 0)
            return gi;
    }
    return NULL;
}

static struct lx_timespec time_of(const struct gofer_time *t)
{
    return (struct lx_timespec){t->sec, t->nsec};
}

static void fill_inode(struct inode *ino, const struct gofer_attr *a)
{
    ino->ino = a->ino;
    ino->uid = a->uid;
    ino->gid = a->gid;
    ino->nlink = a->nlink;
    ino->size = a->size;
    ino->blocks = a->blocks;
    ino->rdev = lx_makedev(a->rdev_major, a->rdev_minor);
    ino->atime = time_of(&a->atime);
    ino->mtime = time_of(&a->mtime);
    ino->ctime = time_of(&a->ctime);
    ino->btime = time_of(&a->btime);
}

static int inode_make(struct goferfs *fs, uint32_t node, const struct gofer_attr *a,
                      struct inode **ret_inode)
{
    struct gofer_inode *gi = kalloc(sizeof(*gi));
    struct inode *ino;
    int r;

    if (!gi)
        return -ENOMEM;
    r = inode_new(fs->super, &goferfs_inode_ops, a->mode, &ino);
    if (r < 0) {
        kfree(gi);
        return r;
    }
    gi->fs = fs;
    gi->inode = ino;
    gi->node = node;
    gi->dev = attr_dev(a);
    gi->fd = -1;
    list_init(&gi->fd_link);
    ino->priv = gi;
    fill_inode(ino, a);
    list_add(bucket_of(fs, gi->dev, a->ino), &gi->hash_link);
    *ret_inode = ino;
    return 0;
}

static void keep_link(struct gofer_inode *gi, const char *link, size_t len)
{
    if (!link || gi->link)
        return;
    gi->link = kalloc(len + 1);
    if (!gi->link)
        return; /* asked for again when it is read */
    memcpy(gi->link, link, len);
    gi->link_len = len;
}

int goferfs_inode(struct goferfs *fs, uint32_t node, const struct gofer_attr *a, int fd,
                  const char *link, size_t link_len, struct inode **ret_inode)
{
    struct gofer_inode *gi = find_inode(fs, attr_dev(a), a->ino, a->mode);
    struct inode *ino;
    int r;

    unforget_node(fs, node);
    if (gi) {
        ino = inode_get(gi->inode);
        if (gi->node != node)
            forget_node(fs, node);
    } else {
        r = inode_make(fs, node, a, &ino);
        if (r < 0) {
            if (fd >= 0)
                host_close(fd);
            forget_node(fs, node);
            return r;
        }
        gi = gofer_inode_of(ino);
    }
    keep_link(gi, link, link_len);
    goferfs_fd_keep(gi, fd);
    *ret_inode = ino;
    return 0;
}

static void goferfs_evict(struct inode *ino)
{
    struct gofer_inode *gi = gofer_inode_of(ino);

    if (!gi)
        return;
    list_del_init(&gi->hash_link);
    goferfs_fd_drop(gi);
    goferfs_listing_drop(gi);
    forget_node(gi->fs, gi->node);
    kfree(gi->link);
    kfree(gi);
    ino->priv = NULL;
}

/* The size of the host's file system is none of the guest's business: a full, read-only one. */
static int goferfs_statfs(struct super *sb, struct lx_statfs *ret_st)
{
    (void)sb;
    memset(ret_st, 0, sizeof(*ret_st));
    ret_st->f_type = (int64_t)GOFERFS_MAGIC;
    ret_st->f_bsize = ret_st->f_frsize = 4096;
    ret_st->f_namelen = LX_NAME_MAX;
    ret_st->f_flags = LX_ST_RDONLY | LX_ST_VALID;
    return 0;
}

static void goferfs_free(struct super *sb)
{
    struct goferfs *fs = sb->priv;

    if (!fs)
        return;
    goferfs_forget_flush(fs);
    kfree(fs->bounce);
    kfree(fs);
    sb->priv = NULL;
}

static const struct super_ops goferfs_super_ops = {
    .statfs = goferfs_statfs,
    .evict = goferfs_evict,
    .free = goferfs_free,
};

static int make_root(struct goferfs *fs, uint32_t root_node)
{
    struct gofer_attr attr;
    struct inode *ino;
    int r;

    r = gofer_root_attr(fs->client, root_node, &attr);
    if (r < 0)
        return r;
    r = goferfs_inode(fs, root_node, &attr, -1, NULL, 0, &ino);
    if (r < 0)
        return r;
    return dentry_new_root(fs->super, ino, &fs->super->root);
}

int goferfs_mount_new(struct gofer_client *c, uint32_t root_node, struct super **ret_sb)
{
    struct goferfs *fs;
    struct super *sb;
    int r;

    r = super_new(&goferfs_super_ops, "erofs", GOFERFS_MAGIC, &sb);
    if (r < 0)
        return r;
    fs = kalloc(sizeof(*fs));
    if (!fs) {
        super_put(sb);
        return -ENOMEM;
    }
    sb->priv = fs;
    sb->readonly = true;
    sb->blksize = 4096;
    fs->client = c;
    fs->super = sb;
    for (uint32_t i = 0; i < GOFERFS_BUCKETS; i++)
        list_init(&fs->buckets[i]);
    fs->bounce = kalloc(GOFERFS_BOUNCE);
    r = fs->bounce ? make_root(fs, root_node) : -ENOMEM;
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
