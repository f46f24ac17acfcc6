/*
 * tmpfs directories: entries in one hash table per file system (lookup) and in a tree per directory
 * (listing, by cookie).
 */
#include "abi/dir.h"

#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/tmpfs/tmpfs.h"

enum {
    ENTRY_SIZE = 20
}; /* what an entry adds to st_size, as in Linux */

static uint64_t entry_hash(const struct tmpfs_inode *dir, const char *name, size_t len)
{
    return hash_bytes(hash_seed() ^ (uint64_t)(uintptr_t)dir, name, len);
}

struct tmpfs_entry *tmpfs_entry_find(struct tmpfs_inode *dir, const char *name, size_t len)
{
    struct hash_node *n;

    hash_for_each_match (n, &dir->fs->names, entry_hash(dir, name, len)) {
        struct tmpfs_entry *e = hash_entry(n, struct tmpfs_entry, node);

        if (e->dir == dir && e->name_len == len && memcmp(e->name, name, len) == 0)
            return e;
    }
    return NULL;
}

static struct tmpfs_entry *tmpfs_entry_of(const struct rb_node *n)
{
    return container_of(unconst(n), struct tmpfs_entry, by_cookie);
}

static int cookie_cmp(const struct rb_node *a, const struct rb_node *b)
{
    uint64_t x = tmpfs_entry_of(a)->cookie;
    uint64_t y = tmpfs_entry_of(b)->cookie;

    return x < y ? -1 : x > y;
}

static int cookie_key(const void *key, const struct rb_node *node)
{
    uint64_t x = *(const uint64_t *)key;
    uint64_t y = tmpfs_entry_of(node)->cookie;

    return x < y ? -1 : x > y;
}

static void dir_changed(struct tmpfs_inode *dir)
{
    dir->inode->size = dir->nentries * ENTRY_SIZE;
    inode_touch(dir->inode, ATTR_MTIME | ATTR_CTIME);
}

static struct tmpfs_entry *entry_alloc(const char *name, size_t len)
{
    struct tmpfs_entry *e = kalloc(sizeof(*e) + len + 1);

    if (e) {
        memcpy(e->name, name, len);
        e->name_len = (uint32_t)len;
    }
    return e;
}

static void entry_insert(struct tmpfs_inode *dir, struct tmpfs_entry *e, struct inode *ino)
{
    e->dir = dir;
    e->inode = ino;
    e->cookie = dir->next_cookie++;
    hash_insert(&dir->fs->names, &e->node, entry_hash(dir, e->name, e->name_len));
    rb_insert(&dir->entries, &e->by_cookie, cookie_cmp);
    dir->nentries++;
    dir_changed(dir);
}

int tmpfs_entry_add(struct tmpfs_inode *dir, const char *name, size_t len, struct inode *ino)
{
    struct tmpfs_entry *e = entry_alloc(name, len);

    if (!e) {
        inode_put(ino);
        return -ENOMEM;
    }
    entry_insert(dir, e, ino);
    return 0;
}

void tmpfs_entry_remove(struct tmpfs_entry *e)
{
    struct tmpfs_inode *dir = e->dir;
    struct inode *ino = e->inode;

    hash_remove(&dir->fs->names, &e->node);
    rb_erase(&dir->entries, &e->by_cookie);
    dir->nentries--;
    dir_changed(dir);
    kfree(e);
    inode_put(ino);
}

void tmpfs_tree_free(struct inode *root)
{
    struct list_head work;
    struct tmpfs_inode *dir = tmpfs_inode_of(root);

    list_init(&work);
    list_add_tail(&work, &dir->work);
    while (!list_empty(&work)) {
        struct rb_node *n;

        dir = list_first(&work, struct tmpfs_inode, work);
        n = rb_first(&dir->entries);
        if (!n) {
            list_del_init(&dir->work);
            if (dir->inode != root)
                inode_put(dir->inode); /* taken when it was put on the list */
            continue;
        }
        struct tmpfs_entry *e = tmpfs_entry_of(n);
        struct tmpfs_inode *child = tmpfs_inode_of(e->inode);

        if (LX_S_ISDIR(e->inode->mode) && child->nentries) {
            inode_get(e->inode);
            list_add(&work, &child->work);
        }
        tmpfs_entry_remove(e);
    }
}

/* -- inode operations -------------------------------------------------------------------------- */

static int tmpfs_lookup(struct inode *dir, struct dentry *d)
{
    struct tmpfs_entry *e = tmpfs_entry_find(tmpfs_inode_of(dir), d->name, d->name_len);

    if (e)
        dentry_instantiate(d, inode_get(e->inode));
    return 0;
}

/* Gives the new inode its name. */
static int enter(struct inode *dir, struct dentry *d, struct inode *ino CONSUMES)
{
    int r = tmpfs_entry_add(tmpfs_inode_of(dir), d->name, d->name_len, inode_get(ino));

    if (r < 0) {
        inode_put(ino);
        return r;
    }
    dentry_instantiate(d, ino);
    return 0;
}

static int make_node(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    struct inode *ino;
    int r = tmpfs_inode_new(tmpfs_inode_of(dir)->fs, dir, mode, c, &ino);

    return r < 0 ? r : enter(dir, d, ino);
}

static int tmpfs_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    return make_node(dir, d, LX_S_IFREG | (mode & LX_S_IALLUGO), c);
}

static int tmpfs_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    int r = make_node(dir, d, LX_S_IFDIR | (mode & LX_S_IALLUGO), c);

    if (r == 0)
        dir->nlink++;
    return r;
}

static int tmpfs_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                       const struct cred *c)
{
    int r = make_node(dir, d, mode, c);

    if (r == 0)
        d->inode->rdev = rdev;
    return r;
}

static int tmpfs_symlink(struct inode *dir, struct dentry *d, const char *target,
                         const struct cred *c)
{
    struct tmpfs *fs = tmpfs_inode_of(dir)->fs;
    struct inode *ino;
    int r = tmpfs_inode_new(fs, dir, LX_S_IFLNK | 0777, c, &ino);

    if (r < 0)
        return r;
    r = tmpfs_set_target(tmpfs_inode_of(ino), target);
    if (r < 0) {
        inode_put(ino);
        return r;
    }
    return enter(dir, d, ino);
}

static int tmpfs_link(struct inode *old, struct inode *dir, struct dentry *d)
{
    int r;

    if (old->nlink == UINT32_MAX)
        return -EMLINK;
    r = tmpfs_entry_add(tmpfs_inode_of(dir), d->name, d->name_len, inode_get(old));
    if (r < 0)
        return r;
    old->nlink++;
    inode_touch(old, ATTR_CTIME);
    dentry_instantiate(d, inode_get(old));
    return 0;
}

static int tmpfs_tmpfile(struct inode *dir, uint32_t mode, const struct cred *c,
                         struct inode **ret_inode)
{
    int r = tmpfs_inode_new(tmpfs_inode_of(dir)->fs, dir, mode, c, ret_inode);

    if (r == 0)
        (*ret_inode)->nlink = 0;
    return r;
}

/* The links of an inode whose entry in dir is being removed. */
static void unlinked(struct inode *dir, struct inode *ino)
{
    if (LX_S_ISDIR(ino->mode)) {
        ino->nlink = 0;
        dir->nlink--;
    } else {
        ino->nlink--;
    }
    inode_touch(ino, ATTR_CTIME);
}

static int tmpfs_unlink(struct inode *dir, struct dentry *d)
{
    struct tmpfs_entry *e = tmpfs_entry_find(tmpfs_inode_of(dir), d->name, d->name_len);

    if (!e)
        return -ENOENT;
    unlinked(dir, e->inode);
    tmpfs_entry_remove(e);
    return 0;
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *d)
{
    if (tmpfs_inode_of(d->inode)->nentries)
        return -ENOTEMPTY;
    return tmpfs_unlink(dir, d);
}

static void exchange(struct inode *odir, struct tmpfs_entry *oe, struct inode *ndir,
                     struct tmpfs_entry *ne)
{
    struct inode *ino = oe->inode;
    bool old_dir = LX_S_ISDIR(ino->mode), new_dir = LX_S_ISDIR(ne->inode->mode);

    oe->inode = ne->inode;
    ne->inode = ino;
    if (old_dir && !new_dir) {
        odir->nlink--;
        ndir->nlink++;
    } else if (!old_dir && new_dir) {
        odir->nlink++;
        ndir->nlink--;
    }
    dir_changed(oe->dir);
    dir_changed(ne->dir);
}

static int tmpfs_rename(struct inode *odir, struct dentry *od, struct inode *ndir,
                        struct dentry *nd, uint32_t flags)
{
    struct tmpfs_inode *to = tmpfs_inode_of(ndir);
    struct tmpfs_entry *oe = tmpfs_entry_find(tmpfs_inode_of(odir), od->name, od->name_len);
    struct tmpfs_entry *ne = tmpfs_entry_find(to, nd->name, nd->name_len);
    struct tmpfs_entry *fresh;
    struct inode *ino, *whiteout = NULL;

    if (!oe || ((flags & LX_RENAME_EXCHANGE) && !ne))
        return -ENOENT;
    ino = oe->inode;
    if (flags & LX_RENAME_EXCHANGE) {
        inode_touch(ne->inode, ATTR_CTIME);
        inode_touch(ino, ATTR_CTIME);
        exchange(odir, oe, ndir, ne);
        return 0;
    }
    if (ne && LX_S_ISDIR(ne->inode->mode) && tmpfs_inode_of(ne->inode)->nentries)
        return -ENOTEMPTY;
    fresh = entry_alloc(nd->name, nd->name_len);
    if (!fresh)
        return -ENOMEM;
    if (flags & LX_RENAME_WHITEOUT) {
        int r = tmpfs_inode_new(to->fs, NULL, LX_S_IFCHR, NULL, &whiteout);

        if (r < 0) {
            kfree(fresh);
            return r;
        }
    }
    if (ne) {
        unlinked(ndir, ne->inode);
        tmpfs_entry_remove(ne);
    }
    entry_insert(to, fresh, inode_get(ino));
    if (LX_S_ISDIR(ino->mode) && odir != ndir) {
        odir->nlink--;
        ndir->nlink++;
    }
    inode_touch(ino, ATTR_CTIME);
    if (whiteout) {
        inode_put(oe->inode);
        oe->inode = whiteout;
        dir_changed(oe->dir);
    } else {
        tmpfs_entry_remove(oe);
    }
    return 0;
}

/* -- listing ------------------------------------------------------------------------------------
 */

static int tmpfs_readdir(struct file *f, struct dir_context *dc)
{
    struct tmpfs_inode *dir = tmpfs_inode_of(f->inode);
    struct rb_node *n;

    inode_touch_relatime(f->inode);
    if (!dir_emit_dots(f, dc))
        return 0;
    for (n = rb_lower_bound(&dir->entries, &f->pos, cookie_key); n; n = rb_next(n)) {
        const struct tmpfs_entry *e = tmpfs_entry_of(n);

        if (!dc->emit(dc, e->name, e->name_len, e->inode->ino, mode_to_dt(e->inode->mode),
                      e->cookie + 1))
            return 0;
        f->pos = e->cookie + 1;
    }
    return 0;
}

static int64_t tmpfs_dir_seek(struct file *f, int64_t off, int whence)
{
    if (whence != LX_SEEK_SET && whence != LX_SEEK_CUR)
        return -EINVAL;
    return vfs_seek_generic(f, off, whence, 0);
}

static int tmpfs_dir_fsync(struct file *f, bool datasync)
{
    (void)f;
    (void)datasync;
    return 0;
}

static int tmpfs_dir_open(struct inode *ino, struct file *f)
{
    (void)ino;
    f->ops = &tmpfs_dir_ops;
    return 0;
}

const struct file_ops tmpfs_dir_ops = {
    .seek = tmpfs_dir_seek,
    .readdir = tmpfs_readdir,
    .fsync = tmpfs_dir_fsync,
};

const struct inode_ops tmpfs_dir_iops = {
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
    .setattr = tmpfs_setattr,
    .open = tmpfs_dir_open,
    .getxattr = tmpfs_getxattr,
    .setxattr = tmpfs_setxattr,
    .listxattr = tmpfs_listxattr,
    .removexattr = tmpfs_removexattr,
};
