/* tmpfs mounts, and the kernel's internal one for memfds and shared memory files. */
#include <string.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/checked.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

/* Smaller of two maxima, where 0 in a means none. */
static uint64_t bound(uint64_t a, uint64_t b)
{
    return a && a < b ? a : b;
}

static int tmpfs_statfs(struct super *sb, struct lx_statfs *ret_st)
{
    const struct tmpfs *fs = sb->priv;
    /* Without a limit of its own memory is what bounds it. */
    uint64_t disk = MIN(limit_max(LIMIT_DISK_BYTES), proc_memory_total());
    uint64_t max = bound(fs->quota->max, disk);
    uint64_t left = disk - MIN(disk, limit_used(LIMIT_DISK_BYTES));
    uint64_t files = bound(fs->max_inodes, limit_max(LIMIT_DISK_INODES));
    uint64_t ileft = limit_max(LIMIT_DISK_INODES) - limit_used(LIMIT_DISK_INODES);

    if (fs->quota->max)
        left = MIN(left, fs->quota->max - MIN(fs->quota->max, fs->quota->used));
    if (fs->max_inodes)
        ileft = MIN(ileft, fs->max_inodes - MIN(fs->max_inodes, fs->inodes));
    memset(ret_st, 0, sizeof(*ret_st));
    ret_st->f_type = (int64_t)sb->magic;
    ret_st->f_bsize = ret_st->f_frsize = PAGE_SIZE;
    ret_st->f_blocks = max / PAGE_SIZE;
    ret_st->f_bfree = ret_st->f_bavail = left / PAGE_SIZE;
    ret_st->f_files = files;
    ret_st->f_ffree = ileft;
    ret_st->f_namelen = LX_NAME_MAX;
    return 0;
}

static void tmpfs_free(struct super *sb)
{
    struct tmpfs *fs = sb->priv;

    if (!fs)
        return;
    hash_done(&fs->names);
    memobj_quota_put(fs->quota);
    kfree(fs);
    sb->priv = NULL;
}

/* The root goes last; with it goes the tree. */
static void tmpfs_super_evict(struct inode *ino)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(ino);

    if (ti && LX_S_ISDIR(ino->mode) && ti->nentries) {
        ino->ref = 1; /* the entries' teardown looks at the inode */
        tmpfs_tree_free(ino);
        ino->ref = 0;
    }
    tmpfs_evict(ino);
}

static const struct super_ops tmpfs_super_ops = {
    .statfs = tmpfs_statfs,
    .evict = tmpfs_super_evict,
    .free = tmpfs_free,
};

static char *options_text(const struct tmpfs_options *opt)
{
    struct buf b;
    char *text = NULL;

    buf_init(&b, 256);
    if (opt->max_bytes)
        (void)buf_printf(&b, ",size=%lluk", (unsigned long long)(opt->max_bytes / 1024));
    if (opt->max_inodes)
        (void)buf_printf(&b, ",nr_inodes=%llu", (unsigned long long)opt->max_inodes);
    if (opt->mode && opt->mode != 01777)
        (void)buf_printf(&b, ",mode=%o", opt->mode);
    if (opt->uid)
        (void)buf_printf(&b, ",uid=%u", opt->uid);
    if (opt->gid)
        (void)buf_printf(&b, ",gid=%u", opt->gid);
    if (b.len > 1 && !buf_error(&b))
        text = kstrndup((const char *)b.data + 1, b.len - 1);
    buf_done(&b);
    return text;
}

static int fill_super(struct super *sb, const struct tmpfs_options *opt)
{
    struct tmpfs *fs = kalloc(sizeof(*fs));
    struct inode *root;
    int r;

    if (!fs)
        return -ENOMEM;
    fs->super = sb;
    fs->max_inodes = opt->max_inodes;
    hash_init(&fs->names);
    sb->priv = fs;
    fs->quota = memobj_quota_new(opt->max_bytes);
    if (!fs->quota)
        return -ENOMEM;
    r = tmpfs_inode_new(fs, NULL, LX_S_IFDIR | (opt->mode ? opt->mode : 01777), NULL, &root);
    if (r < 0)
        return r;
    root->uid = opt->uid;
    root->gid = opt->gid;
    return dentry_new_root(sb, root, &sb->root);
}

int tmpfs_mount_new(const struct tmpfs_options *opt, struct super **ret_sb)
{
    struct super *sb;
    int r = super_new(&tmpfs_super_ops, "tmpfs", LX_TMPFS_MAGIC, &sb);

    if (r < 0)
        return r;
    r = fill_super(sb, opt);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    sb->options = options_text(opt);
    *ret_sb = sb;
    return 0;
}

static struct mount *anon_mount; /* made on first use, kept */

static int anon_mount_get(void)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *sb;
    int r;

    if (anon_mount)
        return 0;
    r = tmpfs_mount_new(&opt, &sb);
    return r < 0 ? r : mount_new_internal(sb, &anon_mount);
}

void tmpfs_anon_done(void)
{
    mount_put(anon_mount);
    anon_mount = NULL;
}

int tmpfs_anon_inode(const char *name, struct path *ret_path)
{
    static const struct cred nobody = {.ref = 1};
    const struct cred *c = kernel.current ? kernel.current->cred : &nobody;
    struct inode *ino;
    struct dentry *d;
    int r = anon_mount_get();

    if (r < 0)
        return r;
    r = tmpfs_inode_new(anon_mount->super->priv, NULL, LX_S_IFREG | 0777, c, &ino);
    if (r < 0)
        return r;
    ino->nlink = 0;
    r = dentry_new_unlinked(anon_mount->root, name, ino, &d);
    if (r < 0)
        return r;
    *ret_path = (struct path){mount_get(anon_mount), d};
    return 0;
}
