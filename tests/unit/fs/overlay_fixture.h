#pragma once
/* The overlay over a fake image and a tmpfs, and how a test works on it. */
#include <stdlib.h>
#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/file.h"
#include "sentry/fs/overlay/overlay.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/listing.h"
#include "tests/support/test.h"
#include "tests/unit/fs/fake_image.h"

static const struct fake_file files[] = {
    {"/etc", LX_S_IFDIR | 0755, NULL, 0, 0},
    {"/etc/passwd", LX_S_IFREG | 0640, "root", 0, 0},
    {"/etc/link", LX_S_IFLNK | 0777, "passwd", 0, 0},
    {"/etc/d", LX_S_IFDIR | 0755, NULL, 0, 0},
    {"/etc/d/x", LX_S_IFREG | 0644, "xx", 0, 0},
    {"/etc/h1", LX_S_IFREG | 0644, "hard", 50, 2},
    {"/etc/h2", LX_S_IFREG | 0644, "hard", 50, 2},
    {NULL, 0, NULL, 0, 0},
};

static struct gofer_client *image;
static struct super *sb;
static struct mount *mnt;
static struct cred *cred;

UNUSED static int mount_overlay(void)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *lower, *upper;
    int r = goferfs_mount_new(image, 0, &lower);

    if (r < 0)
        return r;
    r = tmpfs_mount_new(&opt, &upper);
    if (r < 0) {
        super_put(lower);
        return r;
    }
    r = overlay_mount_new(lower, upper, &sb);
    if (r < 0)
        return r;
    return mount_new_internal(sb, &mnt);
}

UNUSED static void begin(void)
{
    limits_init();
    image = fake_image_new(files);
    cred = cred_new();
    cred->cap_effective = LX_CAP_FULL_SET;
    ck_assert_int_eq(mount_overlay(), 0);
}

UNUSED static void end(void)
{
    mount_put(mnt);
    cred_put(cred);
    fake_image_free(image);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
}

UNUSED static struct dentry *look(struct dentry *dir, const char *name)
{
    struct dentry *d = NULL;

    ck_assert_int_eq(dentry_lookup(dir, name, strlen(name), &d), 0);
    return d;
}

UNUSED static struct file *open_at(struct dentry *d, uint32_t flags)
{
    struct path p = {mnt, d};
    struct file *f = NULL;

    ck_assert_int_eq(vfs_open_path(&p, flags, cred, &f), 0);
    return f;
}

UNUSED static void write_to(struct file *f, const char *s)
{
    struct uio u;

    uio_init_kernel_const(&u, s, strlen(s));
    ck_assert_int_eq(f->ops->write(f, &u, &f->pos), (int64_t)strlen(s));
}

UNUSED static const char *content(struct dentry *d)
{
    static char buf[64];
    struct file *f = open_at(d, LX_O_RDONLY);
    int64_t n = kernel_read(f, buf, sizeof(buf) - 1, 0);

    ck_assert_int_ge(n, 0);
    buf[n] = 0;
    file_put(f);
    return buf;
}

UNUSED static const char *names_in(struct dentry *d)
{
    static struct listing l;
    struct file *f = open_at(d, LX_O_RDONLY);

    listing_init(&l, false);
    ck_assert_int_eq(f->ops->readdir(f, &l.dc), 0);
    file_put(f);
    return l.names;
}

UNUSED static int remove_name(struct dentry *dir, const char *name)
{
    struct dentry *d = look(dir, name);
    int r = LX_S_ISDIR(d->inode->mode) ? dir->inode->ops->rmdir(dir->inode, d)
                                       : dir->inode->ops->unlink(dir->inode, d);

    if (r == 0)
        dentry_drop(d);
    dentry_put(d);
    return r;
}

UNUSED static int rename_name(struct dentry *odir, const char *old, struct dentry *ndir,
                              const char *new)
{
    struct dentry *od = look(odir, old), *nd = look(ndir, new);
    int r = odir->inode->ops->rename(odir->inode, od, ndir->inode, nd, 0);

    if (r == 0)
        dentry_move(od, nd);
    dentry_put(od);
    dentry_put(nd);
    return r;
}
