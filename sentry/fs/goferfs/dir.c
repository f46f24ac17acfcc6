/*
 * Directories. A listing is fetched whole on first use and kept; all listings together are bounded
 * and the least recently used ones go. Positions are 0 for ".", 1 for "..", then 2 + index: the
 * image does not change, so an index means the same entry for ever, also after a listing was
 * dropped and fetched again. A complete listing proves absence, which saves lookups a round trip.
 */
#include "abi/dir.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/hash.h"
#include "sentry/fs/goferfs/goferfs.h"

#define LISTINGS_MAX (16u << 20)
#define LISTING_MAX  (64u << 20)

struct record {
    uint64_t ino;
    uint16_t len;
    uint8_t type;
    /* name follows */
};
#define RECORD_SIZE sizeof(struct record)

static struct {
    struct list_head lru; /* oldest first */
    size_t bytes;
    bool ready;
} listings;

static size_t listing_bytes(const struct gofer_listing *l)
{
    return sizeof(*l) + l->data_cap + ((size_t)l->cap + l->table_size) * sizeof(uint32_t);
}

static void listing_free(struct gofer_listing *l)
{
    if (!l)
        return;
    kfree(l->table);
    kfree(l->offsets);
    kfree(l->data);
    kfree(l);
}

void goferfs_listing_drop(struct gofer_inode *gi)
{
    struct gofer_listing *l = gi->listing;

    if (!l)
        return;
    listings.bytes -= listing_bytes(l);
    list_del_init(&l->lru);
    gi->listing = NULL;
    listing_free(l);
}

static uint32_t name_hash(const char *name, size_t len)
{
    return (uint32_t)hash_bytes(hash_seed(), name, len);
}

static void record_at(const struct gofer_listing *l, uint32_t i, struct record *ret_rec,
                      const char **ret_name)
{
    const uint8_t *p = l->data + l->offsets[i];

    memcpy(ret_rec, p, RECORD_SIZE);
    *ret_name = (const char *)p + RECORD_SIZE;
}

bool goferfs_listing_has(const struct gofer_listing *l, const char *name, size_t len)
{
    uint32_t mask = l->table_size - 1;
    struct record rec;
    const char *text;

    for (uint32_t i = name_hash(name, len) & mask; l->table[i]; i = (i + 1) & mask) {
        record_at(l, l->table[i] - 1, &rec, &text);
        if (rec.len == len && memcmp(text, name, len) == 0)
            return true;
    }
    return false;
}

static int listing_index(struct gofer_listing *l)
{
    uint32_t size = 16;

    while (size < l->n * 2)
        size *= 2;
    l->table = kalloc(size * sizeof(uint32_t));
    if (!l->table)
        return -ENOMEM;
    l->table_size = size;
    for (uint32_t i = 0; i < l->n; i++) {
        struct record rec;
        const char *name;
        uint32_t at;

        record_at(l, i, &rec, &name);
        at = name_hash(name, rec.len) & (size - 1);
        while (l->table[at])
            at = (at + 1) & (size - 1);
        l->table[at] = i + 1;
    }
    return 0;
}

/* Makes room for one more record of n bytes. */
static int listing_grow(struct gofer_listing *l, size_t n)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 32;
        uint32_t *offsets = kalloc(cap * sizeof(uint32_t));

        if (!offsets)
            return -ENOMEM;
        if (l->n)
            memcpy(offsets, l->offsets, l->n * sizeof(uint32_t));
        kfree(l->offsets);
        l->offsets = offsets;
        l->cap = cap;
    }
    if (l->data_len + n > l->data_cap) {
        size_t cap = l->data_cap ? l->data_cap * 2 : 2048;
        uint8_t *data;

        if (cap > LISTING_MAX || !(data = kalloc(cap)))
            return -ENOMEM;
        if (l->data_len)
            memcpy(data, l->data, l->data_len);
        kfree(l->data);
        l->data = data;
        l->data_cap = cap;
    }
    return 0;
}

struct fill {
    struct gofer_listing *l;
    uint64_t cookie;
};

static bool fill_one(void *ctx, const struct gofer_dirent *e)
{
    struct fill *fl = ctx;
    struct gofer_listing *l = fl->l;
    struct record rec = {.ino = e->ino, .len = e->name_len, .type = e->type};
    size_t n = RECORD_SIZE + e->name_len + 1u;

    l->error = listing_grow(l, n);
    if (l->error < 0)
        return false;
    l->offsets[l->n++] = (uint32_t)l->data_len;
    memcpy(l->data + l->data_len, &rec, RECORD_SIZE);
    memcpy(l->data + l->data_len + RECORD_SIZE, e->name, e->name_len);
    l->data[l->data_len + n - 1] = 0;
    l->data_len += n;
    fl->cookie = e->cookie;
    return true;
}

static int listing_load(struct gofer_inode *gi, struct gofer_listing *l)
{
    struct fill fl = {.l = l};
    int64_t n;

    do {
        n = gofer_readdir(gi->fs->client, gi->node, fl.cookie, fill_one, &fl);
        if (n < 0)
            return (int)n;
        if (l->error < 0)
            return l->error;
    } while (n > 0);
    return listing_index(l);
}

int goferfs_listing(struct gofer_inode *gi, struct gofer_listing **ret_l)
{
    struct gofer_listing *l = gi->listing;
    int r;

    if (!listings.ready) {
        list_init(&listings.lru);
        listings.ready = true;
    }
    if (l) {
        list_del_init(&l->lru);
        list_add_tail(&listings.lru, &l->lru);
        *ret_l = l;
        return 0;
    }
    l = kalloc(sizeof(*l));
    if (!l)
        return -ENOMEM;
    l->owner = gi;
    list_init(&l->lru);
    r = listing_load(gi, l);
    if (r < 0) {
        listing_free(l);
        return r;
    }
    while (!list_empty(&listings.lru) && listings.bytes + listing_bytes(l) > LISTINGS_MAX)
        goferfs_listing_drop(list_first(&listings.lru, struct gofer_listing, lru)->owner);
    gi->listing = l;
    listings.bytes += listing_bytes(l);
    list_add_tail(&listings.lru, &l->lru);
    *ret_l = l;
    return 0;
}

static bool listed(void *ctx, const char *name, size_t len)
{
    return goferfs_listing_has(ctx, name, len);
}

static int goferfs_readdir(struct file *f, struct dir_context *dc)
{
    struct dentry *d = f->path.dentry;
    struct gofer_inode *gi = gofer_inode_of(f->inode);
    struct gofer_listing *l;
    int r;

    gi->listed = true;
    if (f->pos == 0) {
        if (!dc->emit(dc, ".", 1, f->inode->ino, LX_DT_DIR, 1))
            return 0;
        f->pos = 1;
    }
    if (f->pos == 1) {
        uint64_t up = d->parent && d->parent->inode ? d->parent->inode->ino : f->inode->ino;

        if (!dc->emit(dc, "..", 2, up, LX_DT_DIR, 2))
            return 0;
        f->pos = 2;
    }
    r = goferfs_listing(gi, &l);
    if (r < 0)
        return r;
    while (f->pos - 2 < l->n) {
        struct record rec;
        const char *name;

        record_at(l, (uint32_t)(f->pos - 2), &rec, &name);
        if (!dc->emit(dc, name, rec.len, rec.ino, rec.type, f->pos + 1))
            return 0;
        f->pos++;
    }
    return mountpoint_readdir(f, dc, 2 + (uint64_t)l->n, listed, l);
}

static int64_t goferfs_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT64_MAX);
}

const struct file_ops goferfs_dir_ops = {
    .seek = goferfs_dir_seek,
    .readdir = goferfs_readdir,
};
