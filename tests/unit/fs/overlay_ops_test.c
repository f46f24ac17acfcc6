/* The overlay: attributes of names, links, exchanges, unnamed files, and what a failure in the
 * middle leaves. */
#include <stdio.h>

#include "lib/alloc.h"
#include "tests/unit/fs/overlay_fixture.h"

static int name_cmp(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in d, sorted, with spaces between. */
static void check_names(struct dentry *d, const char *want)
{
    char text[256], got[256] = "", *names[16], *save = NULL;
    size_t n = 0;

    ck_assert_int_lt(snprintf(text, sizeof(text), "%s", names_in(d)), (int)sizeof(text));
    for (char *name = strtok_r(text, " ", &save); name && n < 16; name = strtok_r(NULL, " ", &save))
        names[n++] = name;
    qsort(names, n, sizeof(names[0]), name_cmp);
    for (size_t i = 0; i < n; i++) {
        strcat(got, i ? " " : "");
        strcat(got, names[i]);
    }
    ck_assert_str_eq(got, want);
}

static const char *linked_to(struct inode *ino)
{
    static char buf[64];
    int64_t n = ino->ops->readlink(ino, buf, sizeof(buf) - 1);

    ck_assert_int_ge(n, 0);
    buf[n] = 0;
    return buf;
}

TEST(attributes_by_name)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd");
    struct inode *ino = d->inode;
    char buf[64];

    ck_assert_int_eq(ino->ops->getxattr(ino, "user.a", buf, sizeof(buf)), -ENODATA);
    ck_assert_int_eq(ino->ops->getxattr(ino, "user.k", buf, sizeof(buf)), 1);
    ck_assert_int_eq(ino->ops->listxattr(ino, buf, sizeof(buf)), 7);
    ck_assert_int_eq(ino->ops->removexattr(ino, "user.a"), -ENODATA);
    ck_assert_int_eq(ino->ops->setxattr(ino, "user.a", "one", 3, 0), 0);
    ck_assert_int_eq(ino->ops->setxattr(ino, "user.a", "two", 3, LX_XATTR_CREATE), -EEXIST);
    ck_assert_int_eq(ino->ops->setxattr(ino, "user.b", "two", 3, LX_XATTR_REPLACE), -ENODATA);
    ck_assert_int_eq(ino->ops->getxattr(ino, "user.a", buf, sizeof(buf)), 3);
    ck_assert_mem_eq(buf, "one", 3);
    ck_assert_int_eq(ino->ops->getxattr(ino, "user.a", buf, 2), -ERANGE);
    ck_assert_int_eq(ino->ops->listxattr(ino, buf, sizeof(buf)), 14);
    /* What the image had was copied up, with the bytes. */
    ck_assert_int_eq(ino->ops->getxattr(ino, "user.k", buf, sizeof(buf)), 1);
    ck_assert_str_eq(content(d), "root");
    ck_assert_int_eq(ino->ops->removexattr(ino, "user.a"), 0);
    ck_assert_int_eq(ino->ops->removexattr(ino, "user.k"), 0);
    ck_assert_int_eq(ino->ops->listxattr(ino, buf, sizeof(buf)), 0);
    ck_assert_int_eq(ino->ops->getxattr(ino, "user.k", buf, sizeof(buf)), -ENODATA);
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(a_link_is_copied_up)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "link");
    struct iattr a = {.valid = ATTR_UID, .uid = 9};

    ck_assert_str_eq(linked_to(d->inode), "passwd");
    ck_assert_int_eq(d->inode->ops->setattr(d->inode, &a), 0);
    ck_assert_uint_eq(d->inode->uid, 9);
    ck_assert_str_eq(linked_to(d->inode), "passwd");
    dentry_put(d);
    check_names(etc, "d h1 h2 link passwd");
    dentry_put(etc);
    end();
}

static int exchange(struct dentry *odir, const char *old, struct dentry *ndir, const char *new)
{
    struct dentry *od = look(odir, old), *nd = look(ndir, new);
    int r = odir->inode->ops->rename(odir->inode, od, ndir->inode, nd, LX_RENAME_EXCHANGE);

    if (r == 0)
        dentry_exchange(od, nd);
    dentry_put(od);
    dentry_put(nd);
    return r;
}

TEST(names_are_exchanged)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *dir = look(etc, "d");

    /* A file and a directory, both of the image only; then back. */
    ck_assert_int_eq(exchange(etc, "passwd", etc, "d"), 0);
    dentry_put(dir);
    dir = look(etc, "passwd");
    check_names(dir, "x");
    struct dentry *file = look(etc, "d");
    ck_assert_str_eq(content(file), "root");
    dentry_put(file);
    ck_assert_int_eq(exchange(etc, "d", dir, "x"), 0);
    file = look(dir, "x");
    ck_assert_str_eq(content(file), "root");
    dentry_put(file);
    file = look(etc, "d");
    ck_assert_str_eq(content(file), "xx");
    dentry_put(file);
    dentry_put(dir);
    check_names(etc, "d h1 h2 link passwd");
    dentry_put(etc);
    end();
}

TEST(a_directory_replaces_one_of_the_image)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *dir = look(etc, "d"), *n = look(etc, "new");

    ck_assert_int_eq(etc->inode->ops->mkdir(etc->inode, n, 0755, cred), 0);
    dentry_put(n);
    ck_assert_int_eq(rename_name(etc, "new", etc, "d"), -ENOTEMPTY);
    check_names(dir, "x");
    ck_assert_int_eq(remove_name(dir, "x"), 0);
    ck_assert_int_eq(rename_name(etc, "new", etc, "d"), 0);
    ck_assert_uint_eq(dir->inode->nlink, 0);
    dentry_put(dir);
    dir = look(etc, "d");
    check_names(dir, "");
    dentry_put(dir);
    check_names(etc, "d h1 h2 link passwd");
    dentry_put(etc);
    end();
}

/* An open file of the image whose name another one took: it keeps its bytes and can be changed. */
TEST(a_file_that_was_replaced)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "h1");
    struct inode *ino = inode_get(d->inode);
    struct file *f = open_at(d, LX_O_RDONLY);
    struct iattr a = {.valid = ATTR_MODE, .mode = 0400};
    char buf[8] = "";

    dentry_put(d);
    ck_assert_int_eq(rename_name(etc, "passwd", etc, "h1"), 0);
    ck_assert_int_eq(ino->ops->setattr(ino, &a), 0);
    ck_assert_uint_eq(ino->mode, LX_S_IFREG | 0400);
    ck_assert_int_eq(kernel_read(f, buf, sizeof(buf), 0), 4);
    ck_assert_str_eq(buf, "hard");
    file_put(f);
    inode_put(ino);
    d = look(etc, "h1");
    ck_assert_str_eq(content(d), "root");
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(unnamed_files)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "named");
    struct inode *ino;

    ck_assert_int_eq(etc->inode->ops->tmpfile(etc->inode, LX_S_IFREG | 0600, cred, &ino), 0);
    ck_assert_uint_eq(ino->nlink, 0);
    check_names(etc, "d h1 h2 link passwd");
    ck_assert_int_eq(etc->inode->ops->link(ino, etc->inode, d), 0);
    ck_assert_uint_eq(ino->nlink, 1);
    check_names(etc, "d h1 h2 link named passwd");
    inode_put(ino);
    dentry_put(d);
    dentry_put(etc);
    end();
}

TEST(room_is_made)
{
    begin();
    struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "passwd");
    struct file *f = open_at(d, LX_O_RDWR);

    ck_assert_int_eq(f->ops->fallocate(f, 0, 0, 8192), 0);
    ck_assert_uint_eq(d->inode->size, 8192);
    ck_assert_int_eq(f->ops->fallocate(f, LX_FALLOC_FL_PUNCH_HOLE | LX_FALLOC_FL_KEEP_SIZE, 0, 2),
                     0);
    ck_assert_int_eq(f->ops->fsync(f, true), 0);
    char buf[4];
    ck_assert_int_eq(kernel_read(f, buf, sizeof(buf), 0), 4);
    ck_assert_mem_eq(buf, "\0\0ot", 4);
    file_put(f);
    dentry_put(d);
    dentry_put(etc);
    end();
}

enum made {
    MADE_FILE,
    MADE_DIR,
    MADE_LINK,
    MADE_FIFO,
    MADE_KINDS
};

static int make(struct inode *dir, struct dentry *d, enum made kind)
{
    switch (kind) {
    case MADE_FILE:
        return dir->ops->create(dir, d, LX_S_IFREG | 0644, cred);
    case MADE_DIR:
        return dir->ops->mkdir(dir, d, 0755, cred);
    case MADE_LINK:
        return dir->ops->symlink(dir, d, "passwd", cred);
    case MADE_FIFO:
        return dir->ops->mknod(dir, d, LX_S_IFIFO | 0644, 0, cred);
    case MADE_KINDS:
        break;
    }
    return -EINVAL;
}

/* Whatever allocation fails in the middle: the name is there or it is not, and making it again
 * works. */
TEST(making_fails_in_the_middle)
{
    for (enum made kind = MADE_FILE; kind < MADE_KINDS; kind++) {
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            begin();
            struct dentry *etc = look(sb->root, "etc"), *d = look(etc, "new");

            kalloc_fail_after(n);
            int r = make(etc->inode, d, kind);
            failed = kalloc_failed();
            kalloc_fail_after(0);
            ck_assert_int_eq(d->inode != NULL, r == 0);
            dentry_put(d);
            d = look(etc, "new");
            if (!d->inode)
                ck_assert_int_eq(make(etc->inode, d, kind), 0);
            dentry_put(d);
            check_names(etc, "d h1 h2 link new passwd");
            ck_assert_int_eq(remove_name(etc, "new"), 0);
            check_names(etc, "d h1 h2 link passwd");
            dentry_put(etc);
            end();
        }
    }
}

/* A name is never lost, and never doubled. */
TEST(renaming_fails_in_the_middle)
{
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        begin();
        struct dentry *etc = look(sb->root, "etc"), *od = look(etc, "passwd"),
                      *nd = look(etc, "h1");

        kalloc_fail_after(n);
        int r = etc->inode->ops->rename(etc->inode, od, etc->inode, nd, 0);
        failed = kalloc_failed();
        kalloc_fail_after(0);
        if (r == 0)
            dentry_move(od, nd);
        dentry_put(od);
        dentry_put(nd);
        check_names(etc, r == 0 ? "d h1 h2 link" : "d h1 h2 link passwd");
        struct dentry *d = look(etc, "h1");
        ck_assert_str_eq(content(d), r == 0 ? "root" : "hard");
        dentry_put(d);
        if (r < 0) {
            ck_assert_int_eq(rename_name(etc, "passwd", etc, "h1"), 0);
            check_names(etc, "d h1 h2 link");
        }
        dentry_put(etc);
        end();
    }
}

TEST_SUITE(overlay_ops)
{
    TEST_ADD(attributes_by_name);
    TEST_ADD(a_link_is_copied_up);
    TEST_ADD(names_are_exchanged);
    TEST_ADD(a_directory_replaces_one_of_the_image);
    TEST_ADD(a_file_that_was_replaced);
    TEST_ADD(unnamed_files);
    TEST_ADD(room_is_made);
    TEST_ADD(making_fails_in_the_middle);
    TEST_ADD(renaming_fails_in_the_middle);
}
