/* Directories of tmpfs: entries, changes of the name space, listings. */
#include "abi/dir.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/kernel/cred.h"

#define ENTRY_SIZE 20u /* what an entry adds to st_size, as on Linux */

static struct tmpfs_entry *entry_find(const struct tmpfs_inode *dir, const char *name, size_t len)
{
    struct hash_node *n;

    hash_for_each_match (n, &dir->entries, hash_bytes(hash_seed(), name, len)) {
        struct tmpfs_entry *e = hash_entry(n, struct tmpfs_entry, node);

        if (e->len == len && memcmp(e->name, name, len) == 0)
            return e;
    }
    return NULL;
}

static struct tmpfs_entry *entry_alloc(const char *name, size_t len)
{
    struct tmpfs_entry *e = kalloc(sizeof(*e) + len + 1);

    if (!e)
        return NULL;
    e->len = len;
    memcpy(e->name, name, len);
    list_init(&e->link);
    return e;
}

/* Takes over the reference of ino. */
static void entry_insert(struct tmpfs_inode *dir, struct tmpfs_entry *e, struct inode *ino CONSUMES)
{
    e->inode = ino;
    e->cookie = ++dir->next_cookie;
    hash_insert(&dir->entries, &e->node, hash_bytes(hash_seed(), e->name, e->len));
    list_add_tail(&dir->order, &e->link);
    if (dir->inode)
        dir->inode->size += ENTRY_SIZE;
}

void tmpfs_entry_free(struct tmpfs_inode *dir, struct tmpfs_entry *e)
{
    hash_remove(&dir->entries, &e->node);
    list_del_init(&e->link);
    if (dir->inode)
        dir->inode->size -= ENTRY_SIZE;
    kfree(e);
}

int tmpfs_lookup(struct inode *dir, struct dentry *d)
{
    struct tmpfs_entry *e;

    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    e = entry_find(tmpfs_inode_of(dir), d->name, d->name_len);
    if (e)
        dentry_instantiate(d, inode_get(e->inode));
    return 0;
}

static int add_inode(struct inode *dir, struct dentry *d, struct inode *ino CONSUMES)
{
    struct tmpfs_entry *e = dir->dead ? NULL : entry_alloc(d->name, d->name_len);

    if (!e) {
        inode_put(ino);
        return dir->dead ? -ENOENT : -ENOSPC;
    }
    entry_insert(tmpfs_inode_of(dir), e, ino);
    dentry_instantiate(d, inode_get(ino));
    inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
    return 0;
}

static int make(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c,
                struct inode **ret_inode)
{
    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    return tmpfs_inode_new(dir->super, dir, mode, c, ret_inode);
}

int tmpfs_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    return tmpfs_mknod(dir, d, mode, 0, c);
}

int tmpfs_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    int r = tmpfs_mknod(dir, d, LX_S_IFDIR | (mode & LX_S_IALLUGO), 0, c);

    if (r == 0)
        dir->nlink++;
    return r;
}

int tmpfs_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                const struct cred *c)
{
    struct inode *ino;
    int r = make(dir, d, mode, c, &ino);

    if (r < 0)
        return r;
    ino->rdev = rdev;
    return add_inode(dir, d, ino);
}

int tmpfs_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
{
    struct tmpfs_inode *ti;
    struct inode *ino;
    int r = make(dir, d, LX_S_IFLNK | 0777, c, &ino);

    if (r < 0)
        return r;
    ti = tmpfs_inode_of(ino);
    ti->target = kstrdup(target);
    if (!ti->target) {
        inode_put(ino);
        return -ENOMEM;
    }
    ino->size = strlen(target);
    return add_inode(dir, d, ino);
}

int tmpfs_link(struct inode *old, struct inode *dir, struct dentry *d)
{
    int r;

    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    if (old->nlink == UINT32_MAX)
        return -EMLINK;
    r = add_inode(dir, d, inode_get(old));
    if (r < 0)
        return r;
    old->nlink++;
    inode_touch(old, ATTR_CTIME);
    return 0;
}

int tmpfs_tmpfile(struct inode *dir, uint32_t mode, const struct cred *c, struct inode **ret_inode)
{
    int r = tmpfs_inode_new(dir->super, dir, mode, c, ret_inode);

    if (r == 0)
        (*ret_inode)->nlink = 0;
    return r;
}

/* Removes the entry and its inode's name. */
static void drop_entry(struct inode *dir, struct tmpfs_entry *e)
{
    struct inode *ino = e->inode;

    if (LX_S_ISDIR(ino->mode)) {
        ino->nlink = 0;
        dir->nlink--;
    } else if (ino->nlink > 0) {
        ino->nlink--;
    }
    inode_touch(ino, ATTR_CTIME);
    tmpfs_entry_free(tmpfs_inode_of(dir), e);
    inode_put(ino);
}

static int remove_name(struct inode *dir, struct dentry *d)
{
    struct tmpfs_entry *e = entry_find(tmpfs_inode_of(dir), d->name, d->name_len);

    if (!e)
        return -ENOENT;
    drop_entry(dir, e);
    inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
    return 0;
}

int tmpfs_unlink(struct inode *dir, struct dentry *d)
{
    return remove_name(dir, d);
}

static bool is_empty(const struct inode *ino)
{
    return list_empty(&tmpfs_inode_of(ino)->order);
}

int tmpfs_rmdir(struct inode *dir, struct dentry *d)
{
    return is_empty(d->inode) ? remove_name(dir, d) : -ENOTEMPTY;
}

static void exchange(struct inode *odir, struct tmpfs_entry *oe, struct inode *ndir,
                     struct tmpfs_entry *ne)
{
    struct inode *ino = oe->inode;
    bool odd = LX_S_ISDIR(oe->inode->mode) != LX_S_ISDIR(ne->inode->mode);

    oe->inode = ne->inode;
    ne->inode = ino;
    if (odd && odir != ndir) {
        struct inode *gains = LX_S_ISDIR(ino->mode) ? ndir : odir;

        gains->nlink++;
        (gains == ndir ? odir : ndir)->nlink--;
    }
}

/* Moves oe to the name of nd, replacing what is there. */
static int move(struct inode *odir, struct tmpfs_entry *oe, struct inode *ndir, struct dentry *nd,
                struct tmpfs_entry *ne)
{
    struct tmpfs_entry *e;
    struct inode *ino = oe->inode;

    if (nd->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    if (ne && LX_S_ISDIR(ne->inode->mode) && !is_empty(ne->inode))
        return -ENOTEMPTY;
    if (ndir->dead)
        return -ENOENT;
    e = entry_alloc(nd->name, nd->name_len);
    if (!e)
        return -ENOSPC;
    if (ne)
        drop_entry(ndir, ne);
    entry_insert(tmpfs_inode_of(ndir), e, ino);
    tmpfs_entry_free(tmpfs_inode_of(odir), oe);
    if (LX_S_ISDIR(ino->mode)) {
        odir->nlink--;
        ndir->nlink++;
    }
    return 0;
}

int tmpfs_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
                 uint32_t flags)
{
    struct tmpfs_entry *oe = entry_find(tmpfs_inode_of(odir), od->name, od->name_len);
    struct tmpfs_entry *ne = entry_find(tmpfs_inode_of(ndir), nd->name, nd->name_len);
    int r = 0;

    if (flags & LX_RENAME_WHITEOUT)
        return -EINVAL;
    if (!oe || ((flags & LX_RENAME_EXCHANGE) && !ne))
        return -ENOENT;
    if (flags & LX_RENAME_EXCHANGE) {
        exchange(odir, oe, ndir, ne);
        inode_touch(ne->inode, ATTR_CTIME);
    } else {
        r = move(odir, oe, ndir, nd, ne);
    }
    if (r < 0)
        return r;
    inode_touch(odir, ATTR_MTIME | ATTR_CTIME);
    inode_touch(ndir, ATTR_MTIME | ATTR_CTIME);
    inode_touch(od->inode, ATTR_CTIME);
    return 0;
}

/* -- listings
 * --------------------------------------------------------------------------------------- */

/* Positions: 0 and 1 the dots, else 1 + the cookie of the last entry that was emitted. */
static int tmpfs_readdir(struct file *f, struct dir_context *dc)
{
    struct tmpfs_inode *ti = tmpfs_inode_of(f->inode);
    struct tmpfs_entry *e;

    if (!dir_emit_dots(f, dc))
        return 0;
    list_for_each_entry (e, &ti->order, link) {
        if (e->cookie + 1 < f->pos)
            continue;
        if (!dc->emit(dc, e->name, e->len, e->inode->ino, mode_to_dt(e->inode->mode),
                      e->cookie + 2))
            return 0;
        f->pos = e->cookie + 2;
    }
    return 0;
}

static int64_t tmpfs_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT64_MAX);
}

static int tmpfs_dir_fsync(struct file *f, bool datasync)
{
    (void)f;
    (void)datasync;
    return 0;
}

const struct file_ops tmpfs_dir_ops = {
    .seek = tmpfs_dir_seek,
    .readdir = tmpfs_readdir,
    .fsync = tmpfs_dir_fsync,
};
