/*
 * The machinery behind proc and sysfs: inodes from descriptions, lookup, listings, texts.
 *
 * Listing positions: 0 ".", 1 "..", 2.. the static entries, GEN_DYNAMIC + key the dynamic ones, so
 * a position stays meaningful while tasks and descriptors come and go.
 */
#include "sentry/fs/proc/gen.h"

#include <string.h>

#include "abi/dir.h"

#include "lib/alloc.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define GEN_DYNAMIC   256u
#define GEN_TEXT_MAX  (64u << 20)
#define GEN_STORE_MAX 4096u

/* priv of an open file */
struct gen_text {
    struct buf text; /* all of it, or (more) the piece at base */
    bool filled;
    uint64_t base, cursor;
    uint64_t mm_id; /* GEN_PTRACE: the address space that the opener had access to */
};

static const struct inode_ops gen_inode_ops, gen_magic_ops;

struct task *gen_caller(void)
{
    return kernel.current;
}

bool gen_alive(const struct gen_inode *gi)
{
    return !gi->task || task_by_pid(gi->task->pid) == gi->task;
}

bool gen_parse_u32(const char *s, size_t len, uint32_t *ret_v)
{
    uint32_t v = 0;

    if (len == 0 || len > 9 || (s[0] == '0' && len > 1))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (uint32_t)(s[i] - '0');
    }
    *ret_v = v;
    return true;
}

/* Owner and mode follow the task's credentials as they are now. */
static void gen_refresh(struct inode *ino)
{
    struct gen_inode *gi = gen_inode_of(ino);
    const struct task *t = gi->task;

    if (t) {
        bool root = (gi->flags & GEN_ROOT_OWNED) || !t->group->dumpable;

        /* As Linux: world-readable directories belong to the user whatever he did. */
        if (ino->mode == (LX_S_IFDIR | 0555))
            root = false;
        ino->uid = root ? 0 : t->cred->euid;
        ino->gid = root ? 0 : t->cred->egid;
    }
    if (gi->node->perm)
        ino->mode = (gi->node->mode & LX_S_IFMT) | gi->node->perm(gi);
}

static int gen_inode_new(struct super *sb, const struct gen_node *node, struct task *t,
                         uint64_t key, uint32_t flags, struct inode **ret_inode)
{
    struct gen_inode *gi = kalloc(sizeof(*gi));
    struct inode *ino;
    int r;

    if (!gi)
        return -ENOMEM;
    r = inode_new(sb, node->get_link ? &gen_magic_ops : &gen_inode_ops, node->mode, &ino);
    if (r < 0) {
        kfree(gi);
        return r;
    }
    gi->node = node;
    gi->inode = ino;
    gi->task = t ? task_get(t) : NULL;
    gi->key = key;
    gi->flags = flags | node->flags;
    ino->priv = gi;
    ino->nlink = LX_S_ISDIR(node->mode) ? 2 : 1;
    inode_touch(ino, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
    gen_refresh(ino);
    *ret_inode = ino;
    return 0;
}

static void gen_evict(struct inode *ino)
{
    struct gen_inode *gi = gen_inode_of(ino);

    if (!gi)
        return;
    if (gi->task)
        task_put(gi->task);
    kfree(gi);
    ino->priv = NULL;
}

static int gen_lookup(struct inode *dir, struct dentry *d)
{
    struct gen_inode *gi = gen_inode_of(dir);
    struct gen_child child = {.node = NULL};
    struct inode *ino;
    int r;

    if (!gen_alive(gi))
        return 0;
    for (const struct gen_node *n = gi->node->children; n && n->name; n++) {
        if (strlen(n->name) == d->name_len && memcmp(n->name, d->name, d->name_len) == 0) {
            child.node = n;
            child.key = gi->key;
            break;
        }
    }
    if (!child.node) {
        r = gi->node->find ? gi->node->find(gi, d->name, d->name_len, &child) : -ENOENT;
        if (r < 0)
            return r == -ENOENT ? 0 : r;
    }
    r = gen_inode_new(dir->super, child.node, child.task ? child.task : gi->task, child.key,
                      child.flags | (gi->flags & GEN_THREAD), &ino);
    if (r < 0)
        return r;
    dentry_instantiate(d, ino);
    return 0;
}

static bool gen_revalidate(struct dentry *d)
{
    struct gen_inode *gi;

    if (!d->inode) {
        gi = d->parent && d->parent->inode ? gen_inode_of(d->parent->inode) : NULL;
        return gi && !gi->node->find;
    }
    gi = gen_inode_of(d->inode);
    if (!gen_alive(gi) || (gi->node->valid && !gi->node->valid(gi)))
        return false;
    gen_refresh(d->inode);
    return true;
}

static bool gen_drop_dentry(const struct dentry *d)
{
    return !d->inode || gen_inode_of(d->inode)->task;
}

static int gen_getattr(struct inode *ino, struct kstat *ret_st)
{
    gen_refresh(ino);
    *ret_st = (struct kstat){
        .ino = ino->ino,
        .nlink = ino->nlink,
        .size = ino->size,
        .mode = ino->mode,
        .uid = ino->uid,
        .gid = ino->gid,
        .blksize = 1024,
        .dev = ino->super->dev,
        .atime = ino->atime,
        .mtime = ino->mtime,
        .ctime = ino->ctime,
        .btime = ino->ctime,
    };
    return 0;
}

/* chmod and chown are refused, times and O_TRUNC are ignored, as on Linux. */
static int gen_setattr(struct inode *ino, const struct iattr *attr)
{
    (void)ino;
    return attr->valid & (ATTR_MODE | ATTR_UID | ATTR_GID) ? -EPERM : 0;
}

static int64_t gen_readlink(struct inode *ino, char *out, size_t cap)
{
    struct gen_inode *gi = gen_inode_of(ino);
    struct buf b;
    int64_t n;
    int r = 0;

    if (!gen_alive(gi))
        return -ENOENT;
    buf_init(&b, 8192);
    if (gi->node->link)
        r = gi->node->link(gi, &b);
    else
        (void)buf_puts(&b, gi->node->text ? gi->node->text : "");
    if (r == 0)
        r = buf_error(&b);
    n = (int64_t)MIN(b.len, cap);
    if (r == 0 && n > 0)
        memcpy(out, b.data, (size_t)n);
    buf_done(&b);
    return r < 0 ? r : n;
}

static int gen_get_link(struct inode *ino, struct task *t, struct path *ret_path)
{
    struct gen_inode *gi = gen_inode_of(ino);

    return gen_alive(gi) ? gi->node->get_link(gi, t, ret_path) : -ENOENT;
}

/* -- directories ------------------------------------------------------------------------------- */

static uint32_t type_of(uint32_t mode)
{
    return (mode & LX_S_IFMT) >> 12;
}

static int gen_emit_static(struct file *f, struct dir_context *dc, const struct gen_node *kids)
{
    uint64_t i = 2;

    for (const struct gen_node *n = kids; n && n->name; n++, i++) {
        if (i < f->pos)
            continue;
        if (!dc->emit(dc, n->name, strlen(n->name), 1000 + i, type_of(n->mode), i + 1))
            return 0;
        f->pos = i + 1;
    }
    if (f->pos < GEN_DYNAMIC)
        f->pos = GEN_DYNAMIC;
    return 1;
}

static int gen_readdir(struct file *f, struct dir_context *dc)
{
    struct gen_inode *gi = gen_inode_of(f->inode);
    struct dentry *up = f->path.dentry->parent;
    struct gen_child c;

    if (!gen_alive(gi))
        return -ENOENT;
    if (f->pos == 0) {
        if (!dc->emit(dc, ".", 1, f->inode->ino, LX_DT_DIR, 1))
            return 0;
        f->pos = 1;
    }
    if (f->pos == 1) {
        uint64_t ino = up && up->inode ? up->inode->ino : f->inode->ino;

        if (!dc->emit(dc, "..", 2, ino, LX_DT_DIR, 2))
            return 0;
        f->pos = 2;
    }
    if (f->pos < GEN_DYNAMIC && gen_emit_static(f, dc, gi->node->children) == 0)
        return 0;
    while (gi->node->list && gi->node->list(gi, f->pos - GEN_DYNAMIC, &c) == 0) {
        uint64_t next = c.key + GEN_DYNAMIC + 1;

        if (!dc->emit(dc, c.name, strlen(c.name), 100000 + c.key, type_of(c.node->mode), next))
            return 0;
        f->pos = next;
    }
    return 0;
}

static int64_t gen_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT32_MAX);
}

static const struct file_ops gen_dir_ops = {
    .seek = gen_dir_seek,
    .readdir = gen_readdir,
};

/* -- texts ------------------------------------------------------------------------------------- */

static int gen_fill(struct gen_inode *gi, struct gen_text *gt)
{
    int r = 0;

    buf_reset(&gt->text);
    gt->filled = false;
    if (!gen_alive(gi))
        return -ESRCH;
    if (gi->node->show)
        r = gi->node->show(gi, &gt->text);
    else if (gi->node->text)
        (void)buf_puts(&gt->text, gi->node->text);
    if (r < 0)
        return r;
    if (buf_error(&gt->text))
        return -ENOMEM;
    gt->filled = true;
    return 0;
}

static int gen_next_piece(struct gen_inode *gi, struct gen_text *gt)
{
    int r;

    gt->base += gt->text.len;
    buf_reset(&gt->text);
    if (!gen_alive(gi))
        return -ESRCH;
    r = gi->node->more(gi, &gt->text, &gt->cursor);
    if (r == 0 && buf_error(&gt->text))
        r = -ENOMEM;
    if (r < 0)
        gt->filled = false;
    return r;
}

/* Makes the piece that pos lies in. */
static int gen_fill_to(struct gen_inode *gi, struct gen_text *gt, uint64_t pos)
{
    int r = 0;

    if (pos == 0 || !gt->filled || pos < gt->base) {
        buf_reset(&gt->text);
        gt->base = gt->cursor = 0;
        gt->filled = true;
    }
    while (r == 0 && pos >= gt->base + gt->text.len && gt->cursor != GEN_END)
        r = gen_next_piece(gi, gt);
    return r;
}

static int64_t gen_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct gen_text *gt = f->priv;
    struct gen_inode *gi = gen_inode_of(f->inode);
    size_t off;
    int64_t n;
    int r = 0;

    if (!gi->node->show && !gi->node->text && !gi->node->more)
        return -EIO;
    if (gt->mm_id != 0 && gt->mm_id != proc_mm_id(gi))
        return 0;
    if (gi->node->more)
        r = gen_fill_to(gi, gt, *pos);
    else if (*pos == 0 || !gt->filled)
        r = gen_fill(gi, gt);
    if (r < 0)
        return r;
    if (*pos < gt->base || *pos - gt->base >= gt->text.len)
        return 0;
    off = (size_t)(*pos - gt->base);
    n = uio_copy_to(to, gt->text.data + off, MIN(to->left, gt->text.len - off));
    if (n > 0)
        *pos += (uint64_t)n;
    return n;
}

static int64_t gen_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct gen_inode *gi = gen_inode_of(f->inode);
    size_t len = from->left;
    char *text;
    int64_t n;
    int r;

    if (!gi->node->store)
        return -EPERM;
    if (!gen_alive(gi))
        return -ESRCH;
    if (len > GEN_STORE_MAX)
        return -EINVAL;
    text = kalloc(len + 1);
    if (!text)
        return -ENOMEM;
    n = len ? uio_copy_from(from, text, len) : 0;
    if (n >= 0 && (size_t)n < len)
        n = -EFAULT;
    if (n >= 0) {
        r = gi->node->store(gi, text, len);
        n = r < 0 ? r : (int64_t)len;
    }
    kfree(text);
    if (n > 0)
        *pos += (uint64_t)n;
    return n;
}

static int64_t gen_seek(struct file *f, int64_t off, int whence)
{
    if (whence == LX_SEEK_END)
        return -EINVAL;
    return vfs_seek_generic(f, off, whence, INT64_MAX);
}

static void gen_release(struct file *f)
{
    struct gen_text *gt = f->priv;

    if (gt)
        buf_done(&gt->text);
    kfree(gt);
    f->priv = NULL;
}

static const struct file_ops gen_file_ops = {
    .read = gen_read,
    .write = gen_write,
    .seek = gen_seek,
    .release = gen_release,
};

static uint32_t gen_poll(struct file *f, struct poll_table *pt)
{
    (void)f;
    (void)pt;
    return LX_POLLIN | LX_POLLRDNORM;
}

static const struct file_ops gen_poll_ops = {
    .read = gen_read,
    .write = gen_write,
    .seek = gen_seek,
    .poll = gen_poll,
    .release = gen_release,
};

static int gen_open(struct inode *ino, struct file *f)
{
    struct gen_inode *gi = gen_inode_of(ino);
    struct gen_text *gt;

    if (!gen_alive(gi))
        return -ENOENT;
    if (LX_S_ISDIR(ino->mode)) {
        f->ops = &gen_dir_ops;
        return 0;
    }
    if ((gi->flags & GEN_PTRACE) && gen_caller() && !proc_may_access(gen_caller(), gi->task))
        return -EACCES;
    if (gi->node->fops) {
        f->ops = gi->node->fops;
        return f->ops == &proc_mem_ops ? proc_mem_open(gi, f) : 0;
    }
    gt = kalloc(sizeof(*gt));
    if (!gt)
        return -ENOMEM;
    buf_init(&gt->text, GEN_TEXT_MAX);
    gt->mm_id = gi->flags & GEN_PTRACE ? proc_mm_id(gi) : 0;
    f->priv = gt;
    f->ops = gi->flags & GEN_POLL ? &gen_poll_ops : &gen_file_ops;
    return 0;
}

static const struct inode_ops gen_inode_ops = {
    .lookup = gen_lookup,
    .readlink = gen_readlink,
    .getattr = gen_getattr,
    .setattr = gen_setattr,
    .open = gen_open,
    .revalidate = gen_revalidate,
};

/* For links that lead to an object, not to a name. */
static const struct inode_ops gen_magic_ops = {
    .readlink = gen_readlink,
    .get_link = gen_get_link,
    .getattr = gen_getattr,
    .setattr = gen_setattr,
    .revalidate = gen_revalidate,
};

static const struct super_ops gen_super_ops = {
    .statfs = statfs_plain,
    .evict = gen_evict,
    .drop_dentry = gen_drop_dentry,
};

int gen_super_new(const struct gen_node *root, const char *type, uint64_t magic,
                  struct super **ret_sb)
{
    struct super *sb;
    struct inode *ino;
    int r;

    r = super_new(&gen_super_ops, type, magic, &sb);
    if (r < 0)
        return r;
    sb->blksize = 1024;
    sb->generated = true;
    r = gen_inode_new(sb, root, NULL, 0, 0, &ino);
    if (r == 0) {
        ino->ino = 1;
        r = dentry_new_root(sb, ino, &sb->root);
    }
    if (r < 0) {
        super_put(sb);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
