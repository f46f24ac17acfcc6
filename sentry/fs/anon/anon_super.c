/*
 * One super for all anonymous files. Types without an identity of their own (eventfd, epoll, ...)
 * share one inode, as on Linux; pipes and sockets get an inode each, whose number is shown in
 * "pipe:[123]". Every inode hangs on a root dentry that is in no cache.
 */
#include "lib/assert.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"

static struct mount *anon_mount; /* counted; its root carries the shared inode */

static const struct super_ops anon_super_ops = {.statfs = statfs_plain};

static int anon_open(struct inode *ino, struct file *f)
{
    struct anon_opener *o = ino->priv;

    if (o)
        return o->open(o, f);
    return LX_S_ISFIFO(ino->mode) ? fifo_open(ino, f) : -ENXIO;
}

static const struct inode_ops anon_inode_ops = {.open = anon_open};

static int anon_super_init(void)
{
    struct super *sb;
    struct inode *ino;
    int r;

    if (anon_mount)
        return 0;
    r = super_new(&anon_super_ops, "anon_inodefs", LX_ANON_INODE_FS_MAGIC, &sb);
    if (r < 0)
        return r;
    r = inode_new(sb, &anon_inode_ops, 0600, &ino);
    if (r == 0)
        r = dentry_new_root(sb, ino, &sb->root);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    return mount_new_internal(sb, &anon_mount);
}

void anon_super_done(void)
{
    mount_put(anon_mount);
    anon_mount = NULL;
}

int anon_file_new(const char *name, const struct file_ops *ops, uint32_t flags, void *priv,
                  struct file **ret_file)
{
    struct path p;
    struct file *f;
    int r = anon_super_init();

    if (r < 0)
        return r;
    p = (struct path){anon_mount, anon_mount->root};
    r = file_new(&p, ops, flags, &f);
    if (r < 0)
        return r;
    f->priv = priv;
    f->anon_name = name;
    *ret_file = f;
    return 0;
}

int anon_inode_new(uint32_t mode, struct inode **ret_inode)
{
    struct inode *ino;
    int r = anon_super_init();

    if (r < 0)
        return r;
    r = inode_new(anon_mount->super, &anon_inode_ops, mode, &ino);
    if (r < 0)
        return r;
    if (kernel.current) {
        ino->uid = kernel.current->cred->fsuid;
        ino->gid = kernel.current->cred->fsgid;
    }
    *ret_inode = ino;
    return 0;
}

int anon_inode_file_new(const char *prefix, uint32_t mode, const struct file_ops *ops,
                        uint32_t flags, void *priv, struct file **ret_file)
{
    struct inode *ino;
    struct path p = {NULL, NULL};
    struct file *f;
    int r = anon_inode_new(mode, &ino);

    if (r < 0)
        return r;
    r = dentry_new_root(anon_mount->super, ino, &p.dentry);
    if (r < 0)
        return r;
    p.mnt = anon_mount;
    r = file_new(&p, ops, flags, &f);
    dentry_put(p.dentry);
    if (r < 0)
        return r;
    f->priv = priv;
    f->anon_name = prefix;
    *ret_file = f;
    return 0;
}

int anon_file_reopen(const struct file *of, const struct file_ops *ops, uint32_t flags, void *priv,
                     struct file **ret_file)
{
    struct file *f;
    int r = file_new(&of->path, ops, flags, &f);

    if (r < 0)
        return r;
    f->priv = priv;
    f->anon_name = of->anon_name;
    *ret_file = f;
    return 0;
}
