/*
 * The dentry cache. A dentry is found by (parent, name) in one hash table whose key is the name's
 * hash seeded with the parent's address, so a move hashes again and nothing below it does. A child
 * holds its parent, therefore only leaves are ever unreferenced; those wait on the LRU list, oldest
 * first, until they are used again or pushed out by the cap or by LIMIT_DENTRIES. File systems keep
 * their own truth, so any unreferenced dentry may go at any time.
 *
 * Everything that frees climbs or descends in loops: a chain may be as deep as a guest likes.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/inotify.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/limits.h"

enum {
    LRU_MAX = 20000,
    SHRINK_BATCH = 64
};

static struct hash_table dcache;
static struct list_head lru = {&lru, &lru};
static uint32_t lru_count;

static uint64_t name_hash(const struct dentry *parent, const char *name, size_t len)
{
    return hash_bytes(hash_seed() ^ (uint64_t)(uintptr_t)parent, name, len);
}

static void dentry_hash(struct dentry *d)
{
    if (!dcache.nbuckets)
        hash_init(&dcache);
    hash_insert(&dcache, &d->node, name_hash(d->parent, d->name, d->name_len));
    d->hashed = true;
}

static void dentry_unhash(struct dentry *d)
{
    if (!d->hashed)
        return;
    hash_remove(&dcache, &d->node);
    d->hashed = false;
    if (dcache.count == 0)
        hash_done(&dcache);
}

static void lru_add(struct dentry *d)
{
    list_add_tail(&lru, &d->lru);
    lru_count++;
}

static void lru_del(struct dentry *d)
{
    if (list_empty(&d->lru))
        return;
    list_del_init(&d->lru);
    lru_count--;
}

static bool worth_keeping(const struct dentry *d)
{
    const struct super *sb = d->super;

    if (d->inode && d->inode->made_up)
        return false;
    return d->hashed && sb->root && !(sb->ops && sb->ops->drop_dentry && sb->ops->drop_dentry(d));
}

/* Frees an unreferenced d; its reference on the parent is taken back, which may leave that one
 * unreferenced. Returns the parent. */
static struct dentry *dentry_free(struct dentry *d)
{
    struct dentry *parent = d->parent;
    struct inode *ino = d->inode;

    dentry_unhash(d);
    lru_del(d);
    list_del_init(&d->sibling);
    if (ino && d->unlinked && ino->nlink == 0)
        inotify_inode_removed(ino);
    inode_put(ino);
    if (d->name != d->short_name)
        kfree(d->name);
    kfree(d);
    limit_release(LIMIT_DENTRIES, 1);
    if (parent)
        parent->ref--;
    return parent;
}

/* d has become unreferenced: keep it, or free it and climb. */
static void dentry_release(struct dentry *d)
{
    while (d && d->ref == 0) {
        if (worth_keeping(d)) {
            lru_add(d);
            return;
        }
        d = dentry_free(d);
    }
}

static void shrink(uint32_t n)
{
    while (n-- > 0 && !list_empty(&lru))
        dentry_release(dentry_free(list_first(&lru, struct dentry, lru)));
}

static struct dentry *next_sibling(const struct dentry *d)
{
    if (d->sibling.next == &d->parent->children)
        return NULL;
    return list_entry(d->sibling.next, struct dentry, sibling);
}

void dentry_prune(struct dentry *top)
{
    struct dentry *cur = top;
    bool down = true;

    for (;;) {
        struct dentry *parent, *next;

        if (down && !list_empty(&cur->children)) {
            cur = list_first(&cur->children, struct dentry, sibling);
            continue;
        }
        if (cur == top)
            return;
        parent = cur->parent;
        next = next_sibling(cur);
        if (cur->ref == 0)
            dentry_free(cur);
        cur = next ? next : parent;
        down = next != NULL;
    }
}

static int dentry_alloc(struct super *sb, const char *name, size_t len, struct dentry **ret_d)
{
    struct dentry *d;

    if (lru_count >= LRU_MAX)
        shrink(lru_count - LRU_MAX + 1);
    if (limit_charge(LIMIT_DENTRIES, 1) < 0) {
        shrink(SHRINK_BATCH);
        if (limit_charge(LIMIT_DENTRIES, 1) < 0)
            return -ENOMEM;
    }
    d = kalloc(sizeof(*d));
    if (!d)
        goto fail_limit;
    d->name = d->short_name;
    if (len >= sizeof(d->short_name)) {
        d->name = kalloc(len + 1);
        if (!d->name)
            goto fail_dentry;
    }
    memcpy(d->name, name, len);
    d->name_len = (uint32_t)len;
    d->ref = 1;
    d->super = sb;
    list_init(&d->sibling);
    list_init(&d->children);
    list_init(&d->lru);
    *ret_d = d;
    return 0;

fail_dentry:
    kfree(d);
fail_limit:
    limit_release(LIMIT_DENTRIES, 1);
    return -ENOMEM;
}

int dentry_new_root(struct super *sb, struct inode *root, struct dentry **ret_d)
{
    struct dentry *d;
    int r = dentry_alloc(sb, "", 0, &d);

    if (r < 0) {
        inode_put(root);
        return r;
    }
    d->inode = root;
    *ret_d = d;
    return 0;
}

static void attach(struct dentry *d, struct dentry *parent)
{
    d->parent = dentry_get(parent);
    list_add_tail(&parent->children, &d->sibling);
}

int dentry_new(struct dentry *parent, const char *name, size_t len, struct dentry **ret_d)
{
    struct dentry *d;
    int r = dentry_alloc(parent->super, name, len, &d);

    if (r < 0)
        return r;
    attach(d, parent);
    dentry_hash(d);
    *ret_d = d;
    return 0;
}

int dentry_new_unlinked(struct dentry *parent, const char *name, struct inode *ino,
                        struct dentry **ret_d)
{
    struct dentry *d;
    int r = dentry_alloc(parent->super, name, strlen(name), &d);

    if (r < 0) {
        inode_put(ino);
        return r;
    }
    attach(d, parent);
    d->inode = ino;
    d->unlinked = true;
    *ret_d = d;
    return 0;
}

struct dentry *dentry_cached(struct dentry *parent, const char *name, size_t len)
{
    struct hash_node *n;

    if (!dcache.nbuckets)
        return NULL;
    hash_for_each_match (n, &dcache, name_hash(parent, name, len)) {
        struct dentry *d = hash_entry(n, struct dentry, node);

        if (d->parent == parent && d->name_len == len && memcmp(d->name, name, len) == 0)
            return dentry_get(d);
    }
    return NULL;
}

int dentry_lookup(struct dentry *parent, const char *name, size_t len, struct dentry **ret_d)
{
    const struct inode_ops *ops = parent->inode ? parent->inode->ops : NULL;
    struct dentry *d = dentry_cached(parent, name, len);
    int r;

    if (d) {
        /* What is mounted on something stays where it is. */
        if (!ops || !ops->revalidate || d->nmounts || (d->inode && d->inode->made_up) ||
            ops->revalidate(d)) {
            *ret_d = d;
            return 0;
        }
        dentry_drop(d);
        dentry_put(d);
    }
    if (!ops || !ops->lookup)
        return -ENOTDIR;
    r = dentry_new(parent, name, len, &d);
    if (r < 0)
        return r;
    r = ops->lookup(parent->inode, d);
    if (r < 0) {
        dentry_drop(d);
        dentry_put(d);
        return r;
    }
    *ret_d = d;
    return 0;
}

struct dentry *dentry_get(struct dentry *d)
{
    if (d->ref++ == 0)
        lru_del(d);
    return d;
}

void dentry_put(struct dentry *d)
{
    if (!d)
        return;
    KASSERT(d->ref > 0);
    if (--d->ref == 0)
        dentry_release(d);
}

void dentry_instantiate(struct dentry *d, struct inode *ino)
{
    KASSERT(!d->inode);
    d->inode = ino;
}

void dentry_drop(struct dentry *d)
{
    dentry_unhash(d);
    d->unlinked = true;
    dentry_prune(d);
}

/* Exchanges the names; the hash is the caller's business. */
static void swap_names(struct dentry *a, struct dentry *b)
{
    char short_name[sizeof(a->short_name)];
    char *a_long = a->name == a->short_name ? NULL : a->name;
    char *b_long = b->name == b->short_name ? NULL : b->name;
    uint32_t len = a->name_len;

    memcpy(short_name, a->short_name, sizeof(short_name));
    memcpy(a->short_name, b->short_name, sizeof(short_name));
    memcpy(b->short_name, short_name, sizeof(short_name));
    a->name = b_long ? b_long : a->short_name;
    b->name = a_long ? a_long : b->short_name;
    a->name_len = b->name_len;
    b->name_len = len;
}

/* Exchanges the places in the tree: each counted parent changes hands. */
static void swap_parents(struct dentry *a, struct dentry *b)
{
    struct dentry *parent = a->parent;

    a->parent = b->parent;
    b->parent = parent;
    list_del_init(&a->sibling);
    list_del_init(&b->sibling);
    list_add_tail(&a->parent->children, &a->sibling);
    list_add_tail(&b->parent->children, &b->sibling);
}

void dentry_move(struct dentry *d, struct dentry *target)
{
    dentry_drop(target);
    dentry_unhash(d);
    swap_names(d, target);
    swap_parents(d, target);
    dentry_hash(d);
}

void dentry_exchange(struct dentry *a, struct dentry *b)
{
    dentry_unhash(a);
    dentry_unhash(b);
    swap_names(a, b);
    swap_parents(a, b);
    dentry_hash(a);
    dentry_hash(b);
}

bool dentry_is_dir(const struct dentry *d)
{
    return d->inode && LX_S_ISDIR(d->inode->mode);
}

bool dentry_is_symlink(const struct dentry *d)
{
    return d->inode && LX_S_ISLNK(d->inode->mode);
}
