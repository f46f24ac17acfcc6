/* tmpfs and memory objects: data across the change to a memfd, holes, limits, names, leaks. */
#include <errno.h>
#include <string.h>

#include "sentry/fs/file.h"
#include "sentry/fs/tmpfs/tmpfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static int64_t put(struct memobj *o, uint64_t pos, const void *data, size_t n)
{
    struct uio u;

    uio_init_kernel_const(&u, data, n);
    return memobj_write(o, pos, &u);
}

static int64_t get(struct memobj *o, uint64_t pos, void *data, size_t n)
{
    struct uio u;

    uio_init_kernel(&u, data, n);
    return memobj_read(o, pos, &u);
}

TEST(data_survives_the_memfd)
{
    struct memobj *o;
    char buf[16] = "";
    int fd;

    limits_init();
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_eq(put(o, 10, "hello", 5), 5);
    ck_assert_int_eq(put(o, 4094, "abcd", 4), 4);
    ck_assert_uint_eq(memobj_size(o), 4098);
    ck_assert_uint_eq(memobj_allocated(o), 8192);
    ck_assert_int_eq(memobj_host_fd(o, &fd), 0);
    ck_assert_int_eq(get(o, 10, buf, 5), 5);
    ck_assert_str_eq(buf, "hello");
    ck_assert_int_eq(get(o, 4094, buf, 16), 4);
    ck_assert_int_eq(memcmp(buf, "abcd", 4), 0);
    ck_assert_uint_eq(memobj_size(o), 4098);
    memobj_put(o);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
}

static void check_sizes(bool memfd)
{
    struct memobj *o;
    char buf[8];
    int fd;

    limits_init();
    ck_assert_int_eq(memobj_new(0, &o), 0);
    if (memfd)
        ck_assert_int_eq(memobj_host_fd(o, &fd), 0);
    ck_assert_int_eq(put(o, 0, "12345678", 8), 8);
    ck_assert_int_eq(memobj_resize(o, 3), 0);
    ck_assert_int_eq(memobj_resize(o, 100000), 0);
    ck_assert_int_eq(get(o, 0, buf, 8), 8);
    ck_assert_int_eq(memcmp(buf, "123\0\0\0\0\0", 8), 0);
    ck_assert_int_eq(memobj_seek_hole(o, 0), 4096);
    ck_assert_int_eq(memobj_seek_data(o, 5000), -ENXIO);
    ck_assert_int_eq(put(o, 50000, "x", 1), 1);
    ck_assert_int_eq(memobj_seek_data(o, 5000), 49152);
    ck_assert_int_eq(memobj_punch(o, 0, 4096), 0);
    ck_assert_int_eq(get(o, 0, buf, 3), 3);
    ck_assert_int_eq(buf[0], 0);
    ck_assert_uint_eq(memobj_allocated(o), 4096);
    ck_assert_int_eq(memobj_allocate(o, 0, 8192), 0);
    ck_assert_uint_eq(memobj_allocated(o), 12288);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 12288);
    memobj_put(o);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
}

TEST(sizes_and_holes_in_the_heap)
{
    check_sizes(false);
}

TEST(sizes_and_holes_in_a_memfd)
{
    check_sizes(true);
}

TEST(the_disk_limit_holds)
{
    static char big[100000];
    struct memobj *o;

    limits_init();
    limit_set(LIMIT_DISK_BYTES, 65536);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_eq(put(o, 0, big, sizeof(big)), 65536);
    ck_assert_int_eq(put(o, 65536, big, 1), -ENOSPC);
    ck_assert_int_eq(put(o, 0, big, 1), 1);
    memobj_put(o);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_le(put(o, 1u << 20, big, sizeof(big)), 65536);
    ck_assert_uint_le(limit_used(LIMIT_DISK_BYTES), 65536);
    memobj_put(o);
    limit_set(LIMIT_DISK_BYTES, 1u << 20);
}

static struct super *sb;
static struct cred *cred;

static struct dentry *make(struct dentry *dir, const char *name, uint32_t mode)
{
    struct dentry *d = NULL;

    ck_assert_int_eq(dentry_lookup(dir, name, strlen(name), &d), 0);
    if (LX_S_ISDIR(mode))
        ck_assert_int_eq(dir->inode->ops->mkdir(dir->inode, d, mode, cred), 0);
    else
        ck_assert_int_eq(dir->inode->ops->create(dir->inode, d, mode, cred), 0);
    return d;
}

static void begin(void)
{
    struct tmpfs_options opt = {.mode = 0755};

    limits_init();
    cred = cred_new();
    ck_assert_int_eq(tmpfs_mount_new(&opt, &sb), 0);
}

static void end(void)
{
    super_put(sb);
    cred_put(cred);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
}

TEST(names_and_links)
{
    begin();
    struct dentry *a = make(sb->root, "a", LX_S_IFREG | 0600), *b = NULL;
    struct inode *root = sb->root->inode, *ino = a->inode;

    ck_assert_int_eq(dentry_lookup(sb->root, "b", 1, &b), 0);
    ck_assert_int_eq(root->ops->link(ino, root, b), 0);
    ck_assert_uint_eq(ino->nlink, 2);
    ck_assert_int_eq(root->ops->unlink(root, a), 0);
    dentry_drop(a);
    dentry_put(a);
    ck_assert_uint_eq(b->inode->nlink, 1);
    dentry_put(b);
    /* The tree is the file system: names survive the dentries. */
    dentry_prune(sb->root);
    ck_assert_int_eq(dentry_lookup(sb->root, "b", 1, &b), 0);
    ck_assert_ptr_nonnull(b->inode);
    dentry_put(b);
    end();
}

TEST(directories_count_their_links)
{
    begin();
    struct dentry *d = make(sb->root, "d", LX_S_IFDIR | 0700), *e = make(d, "e", LX_S_IFDIR | 0700),
                  *n = NULL;
    struct inode *root = sb->root->inode, *dir = d->inode;

    ck_assert_uint_eq(root->nlink, 3);
    ck_assert_uint_eq(dir->nlink, 3);
    ck_assert_int_eq(root->ops->rmdir(root, d), -ENOTEMPTY);
    ck_assert_int_eq(dentry_lookup(sb->root, "n", 1, &n), 0);
    ck_assert_int_eq(root->ops->rename(dir, e, root, n, 0), 0);
    dentry_move(e, n);
    ck_assert_uint_eq(root->nlink, 4);
    ck_assert_uint_eq(dir->nlink, 2);
    ck_assert_int_eq(root->ops->rmdir(root, d), 0);
    dentry_drop(d);
    ck_assert_uint_eq(dir->nlink, 0);
    dentry_put(n);
    dentry_put(e);
    dentry_put(d);
    end();
}

TEST(a_deep_tree_is_freed_without_recursion)
{
    begin();
    struct dentry *d = dentry_get(sb->root);

    for (int i = 0; i < 20000; i++) {
        struct dentry *next = make(d, "d", LX_S_IFDIR | 0700);

        dentry_put(d);
        d = next;
    }
    dentry_put(d);
    end();
}

TEST(failing_allocations)
{
    limits_init();
    cred = cred_new();
    for_each_failure {
        struct tmpfs_options opt = {.mode = 0755, .max_bytes = 1u << 20};

        if (tmpfs_mount_new(&opt, &sb) == 0) {
            struct inode *root = sb->root->inode;
            struct dentry *d, *n;

            if (dentry_lookup(sb->root, "f", 1, &d) == 0) {
                if (root->ops->create(root, d, LX_S_IFREG | 0600, cred) == 0) {
                    int r = root->ops->setxattr(d->inode, "user.x", "y", 1, 0);

                    (void)r;
                    (void)!put(tmpfs_inode_of(d->inode)->obj, 0, "z", 1);
                    if (dentry_lookup(sb->root, "g", 1, &n) == 0) {
                        if (root->ops->rename(root, d, root, n, 0) == 0)
                            dentry_move(d, n);
                        dentry_put(n);
                    }
                }
                dentry_put(d);
            }
            super_put(sb);
        }
        ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
        ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    }
    cred_put(cred);
}

TEST_SUITE(tmpfs)
{
    TEST_ADD(data_survives_the_memfd);
    TEST_ADD(sizes_and_holes_in_the_heap);
    TEST_ADD(sizes_and_holes_in_a_memfd);
    TEST_ADD(the_disk_limit_holds);
    TEST_ADD(names_and_links);
    TEST_ADD(directories_count_their_links);
    TEST_ADD(a_deep_tree_is_freed_without_recursion);
    TEST_ADD(failing_allocations);
}
