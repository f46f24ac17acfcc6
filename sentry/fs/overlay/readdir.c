/*
 * Merged listings. The first read of a directory (or the first after a seek to the start) takes a
 * snapshot of upper and lower names; positions are 2 + index into it. So a program that removes
 * what it reads meets every entry once, though the directory may change from lower-only to merged
 * under its feet.
 */
#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/overlay/overlay.h"

#define SNAPSHOT_MAX (64u << 20)

struct entry {
    struct hash_node node;
    uint64_t ino;
    uint32_t type;
    uint32_t len;
    char name[];
};

struct snapshot {
    struct entry **entries;
    size_t n, cap;
    size_t bytes;
    struct hash_table names;
    bool filled;
};

static void snapshot_done(struct snapshot *s)
{
    for (size_t i = 0; i < s->n; i++) {
        hash_remove(&s->names, &s->entries[i]->node);
        kfree(s->entries[i]);
    }
    hash_done(&s->names);
    kfree(s->entries);
    memset(s, 0, sizeof(*s));
    hash_init(&s->names);
}

static bool snapshot_has(const struct snapshot *s, const char *name, size_t len, uint64_t hash)
{
    struct hash_node *n;

    hash_for_each_match (n, &s->names, hash) {
        const struct entry *e = hash_entry(n, struct entry, node);

        if (e->len == len && memcmp(e->name, name, len) == 0)
            return true;
    }
    return false;
}

static int snapshot_add(struct snapshot *s, const char *name, size_t len, uint64_t ino,
                        uint32_t type)
{
    uint64_t hash = hash_bytes(hash_seed(), name, len);
    struct entry *e;

    if (snapshot_has(s, name, len, hash))
        return 0;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 32;
        struct entry **grown = krealloc(s->entries, cap * sizeof(struct entry *));

        if (!grown)
            return -ENOMEM;
        s->entries = grown;
        s->cap = cap;
    }
    s->bytes += sizeof(*e) + len + 1;
    e = s->bytes <= SNAPSHOT_MAX ? kalloc(sizeof(*e) + len + 1) : NULL;
    if (!e)
        return -ENOMEM;
    e->ino = ino;
    e->type = type;
    e->len = (uint32_t)len;
    memcpy(e->name, name, len);
    hash_insert(&s->names, &e->node, hash);
    s->entries[s->n++] = e;
    return 0;
}

/* Collects one layer's entries. */
struct collect {
    struct dir_context dc;
    struct snapshot *to;
    struct ovl_inode *dir;
    bool upper, stop_at_first;
    int error;
};

/* The number that stat shows for an upper entry. */
static uint64_t upper_number(struct ovl_inode *dir, const char *name, size_t len, uint64_t ino)
{
    struct ovl_inode *oi;
    struct dentry *ud;

    if (dentry_lookup(dir->upper_dir, name, len, &ud) < 0)
        return ino;
    oi = ud->inode ? ovl_find_upper(dir->fs, ud->inode) : NULL;
    if (oi)
        ino = oi->inode->ino;
    dentry_put(ud);
    return ino;
}

static bool collect_one(struct dir_context *dc, const char *name, size_t len, uint64_t ino,
                        uint32_t type, uint64_t next_pos)
{
    struct collect *c = container_of(dc, struct collect, dc);

    (void)next_pos;
    if ((len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.'))
        return true;
    if (!c->upper && ovl_whiteout_has(c->dir, name, len))
        return true;
    if (c->upper)
        ino = upper_number(c->dir, name, len, ino);
    c->error = snapshot_add(c->to, name, len, ino, type);
    return c->error == 0 && !c->stop_at_first;
}

static int collect_layer(struct collect *c, struct mount *mnt, struct dentry *d)
{
    struct path p = {mnt, d};
    struct file *f;
    int r = vfs_open_path(&p, LX_O_RDONLY | LX_O_DIRECTORY, c->dir->fs->cred, &f);

    if (r < 0)
        return r;
    r = f->ops->readdir ? f->ops->readdir(f, &c->dc) : -ENOTDIR;
    file_put(f);
    return r < 0 ? r : c->error;
}

static int collect_all(struct ovl_inode *dir, struct snapshot *s, bool stop_at_first)
{
    struct collect c = {
        .dc = {.emit = collect_one}, .to = s, .dir = dir, .stop_at_first = stop_at_first};
    int r = 0;

    if (dir->upper_dir) {
        c.upper = true;
        r = collect_layer(&c, dir->fs->upper_mnt, dir->upper_dir);
    }
    if (r == 0 && dir->lower && !(stop_at_first && s->n)) {
        c.upper = false;
        r = collect_layer(&c, dir->fs->lower_mnt, dir->lower);
    }
    return r;
}

int ovl_dir_empty(struct ovl_inode *dir)
{
    struct snapshot s = {.n = 0};
    int r;

    hash_init(&s.names);
    r = collect_all(dir, &s, true);
    if (r == 0 && s.n)
        r = -ENOTEMPTY;
    snapshot_done(&s);
    return r;
}

static int ovl_readdir(struct file *f, struct dir_context *dc)
{
    struct snapshot *s = f->priv;
    int r;

    if (!s) {
        s = kalloc(sizeof(*s));
        if (!s)
            return -ENOMEM;
        hash_init(&s->names);
        f->priv = s;
    }
    if (f->pos == 0 || !s->filled) {
        snapshot_done(s);
        r = f->inode->dead ? 0 : collect_all(ovl_inode_of(f->inode), s, false);
        if (r < 0)
            return r;
        s->filled = true;
    }
    if (f->pos < 2 && !dir_emit_dots(f, dc))
        return 0;
    while (f->pos - 2 < s->n) {
        const struct entry *e = s->entries[f->pos - 2];

        if (!dc->emit(dc, e->name, e->len, e->ino, e->type, f->pos + 1))
            return 0;
        f->pos++;
    }
    return 0;
}

static int64_t ovl_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT64_MAX);
}

static void ovl_dir_release(struct file *f)
{
    if (f->priv)
        snapshot_done(f->priv);
    kfree(f->priv);
    f->priv = NULL;
}

static int ovl_dir_fsync(struct file *f, bool datasync)
{
    (void)f;
    (void)datasync;
    return 0;
}

const struct file_ops ovl_dir_ops = {
    .seek = ovl_dir_seek,
    .readdir = ovl_readdir,
    .release = ovl_dir_release,
    .fsync = ovl_dir_fsync,
};
