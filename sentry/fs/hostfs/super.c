/*
 * Mount, inode table, eviction; nodes that are no longer needed go back in batches (served.h).
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/hostfs/hostfs.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"

#define HOSTFS_MAGIC 0x6a656a63 /* virtiofs, what the mount calls itself */

static struct list_head *bucket_of(struct hostfs *fs, uint32_t node)
{
    return &fs->buckets[node % HOSTFS_BUCKETS];
}

static void forget_flush(struct hostfs *fs)
{
    /* A dead server has forgotten everything. */
    if (fs->forget.n && !volume_client_dead(fs->client))
        (void)!volume_client_forget(fs->client, fs->forget.nodes, fs->forget.n);
    fs->forget.n = 0;
}

static void forget_node(struct hostfs *fs, uint32_t node)
{
    hostfs_ahead_lost(fs, node);
    if (served_forget_full(&fs->forget))
        forget_flush(fs);
    served_forget_add(&fs->forget, node);
}

void hostfs_keep_node(struct hostfs *fs, uint32_t node)
{
    served_forget_undo(&fs->forget, node);
}

static struct host_inode *find_inode(struct hostfs *fs, uint32_t node)
{
    struct host_inode *hi;

    list_for_each_entry (hi, bucket_of(fs, node), hash_link) {
        if (hi->node == node)
            return hi;
    }
    return NULL;
}

void hostfs_drop_node(struct hostfs *fs, uint32_t node)
{
    if (!find_inode(fs, node))
        forget_node(fs, node);
}

void hostfs_fill(struct inode *ino, const struct gofer_attr *a)
{
    struct host_inode *hi = host_inode_of(ino);
    const struct hostfs *fs = hi->fs;

    served_fill(ino, a);
    ino->mode = (ino->mode & LX_S_IFMT) | (a->mode & LX_S_IALLUGO);
    ino->uid = fs->squash && a->uid == 0 ? fs->uid : a->uid;
    ino->gid = fs->squash && a->gid == 0 ? fs->gid : a->gid;
    hi->fresh = kernel.nsyscalls + 1;
}

static const struct inode_ops hostfs_inode_ops = {
    .lookup = hostfs_lookup,
    .lookup_ahead = hostfs_lookup_ahead,
    .create = hostfs_create,
    .mkdir = hostfs_mkdir,
    .mknod = hostfs_mknod,
    .symlink = hostfs_symlink,
    .link = hostfs_link,
    .unlink = hostfs_unlink,
    .rmdir = hostfs_rmdir,
    .rename = hostfs_rename,
    .readlink = hostfs_readlink,
    .getattr = hostfs_getattr,
    .setattr = hostfs_setattr,
    .refresh = hostfs_refresh,
    .permission = hostfs_permission,
    .open = hostfs_open,
    .getxattr = hostfs_getxattr,
    .setxattr = hostfs_setxattr,
    .listxattr = hostfs_listxattr,
    .removexattr = hostfs_removexattr,
    .revalidate = hostfs_revalidate,
};

static int inode_make(struct hostfs *fs, uint32_t node, const struct gofer_attr *a,
                      struct inode **ret_inode)
{
    struct host_inode *hi;
    struct inode *ino;
    int r = served_inode_new(fs->super, &hostfs_inode_ops, a, sizeof(*hi), &ino);

    if (r < 0)
        return r;
    hi = ino->priv;
    hi->fs = fs;
    hi->inode = ino;
    hi->node = node;
    hi->made_fd = -1;
    list_init(&hi->files);
    list_init(&hi->hash_link);
    list_add(bucket_of(fs, node), &hi->hash_link);
    *ret_inode = ino;
    return 0;
}

int hostfs_moved(struct host_inode *hi, struct inode *dir, const char *name)
{
    char *copy;

    if (!dir || (hi->dir == dir && strcmp(hi->name, name) == 0))
        return 0;
    copy = kstrdup(name);
    if (!copy)
        return -ENOMEM;
    struct inode *old = hi->dir;
    kfree(hi->name);
    hi->name = copy;
    hi->dir = inode_get(dir);
    inode_put(old);
    return 0;
}

int hostfs_inode(struct hostfs *fs, uint32_t node, const struct gofer_attr *a, struct inode *dir,
                 const char *name, struct inode **ret_inode)
{
    struct host_inode *hi = find_inode(fs, node);
    struct inode *ino;
    int r = 0;

    served_forget_undo(&fs->forget, node);
    if (hi && ((hi->inode->mode ^ a->mode) & LX_S_IFMT))
        return -EIO; /* a file does not become another type: the server lies */
    if (hi) {
        ino = inode_get(hi->inode);
    } else {
        r = inode_make(fs, node, a, &ino);
        if (r < 0) {
            forget_node(fs, node);
            return r;
        }
        hi = host_inode_of(ino);
    }
    r = hostfs_moved(hi, dir, name);
    if (r < 0) {
        inode_put(ino);
        return r;
    }
    hostfs_fill(ino, a);
    *ret_inode = ino;
    return 0;
}

void hostfs_ref(const struct host_inode *hi, struct volume_ref *ret)
{
    *ret = (struct volume_ref){.dir = hi->dir ? host_inode_of(hi->dir)->node : hi->node,
                               .node = hi->node,
                               .name = hi->name ? hi->name : ""};
}

/* The directory goes too if this was its last use, and so on upwards: in a loop, since a guest may
 * make the chain as long as it likes. */
static void hostfs_evict(struct inode *ino)
{
    static struct host_inode *dead;
    static bool busy;
    struct host_inode *hi = host_inode_of(ino);

    if (!hi)
        return;
    ino->priv = NULL;
    list_del_init(&hi->hash_link);
    forget_node(hi->fs, hi->node);
    hi->next_dead = dead;
    dead = hi;
    if (busy)
        return;
    busy = true;
    while (dead) {
        hi = dead;
        dead = hi->next_dead;
        if (hi->made_fd >= 0)
            host_close(hi->made_fd);
        inode_put(hi->dir);
        kfree(hi->name);
        kfree(hi->link);
        kfree(hi);
    }
    busy = false;
}

static int hostfs_statfs(struct super *sb, struct lx_statfs *ret_st)
{
    struct hostfs *fs = sb->priv;
    struct gofer_statfs st;
    int r = volume_client_statfs(fs->client, fs->root, &st);

    if (r < 0)
        return r;
    memset(ret_st, 0, sizeof(*ret_st));
    ret_st->f_type = (int64_t)sb->magic;
    ret_st->f_bsize = (int64_t)st.bsize;
    ret_st->f_frsize = (int64_t)st.frsize;
    ret_st->f_blocks = st.blocks;
    ret_st->f_bfree = st.bfree;
    ret_st->f_bavail = st.bavail;
    ret_st->f_files = st.files;
    ret_st->f_ffree = st.ffree;
    ret_st->f_namelen = LX_NAME_MAX;
    return 0;
}

/* Nothing is remembered: the host may have changed it by the next time. */
static bool hostfs_drop_dentry(const struct dentry *d)
{
    (void)d;
    return true;
}

static void hostfs_free(struct super *sb)
{
    struct hostfs *fs = sb->priv;

    if (!fs)
        return;
    hostfs_ahead_drop(fs);
    forget_flush(fs);
    kfree(fs);
    sb->priv = NULL;
}

static const struct super_ops hostfs_super_ops = {
    .statfs = hostfs_statfs,
    .evict = hostfs_evict,
    .free = hostfs_free,
    .drop_dentry = hostfs_drop_dentry,
};

static int make_root(struct hostfs *fs, const struct volume_root *root)
{
    struct inode *ino;
    int r = hostfs_inode(fs, fs->root, &root->attr, NULL, NULL, &ino);

    return r < 0 ? r : dentry_new_root(fs->super, ino, &fs->super->root);
}

int hostfs_mount_new(struct volume_client *c, uint32_t root, uint32_t uid, uint32_t gid,
                     struct super **ret_sb)
{
    struct volume_root said;
    struct hostfs *fs;
    struct super *sb;
    int r = volume_client_root(c, root, &said);

    if (r == 0)
        r = super_new(&hostfs_super_ops, "virtiofs", HOSTFS_MAGIC, &sb);
    if (r != 0)
        return r;
    fs = kalloc(sizeof(*fs));
    if (!fs) {
        super_put(sb);
        return -ENOMEM;
    }
    sb->priv = fs;
    sb->readonly = !(said.flags & VOLUME_ROOT_WRITABLE);
    sb->lasting = true;
    fs->client = c;
    fs->super = sb;
    fs->root = root;
    fs->squash = said.flags & VOLUME_ROOT_SQUASH;
    fs->uid = uid;
    fs->gid = gid;
    for (uint32_t i = 0; i < HOSTFS_BUCKETS; i++)
        list_init(&fs->buckets[i]);
    r = make_root(fs, &said);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
