/*
 * fs.c: the file system of the queues' names: one flat directory that everybody may write to, as
 * in Linux. Queues that have a name are in its inode's list; dentries only cache it.
 */
#include "lib/compiler.h"

#include <inttypes.h>
#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"
#include "abi/misc.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/fs/mqueue/mqueue.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

enum {
    FILE_SIZE = 80, /* st_size of a queue, and what a name adds to the directory, as in Linux */
    ENTRY_SIZE = 20,
    TEXT_MAX = 80
};

struct mq_name {
    struct list_head link;
    struct inode *inode; /* counted */
    uint64_t cookie;
};

/* priv of the root inode. */
struct mq_dir {
    struct list_head names; /* oldest first */
    uint64_t next_cookie;
};

static struct mount *mq_mount; /* made on first use; counted */

static const struct inode_ops mq_dir_iops, mq_file_iops;
static const struct file_ops mq_file_ops;

struct mqueue *file_mqueue(const struct file *f)
{
    return f->ops == &mq_file_ops ? f->inode->priv : NULL;
}

/* -- the directory ----------------------------------------------------------------------------- */

static struct mq_name *name_find(const struct inode *dir, const char *name, size_t len)
{
    const struct mq_dir *md = dir->priv;
    struct mq_name *n;

    list_for_each_entry (n, &md->names, link) {
        const struct mqueue *q = n->inode->priv;
        if (q->name_len == len && memcmp(q->name, name, len) == 0)
            return n;
    }
    return NULL;
}

static void dir_changed(struct inode *dir, int entries)
{
    dir->size = (uint64_t)((int64_t)dir->size + (int64_t)entries * ENTRY_SIZE);
    inode_touch(dir, ATTR_MTIME | ATTR_CTIME | ATTR_ATIME);
}

static int mq_lookup(struct inode *dir, struct dentry *d)
{
    const struct mq_name *n = name_find(dir, d->name, d->name_len);

    if (n)
        dentry_instantiate(d, inode_get(n->inode));
    return 0;
}

static int queue_inode(struct super *sb, uint32_t mode, struct mqueue *q CONSUMES,
                       const struct cred *c, struct inode **ret_inode)
{
    struct inode *ino;
    int r = inode_new(sb, &mq_file_iops, LX_S_IFREG, &ino);

    if (r < 0) {
        mqueue_free(q);
        return r;
    }
    ino->priv = q;
    ino->size = FILE_SIZE;
    inode_init_owner(ino, NULL, LX_S_IFREG | (mode & LX_S_IALLUGO), c);
    q->inode = ino;
    *ret_inode = ino;
    return 0;
}

/* A new queue under the name of d. */
static int queue_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c,
                        const struct lx_mq_attr *attr)
{
    struct mq_dir *md = dir->priv;
    struct inode *ino;
    struct mqueue *q;
    int r = mqueue_new(kernel.current, attr, &q);

    if (r < 0)
        return r;
    struct mq_name *n = kalloc(sizeof(*n));
    if (!n) {
        mqueue_free(q);
        return -ENOMEM;
    }
    q->name_len = MIN(d->name_len, (uint32_t)LX_NAME_MAX);
    memcpy(q->name, d->name, q->name_len);
    r = queue_inode(dir->super, mode, q, c, &ino);
    if (r < 0) {
        kfree(n);
        return r;
    }
    n->inode = inode_get(ino);
    n->cookie = md->next_cookie++;
    list_add_tail(&md->names, &n->link);
    dir_changed(dir, 1);
    dentry_instantiate(d, ino);
    return 0;
}

static int mq_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    return queue_create(dir, d, mode, c, NULL);
}

static void name_remove(struct mq_name *n)
{
    list_del_init(&n->link);
    inode_put(n->inode);
    kfree(n);
}

static int mq_unlink(struct inode *dir, struct dentry *d)
{
    struct mq_name *n = name_find(dir, d->name, d->name_len);

    if (!n)
        return -ENOENT;
    n->inode->nlink--;
    name_remove(n);
    dir_changed(dir, -1);
    return 0;
}

static int mq_readdir(struct file *f, struct dir_context *dc)
{
    const struct mq_dir *md = f->inode->priv;
    struct mq_name *n;

    if (!dir_emit_dots(f, dc))
        return 0;
    list_for_each_entry (n, &md->names, link) {
        const struct mqueue *q = n->inode->priv;
        if (n->cookie < f->pos)
            continue;
        if (!dc->emit(dc, q->name, q->name_len, n->inode->ino, LX_DT_REG, n->cookie + 1))
            return 0;
        f->pos = n->cookie + 1;
    }
    return 0;
}

static int64_t mq_dir_seek(struct file *f, int64_t off, int whence)
{
    if (whence != LX_SEEK_SET && whence != LX_SEEK_CUR)
        return -EINVAL;
    return vfs_seek_generic(f, off, whence, 0);
}

static const struct file_ops mq_dir_ops = {.readdir = mq_readdir, .seek = mq_dir_seek};

static int mq_dir_open(struct inode *ino, struct file *f)
{
    (void)ino;
    f->ops = &mq_dir_ops;
    return 0;
}

/* A new size, as by O_TRUNC, means nothing. */
static int mq_setattr(struct inode *ino, const struct iattr *attr)
{
    inode_store_attr(ino, attr);
    return 0;
}

static const struct inode_ops mq_dir_iops = {
    .lookup = mq_lookup,
    .create = mq_create,
    .unlink = mq_unlink,
    .setattr = mq_setattr,
    .open = mq_dir_open,
};

/* -- an open queue ----------------------------------------------------------------------------- */

static int64_t mq_read(struct file *f, struct uio *to, uint64_t *pos)
{
    const struct mqueue *q = f->inode->priv;
    const struct mq_notify *nt = &q->notify;
    struct buf text;
    int64_t n = 0;

    buf_init(&text, TEXT_MAX);
    int r = buf_printf(&text, "QSIZE:%-10" PRIu64 " NOTIFY:%-5d SIGNO:%-5d NOTIFY_PID:%-6u\n",
                       q->bytes, nt->group ? nt->notify : 0,
                       nt->group && nt->notify == LX_SIGEV_SIGNAL ? nt->signo : 0,
                       nt->group ? nt->group->pid : 0);
    if (r < 0)
        n = r;
    else if (*pos < text.len)
        n = uio_copy_to(to, text.data + *pos, MIN(to->left, text.len - (size_t)*pos));
    buf_done(&text);
    if (n > 0) {
        *pos += (uint64_t)n;
        inode_touch(f->inode, ATTR_ATIME | ATTR_CTIME);
    }
    return n;
}

static int64_t mq_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, f->inode->size);
}

static uint32_t mq_poll(struct file *f, struct poll_table *pt)
{
    struct mqueue *q = f->inode->priv;
    uint32_t mask = 0;

    poll_wait(pt, &q->poll);
    if (q->count > 0)
        mask |= LX_POLLIN | LX_POLLRDNORM;
    if (!mqueue_full(q))
        mask |= LX_POLLOUT | LX_POLLWRNORM;
    return mask;
}

static void mq_flush(struct file *f, const struct files *owner)
{
    mqueue_flush(f->inode->priv, owner);
}

static const struct file_ops mq_file_ops = {
    .read = mq_read,
    .seek = mq_seek,
    .poll = mq_poll,
    .flush = mq_flush,
};

static int mq_file_open(struct inode *ino, struct file *f)
{
    (void)ino;
    f->ops = &mq_file_ops;
    return 0;
}

static const struct inode_ops mq_file_iops = {.setattr = mq_setattr, .open = mq_file_open};

/* -- the super --------------------------------------------------------------------------------- */

static void mq_evict(struct inode *ino)
{
    if (!ino->priv)
        return;
    if (LX_S_ISDIR(ino->mode)) {
        struct mq_dir *md = ino->priv;
        while (!list_empty(&md->names))
            name_remove(list_first(&md->names, struct mq_name, link));
        kfree(md);
    } else {
        mqueue_free(ino->priv);
    }
    ino->priv = NULL;
}

static const struct super_ops mq_super_ops = {.statfs = statfs_plain, .evict = mq_evict};

static int make_root(struct super *sb)
{
    struct mq_dir *md = kalloc(sizeof(*md));
    struct inode *root;

    if (!md)
        return -ENOMEM;
    list_init(&md->names);
    md->next_cookie = 2;
    int r = inode_new(sb, &mq_dir_iops, LX_S_IFDIR | LX_S_ISVTX | 0777, &root);
    if (r < 0) {
        kfree(md);
        return r;
    }
    root->priv = md;
    root->nlink = 2;
    return dentry_new_root(sb, root, &sb->root);
}

static int mq_mount_get(void)
{
    struct super *sb;
    int r;

    if (mq_mount)
        return 0;
    r = super_new(&mq_super_ops, "mqueue", LX_MQUEUE_MAGIC, &sb);
    if (r < 0)
        return r;
    r = make_root(sb);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    return mount_new_internal(sb, &mq_mount);
}

int mqueuefs_mount_new(struct super **ret_sb)
{
    int r = mq_mount_get();

    if (r == 0)
        *ret_sb = super_get(mq_mount->super);
    return r;
}

void mqueue_done(void)
{
    mount_put(mq_mount);
    mq_mount = NULL;
}

/* -- by name, without a mount ------------------------------------------------------------------ */

static int name_lookup(const char *name, struct parent_lookup *ret_pl)
{
    size_t len = strlen(name);
    struct dentry *d;
    int r = mq_mount_get();

    if (r < 0)
        return r;
    if (len == 0)
        return -ENOENT;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/') != NULL)
        return -EACCES;
    if (len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    r = dentry_lookup(mq_mount->root, name, len, &d);
    if (r < 0)
        return r;
    *ret_pl = (struct parent_lookup){.parent = {mq_mount, mq_mount->root}, .d = d};
    path_get(&ret_pl->parent);
    return 0;
}

static int open_or_create(struct task *t, struct parent_lookup *pl, uint32_t oflag, uint32_t mode,
                          const struct lx_mq_attr *attr)
{
    static const int masks[] = {LX_R_OK, LX_W_OK, LX_R_OK | LX_W_OK};
    int r;

    if (!pl->d->inode) {
        if (!(oflag & LX_O_CREAT))
            return -ENOENT;
        r = may_create(&pl->parent, t->cred);
        if (r < 0)
            return r;
        r = queue_create(pl->parent.dentry->inode, pl->d, mode, t->cred, attr);
        if (r == 0)
            fsnotify_name(pl->parent.dentry, pl->d, LX_IN_CREATE, 0);
        return r;
    }
    if ((oflag & (LX_O_CREAT | LX_O_EXCL)) == (LX_O_CREAT | LX_O_EXCL))
        return -EEXIST;
    if ((oflag & LX_O_ACCMODE) == LX_O_ACCMODE)
        return -EINVAL;
    return inode_permission(pl->d->inode, t->cred, masks[oflag & LX_O_ACCMODE]);
}

/* Permission is settled: its maker may open a queue with whatever mode. */
static int open_queue(const struct path *p, uint32_t oflag, struct file **ret_file)
{
    uint32_t flags = (oflag & (LX_O_ACCMODE | LX_O_NONBLOCK)) | LX_O_LARGEFILE;
    struct file *f;
    int r = file_new(p, &mq_file_ops, flags, &f);

    if (r < 0)
        return r;
    r = file_writable(f) ? inode_write_get(f->inode) : 0;
    if (r < 0) {
        f->flags |= LX_O_PATH; /* nothing was opened */
        file_put(f);
        return r;
    }
    fsnotify(p, LX_IN_OPEN, 0);
    *ret_file = f;
    return 0;
}

int mqueue_open(struct task *t, const char *name, uint32_t oflag, uint32_t mode,
                const struct lx_mq_attr *attr, struct file **ret_file)
{
    struct parent_lookup pl;
    int r = name_lookup(name, &pl);

    if (r < 0)
        return r;
    r = open_or_create(t, &pl, oflag, mode, attr);
    if (r == 0)
        r = open_queue(&(struct path){pl.parent.mnt, pl.d}, oflag, ret_file);
    parent_lookup_done(&pl);
    return r;
}

int mqueue_unlink(const char *name, const struct cred *c)
{
    struct parent_lookup pl;
    int r = name_lookup(name, &pl);

    if (r < 0)
        return r;
    r = vfs_unlink(&pl, c);
    parent_lookup_done(&pl);
    return r;
}
