/*
 * Changes of the name space. Each first gives the directory an upper (and what is moved or linked),
 * then works on the upper directory through the upper file system's own operations; names that the
 * lower layer shows are whited out before they are removed or moved away. A whiteout stays when the
 * name is used again: an upper entry comes first in lookups anyway.
 */
#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/overlay/overlay.h"

/* The upper directory of dir and the upper dentry for d's name. */
static int upper_entry(struct inode *dir, const struct dentry *d, struct dentry **ret_ud)
{
    struct ovl_inode *od = ovl_inode_of(dir);
    int r = ovl_copy_up(od, UINT64_MAX);

    return r < 0 ? r : dentry_lookup(od->upper_dir, d->name, d->name_len, ret_ud);
}

/* The upper entry was just made: gives d its overlay inode. On failure the entry is removed. */
static int adopt(struct inode *dir, struct dentry *d, struct dentry *ud)
{
    struct ovl_inode *od = ovl_inode_of(dir);
    bool is_dir = LX_S_ISDIR(ud->inode->mode);
    struct inode *ino;
    int r = ovl_inode_new(od->fs, ud->inode, is_dir ? ud : NULL, NULL, od, d, &ino);

    if (r < 0) {
        int undo =
            is_dir ? od->upper->ops->rmdir(od->upper, ud) : od->upper->ops->unlink(od->upper, ud);

        (void)undo;
        dentry_drop(ud);
        return r;
    }
    dentry_instantiate(d, ino);
    ovl_refresh(od);
    return 0;
}

int ovl_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    struct dentry *ud;
    int r = upper_entry(dir, d, &ud);

    if (r < 0)
        return r;
    dir = ovl_inode_of(dir)->inode;
    r = ovl_inode_of(dir)->upper->ops->create(ovl_inode_of(dir)->upper, ud, mode, c);
    if (r == 0)
        r = adopt(dir, d, ud);
    dentry_put(ud);
    return r;
}

int ovl_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    struct dentry *ud;
    int r = upper_entry(dir, d, &ud);

    if (r < 0)
        return r;
    r = ovl_inode_of(dir)->upper->ops->mkdir(ovl_inode_of(dir)->upper, ud, mode, c);
    if (r == 0)
        r = adopt(dir, d, ud);
    dentry_put(ud);
    return r;
}

int ovl_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
              const struct cred *c)
{
    struct dentry *ud;
    int r = upper_entry(dir, d, &ud);

    if (r < 0)
        return r;
    r = ovl_inode_of(dir)->upper->ops->mknod(ovl_inode_of(dir)->upper, ud, mode, rdev, c);
    if (r == 0)
        r = adopt(dir, d, ud);
    dentry_put(ud);
    return r;
}

int ovl_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
{
    struct dentry *ud;
    int r = upper_entry(dir, d, &ud);

    if (r < 0)
        return r;
    r = ovl_inode_of(dir)->upper->ops->symlink(ovl_inode_of(dir)->upper, ud, target, c);
    if (r == 0)
        r = adopt(dir, d, ud);
    dentry_put(ud);
    return r;
}

int ovl_link(struct inode *old, struct inode *dir, struct dentry *d)
{
    struct ovl_inode *oi = ovl_inode_of(old);
    struct dentry *ud;
    int r = ovl_copy_up(oi, UINT64_MAX);

    if (r == 0)
        r = upper_entry(dir, d, &ud);
    if (r != 0)
        return r;
    r = ovl_inode_of(dir)->upper->ops->link(oi->upper, ovl_inode_of(dir)->upper, ud);
    if (r == 0) {
        ovl_pin(oi);
        dentry_instantiate(d, inode_get(old));
        ovl_refresh(oi);
        ovl_refresh(ovl_inode_of(dir));
    }
    dentry_put(ud);
    return r;
}

int ovl_tmpfile(struct inode *dir, uint32_t mode, const struct cred *c, struct inode **ret_inode)
{
    struct ovl_inode *od = ovl_inode_of(dir), *oi;
    struct inode *upper, *ino;
    int r = ovl_copy_up(od, UINT64_MAX);

    if (r < 0)
        return r;
    if (!od->upper->ops->tmpfile)
        return -EOPNOTSUPP;
    r = od->upper->ops->tmpfile(od->upper, mode, c, &upper);
    if (r < 0)
        return r;
    /* Without a parent it is not pinned: nothing but the open file keeps it. */
    r = ovl_inode_new(od->fs, upper, NULL, NULL, NULL, NULL, &ino);
    inode_put(upper);
    if (r < 0)
        return r;
    oi = ovl_inode_of(ino);
    ovl_refresh(oi);
    *ret_inode = ino;
    return 0;
}

/* Takes the name away from the upper layer, if it is there. */
static int remove_upper(struct ovl_inode *od, struct ovl_inode *oi, const struct dentry *d)
{
    struct dentry *ud;
    int r;

    if (!oi->upper)
        return 0;
    r = dentry_lookup(od->upper_dir, d->name, d->name_len, &ud);
    if (r < 0)
        return r;
    if (ud->inode != oi->upper)
        r = -EIO;
    else if (LX_S_ISDIR(oi->upper->mode))
        r = od->upper->ops->rmdir(od->upper, ud);
    else
        r = od->upper->ops->unlink(od->upper, ud);
    if (r == 0)
        dentry_drop(ud);
    dentry_put(ud);
    return r;
}

static int remove_entry(struct inode *dir, struct dentry *d)
{
    struct ovl_inode *od = ovl_inode_of(dir), *oi = ovl_inode_of(d->inode);
    bool lower = false;
    int r = ovl_copy_up(od, UINT64_MAX);

    if (r == 0)
        r = ovl_lower_has(od, d->name, d->name_len, &lower);
    if (r == 0 && lower)
        r = ovl_whiteout_add(od, d->name, d->name_len);
    if (r == 0)
        r = remove_upper(od, oi, d);
    if (r < 0)
        return r;
    if (!oi->upper) {
        oi->lost_names += LX_S_ISDIR(d->inode->mode) ? 2 : 1;
        inode_touch(od->upper, ATTR_MTIME | ATTR_CTIME);
        inode_touch(d->inode, ATTR_CTIME);
    }
    ovl_refresh(oi);
    ovl_refresh(od);
    if (oi->upper && (oi->upper->nlink == 0 || LX_S_ISDIR(oi->upper->mode))) {
        d->inode->nlink = 0;
        ovl_unpin(oi);
    } else if (LX_S_ISDIR(d->inode->mode)) {
        d->inode->nlink = 0;
    }
    return 0;
}

int ovl_unlink(struct inode *dir, struct dentry *d)
{
    return remove_entry(dir, d);
}

int ovl_rmdir(struct inode *dir, struct dentry *d)
{
    int r = ovl_dir_empty(ovl_inode_of(d->inode));

    return r < 0 ? r : remove_entry(dir, d);
}

/* -- rename ------------------------------------------------------------------------------------ */

struct rename {
    struct ovl_inode *odir, *ndir, *oi, *ti; /* ti: what is replaced, or NULL */
    struct dentry *od, *nd, *uod, *und;
    uint32_t flags;
};

/* uod and und are the caller's to put, whatever comes of it. */
static int rename_prepare(struct rename *rn)
{
    bool lower = false;
    int r = ovl_copy_up(rn->oi, UINT64_MAX);

    if (r == 0)
        r = ovl_copy_up(rn->odir, UINT64_MAX);
    if (r == 0)
        r = ovl_copy_up(rn->ndir, UINT64_MAX);
    if (r == 0 && rn->ti && (rn->flags & LX_RENAME_EXCHANGE))
        r = ovl_copy_up(rn->ti, UINT64_MAX);
    else if (r == 0 && rn->ti && LX_S_ISDIR(rn->ti->inode->mode))
        r = ovl_dir_empty(rn->ti);
    if (r < 0)
        return r;
    if (!(rn->flags & LX_RENAME_EXCHANGE)) {
        r = ovl_lower_has(rn->odir, rn->od->name, rn->od->name_len, &lower);
        if (r == 0 && lower)
            r = ovl_whiteout_add(rn->odir, rn->od->name, rn->od->name_len);
        if (r < 0)
            return r;
    }
    r = dentry_lookup(rn->odir->upper_dir, rn->od->name, rn->od->name_len, &rn->uod);
    if (r < 0)
        return r;
    r = dentry_lookup(rn->ndir->upper_dir, rn->nd->name, rn->nd->name_len, &rn->und);
    if (r < 0)
        return r;
    return rn->uod->inode ? 0 : -EIO;
}

static void rename_finish(struct rename *rn)
{
    if (rn->flags & LX_RENAME_EXCHANGE)
        dentry_exchange(rn->uod, rn->und);
    else
        dentry_move(rn->uod, rn->und);
    ovl_refresh(rn->odir);
    ovl_refresh(rn->ndir);
    ovl_refresh(rn->oi);
    if (!rn->ti)
        return;
    if (!(rn->flags & LX_RENAME_EXCHANGE) && !rn->ti->upper)
        rn->ti->lost_names += LX_S_ISDIR(rn->ti->inode->mode) ? 2 : 1;
    ovl_refresh(rn->ti);
    if (rn->flags & LX_RENAME_EXCHANGE)
        return;
    if (LX_S_ISDIR(rn->ti->inode->mode))
        rn->ti->inode->nlink = 0;
    if (rn->ti->upper && (rn->ti->upper->nlink == 0 || LX_S_ISDIR(rn->ti->upper->mode)))
        ovl_unpin(rn->ti);
}

int ovl_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
               uint32_t flags)
{
    struct rename rn = {
        .odir = ovl_inode_of(odir),
        .ndir = ovl_inode_of(ndir),
        .oi = ovl_inode_of(od->inode),
        .ti = nd->inode ? ovl_inode_of(nd->inode) : NULL,
        .od = od,
        .nd = nd,
        .flags = flags,
    };
    int r;

    if (flags & LX_RENAME_WHITEOUT)
        return -EINVAL;
    r = rename_prepare(&rn);
    if (r == 0) {
        r = rn.odir->upper->ops->rename(rn.odir->upper, rn.uod, rn.ndir->upper, rn.und,
                                        flags & LX_RENAME_EXCHANGE);
        if (r == 0)
            rename_finish(&rn);
    }
    dentry_put(rn.uod);
    dentry_put(rn.und);
    return r;
}
