/*
 * Copy-up: the directories above first (only themselves, not their content), then an upper inode of
 * the same type with the same content, owner, mode, times and extended attributes. The new name in
 * the upper directory is taken away again when a later step fails. A large file is copied in steps,
 * each a run of the call that needs it, and gets its name when it is whole: nobody sees a half-made
 * copy.
 */
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "sentry/fs/overlay/overlay.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/mm/usercopy.h"

#define CHUNK (256u * 1024u)

/* Up to end; the source may be shorter. */
static int copy_chunks(struct file *from, struct file *to, uint64_t *pos, uint64_t end,
                       uint8_t *chunk)
{
    while (*pos < end) {
        uint64_t at = *pos;
        size_t want = (size_t)MIN(end - at, (uint64_t)CHUNK);
        int64_t n = kernel_read(from, chunk, want, at);

        if (n <= 0)
            return (int)n;
        while (at < *pos + (uint64_t)n) {
            struct uio u;
            int64_t w;

            uio_init_kernel(&u, chunk + (at - *pos), (size_t)(*pos + (uint64_t)n - at));
            w = to->ops->write(to, &u, &at);
            if (w <= 0)
                return w < 0 ? (int)w : -EIO;
        }
        *pos = at;
    }
    return 0;
}

/* The bytes from *pos on, which is moved, to end. */
static int copy_data(struct ovl_inode *oi, struct dentry *ud, uint64_t *pos, uint64_t end)
{
    struct path from = {oi->fs->lower_mnt, oi->lower}, to = {oi->fs->upper_mnt, ud};
    const struct cred *c = oi->fs->cred;
    struct file *in, *out;
    uint8_t *chunk;
    int r;

    if (*pos >= end)
        return 0;
    r = vfs_open_path(&from, LX_O_RDONLY | LX_O_LARGEFILE, c, &in);
    if (r < 0)
        return r;
    r = vfs_open_path(&to, LX_O_WRONLY | LX_O_LARGEFILE, c, &out);
    if (r < 0) {
        file_put(in);
        return r;
    }
    chunk = kalloc(MIN(end - *pos, (uint64_t)CHUNK));
    r = chunk ? copy_chunks(in, out, pos, end, chunk) : -ENOMEM;
    kfree(chunk);
    file_put(out);
    file_put(in);
    return r;
}

static int copy_xattrs(struct inode *from, struct inode *upper)
{
    auto_free char *names = NULL;
    int64_t len;

    if (!from->ops->listxattr || !from->ops->getxattr || !upper->ops->setxattr)
        return 0;
    len = from->ops->listxattr(from, NULL, 0);
    if (len <= 0)
        return 0;
    names = kalloc((size_t)len + 1);
    if (!names)
        return -ENOMEM;
    len = from->ops->listxattr(from, names, (size_t)len);
    for (int64_t at = 0; at < len; at += (int64_t)strlen(names + at) + 1) {
        int64_t n = from->ops->getxattr(from, names + at, NULL, 0);
        auto_free void *val = n >= 0 ? kalloc((size_t)n + 1) : NULL;
        int r;

        if (n < 0)
            continue;
        if (!val)
            return -ENOMEM;
        n = from->ops->getxattr(from, names + at, val, (size_t)n);
        r = n < 0 ? 0 : upper->ops->setxattr(upper, names + at, val, (size_t)n, 0);
        if (r < 0 && r != -EOPNOTSUPP)
            return r;
    }
    return 0;
}

int ovl_copy_attr(const struct inode *lower, struct inode *upper)
{
    struct iattr a = {
        .valid = ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_ATIME | ATTR_MTIME,
        .mode = lower->mode & LX_S_IALLUGO,
        .uid = lower->uid,
        .gid = lower->gid,
        .atime = lower->atime,
        .mtime = lower->mtime,
    };

    return upper->ops->setattr ? upper->ops->setattr(upper, &a) : 0;
}

static int make_upper(struct ovl_inode *oi, struct inode *udir, struct dentry *ud,
                      const struct cred *c)
{
    struct inode *lower = oi->lower->inode;
    char *target;
    int64_t n;
    int r;

    if (oi->copy)
        return udir->ops->link(oi->copy, udir, ud);
    switch (lower->mode & LX_S_IFMT) {
    case LX_S_IFREG:
        return udir->ops->create(udir, ud, LX_S_IFREG | 0600, c);
    case LX_S_IFDIR:
        return udir->ops->mkdir(udir, ud, LX_S_IFDIR | 0700, c);
    case LX_S_IFLNK:
        target = kalloc(LX_PATH_MAX);
        if (!target)
            return -ENOMEM;
        n = lower->ops->readlink(lower, target, LX_PATH_MAX - 1);
        r = n < 0 ? (int)n : udir->ops->symlink(udir, ud, target, c);
        kfree(target);
        return r;
    default:
        return udir->ops->mknod(udir, ud, lower->mode, lower->rdev, c);
    }
}

static void remove_upper(struct inode *udir, struct dentry *ud)
{
    int r = LX_S_ISDIR(ud->inode->mode) ? udir->ops->rmdir(udir, ud) : udir->ops->unlink(udir, ud);

    (void)r; /* it was made a moment ago */
    dentry_drop(ud);
}

static int fill_upper(struct ovl_inode *oi, struct dentry *ud, uint64_t data_max)
{
    struct inode *lower = oi->lower->inode;
    uint64_t pos = 0;
    int r = 0;

    if (LX_S_ISREG(lower->mode) && !oi->copy)
        r = copy_data(oi, ud, &pos, MIN(lower->size, data_max));
    if (r == 0)
        r = copy_xattrs(lower, ud->inode);
    return r < 0 ? r : ovl_copy_attr(lower, ud->inode);
}

static void drop_copy(struct ovl_inode *oi)
{
    inode_put(oi->copy);
    oi->copy = NULL;
    oi->copied = 0;
}

/* One step of a large copy: -ESTEP when there is more. It needs no name on the way. */
static int copy_step(struct ovl_inode *oi, uint64_t size)
{
    struct dentry *root = oi->fs->upper_mnt->root, *ud;
    uint64_t before = oi->copied;
    int r = 0;

    if (!oi->copy)
        r = root->inode->ops->tmpfile(root->inode, LX_S_IFREG | 0600, oi->fs->cred, &oi->copy);
    if (r == 0)
        r = dentry_new_unlinked(root, "file", inode_get(oi->copy), &ud);
    if (r == 0) {
        r = copy_data(oi, ud, &oi->copied, MIN(size, before + VFS_STEP));
        dentry_put(ud);
    }
    if (r < 0) {
        drop_copy(oi);
        return r;
    }
    return oi->copied < size && oi->copied > before ? -ESTEP : 0;
}

/* The content of a large file comes first. Outside of a call nobody waits for a turn. */
static int copy_ahead(struct ovl_inode *oi, uint64_t data_max)
{
    const struct inode *lower = oi->lower->inode;
    uint64_t size = MIN(lower->size, data_max);
    int r;

    if (!LX_S_ISREG(lower->mode) || size <= VFS_STEP ||
        !oi->fs->upper_mnt->root->inode->ops->tmpfile)
        return 0;
    do
        r = copy_step(oi, size);
    while (r == -ESTEP && !kernel.current);
    return r;
}

static int copy_up_one(struct ovl_inode *oi, uint64_t data_max)
{
    struct ovl_inode *dir = ovl_inode_of(oi->parent);
    struct inode *udir = dir->upper;
    struct lx_timespec mtime = udir->mtime, ctime = udir->ctime;
    struct dentry *ud;
    int r = dentry_lookup(dir->upper_dir, oi->name, strlen(oi->name), &ud);

    if (r < 0)
        return r;
    r = ud->inode ? -EIO : make_upper(oi, udir, ud, oi->fs->cred);
    if (r == 0) {
        r = fill_upper(oi, ud, data_max);
        if (r < 0)
            remove_upper(udir, ud);
    }
    /* The directory did not change as far as anybody can see. */
    udir->mtime = mtime;
    udir->ctime = ctime;
    if (r == 0) {
        oi->upper = inode_get(ud->inode);
        drop_copy(oi);
        if (LX_S_ISDIR(oi->upper->mode))
            oi->upper_dir = dentry_get(ud);
        ovl_pin(oi);
        ovl_sync(oi);
    }
    dentry_put(ud);
    return r;
}

/* A file that lost its names and is still open: its copy has none either. */
static int copy_up_nameless(struct ovl_inode *oi, uint64_t data_max)
{
    struct dentry *root = oi->fs->upper_mnt->root, *ud;
    struct inode *upper;
    int r;

    if (!LX_S_ISREG(oi->lower->inode->mode) || !root->inode->ops->tmpfile)
        return -ENOENT;
    if (oi->copy) {
        upper = inode_get(oi->copy);
    } else {
        r = root->inode->ops->tmpfile(root->inode, LX_S_IFREG | 0600, oi->fs->cred, &upper);
        if (r < 0)
            return r;
    }
    r = dentry_new_unlinked(root, "file", inode_get(upper), &ud);
    if (r == 0) {
        r = fill_upper(oi, ud, data_max);
        dentry_put(ud);
    }
    if (r < 0) {
        inode_put(upper);
        return r;
    }
    ovl_leave_lower(oi);
    oi->upper = upper;
    drop_copy(oi);
    ovl_sync(oi);
    return 0;
}

/* From the topmost directory without upper down to oi, in a loop: a path may be deep. */
int ovl_copy_up(struct ovl_inode *oi, uint64_t data_max)
{
    int r = oi->upper ? 0 : copy_ahead(oi, data_max);

    if (r < 0)
        return r;
    while (!oi->upper) {
        struct ovl_inode *at = oi;

        if (oi->parent && oi->lost_names)
            return copy_up_nameless(oi, data_max);
        if (!oi->parent)
            return -ENOENT;
        while (!ovl_inode_of(at->parent)->upper)
            at = ovl_inode_of(at->parent);
        r = copy_up_one(at, at == oi ? data_max : UINT64_MAX);
        if (r < 0)
            return r;
    }
    return 0;
}
