/* goferfs over a fake image: caching, hard links, descriptors, listings, failing allocations. */
#include <errno.h>
#include <string.h>

#include "sentry/fs/file.h"
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/listing.h"
#include "tests/support/test.h"
#include "tests/unit/fs/fake_image.h"

static const struct fake_file files[] = {
    {"/bin", LX_S_IFDIR | 0755, NULL, 0, 0},
    {"/bin/sh", LX_S_IFREG | 0755, "shell", 77, 2},
    {"/bin/bash", LX_S_IFREG | 0755, "shell", 77, 2},
    {"/bin/link", LX_S_IFLNK | 0777, "sh", 0, 0},
    {"/bin/a", LX_S_IFREG | 0644, "aaaa", 0, 0},
    {"/bin/b", LX_S_IFREG | 0644, "bbbb", 0, 0},
    {"/bin/c", LX_S_IFREG | 0644, "", 0, 0},
    {"/etc", LX_S_IFDIR | 0755, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static struct super *mount_image(struct gofer_client **ret_c)
{
    struct super *sb = NULL;

    limits_init();
    *ret_c = fake_image_new(files);
    ck_assert_int_eq(goferfs_mount_new(*ret_c, 0, &sb), 0);
    return sb;
}

static void unmount(struct super *sb, struct gofer_client *c)
{
    super_put(sb);
    ck_assert_uint_eq(fake_image_nodes(c), 0);
    fake_image_free(c);
}

static struct dentry *look(struct dentry *dir, const char *name)
{
    struct dentry *d = NULL;

    ck_assert_int_eq(dentry_lookup(dir, name, strlen(name), &d), 0);
    return d;
}

static int64_t read_at(struct dentry *d, uint64_t pos, char *buf, size_t n)
{
    struct file f = {.inode = d->inode, .flags = LX_O_RDONLY};
    struct uio u;
    int64_t r;

    ck_assert_int_eq(d->inode->ops->open(d->inode, &f), 0);
    uio_init_kernel(&u, buf, n);
    r = f.ops->read(&f, &u, &pos);
    return r;
}

TEST(lookups_are_remembered)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin"), *none = look(bin, "none");
    uint32_t before = fake_image_requests(c);

    ck_assert_ptr_nonnull(bin->inode);
    ck_assert_ptr_null(none->inode);
    dentry_put(none);
    none = look(bin, "none");
    ck_assert_uint_eq(fake_image_requests(c), before);
    dentry_put(none);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(hard_links_are_one_inode)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin"), *sh = look(bin, "sh"), *bash = look(bin, "bash");

    ck_assert_ptr_eq(sh->inode, bash->inode);
    ck_assert_uint_eq(sh->inode->nlink, 2);
    dentry_put(sh);
    dentry_put(bash);
    dentry_put(bin);
    unmount(sb, c);
}

static void look_ahead(struct super *sb, const char *path)
{
    sb->root->inode->ops->lookup_ahead(sb->root->inode, path);
}

TEST(path_is_one_request)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    uint32_t before = fake_image_requests(c);
    char buf[8];

    look_ahead(sb, "bin/sh");
    struct dentry *bin = look(sb->root, "bin"), *sh = look(bin, "sh");
    ck_assert_int_eq(read_at(sh, 0, buf, sizeof(buf)), 5);
    ck_assert_uint_eq(fake_image_requests(c), before + 1);
    look_ahead(sb, "bin/none/x");
    struct dentry *none = look(bin, "none");
    ck_assert_ptr_null(none->inode);
    ck_assert_uint_eq(fake_image_requests(c), before + 2);
    dentry_put(none);
    dentry_put(sh);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(path_ends_at_a_link)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    uint32_t before = fake_image_requests(c);
    char buf[8];

    look_ahead(sb, "bin/link/x");
    struct dentry *bin = look(sb->root, "bin"), *link = look(bin, "link");
    ck_assert_int_eq(link->inode->ops->readlink(link->inode, buf, sizeof(buf)), 2);
    ck_assert_uint_eq(fake_image_requests(c), before + 1);
    dentry_put(link);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(start_is_one_request)
{
    static const char *const paths[] = {"/etc", "/none", "/etc/passwd", "/bin/sh"};
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    uint32_t before = fake_image_requests(c);
    char buf[8];

    goferfs_preload(sb, paths, 4);
    ck_assert_uint_eq(fake_image_requests(c), before + 1);
    struct dentry *etc = look(sb->root, "etc"), *none = look(sb->root, "none");
    struct dentry *bin = look(sb->root, "bin"), *sh = look(bin, "sh");
    ck_assert_ptr_nonnull(etc->inode);
    ck_assert_ptr_null(none->inode);
    ck_assert_int_eq(read_at(sh, 0, buf, sizeof(buf)), 5);
    ck_assert_uint_eq(fake_image_requests(c), before + 1);
    dentry_put(sh);
    dentry_put(bin);
    dentry_put(none);
    dentry_put(etc);
    goferfs_preload(sb, paths, 4); /* and nobody looks */
    unmount(sb, c);
}

TEST(start_with_more_than_fits)
{
    static const char *const paths[] = {
        "/1/2/3/4/5/6/7", "/2/2/3/4/5/6/7", "/3/2/3/4/5/6/7", "", "/", "..", "/bin"};
    struct gofer_client *c;
    struct super *sb = mount_image(&c);

    goferfs_preload(sb, paths, 0);
    goferfs_preload(sb, paths, ARRAY_LEN(paths));
    struct dentry *bin = look(sb->root, "bin");
    ck_assert_ptr_nonnull(bin->inode);
    dentry_put(bin);
    unmount(sb, c);
}

/* What nobody looked up is given back; an answer does not outlive the directory that it is about.
 */
TEST(unused_answers_are_given_back)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);

    look_ahead(sb, "bin/a");
    look_ahead(sb, "bin/b/x");
    struct dentry *bin = look(sb->root, "bin");
    dentry_drop(bin);
    dentry_put(bin);
    bin = look(sb->root, "bin");
    uint32_t before = fake_image_requests(c);
    struct dentry *b = look(bin, "b");
    ck_assert_ptr_nonnull(b->inode);
    ck_assert_uint_eq(fake_image_requests(c), before + 1);
    dentry_put(b);
    dentry_put(bin);
    look_ahead(sb, "bin/c");
    unmount(sb, c);
}

TEST(many_misses_load_the_listing)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin");
    uint32_t before;
    char name[] = "missing-0";

    for (; name[8] < '5'; name[8]++)
        dentry_put(look(bin, name));
    before = fake_image_requests(c);
    for (; name[8] < '9'; name[8]++)
        dentry_put(look(bin, name));
    ck_assert_uint_eq(fake_image_requests(c), before);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(reads_come_from_the_descriptor)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin"), *sh = look(bin, "sh");
    char buf[16] = "";

    ck_assert_int_eq(read_at(sh, 0, buf, sizeof(buf)), 5);
    ck_assert_str_eq(buf, "shell");
    ck_assert_int_eq(read_at(sh, 3, buf, sizeof(buf)), 2);
    ck_assert_int_eq(read_at(sh, 5, buf, sizeof(buf)), 0);
    ck_assert_int_eq(read_at(sh, 500, buf, sizeof(buf)), 0);
    dentry_put(sh);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(descriptors_are_bounded)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin"), *a, *b;
    char buf[8];

    goferfs_fd_set_cap(1);
    a = look(bin, "a");
    b = look(bin, "b");
    ck_assert_uint_eq(goferfs_fd_count(), 1);
    ck_assert_int_eq(read_at(a, 0, buf, 4), 4);
    ck_assert_int_eq(buf[0], 'a');
    ck_assert_uint_eq(goferfs_fd_count(), 1);
    goferfs_fd_set_cap(2048);
    /* Out of descriptors once: the old one is given up. */
    fake_image_fail_opens(c, 1);
    ck_assert_int_eq(read_at(b, 0, buf, 4), 4);
    ck_assert_int_eq(buf[0], 'b');
    dentry_put(a);
    dentry_put(b);
    dentry_put(bin);
    unmount(sb, c);
    ck_assert_uint_eq(goferfs_fd_count(), 0);
}

TEST(listing_goes_on_where_it_stopped)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin");
    struct file f = {.inode = bin->inode, .path = {NULL, bin}};
    struct listing l;

    listing_init(&l, true);
    l.room = 4;
    ck_assert_int_eq(bin->inode->ops->open(bin->inode, &f), 0);
    ck_assert_int_eq(f.ops->readdir(&f, &l.dc), 0);
    ck_assert_str_eq(l.names, ". .. sh bash ");
    l.room = 100;
    ck_assert_int_eq(f.ops->readdir(&f, &l.dc), 0);
    ck_assert_str_eq(l.names, ". .. sh bash link a b c ");
    dentry_put(bin);
    unmount(sb, c);
}

TEST(links_and_attributes)
{
    struct gofer_client *c;
    struct super *sb = mount_image(&c);
    struct dentry *bin = look(sb->root, "bin"), *link = look(bin, "link");
    uint32_t before = fake_image_requests(c);
    char buf[8] = "";

    ck_assert_int_eq(link->inode->ops->readlink(link->inode, buf, sizeof(buf)), 2);
    ck_assert_str_eq(buf, "sh");
    ck_assert_uint_eq(fake_image_requests(c), before);
    ck_assert_int_eq(link->inode->ops->getxattr(link->inode, "user.k", NULL, 0), 1);
    dentry_put(link);
    dentry_put(bin);
    unmount(sb, c);
}

TEST(failing_allocations)
{
    limits_init();
    for_each_failure {
        struct gofer_client *c = fake_image_new(files);
        struct super *sb;

        if (goferfs_mount_new(c, 0, &sb) == 0) {
            struct dentry *bin, *d;

            look_ahead(sb, "bin/sh");
            if (dentry_lookup(sb->root, "bin", 3, &bin) == 0) {
                if (bin->inode) {
                    for (int i = 0; i < 6; i++) {
                        static const char *const names[] = {"x1", "x2", "x3", "x4", "sh", "link"};

                        if (dentry_lookup(bin, names[i], strlen(names[i]), &d) == 0)
                            dentry_put(d);
                    }
                }
                dentry_put(bin);
            }
            super_put(sb);
        }
        ck_assert_uint_eq(fake_image_nodes(c), 0);
        fake_image_free(c);
    }
}

TEST_SUITE(goferfs)
{
    TEST_ADD(lookups_are_remembered);
    TEST_ADD(hard_links_are_one_inode);
    TEST_ADD(path_is_one_request);
    TEST_ADD(path_ends_at_a_link);
    TEST_ADD(start_is_one_request);
    TEST_ADD(start_with_more_than_fits);
    TEST_ADD(unused_answers_are_given_back);
    TEST_ADD(many_misses_load_the_listing);
    TEST_ADD(reads_come_from_the_descriptor);
    TEST_ADD(descriptors_are_bounded);
    TEST_ADD(listing_goes_on_where_it_stopped);
    TEST_ADD(links_and_attributes);
    TEST_ADD(failing_allocations);
}
