/*
 * Overlay inodes: the two tables, lookup, whiteouts.
 *
 * One upper inode has one overlay inode, pinned while it has a name. A lower inode without upper
 * has one overlay inode too, found by its address, so that two walks to one file meet; except where
 * the lower file has several names: those are separate, because each may be copied up on its own.
 */
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/overlay/overlay.h"
#include "sentry/kernel/limits.h"

static uint64_t pointer_hash(const void *p)
{
    return hash_u64(hash_seed(), (uint64_t)(uintptr_t)p);
}

struct ovl_inode *ovl_find_upper(struct ovl *fs, const struct inode *upper)
{
    struct hash_node *n;

    hash_for_each_match (n, &fs->by_upper, pointer_hash(upper)) {
        struct ovl_inode *oi = hash_entry(n, struct ovl_inode, upper_node);

        if (oi->upper == upper)
            return oi;
    }
    return NULL;
}

static struct ovl_inode *find_lower(struct ovl *fs, const struct inode *lower)
{
    struct hash_node *n;

    hash_for_each_match (n, &fs->by_lower, pointer_hash(lower)) {
        struct ovl_inode *oi = hash_entry(n, struct ovl_inode, lower_node);

        if (oi->lower && oi->lower->inode == lower)
            return oi;
    }
    return NULL;
}

void ovl_leave_lower(struct ovl_inode *oi)
{
    if (oi->in_lower)
        hash_remove(&oi->fs->by_lower, &oi->lower_node);
    oi->in_lower = false;
}

void ovl_pin(struct ovl_inode *oi)
{
    ovl_leave_lower(oi);
    if (oi->in_upper)
        return;
    inode_get(oi->inode);
    hash_insert(&oi->fs->by_upper, &oi->upper_node, pointer_hash(oi->upper));
    list_add_tail(&oi->fs->pinned, &oi->pin_link);
    oi->in_upper = true;
}

void ovl_unpin(struct ovl_inode *oi)
{
    if (!oi->in_upper)
        return;
    hash_remove(&oi->fs->by_upper, &oi->upper_node);
    list_del_init(&oi->pin_link);
    oi->in_upper = false;
    inode_put(oi->inode);
}

void ovl_unpin_if_gone(struct ovl_inode *oi)
{
    if (oi->upper && oi->upper->nlink == 0)
        ovl_unpin(oi);
}

static void whiteouts_free(struct ovl_inode *oi)
{
    struct hash_node *n;

    while ((n = hash_next(&oi->whiteouts, NULL))) {
        hash_remove(&oi->whiteouts, n);
        kfree(hash_entry(n, struct ovl_whiteout, node));
        limit_release(LIMIT_DISK_INODES, 1);
    }
    hash_done(&oi->whiteouts);
}

void ovl_evict(struct inode *ino)
{
    struct ovl_inode *oi = ovl_inode_of(ino);

    if (!oi)
        return;
    ovl_leave_lower(oi);
    whiteouts_free(oi);
    dentry_put(oi->upper_dir);
    inode_put(oi->upper);
    inode_put(oi->copy);
    dentry_put(oi->lower);
    inode_put(oi->parent);
    kfree(oi->name);
    kfree(oi);
    ino->priv = NULL;
}

int ovl_inode_new(struct ovl *fs, struct inode *upper, struct dentry *upper_dir,
                  struct dentry *lower, struct ovl_inode *parent, const struct dentry *d,
                  struct inode **ret_inode)
{
    struct ovl_inode *oi = kalloc(sizeof(*oi));
    const struct inode *real = upper ? upper : lower->inode;
    struct inode *ino;
    int r;

    if (!oi)
        return -ENOMEM;
    if (d) {
        oi->name = kstrndup(d->name, d->name_len);
        if (!oi->name) {
            kfree(oi);
            return -ENOMEM;
        }
    }
    r = inode_new(fs->super, &ovl_inode_ops, real->mode, &ino);
    if (r < 0) {
        kfree(oi->name);
        kfree(oi);
        return r;
    }
    oi->fs = fs;
    oi->inode = ino;
    oi->upper = upper ? inode_get(upper) : NULL;
    oi->upper_dir = upper_dir ? dentry_get(upper_dir) : NULL;
    oi->lower = lower ? dentry_get(lower) : NULL;
    oi->parent = parent ? inode_get(parent->inode) : NULL;
    list_init(&oi->pin_link);
    hash_init(&oi->whiteouts);
    ino->priv = oi;
    ino->ino = lower ? lower->inode->ino : fs->next_ino++;
    ovl_sync(oi);
    if (upper) {
        if (parent)
            ovl_pin(oi);
    } else if (LX_S_ISDIR(real->mode) || real->nlink <= 1) {
        hash_insert(&fs->by_lower, &oi->lower_node, pointer_hash(lower->inode));
        oi->in_lower = true;
    }
    *ret_inode = ino;
    return 0;
}

/* -- whiteouts --------------------------------------------------------------------------------- */

bool ovl_whiteout_has(const struct ovl_inode *dir, const char *name, size_t len)
{
    struct hash_node *n;

    hash_for_each_match (n, &dir->whiteouts, hash_bytes(hash_seed(), name, len)) {
        const struct ovl_whiteout *w = hash_entry(n, struct ovl_whiteout, node);

        if (w->len == len && memcmp(w->name, name, len) == 0)
            return true;
    }
    return false;
}

int ovl_whiteout_add(struct ovl_inode *dir, const char *name, size_t len)
{
    struct ovl_whiteout *w;
    int r;

    if (ovl_whiteout_has(dir, name, len))
        return 0;
    r = limit_charge(LIMIT_DISK_INODES, 1);
    if (r < 0)
        return r;
    w = kalloc(sizeof(*w) + len);
    if (!w) {
        limit_release(LIMIT_DISK_INODES, 1);
        return -ENOMEM;
    }
    w->len = len;
    memcpy(w->name, name, len);
    hash_insert(&dir->whiteouts, &w->node, hash_bytes(hash_seed(), name, len));
    return 0;
}

/* The lower dentry of a name that is not whited out: counted, or NULL. */
static int lower_child(struct ovl_inode *dir, const char *name, size_t len, struct dentry **ret_d)
{
    struct dentry *d;
    int r;

    *ret_d = NULL;
    if (!dir->lower || ovl_whiteout_has(dir, name, len))
        return 0;
    r = dentry_lookup(dir->lower, name, len, &d);
    if (r < 0)
        return r;
    if (d->inode)
        *ret_d = d;
    else
        dentry_put(d);
    return 0;
}

int ovl_lower_has(struct ovl_inode *dir, const char *name, size_t len, bool *ret)
{
    struct dentry *d;
    int r = lower_child(dir, name, len, &d);

    if (r < 0)
        return r;
    *ret = d != NULL;
    dentry_put(d);
    return 0;
}

/* -- lookup ------------------------------------------------------------------------------------ */

static int lookup_lower(struct ovl_inode *dir, struct dentry *d)
{
    struct ovl_inode *known;
    struct dentry *lower;
    struct inode *ino;
    int r = lower_child(dir, d->name, d->name_len, &lower);

    if (r < 0 || !lower)
        return r;
    known = find_lower(dir->fs, lower->inode);
    if (known)
        ino = inode_get(known->inode);
    else
        r = ovl_inode_new(dir->fs, NULL, NULL, lower, dir, d, &ino);
    dentry_put(lower);
    if (r == 0)
        dentry_instantiate(d, ino);
    return r;
}

int ovl_lookup(struct inode *dir, struct dentry *d)
{
    struct ovl_inode *od = ovl_inode_of(dir), *oi;
    struct dentry *upper;
    int r;

    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    if (!od->upper_dir)
        return lookup_lower(od, d);
    r = dentry_lookup(od->upper_dir, d->name, d->name_len, &upper);
    if (r < 0)
        return r;
    oi = upper->inode ? ovl_find_upper(od->fs, upper->inode) : NULL;
    r = 0;
    if (oi)
        dentry_instantiate(d, inode_get(oi->inode));
    else if (upper->inode)
        r = -EIO;
    dentry_put(upper);
    return r < 0 || d->inode ? r : lookup_lower(od, d);
}
