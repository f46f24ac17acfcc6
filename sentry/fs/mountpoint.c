/*
 * Places to mount on. A container's configuration mounts on paths that its image need not have;
 * runc makes them in the image. Here nothing of an image is written: what is missing is made in
 * the overlay or tmpfs that it lies in (in a root that is written through as runc makes it), and
 * elsewhere it is made up: an inode without a file system behind it, in a dentry that the mount on
 * top of it keeps in the cache. It lists as an empty directory with what was made up below it;
 * directories of the image show it too (mountpoint_readdir).
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"

enum {
    LINKS_MAX = 40
};

/* -- the inodes ----------------------------------------------------------------------------------
 */

static int made_up_lookup(struct inode *dir, struct dentry *d)
{
    (void)dir;
    (void)d; /* what is there is in the cache */
    return 0;
}

static int made_up_readdir(struct file *f, struct dir_context *dc)
{
    if (!dir_emit_dots(f, dc))
        return 0;
    return mountpoint_readdir(f, dc, 2, NULL, NULL);
}

static int64_t made_up_seek(struct file *f, int64_t off, int whence)
{
    return vfs_seek_generic(f, off, whence, INT32_MAX);
}

static const struct file_ops made_up_dir_ops = {
    .seek = made_up_seek,
    .readdir = made_up_readdir,
};

static int made_up_open(struct inode *ino, struct file *f)
{
    if (!LX_S_ISDIR(ino->mode))
        return -ENXIO;
    f->ops = &made_up_dir_ops;
    return 0;
}

static const struct inode_ops made_up_ops = {.lookup = made_up_lookup, .open = made_up_open};

static int make_up(struct dentry *d, bool dir)
{
    struct inode *ino;
    int r = inode_new(d->super, &made_up_ops, dir ? LX_S_IFDIR | 0755 : LX_S_IFREG | 0644, &ino);

    if (r < 0)
        return r;
    ino->nlink = dir ? 2 : 1;
    ino->made_up = true;
    dentry_instantiate(d, ino);
    return 0;
}

int mountpoint_readdir(struct file *f, struct dir_context *dc, uint64_t base,
                       bool (*known)(void *ctx, const char *name, size_t len), void *ctx)
{
    struct dentry *d;
    uint64_t at = base;

    list_for_each_entry (d, &f->path.dentry->children, sibling) {
        if (!d->inode || !d->inode->made_up || at++ < f->pos)
            continue;
        if (!(known && known(ctx, d->name, d->name_len)) &&
            !dc->emit(dc, d->name, d->name_len, d->inode->ino, mode_to_dt(d->inode->mode), at))
            return 0;
        f->pos = at;
    }
    return 0;
}

/* -- the way there -------------------------------------------------------------------------------
 */

/* In the file system itself, where that goes away with the sandbox. */
static int make_real(struct inode *parent, struct dentry *d, bool dir)
{
    struct cred *c = cred_new();
    int r;

    if (!c)
        return -ENOMEM;
    c->cap_effective = LX_CAP_FULL_SET;
    if (dir)
        r = parent->ops->mkdir(parent, d, LX_S_IFDIR | 0755, c);
    else
        r = parent->ops->create(parent, d, LX_S_IFREG | 0644, c);
    cred_put(c);
    return r;
}

/* Where it lasts, in the root alone, as other runtimes do; a volume is somebody else's. */
static bool can_make_real(const struct inode *parent, bool dir)
{
    const struct super *sb = parent->super;

    return !sb->readonly && (!sb->lasting || sb == kernel.root_mount->super) &&
           (dir ? parent->ops->mkdir != NULL : parent->ops->create != NULL);
}

/*
 * One component below parent that no lookup finds. The gofer refuses what is another mount on the
 * host
 * (-EACCES): nothing of that is shown, and something may be mounted over it.
 */
static int make_child(const struct path *parent, const char *name, size_t len, bool dir,
                      struct path *ret_path)
{
    struct dentry *d;
    int r = dentry_lookup(parent->dentry, name, len, &d);

    if (r == -EACCES || r == -EXDEV)
        r = dentry_new(parent->dentry, name, len, &d);
    if (r < 0)
        return r;
    if (!d->inode && can_make_real(parent->dentry->inode, dir))
        r = make_real(parent->dentry->inode, d, dir);
    else if (!d->inode)
        r = make_up(d, dir);
    if (r < 0) {
        dentry_put(d);
        return r;
    }
    *ret_path = (struct path){mount_get(parent->mnt), d};
    return 0;
}

/* A symlink that leads nowhere yet: *text becomes the path that it and the rest of it stand for. */
static int follow_dangling(const struct path *parent, const char *name, size_t len,
                           const char *rest, char **text)
{
    struct dentry *d;
    auto_free char *target = kalloc(LX_PATH_MAX);
    auto_free char *next = kalloc((size_t)3 * LX_PATH_MAX);
    int64_t n = -ENOENT, dir = 0;
    int r = target && next ? dentry_lookup(parent->dentry, name, len, &d) : -ENOMEM;

    if (r < 0)
        return r;
    if (d->inode && LX_S_ISLNK(d->inode->mode) && d->inode->ops->readlink)
        n = d->inode->ops->readlink(d->inode, target, LX_PATH_MAX - 1);
    dentry_put(d);
    if (n <= 0)
        return -ENOENT;
    if (target[0] != '/') {
        dir = path_name(parent, NULL, next, LX_PATH_MAX);
        if (dir < 0)
            return (int)dir;
        next[dir++] = '/';
    }
    memcpy(next + dir, target, (size_t)n);
    memcpy(next + dir + n, rest, strlen(rest) + 1);
    if (strlen(next) >= LX_PATH_MAX)
        return -ENAMETOOLONG;
    kfree(*text);
    *text = take_ptr(next);
    return 0;
}

static bool absent(int r)
{
    return r == -ENOENT || r == -EACCES || r == -EXDEV;
}

/* One component, `name` of len bytes within *text, in the directory `at`. 1: as in walk_making. */
static int step_making(char **text, char *name, size_t len, bool dir, const struct path *at,
                       struct path *ret_next)
{
    char cut = name[len];
    int r;

    name[len] = 0;
    r = kernel_path_lookup(*text, LOOKUP_FOLLOW, ret_next);
    if (absent(r) && (strcmp(name, "..") == 0 || !dentry_is_dir(at->dentry)))
        r = -ENOTDIR;
    name[len] = cut;
    if (!absent(r))
        return r;
    r = follow_dangling(at, name, len, name + len, text);
    if (!absent(r))
        return r < 0 ? r : 1;
    return make_child(at, name, len, dir, ret_next);
}

/* Walks *text from the root, making what is missing. 1: a symlink has put another text in place. */
static int walk_making(char **text, bool dir, struct path *ret_path)
{
    struct path at;
    int r = kernel_path_lookup("/", LOOKUP_DIRECTORY, &at);
    char *name = *text;

    while (r == 0) {
        struct path next;

        name += strspn(name, "/");
        size_t len = strcspn(name, "/");
        bool last = name[len + strspn(name + len, "/")] == 0;

        if (len == 0)
            break;
        if (len > LX_NAME_MAX) {
            r = -ENAMETOOLONG;
            break;
        }
        r = step_making(text, name, len, dir || !last, &at, &next);
        if (r == 0) {
            path_put(&at);
            at = next;
            name += len;
        }
    }
    if (r == 0)
        *ret_path = at;
    else
        path_put(&at);
    return r;
}

int mountpoint_make(const char *at, bool dir, struct path *ret_path)
{
    auto_free char *text = kstrdup(at);
    int r = text ? 1 : -ENOMEM;

    if (text && strlen(text) >= LX_PATH_MAX)
        return -ENAMETOOLONG;
    for (unsigned links = 0; r == 1; links++)
        r = links > LINKS_MAX ? -ELOOP : walk_making(&text, dir, ret_path);
    return r;
}
