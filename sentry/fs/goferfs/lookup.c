/*
 * Lookup of one name. One request brings attributes, a symlink's target and, for regular files,
 * the open descriptor: a program that looks a file up mostly opens it next. Where a program has
 * listed the directory it probably stats everything in it, so there no descriptor is asked for.
 */
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/host/host.h"

bool goferfs_known_absent(struct gofer_inode *gi, const char *name, size_t len)
{
    struct gofer_listing *l;

    if (!gi->listing && gi->misses >= GOFERFS_MISSES + gi->inode->size / 4096) {
        gi->misses = 0;
        if (goferfs_listing(gi, &l) < 0)
            return false;
    }
    return gi->listing && !goferfs_listing_has(gi->listing, name, len);
}

static int walk_one(struct gofer_inode *gi, const struct dentry *d, struct gofer_walk *w)
{
    int r;

    w->node = gi->node;
    w->n = 1;
    w->names[0] = d->name;
    w->lens[0] = (uint16_t)d->name_len;
    w->flags = (uint16_t)(gi->listed ? 0 : GOFER_WALK_OPEN);
    if (w->flags)
        goferfs_fd_make_room();
    r = gofer_walk(gi->fs->client, w);
    if (r == -EMFILE || r == -ENFILE || (r == 0 && (w->error == EMFILE || w->error == -EMFILE))) {
        w->flags = 0;
        r = gofer_walk(gi->fs->client, w);
    }
    return r;
}

static int found(struct gofer_inode *gi, struct dentry *d, const struct gofer_step *s, int fd,
                 const char *link, size_t link_len)
{
    struct inode *ino;
    int r = goferfs_inode(gi->fs, s->node, &s->attr, fd, link, link_len, &ino);

    if (r == 0)
        dentry_instantiate(d, ino);
    return r;
}

/* By what was asked for ahead. */
static bool answered(struct gofer_inode *gi, struct dentry *d, int *ret_r)
{
    struct goferfs_answer e;
    const char *link;
    size_t link_len;
    int fd;

    if (!goferfs_ahead_take(gi, d, &e, &fd, &link, &link_len))
        return false;
    *ret_r = 0;
    if (e.absent)
        gi->misses++;
    else
        *ret_r = found(gi, d, &e.step, fd, link, link_len);
    return true;
}

int goferfs_lookup(struct inode *dir, struct dentry *d)
{
    struct gofer_inode *gi = gofer_inode_of(dir);
    struct gofer_walk w = {.fd = -1};
    int r;

    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    if (goferfs_known_absent(gi, d->name, d->name_len))
        return 0;
    if (answered(gi, d, &r))
        return r;
    r = walk_one(gi, d, &w);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (w.done == 0) {
        if (w.error != -ENOENT)
            return w.error < 0 ? w.error : -EIO;
        gi->misses++;
        return 0;
    }
    return found(gi, d, &w.steps[0], w.fd, w.link, w.link_len);
}
