/*
 * Rename. The checks are Linux's, in its order; the file system then changes its directories and
 * the dentries follow: the old one takes the new one's place, or the two are exchanged.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"

#include "sentry/fs/vfs.h"

static uint32_t next_cookie;

static bool is_ancestor(const struct dentry *a, const struct dentry *d)
{
    while (d && d != a)
        d = d->parent;
    return d != NULL;
}

static int check_places(const struct parent_lookup *from, const struct parent_lookup *to,
                        uint32_t flags)
{
    if (from->parent.mnt != to->parent.mnt)
        return -EXDEV;
    if (from->last != LAST_NORM)
        return -EBUSY;
    if (to->last != LAST_NORM)
        return flags & LX_RENAME_NOREPLACE ? -EEXIST : -EBUSY;
    return mount_writable(from->parent.mnt);
}

static int check_names(const struct parent_lookup *from, const struct parent_lookup *to,
                       uint32_t flags)
{
    bool exchange = flags & LX_RENAME_EXCHANGE;
    bool old_dir = dentry_is_dir(from->d), new_dir = dentry_is_dir(to->d);

    if (!from->d->inode)
        return -ENOENT;
    if ((flags & LX_RENAME_NOREPLACE) && to->d->inode)
        return -EEXIST;
    if (exchange) {
        if (!to->d->inode)
            return -ENOENT;
        if (!new_dir && to->trailing_slash)
            return -ENOTDIR;
    }
    if (!old_dir && (from->trailing_slash || (!exchange && to->trailing_slash)))
        return -ENOTDIR;
    if (old_dir && is_ancestor(from->d, to->parent.dentry))
        return -EINVAL;
    if (to->d->inode && is_ancestor(to->d, from->parent.dentry))
        return exchange ? -EINVAL : -ENOTEMPTY;
    return 0;
}

static int check_permission(const struct parent_lookup *from, const struct parent_lookup *to,
                            uint32_t flags, const struct cred *c)
{
    bool exchange = flags & LX_RENAME_EXCHANGE;
    bool old_dir = dentry_is_dir(from->d), new_dir = dentry_is_dir(to->d);
    int r = may_delete(&from->parent, from->d, old_dir, c);

    if (r == 0 && !to->d->inode)
        r = may_create(&to->parent, c);
    else if (r == 0)
        r = may_delete(&to->parent, to->d, exchange ? new_dir : old_dir, c);
    if (r < 0)
        return r;
    if (from->parent.dentry == to->parent.dentry)
        return 0;
    /* A directory that moves has its ".." rewritten. */
    if (old_dir)
        r = inode_permission(from->d->inode, c, LX_W_OK);
    if (r == 0 && exchange && new_dir)
        r = inode_permission(to->d->inode, c, LX_W_OK);
    return r;
}

static void notify_arrival(const struct parent_lookup *to, struct dentry *moved, uint32_t cookie)
{
    uint32_t dir = dentry_is_dir(moved) ? LX_IN_ISDIR : 0;

    fsnotify_name(to->parent.dentry, moved, LX_IN_MOVED_TO | dir, cookie);
}

/* The dentries take their new places, with the events that go with it. */
static void move_dentries(struct parent_lookup *from, struct parent_lookup *to, uint32_t flags)
{
    struct dentry *od = from->d, *nd = to->d;
    uint32_t dir = dentry_is_dir(od) ? LX_IN_ISDIR : 0;
    struct path self = {from->parent.mnt, od};
    uint32_t cookie = ++next_cookie;

    fsnotify_name(from->parent.dentry, od, LX_IN_MOVED_FROM | dir, cookie);
    if (flags & LX_RENAME_EXCHANGE) {
        uint32_t ndir = dentry_is_dir(nd) ? LX_IN_ISDIR : 0;
        uint32_t ncookie = ++next_cookie;

        fsnotify_name(to->parent.dentry, nd, LX_IN_MOVED_FROM | ndir, ncookie);
        dentry_exchange(od, nd);
        notify_arrival(to, od, cookie);
        notify_arrival(from, nd, ncookie);
        return;
    }
    if (dentry_is_dir(nd))
        nd->inode->dead = true;
    if (nd->inode)
        fsnotify_inode(nd->inode, LX_IN_ATTRIB);
    dentry_move(od, nd);
    notify_arrival(to, od, cookie);
    fsnotify(&self, LX_IN_MOVE_SELF, 0);
}

int vfs_rename(struct parent_lookup *from, struct parent_lookup *to, uint32_t flags,
               const struct cred *c)
{
    struct inode *odir = from->parent.dentry->inode, *ndir = to->parent.dentry->inode;
    int r = check_places(from, to, flags);

    if (r == 0)
        r = check_names(from, to, flags);
    if (r < 0)
        return r;
    if (from->d->inode == to->d->inode)
        return 0;
    r = check_permission(from, to, flags, c);
    if (r < 0)
        return r;
    if (!odir->ops->rename)
        return -EPERM;
    if (from->d->nmounts || to->d->nmounts)
        return -EBUSY;
    r = odir->ops->rename(odir, from->d, ndir, to->d, flags);
    if (r == 0)
        move_dentries(from, to, flags);
    return r;
}
