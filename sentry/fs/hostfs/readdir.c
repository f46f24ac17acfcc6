/*
 * Directories. An open one takes a listing when it is read from the start, and keeps it until it is
 * rewound or closed: names that go or come meanwhile may be seen or not, as POSIX has it, and no
 * entry comes twice. All listings together are bounded.
 */
#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/hostfs/hostfs.h"

enum {
    LISTINGS_MAX = 64 << 20, /* bytes of all of them */
    FIRST_CAP = 4096
};

struct record {
    uint64_t ino;
    uint16_t len;
    uint8_t type;
    /* the name follows */
};

struct listing {
    uint8_t *data;
    size_t len, cap;
    int error;
    uint64_t cookie; /* while it is filled */
    uint64_t index;  /* of the record at `at` */
    size_t at;
};

static size_t listings_bytes;

static void listing_free(struct listing *l)
{
    if (!l)
        return;
    listings_bytes -= l->cap;
    kfree(l->data);
    kfree(l);
}

static int grow(struct listing *l, size_t n)
{
    size_t cap = l->cap ? l->cap : FIRST_CAP;

    while (cap < l->len + n)
        cap *= 2;
    if (cap == l->cap)
        return 0;
    if (listings_bytes - l->cap + cap > LISTINGS_MAX)
        return -ENOMEM;
    uint8_t *data = krealloc(l->data, cap);
    if (!data)
        return -ENOMEM;
    listings_bytes += cap - l->cap;
    l->data = data;
    l->cap = cap;
    return 0;
}

static bool fill_one(void *ctx, const struct gofer_dirent *e)
{
    struct listing *l = ctx;
    struct record rec = {.ino = e->ino, .len = e->name_len, .type = e->type};

    l->error = grow(l, sizeof(rec) + e->name_len);
    if (l->error < 0)
        return false;
    memcpy(l->data + l->len, &rec, sizeof(rec));
    memcpy(l->data + l->len + sizeof(rec), e->name, e->name_len);
    l->len += sizeof(rec) + e->name_len;
    l->cookie = e->cookie;
    return true;
}

static int listing_new(struct host_inode *hi, struct listing **ret_l)
{
    struct listing *l = kalloc(sizeof(*l));
    int64_t n;

    if (!l)
        return -ENOMEM;
    do
        n = volume_client_readdir(hi->fs->client, hi->node, l->cookie, fill_one, l);
    while (n > 0 && l->error == 0);
    if (n < 0 || l->error < 0) {
        n = n < 0 ? n : l->error;
        listing_free(l);
        return (int)n;
    }
    *ret_l = l;
    return 0;
}

/* Makes l->at the record number index, or its end. */
static void listing_go(struct listing *l, uint64_t index)
{
    struct record rec;

    if (index < l->index) {
        l->index = 0;
        l->at = 0;
    }
    while (l->index < index && l->at < l->len) {
        memcpy(&rec, l->data + l->at, sizeof(rec));
        l->at += sizeof(rec) + rec.len;
        l->index++;
    }
}

static bool contains(void *ctx, const char *name, size_t len)
{
    const struct listing *l = ctx;
    struct record rec;

    for (size_t at = 0; at < l->len; at += sizeof(rec) + rec.len) {
        memcpy(&rec, l->data + at, sizeof(rec));
        if (rec.len == len && memcmp(l->data + at + sizeof(rec), name, len) == 0)
            return true;
    }
    return false;
}

static int hostfs_readdir(struct file *f, struct dir_context *dc)
{
    struct listing *l = f->priv;
    struct record rec;

    if (f->pos == 0) {
        listing_free(l);
        f->priv = l = NULL;
    }
    if (!dir_emit_dots(f, dc))
        return 0;
    if (!l) {
        int r = listing_new(host_inode_of(f->inode), &l);

        if (r < 0)
            return r;
        KASSERT(l != NULL);
        f->priv = l;
    }
    for (listing_go(l, f->pos - 2); l->at < l->len; listing_go(l, f->pos - 2)) {
        memcpy(&rec, l->data + l->at, sizeof(rec));
        if (!dc->emit(dc, (const char *)l->data + l->at + sizeof(rec), rec.len, rec.ino, rec.type,
                      f->pos + 1))
            return 0;
        f->pos++;
    }
    return mountpoint_readdir(f, dc, 2 + l->index, contains, l);
}

static int64_t hostfs_dir_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT64_MAX);
}

static int hostfs_dir_fsync(struct file *f, bool datasync)
{
    struct host_inode *hi = host_inode_of(f->inode);

    (void)datasync;
    return f->inode->super->readonly ? 0 : volume_client_sync(hi->fs->client, hi->node);
}

static void hostfs_dir_release(struct file *f)
{
    listing_free(f->priv);
    f->priv = NULL;
}

const struct file_ops hostfs_dir_ops = {
    .seek = hostfs_dir_seek,
    .readdir = hostfs_readdir,
    .fsync = hostfs_dir_fsync,
    .release = hostfs_dir_release,
};
