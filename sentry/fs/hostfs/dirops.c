/*
 * Names: looking them up and changing them. The checks were made with what the walk saw a moment
 * ago; the host decides in the end, and what it says is what the guest gets.
 */
#include <string.h>

#include "abi/errno.h"
#include "abi/misc.h"

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "sentry/fs/hostfs/hostfs.h"
#include "sentry/host/host.h"

/* link is borrowed from the client: it is copied before anything else is asked. */
static int found(struct inode *dir, struct dentry *d, const struct gofer_step *step,
                 const char *link)
{
    auto_free char *copy = link ? kstrdup(link) : NULL; /* else asked for again when it is read */
    struct inode *ino;
    int r = hostfs_inode(host_inode_of(dir)->fs, step->node, &step->attr, dir, d->name, &ino);

    if (r < 0)
        return r;
    if (!host_inode_of(ino)->link)
        host_inode_of(ino)->link = take_ptr(copy);
    dentry_instantiate(d, ino);
    return 0;
}

int hostfs_lookup(struct inode *dir, struct dentry *d)
{
    struct host_inode *hi = host_inode_of(dir);
    struct gofer_step step;
    const char *link;
    int r;

    if (d->name_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    r = hostfs_ask(hi, d->name, &step, &link);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return found(dir, d, &step, link);
}

/* A dentry that somebody still holds: whether the name means the same file as then. */
bool hostfs_revalidate(struct dentry *d)
{
    struct host_inode *hi = host_inode_of(d->parent->inode);
    struct gofer_step step;
    const char *link;
    struct inode *ino;
    bool same;

    if (hostfs_ask(hi, d->name, &step, &link) < 0)
        return false;
    if (hostfs_inode(hi->fs, step.node, &step.attr, d->parent->inode, d->name, &ino) < 0)
        return false;
    same = ino == d->inode;
    inode_put(ino);
    return same;
}

int64_t hostfs_readlink(struct inode *ino, char *buf, size_t cap)
{
    struct host_inode *hi = host_inode_of(ino);
    size_t n;

    if (!hi->link && hi->dir) {
        struct host_inode *dir = host_inode_of(hi->dir);
        struct gofer_step step;
        const char *link;
        int r = volume_client_lookup(hi->fs->client, dir->node, hi->name, &step, &link);

        if (r < 0)
            return r;
        if (step.node != hi->node)
            return -ESTALE;
        hi->link = link ? kstrdup(link) : NULL;
    }
    if (!hi->link)
        return -ENOMEM;
    n = MIN(strlen(hi->link), cap);
    memcpy(buf, hi->link, n);
    return (int64_t)n;
}

/* -- making --------------------------------------------------------------------------------------
 */

static int make(struct inode *dir, struct dentry *d, uint32_t mode, const char *target,
                const struct cred *c)
{
    struct host_inode *hi = host_inode_of(dir);
    struct inode owner = {0};
    struct gofer_step step;
    int fd, r = LX_S_ISREG(mode) ? hostfs_make_room() : 0;

    if (r < 0)
        return r;
    inode_init_owner(&owner, dir, mode, c);
    struct volume_create_req req = {
        .dir = hi->node, .mode = owner.mode, .uid = owner.uid, .gid = owner.gid};
    r = volume_client_create(hi->fs->client, &req, d->name, target, &step, &fd);
    if (r < 0)
        return r;
    r = found(dir, d, &step, target);
    if (r == 0 && host_inode_of(d->inode)->made_fd < 0)
        host_inode_of(d->inode)->made_fd = fd;
    else if (fd >= 0)
        host_close(fd);
    return r;
}

int hostfs_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    return make(dir, d, LX_S_IFREG | (mode & LX_S_IALLUGO), NULL, c);
}

int hostfs_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
{
    int r = make(dir, d, LX_S_IFDIR | (mode & LX_S_IALLUGO), NULL, c);

    if (r == 0)
        dir->nlink++;
    return r;
}

/* Fifos and sockets are names on the host; what goes through them stays in the sandbox. */
int hostfs_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                 const struct cred *c)
{
    (void)rdev;
    if (!LX_S_ISFIFO(mode) && !LX_S_ISSOCK(mode))
        return -EPERM;
    return make(dir, d, mode, NULL, c);
}

int hostfs_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
{
    return make(dir, d, LX_S_IFLNK | 0777, target, c);
}

int hostfs_link(struct inode *old, struct inode *dir, struct dentry *d)
{
    struct host_inode *hi = host_inode_of(old);
    struct volume_ref ref;
    struct gofer_attr a;
    int r;

    hostfs_ref(hi, &ref);
    r = volume_client_link(hi->fs->client, &ref, host_inode_of(dir)->node, d->name, &a);
    if (r < 0)
        return r;
    hostfs_fill(old, &a);
    dentry_instantiate(d, inode_get(old));
    return 0;
}

/* -- removing, moving ----------------------------------------------------------------------------
 */

/* A name of it has gone: the host's count if it still can be asked. */
static void lost_name(struct inode *ino)
{
    struct host_inode *hi = host_inode_of(ino);
    struct gofer_attr a;

    if (LX_S_ISDIR(ino->mode))
        ino->nlink = 0;
    else if (volume_client_getattr(hi->fs->client, hi->node, &a) == 0)
        hostfs_fill(ino, &a);
    else if (ino->nlink)
        ino->nlink--;
}

int hostfs_unlink(struct inode *dir, struct dentry *d)
{
    struct host_inode *hi = host_inode_of(dir);
    int r = volume_client_remove(hi->fs->client, hi->node, d->name, false);

    if (r == 0)
        lost_name(d->inode);
    return r;
}

int hostfs_rmdir(struct inode *dir, struct dentry *d)
{
    struct host_inode *hi = host_inode_of(dir);
    int r = volume_client_remove(hi->fs->client, hi->node, d->name, true);

    if (r == 0)
        lost_name(d->inode);
    return r;
}

int hostfs_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
                  uint32_t flags)
{
    struct host_inode *from = host_inode_of(odir), *to = host_inode_of(ndir);
    struct volume_rename_req req = {.dir = from->node, .new_dir = to->node};
    int r;

    if (flags & LX_RENAME_WHITEOUT)
        return -EINVAL;
    req.flags |= flags & LX_RENAME_NOREPLACE ? VOLUME_NOREPLACE : 0;
    req.flags |= flags & LX_RENAME_EXCHANGE ? VOLUME_EXCHANGE : 0;
    r = volume_client_rename(from->fs->client, &req, od->name, nd->name);
    if (r < 0)
        return r;
    /* Without memory for the new place they are found again at the next walk. */
    (void)!hostfs_moved(host_inode_of(od->inode), ndir, nd->name);
    if (nd->inode && (flags & LX_RENAME_EXCHANGE))
        (void)!hostfs_moved(host_inode_of(nd->inode), odir, od->name);
    else if (nd->inode)
        lost_name(nd->inode);
    return 0;
}
