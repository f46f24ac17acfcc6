/* tmpfs through its operations: links, listings, renames, xattrs, seals, budgets, failing memory.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/mman.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct cred *cred;
static struct dentry *root;

static void begin(uint64_t max_bytes, uint64_t max_inodes)
{
    struct tmpfs_options opt = {.mode = 01777, .max_bytes = max_bytes, .max_inodes = max_inodes};
    struct super *sb;

    limits_init();
    cred = cred_new();
    ck_assert_int_eq(tmpfs_mount_new(&opt, &sb), 0);
    ck_assert_int_eq(mount_add(NULL, sb, 0, "t", NULL), 0);
    root = kernel.root_mount->root;
}

static void end(void)
{
    mounts_done();
    cred_put(cred);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DENTRIES), 0);
}

static struct dentry *look(struct dentry *dir, const char *name)
{
    struct dentry *d = NULL;

    ck_assert_int_eq(dentry_lookup(dir, name, strlen(name), &d), 0);
    return d;
}

static struct dentry *make(struct dentry *dir, const char *name, uint32_t mode)
{
    struct dentry *d = look(dir, name);
    const struct inode_ops *ops = dir->inode->ops;

    if (LX_S_ISDIR(mode))
        ck_assert_int_eq(ops->mkdir(dir->inode, d, mode, cred), 0);
    else
        ck_assert_int_eq(ops->create(dir->inode, d, mode, cred), 0);
    return d;
}

static struct file *open_it(struct dentry *d, uint32_t flags)
{
    struct path p = {kernel.root_mount, d};
    struct file *f = NULL;

    ck_assert_int_eq(vfs_open_path(&p, flags, cred, &f), 0);
    return f;
}

static int64_t write_it(struct file *f, const void *s, size_t n)
{
    struct uio u;

    uio_init_kernel_const(&u, s, n);
    return f->ops->write(f, &u, &f->pos);
}

static void remove_it(struct dentry *dir, struct dentry *d)
{
    const struct inode_ops *ops = dir->inode->ops;

    ck_assert_int_eq(dentry_is_dir(d) ? ops->rmdir(dir->inode, d) : ops->unlink(dir->inode, d), 0);
    dentry_drop(d);
}

struct names {
    struct dir_context dc;
    unsigned room, n;
    char seen[64][8];
};

static bool take(struct dir_context *dc, const char *name, size_t len, uint64_t ino, uint32_t type,
                 uint64_t next_pos)
{
    struct names *ns = container_of(dc, struct names, dc);

    (void)ino;
    (void)type;
    (void)next_pos;
    if (ns->room == 0)
        return false;
    ns->room--;
    memcpy(ns->seen[ns->n], name, len);
    ns->seen[ns->n++][len] = 0;
    return true;
}

/* Names that are removed while the listing runs do not disturb it; each other one comes once. */
TEST(listing_survives_removal)
{
    struct dentry *d[10];
    struct names ns = {.dc = {take}};
    struct file *f;
    char name[4];

    begin(0, 0);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        d[i] = make(root, name, LX_S_IFREG | 0644);
    }
    f = open_it(root, LX_O_RDONLY);
    ns.room = 6; /* the dots and f0 .. f3 */
    ck_assert_int_eq(f->ops->readdir(f, &ns.dc), 0);
    ck_assert_uint_eq(ns.n, 6);
    ck_assert_str_eq(ns.seen[5], "f3");
    remove_it(root, d[3]);
    remove_it(root, d[4]);
    remove_it(root, d[0]);
    ns.room = 64;
    ck_assert_int_eq(f->ops->readdir(f, &ns.dc), 0);
    ck_assert_uint_eq(ns.n, 11);
    ck_assert_str_eq(ns.seen[6], "f5");
    ck_assert_str_eq(ns.seen[10], "f9");
    ck_assert_int_eq(f->ops->readdir(f, &ns.dc), 0);
    ck_assert_uint_eq(ns.n, 11);
    file_put(f);
    for (int i = 0; i < 10; i++)
        dentry_put(d[i]);
    end();
}

TEST(link_counts)
{
    struct dentry *a, *f, *l;

    begin(0, 0);
    a = make(root, "a", LX_S_IFDIR | 0755);
    ck_assert_uint_eq(root->inode->nlink, 3);
    ck_assert_uint_eq(a->inode->nlink, 2);
    f = make(root, "f", LX_S_IFREG | 0644);
    l = look(a, "l");
    ck_assert_int_eq(root->inode->ops->link(f->inode, a->inode, l), 0);
    ck_assert_uint_eq(f->inode->nlink, 2);
    ck_assert_int_eq(root->inode->ops->rmdir(root->inode, a), -ENOTEMPTY);
    remove_it(root, f);
    ck_assert_uint_eq(l->inode->nlink, 1);
    remove_it(a, l);
    remove_it(root, a);
    ck_assert_uint_eq(root->inode->nlink, 2);
    dentry_put(l);
    dentry_put(f);
    dentry_put(a);
    end();
}

TEST(rename_leaves_a_whiteout)
{
    struct dentry *a, *b, *w;

    begin(0, 0);
    a = make(root, "a", LX_S_IFREG | 0644);
    b = look(root, "b");
    ck_assert_int_eq(root->inode->ops->rename(root->inode, a, root->inode, b, LX_RENAME_WHITEOUT),
                     0);
    dentry_move(a, b);
    w = look(root, "a");
    ck_assert(LX_S_ISCHR(w->inode->mode) && w->inode->rdev == 0);
    ck_assert_str_eq(a->name, "b");
    dentry_put(w);
    dentry_put(b);
    dentry_put(a);
    end();
}

TEST(own_limits)
{
    static char block[3 * 4096];
    struct dentry *f, *g;
    struct lx_statfs st;
    struct file *file;

    begin(2 * 4096, 2);
    f = make(root, "f", LX_S_IFREG | 0644);
    g = look(root, "g");
    ck_assert_int_eq(root->inode->ops->create(root->inode, g, LX_S_IFREG | 0644, cred), -ENOSPC);
    file = open_it(f, LX_O_RDWR);
    ck_assert_int_eq(write_it(file, block, sizeof(block)), 2 * 4096);
    ck_assert_int_eq(write_it(file, block, 1), -ENOSPC);
    ck_assert_int_eq(root->super->ops->statfs(root->super, &st), 0);
    ck_assert_uint_eq(st.f_blocks, 2);
    ck_assert_uint_eq(st.f_bfree, 0);
    ck_assert_uint_eq(st.f_ffree, 0);
    file_put(file);
    dentry_put(g);
    dentry_put(f);
    end();
}

TEST(attributes_by_name)
{
    struct dentry *f;
    struct path p;
    char buf[32];

    begin(0, 0);
    f = make(root, "f", LX_S_IFREG | 0644);
    p = (struct path){kernel.root_mount, f};
    ck_assert_int_eq(vfs_setxattr(&p, "user.a", "one", 3, LX_XATTR_REPLACE, cred), -ENODATA);
    ck_assert_int_eq(vfs_setxattr(&p, "user.a", "one", 3, 0, cred), 0);
    ck_assert_int_eq(vfs_setxattr(&p, "user.a", "two!", 4, LX_XATTR_CREATE, cred), -EEXIST);
    ck_assert_int_eq(vfs_setxattr(&p, "user.a", "two!", 4, 0, cred), 0);
    ck_assert_int_eq(vfs_getxattr(&p, "user.a", buf, 2, cred), -ERANGE);
    ck_assert_int_eq(vfs_getxattr(&p, "user.a", buf, sizeof(buf), cred), 4);
    ck_assert(memcmp(buf, "two!", 4) == 0);
    ck_assert_int_eq(vfs_setxattr(&p, "trusted.a", "x", 1, 0, cred), -EPERM);
    ck_assert_int_eq(vfs_setxattr(&p, "bad.a", "x", 1, 0, cred), -EOPNOTSUPP);
    ck_assert_int_eq(vfs_listxattr(&p, buf, sizeof(buf), cred), 7);
    ck_assert_int_eq(vfs_removexattr(&p, "user.a", cred), 0);
    ck_assert_int_eq(vfs_getxattr(&p, "user.a", buf, 0, cred), -ENODATA);
    dentry_put(f);
    end();
}

TEST(seals)
{
    struct iattr attr = {.valid = ATTR_SIZE, .size = 1};
    struct map_backing b;
    struct path p;
    struct file *f;

    limits_init();
    cred = cred_new();
    ck_assert_int_eq(tmpfs_anon_inode("memfd:x", &p), 0);
    ck_assert_int_eq(tmpfs_get_seals(p.dentry->inode), LX_F_SEAL_SEAL);
    ck_assert_int_eq(tmpfs_add_seals(p.dentry->inode, LX_F_SEAL_GROW), -EPERM);
    tmpfs_set_seals(p.dentry->inode, 0);
    ck_assert_int_eq(vfs_open_path(&p, LX_O_RDWR, cred, &f), 0);
    ck_assert_int_eq(write_it(f, "four", 4), 4);
    ck_assert_int_eq(tmpfs_add_seals(f->inode, LX_F_SEAL_GROW | LX_F_SEAL_SHRINK), 0);
    ck_assert_int_eq(write_it(f, "x", 1), -EPERM);
    ck_assert_int_eq(f->inode->ops->setattr(f->inode, &attr), -EPERM);
    f->pos = 0;
    ck_assert_int_eq(write_it(f, "over", 4), 4);
    ck_assert_int_eq(tmpfs_add_seals(f->inode, LX_F_SEAL_WRITE), 0);
    f->pos = 0;
    ck_assert_int_eq(write_it(f, "over", 4), -EPERM);
    ck_assert_int_eq(f->ops->map(f, true, LX_PROT_WRITE, &b), -EPERM);
    ck_assert_int_eq(f->ops->map(f, false, LX_PROT_WRITE, &b), 0);
    memobj_put(b.obj);
    file_put(f);
    path_put(&p);
    tmpfs_anon_done();
    cred_put(cred);
}

/* A tree deeper than any stack goes without recursion. */
TEST(deep_tree_is_freed)
{
    struct dentry *d;

    begin(0, 0);
    d = dentry_get(root);
    for (int i = 0; i < 20000; i++) {
        struct dentry *below = make(d, "d", LX_S_IFDIR | 0755);

        dentry_put(d);
        d = below;
    }
    dentry_put(d);
    end();
}

TEST(out_of_memory)
{
    for_each_failure {
        struct tmpfs_options opt = {.max_bytes = 1u << 20};
        struct super *sb;

        limits_init();
        if (tmpfs_mount_new(&opt, &sb) == 0) {
            struct dentry *d;

            if (dentry_lookup(sb->root, "x", 1, &d) == 0) {
                struct cred c = {.ref = 1};

                if (sb->root->inode->ops->symlink(sb->root->inode, d, "target", &c) == 0)
                    (void)!d->inode->ops->setxattr(d->inode, "trusted.x", "v", 1, 0);
                dentry_put(d);
            }
            super_put(sb);
        }
        ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
        ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    }
}

/* Makes symlinks with a target of len bytes until one fails; returns how many there were. */
static int fill_with_links(struct super *sb, size_t len, int *ret_error)
{
    struct cred c = {.ref = 1};
    char target[LX_PATH_MAX], name[16];
    int n = 0;

    memset(target, 't', sizeof(target));
    target[len] = '\0';
    for (*ret_error = 0; n < 100 && *ret_error == 0; n++) {
        struct dentry *d;
        int k = snprintf(name, sizeof(name), "%zu-%d", len, n);

        ck_assert_int_eq(dentry_lookup(sb->root, name, (size_t)k, &d), 0);
        *ret_error = sb->root->inode->ops->symlink(sb->root->inode, d, target, &c);
        dentry_put(d);
    }
    return *ret_error ? n - 1 : n;
}

TEST(long_symlinks_take_a_page)
{
    struct tmpfs_options opt = {.max_bytes = 65536};
    struct super *sb;
    int r;

    limits_init();
    ck_assert_int_eq(tmpfs_mount_new(&opt, &sb), 0);
    ck_assert_int_eq(fill_with_links(sb, 127, &r), 100);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    ck_assert_int_eq(fill_with_links(sb, 4095, &r), 16);
    ck_assert_int_eq(r, -ENOSPC);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 65536);
    super_put(sb);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
}

TEST_SUITE(tmpfs_tree)
{
    TEST_ADD(listing_survives_removal);
    TEST_ADD(link_counts);
    TEST_ADD(rename_leaves_a_whiteout);
    TEST_ADD(own_limits);
    TEST_ADD(attributes_by_name);
    TEST_ADD(seals);
    TEST_ADD(deep_tree_is_freed);
    TEST_ADD(out_of_memory);
    TEST_ADD(long_symlinks_take_a_page);
}
