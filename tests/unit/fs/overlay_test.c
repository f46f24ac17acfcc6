/* The overlay over a fake image and a tmpfs: copy-up, whiteouts, redirects, listings, links. */
#include "tests/unit/fs/overlay_fixture.h"

TEST(copy_up_on_write)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd");
    uint64_t ino = d->inode->ino;
    struct file *reader = open_at(d, LX_O_RDONLY), *f = open_at(d, LX_O_RDWR);
    char buf[8] = "";

    write_to(f, "ROO");
    file_put(f);
    ck_assert_str_eq(content(d), "ROOt");
    ck_assert_int_eq(kernel_read(reader, buf, 4, 0), 4);
    ck_assert_str_eq(buf, "ROOt");
    file_put(reader);
    struct path p = {mnt, d};
    struct kstat st;
    ck_assert_int_eq(vfs_getattr(&p, &st), 0);
    ck_assert_uint_eq(st.size, 4);
    ck_assert_uint_eq(d->inode->ino, ino);
    ck_assert_uint_eq(d->inode->mode, LX_S_IFREG | 0640);
    dentry_put(d);
    dentry_prune(sb->root);
    d = look(etc, "passwd");
    ck_assert_uint_eq(d->inode->ino, ino);
    ck_assert_str_eq(content(d), "ROOt");
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(whiteouts)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d;

    ck_assert_int_eq(remove_name(etc, "passwd"), 0);
    d = look(etc, "passwd");
    ck_assert_ptr_null(d->inode);
    ck_assert_int_eq(etc->inode->ops->create(etc->inode, d, LX_S_IFREG | 0600, cred), 0);
    ck_assert_str_eq(content(d), "");
    dentry_put(d);
    ck_assert_str_eq(names_in(etc), "passwd link d h1 h2 ");
    ck_assert_int_eq(remove_name(etc, "passwd"), 0);
    ck_assert_str_eq(names_in(etc), "link d h1 h2 ");
    ck_assert_int_eq(remove_name(etc, "d"), -ENOTEMPTY);
    dentry_put(etc);
    end();
}

TEST(a_removed_directory_comes_back_empty)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "d");

    ck_assert_int_eq(remove_name(d, "x"), 0);
    dentry_put(d);
    ck_assert_int_eq(remove_name(etc, "d"), 0);
    d = look(etc, "d");
    ck_assert_ptr_null(d->inode);
    ck_assert_int_eq(etc->inode->ops->mkdir(etc->inode, d, LX_S_IFDIR | 0755, cred), 0);
    ck_assert_str_eq(names_in(d), "");
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(directories_are_renamed_with_their_content)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d, *x;

    ck_assert_int_eq(rename_name(etc, "d", sb->root, "moved"), 0);
    d = look(sb->root, "moved");
    ck_assert_str_eq(names_in(d), "x ");
    dentry_put(d);
    dentry_prune(sb->root);
    d = look(sb->root, "moved");
    x = look(d, "x");
    ck_assert_str_eq(content(x), "xx");
    dentry_put(x);
    ck_assert_int_eq(rename_name(d, "x", etc, "y"), 0);
    ck_assert_str_eq(names_in(d), "");
    x = look(etc, "y");
    ck_assert_str_eq(content(x), "xx");
    dentry_put(x);
    dentry_put(d);
    d = look(etc, "d");
    ck_assert_ptr_null(d->inode);
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(attributes_are_copied_up)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd");
    struct iattr a = {.valid = ATTR_MODE, .mode = 0600};
    struct iattr cut = {.valid = ATTR_SIZE, .size = 2};

    ck_assert_int_eq(d->inode->ops->setattr(d->inode, &a), 0);
    ck_assert_uint_eq(d->inode->mode, LX_S_IFREG | 0600);
    ck_assert_int_eq(d->inode->mtime.tv_sec, 1000);
    ck_assert_int_eq(d->inode->ops->setattr(d->inode, &cut), 0);
    ck_assert_str_eq(content(d), "ro");
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(hard_links_break_on_copy_up)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *h1 = look(etc, "h1"), *h2 = look(etc, "h2");
    struct file *f = open_at(h1, LX_O_WRONLY);

    write_to(f, "soft");
    file_put(f);
    ck_assert_str_eq(content(h1), "soft");
    ck_assert_str_eq(content(h2), "hard");
    dentry_put(h1);
    dentry_put(h2);
    dentry_put(etc);
    end();
}

TEST(links_share_an_inode)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd"), *n = look(etc, "new");

    ck_assert_int_eq(etc->inode->ops->link(d->inode, etc->inode, n), 0);
    ck_assert_ptr_eq(n->inode, d->inode);
    ck_assert_uint_eq(d->inode->nlink, 2);
    dentry_put(d);
    ck_assert_int_eq(remove_name(etc, "passwd"), 0);
    ck_assert_uint_eq(n->inode->nlink, 1);
    ck_assert_str_eq(content(n), "root");
    dentry_put(n);
    dentry_put(etc);
    end();
}

TEST(failing_allocations)
{
    limits_init();
    image = fake_image_new(files);
    cred = cred_new();
    cred->cap_effective = LX_CAP_FULL_SET;
    for_each_failure {
        if (mount_overlay() == 0) {
            struct dentry *etc, *d;

            if (dentry_lookup(sb->root, "etc", 3, &etc) == 0) {
                if (etc->inode && dentry_lookup(etc, "passwd", 6, &d) == 0) {
                    if (d->inode) {
                        int r = ovl_copy_up(ovl_inode_of(d->inode), UINT64_MAX);

                        if (r == 0)
                            r = etc->inode->ops->unlink(etc->inode, d);
                        if (r == 0)
                            dentry_drop(d);
                    }
                    dentry_put(d);
                }
                dentry_put(etc);
            }
            mount_put(mnt);
        }
    }
    cred_put(cred);
    fake_image_free(image);
}

/* A file that was unlinked while it is open: fchmod, fchown, another open through /proc. */
TEST(changes_after_the_last_name)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd");
    struct file *f = open_at(d, LX_O_RDONLY);
    struct iattr a = {.valid = ATTR_MODE | ATTR_UID, .mode = 0600, .uid = 7};

    ck_assert_int_eq(etc->inode->ops->unlink(etc->inode, d), 0);
    dentry_drop(d);
    ck_assert_uint_eq(d->inode->nlink, 0);
    ck_assert_int_eq(d->inode->ops->setattr(d->inode, &a), 0);
    ck_assert_uint_eq(d->inode->mode, LX_S_IFREG | 0600);
    ck_assert_uint_eq(d->inode->uid, 7);
    ck_assert_uint_eq(d->inode->nlink, 0);
    ck_assert_str_eq(content(d), "root");
    struct file *w = open_at(d, LX_O_WRONLY);
    write_to(w, "R");
    ck_assert_str_eq(content(d), "Root");
    file_put(w);
    file_put(f);
    dentry_put(d);
    d = look(etc, "passwd");
    ck_assert_ptr_null(d->inode);
    dentry_put(d);
    /* A directory keeps them in memory. */
    d = look(etc, "d");
    struct dentry *x = look(d, "x");
    ck_assert_int_eq(d->inode->ops->unlink(d->inode, x), 0);
    dentry_drop(x);
    dentry_put(x);
    ck_assert_int_eq(etc->inode->ops->rmdir(etc->inode, d), 0);
    dentry_drop(d);
    a.mode = 0711;
    ck_assert_int_eq(d->inode->ops->setattr(d->inode, &a), 0);
    ck_assert_uint_eq(d->inode->mode, LX_S_IFDIR | 0711);
    dentry_put(d);
    dentry_put(etc);
    end();
}
END_TEST

/* -- large files ------------------------------------------------------------------------------ */

enum {
    LARGE = (40 << 20) + 5
};

static struct task caller; /* a call is in progress: who it is does not matter */
static char *large;

static void begin_large(void)
{
    static struct fake_file one[] = {{"/large", LX_S_IFREG | 0640, NULL, 0, 0},
                                     {NULL, 0, NULL, 0, 0}};

    limits_init();
    large = malloc(LARGE + 1);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + (i >> 12) % 23);
    large[LARGE] = 0;
    one[0].content = large;
    image = fake_image_new(one);
    cred = cred_new();
    cred->cap_effective = LX_CAP_FULL_SET;
    ck_assert_int_eq(mount_overlay(), 0);
}

static void end_large(void)
{
    kernel.current = NULL;
    end();
    free(large);
}

static int open_again(struct dentry *d, uint32_t flags, struct file **ret_f)
{
    struct path p = {mnt, d};

    kernel.current = &caller;
    return vfs_open_path(&p, flags, cred, ret_f);
}

static void check_large(struct file *f)
{
    char *got = malloc(LARGE);

    kernel.current = NULL;
    ck_assert_int_eq(kernel_read(f, got, LARGE, 0), LARGE);
    ck_assert_int_eq(memcmp(got, large, LARGE), 0);
    free(got);
}

TEST(large_files_are_copied_in_steps)
{
    begin_large();
    struct dentry *d = look(sb->root, "large");
    struct file *f = NULL;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ESTEP);
        ck_assert_ptr_null(ovl_inode_of(d->inode)->upper);
        ck_assert_uint_ge(limit_used(LIMIT_DISK_BYTES), (uint64_t)(i + 1) << 24);
        ck_assert_str_eq(names_in(sb->root), "large ");
    }
    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), 0);
    check_large(f);
    ck_assert_uint_eq(d->inode->nlink, 1);
    ck_assert_uint_eq(d->inode->mode, LX_S_IFREG | 0640);
    ck_assert_uint_eq(d->inode->size, LARGE);
    file_put(f);
    dentry_put(d);
    end_large();
}

TEST(a_large_copy_is_given_up)
{
    begin_large();
    struct dentry *d = look(sb->root, "large");
    struct file *f = NULL;

    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ESTEP);
    dentry_put(d);
    end_large(); /* the disk's budget is whole again */
}

TEST(a_large_copy_is_shared_and_cut)
{
    begin_large();
    struct dentry *d = look(sb->root, "large");
    struct file *f = NULL;

    /* One call wants all of it; another one, in between, nothing. */
    ck_assert_int_eq(open_again(d, LX_O_WRONLY, &f), -ESTEP);
    ck_assert_int_eq(open_again(d, LX_O_WRONLY | LX_O_TRUNC, &f), 0);
    file_put(f);
    ck_assert_uint_eq(d->inode->size, 0);
    ck_assert_int_eq(open_again(d, LX_O_WRONLY, &f), 0);
    file_put(f);
    dentry_put(d);
    end_large();
}

TEST(a_large_copy_of_a_removed_file)
{
    begin_large();
    struct dentry *d = look(sb->root, "large");
    struct file *f = NULL;

    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ESTEP);
    ck_assert_int_eq(remove_name(sb->root, "large"), 0);
    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ESTEP);
    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), 0);
    check_large(f);
    ck_assert_uint_eq(d->inode->nlink, 0);
    file_put(f);
    dentry_put(d);
    end_large();
}

TEST(a_large_copy_without_room)
{
    begin_large();
    struct dentry *d = look(sb->root, "large");
    struct file *f = NULL;

    limit_set(LIMIT_DISK_BYTES, 20 << 20);
    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ESTEP);
    ck_assert_int_eq(open_again(d, LX_O_RDWR, &f), -ENOSPC);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
    limit_set(LIMIT_DISK_BYTES, 64 << 20);
    kernel.current = NULL; /* outside of a call it is done at once */
    struct path p = {mnt, d};
    ck_assert_int_eq(vfs_open_path(&p, LX_O_RDWR, cred, &f), 0);
    check_large(f);
    file_put(f);
    dentry_put(d);
    end_large();
}

TEST_SUITE(overlay)
{
    TEST_ADD(large_files_are_copied_in_steps);
    TEST_ADD(a_large_copy_is_given_up);
    TEST_ADD(a_large_copy_is_shared_and_cut);
    TEST_ADD(a_large_copy_of_a_removed_file);
    TEST_ADD(a_large_copy_without_room);
    TEST_ADD(copy_up_on_write);
    TEST_ADD(whiteouts);
    TEST_ADD(a_removed_directory_comes_back_empty);
    TEST_ADD(directories_are_renamed_with_their_content);
    TEST_ADD(attributes_are_copied_up);
    TEST_ADD(hard_links_break_on_copy_up);
    TEST_ADD(links_share_an_inode);
    TEST_ADD(failing_allocations);
    TEST_ADD(changes_after_the_last_name);
}
