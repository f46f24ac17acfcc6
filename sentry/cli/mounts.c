/*
 * mounts.c: the mount table of a new sandbox.
 *
 * A mount point that the image lacks is made: in the overlay or tmpfs that it lies in, or, since
 * the image itself is never written, as a directory that exists only in the dentry cache.
 */
#include "sentry/cli/mounts.h"

#include "lib/compiler.h"

#include <errno.h>
#include <string.h>

#include "gofer/client.h"
#include "lib/error.h"
#include "sentry/cli/boot.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"

static const struct inode_ops made_up_dir_ops;

/* One missing component below parent. */
static int make_up(const struct path *parent, const char *name, size_t len, struct path *ret_path)
{
    struct dentry *d;
    struct inode *ino;
    if (!dentry_is_dir(parent->dentry))
        return -ENOTDIR;
    int r = dentry_lookup(parent->dentry, name, len, &d);
    if (r < 0)
        return r;
    if (d->inode == NULL && parent->dentry->inode->ops->mkdir != NULL) {
        struct inode *dir = parent->dentry->inode;
        struct cred *c = cred_new();
        r = c != NULL ? dir->ops->mkdir(dir, d, LX_S_IFDIR | 0755, c) : -ENOMEM;
        cred_put(c);
        if (r < 0) {
            dentry_put(d);
            return r;
        }
    }
    if (d->inode == NULL) {
        r = inode_new(parent->dentry->super, &made_up_dir_ops, LX_S_IFDIR | 0755, &ino);
        if (r < 0) {
            dentry_put(d);
            return r;
        }
        ino->nlink = 2;
        dentry_instantiate(d, ino);
    }
    *ret_path = (struct path){parent->mnt, d};
    (void)mount_get(parent->mnt);
    return 0;
}

static int mount_point(const char *at, struct path *ret_path)
{
    char dir[4096];
    int r = kernel_path_lookup(at, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, ret_path);
    if (r != -ENOENT)
        return r;
    size_t len = strlen(at);
    while (len > 1 && at[len - 1] == '/')
        len--;
    size_t slash = len;
    while (slash > 0 && at[slash - 1] != '/')
        slash--;
    if (slash == 0 || slash >= sizeof(dir) || len == slash)
        return -ENOENT;
    memcpy(dir, at, slash);
    dir[slash] = '\0';
    struct path parent;
    r = slash == 1 ? kernel_path_lookup("/", LOOKUP_DIRECTORY, &parent) : mount_point(dir, &parent);
    if (r < 0)
        return r;
    r = make_up(&parent, at + slash, len - slash, ret_path);
    path_put(&parent);
    return r;
}

static int mount_at(const char *at, struct super *sb, uint32_t flags, const char *source,
                    struct error *err)
{
    struct path p;
    struct mount *m;
    int r = mount_point(at, &p);
    if (r < 0) {
        super_put(sb);
        return error_errno(err, -r, "mounting on %s", at);
    }
    r = mount_add(&p, sb, flags, source, &m);
    path_put(&p);
    return r < 0 ? error_errno(err, -r, "mounting on %s", at) : 0;
}

static int mount_tmpfs(const char *at, uint64_t size, uint32_t mode, uint32_t flags,
                       struct error *err)
{
    struct tmpfs_options opt = {.max_bytes = size, .mode = mode};
    struct super *sb;
    int r = tmpfs_mount_new(&opt, &sb);
    if (r < 0)
        return error_errno(err, -r, "tmpfs on %s", at);
    return mount_at(at, sb, flags, "tmpfs", err);
}

static int mount_root(const struct boot *b, struct gofer_client *c, struct error *err)
{
    struct super *sb, *upper, *overlay;
    struct mount *m;
    int r = goferfs_mount_new(c, 0, &sb);
    if (r < 0)
        return error_errno(err, -r, "the image");
    if (b->writable) {
        struct tmpfs_options opt = {.mode = 0755};
        r = tmpfs_mount_new(&opt, &upper);
        if (r == 0)
            r = overlay_mount_new(sb, upper, &overlay);
        if (r < 0)
            return error_errno(err, -r, "the overlay");
        sb = overlay;
    }
    r = mount_add(NULL, sb, b->writable ? 0 : MOUNT_RDONLY, b->writable ? "overlay" : "image", &m);
    if (r < 0)
        return error_errno(err, -r, "the root mount");
    kernel.root_mount = m;
    return 0;
}

struct system_mount {
    const char *at, *source;
    uint32_t flags;
    int (*make)(struct super **ret_sb);
};

static const struct system_mount system_mounts[] = {
    {"/proc", "proc", MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC, procfs_mount_new},
    {"/sys", "sysfs", MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC | MOUNT_RDONLY, sysfs_mount_new},
    {"/dev", "dev", MOUNT_NOSUID | MOUNT_NOEXEC, devfs_mount_new},
    {"/dev/pts", "devpts", MOUNT_NOSUID | MOUNT_NOEXEC, devpts_mount_new},
};

static int mount_system(struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(system_mounts); i++) {
        const struct system_mount *s = &system_mounts[i];
        struct super *sb;
        int r = s->make(&sb);
        if (r < 0)
            return error_errno(err, -r, "%s", s->source);
        r = mount_at(s->at, sb, s->flags, s->source, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int mount_extra(const struct boot *b, struct gofer_client *c, struct error *err)
{
    int r = 0;
    for (size_t i = 0; i < b->nvolumes && r == 0; i++) {
        struct super *sb;
        r = goferfs_mount_new(c, (uint32_t)i + 1, &sb);
        if (r < 0)
            return error_errno(err, -r, "volume %s", b->volumes[i].guest);
        r = mount_at(b->volumes[i].guest, sb, MOUNT_RDONLY | MOUNT_NOSUID | MOUNT_NODEV, "volume",
                     err);
    }
    for (size_t i = 0; i < b->ntmpfs && r == 0; i++)
        r = mount_tmpfs(b->tmpfs[i].path, b->tmpfs[i].size, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    return r;
}

int mounts_make(const struct boot *b, struct gofer_client *c, struct error *err)
{
    int r = mount_root(b, c, err);
    if (r == 0)
        r = mount_system(err);
    if (r == 0)
        r = mount_tmpfs("/dev/shm", 0, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    if (r == 0)
        r = mount_tmpfs("/tmp", 0, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    if (r == 0)
        r = mount_extra(b, c, err);
    return r;
}
