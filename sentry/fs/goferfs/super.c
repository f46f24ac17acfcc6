/*
 * Mount, inode table and eviction. The table holds every live inode once, so that two hard links
 * are one inode; node ids that are no longer needed go back in batches (served.h).
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
    /* A dead gofer has forgotten everything. */
    if (fs->forget.n && !gofer_client_dead(fs->client))
        (void)!gofer_forget(fs->client, fs->forget.nodes, fs->forget.n);
    fs->forget.n = 0;
}

static void forget_node(struct goferfs *fs, uint32_t node)
{
    if (goferfs_ahead_holds(fs, node))
        return;
    goferfs_ahead_lost(fs, node);
    if (served_forget_full(&fs->forget))
        goferfs_forget_flush(fs);
    served_forget_add(&fs->forget, node);
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

void goferfs_unused_node(struct goferfs *fs, const struct gofer_step *s)
{
    struct gofer_inode *gi = find_inode(fs, attr_dev(&s->attr), s->attr.ino, s->attr.mode);

    if (!gi || gi->node != s->node)
        forget_node(fs, s->node);
}

static int inode_make(struct goferfs *fs, uint32_t node, const struct gofer_attr *a,
                      struct inode **ret_inode)
{
    struct gofer_inode *gi;
    struct inode *ino;
    int r = served_inode_new(fs->super, &goferfs_inode_ops, a, sizeof(*gi), &ino);

    if (r < 0)
        return r;
    gi = ino->priv;
    gi->fs = fs;
    gi->inode = ino;
    gi->node = node;
    gi->dev = attr_dev(a);
    gi->fd = -1;
    list_init(&gi->fd_link);
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

    served_forget_undo(&fs->forget, node);
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
    goferfs_ahead_drop(fs);
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
    fs->ahead.fd = -1;
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
