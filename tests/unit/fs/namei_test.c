/* Path walks against the naive walker, and the rules that it does not know: symlink limits, "..",
 * names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "tests/support/namei_model.h"
#include "tests/support/test.h"

static struct task task;

static void begin(void)
{
    struct tmpfs_options opt = {.mode = 01777};
    struct super *sb;
    struct path root;

    limits_init();
    ck_assert_int_eq(tmpfs_mount_new(&opt, &sb), 0);
    ck_assert_int_eq(mount_add(NULL, sb, 0, "t", NULL), 0);
    root = (struct path){kernel.root_mount, kernel.root_mount->root};
    memset(&task, 0, sizeof(task));
    task.cred = cred_new();
    task.cred->fsuid = task.cred->uid = 1000;
    ck_assert_int_eq(fs_info_new(&root, &root, &task.fs), 0);
}

static void end(void)
{
    fs_info_put(task.fs);
    cred_put(task.cred);
    mounts_done();
    ck_assert_uint_eq(limit_used(LIMIT_DENTRIES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
}

static int with_parent(const char *name, int (*op)(struct parent_lookup *, const struct cred *))
{
    struct parent_lookup pl;
    int r = path_lookup_parent(&task, LX_AT_FDCWD, name, 0, &pl);

    if (r < 0)
        return r;
    r = op(&pl, task.cred);
    parent_lookup_done(&pl);
    return r;
}

static int op_mkdir(struct parent_lookup *pl, const struct cred *c)
{
    return vfs_mkdir(pl, 0755, c);
}

static int op_create(struct parent_lookup *pl, const struct cred *c)
{
    return vfs_mknod(pl, LX_S_IFREG | 0644, 0, c);
}

static const char *link_text;

static int op_symlink(struct parent_lookup *pl, const struct cred *c)
{
    return vfs_symlink(pl, link_text, c);
}

static int make_dir(const char *name)
{
    return with_parent(name, op_mkdir);
}

static int make_file(const char *name)
{
    return with_parent(name, op_create);
}

static int make_link(const char *target, const char *name)
{
    link_text = target;
    return with_parent(name, op_symlink);
}

static int move_to(const char *from, const char *to, uint32_t flags)
{
    struct parent_lookup a, b;
    int r = path_lookup_parent(&task, LX_AT_FDCWD, from, 0, &a);

    if (r < 0)
        return r;
    r = path_lookup_parent(&task, LX_AT_FDCWD, to, 0, &b);
    if (r == 0) {
        r = vfs_rename(&a, &b, flags, task.cred);
        parent_lookup_done(&b);
    }
    parent_lookup_done(&a);
    return r;
}

static int find(const char *name, uint32_t flags)
{
    struct path p;
    int r = path_lookup(&task, LX_AT_FDCWD, name, flags, &p);

    if (r == 0)
        path_put(&p);
    return r;
}

static uint32_t seed = 12345;

static uint8_t rnd(void)
{
    seed = seed * 1103515245u + 12345u;
    return (uint8_t)(seed >> 16);
}

TEST(agrees_with_the_model)
{
    static uint8_t buf[600];

    for (int i = 0; i < 4000; i++) {
        size_t n = 40u + (size_t)i % (sizeof(buf) - 40);

        for (size_t k = 0; k < n; k++)
            buf[k] = rnd();
        namei_model_run(buf, n);
    }
}

TEST(symlink_limit_is_forty)
{
    char name[16], target[16] = "/end";

    begin();
    ck_assert_int_eq(make_dir("/end"), 0);
    for (int i = 0; i < 41; i++) {
        snprintf(name, sizeof(name), "/l%d", i);
        ck_assert_int_eq(make_link(target, name), 0);
        strcpy(target, name);
    }
    ck_assert_int_eq(find("/l39", LOOKUP_FOLLOW), 0);
    ck_assert_int_eq(find("/l40", LOOKUP_FOLLOW), -ELOOP);
    ck_assert_int_eq(find("/l40", 0), 0);
    ck_assert_int_eq(find("/l0", LOOKUP_FOLLOW | LOOKUP_NO_SYMLINKS), -ELOOP);
    end();
}

TEST(long_names)
{
    char name[300] = "/";

    begin();
    memset(name + 1, 'n', 255);
    ck_assert_int_eq(make_file(name), 0);
    ck_assert_int_eq(find(name, 0), 0);
    name[256] = 'n';
    ck_assert_int_eq(find(name, 0), -ENAMETOOLONG);
    ck_assert_int_eq(make_file(name), -ENAMETOOLONG);
    end();
}

TEST(scoped_walks)
{
    begin();
    ck_assert_int_eq(make_dir("/d"), 0);
    ck_assert_int_eq(make_link("/d", "/d/abs"), 0);
    ck_assert_int_eq(find("d/..", LOOKUP_BENEATH), 0);
    ck_assert_int_eq(find("d/../..", LOOKUP_BENEATH), -EXDEV);
    ck_assert_int_eq(find("/d", LOOKUP_BENEATH), -EXDEV);
    ck_assert_int_eq(find("d/abs", LOOKUP_BENEATH | LOOKUP_FOLLOW), -EXDEV);
    ck_assert_int_eq(find("d/abs", LOOKUP_IN_ROOT | LOOKUP_FOLLOW), 0);
    ck_assert_int_eq(find("../../d", LOOKUP_IN_ROOT), 0);
    end();
}

TEST(creation_errors)
{
    begin();
    ck_assert_int_eq(make_dir("/d"), 0);
    ck_assert_int_eq(make_file("/f"), 0);
    ck_assert_int_eq(make_dir("/d"), -EEXIST);
    ck_assert_int_eq(make_dir("/n/"), 0);
    ck_assert_int_eq(make_dir("/"), -EEXIST);
    ck_assert_int_eq(make_dir("/d/."), -EEXIST);
    ck_assert_int_eq(make_dir("/f/x"), -ENOTDIR);
    ck_assert_int_eq(make_file("/new/"), -ENOENT);
    ck_assert_int_eq(with_parent("/d/..", vfs_rmdir), -ENOTEMPTY);
    ck_assert_int_eq(with_parent("/d/.", vfs_rmdir), -EINVAL);
    ck_assert_int_eq(with_parent("/", vfs_rmdir), -EBUSY);
    ck_assert_int_eq(with_parent("/d", vfs_unlink), -EISDIR);
    ck_assert_int_eq(with_parent("/f/", vfs_unlink), -ENOTDIR);
    ck_assert_int_eq(with_parent("/f", vfs_rmdir), -ENOTDIR);
    ck_assert_int_eq(with_parent("/f", vfs_unlink), 0);
    ck_assert_int_eq(with_parent("/f", vfs_unlink), -ENOENT);
    end();
}

TEST(rename_rules)
{
    begin();
    ck_assert_int_eq(make_dir("/d"), 0);
    ck_assert_int_eq(make_dir("/d/e"), 0);
    ck_assert_int_eq(make_file("/f"), 0);
    ck_assert_int_eq(move_to("/d", "/d/e/x", 0), -EINVAL);
    ck_assert_int_eq(move_to("/d/e", "/d", 0), -ENOTEMPTY);
    ck_assert_int_eq(move_to("/f", "/d", 0), -EISDIR);
    ck_assert_int_eq(move_to("/d", "/f", 0), -ENOTDIR);
    ck_assert_int_eq(move_to("/f", "/g/", 0), -ENOTDIR);
    ck_assert_int_eq(move_to("/f", "/d", LX_RENAME_NOREPLACE), -EEXIST);
    ck_assert_int_eq(move_to("/f", "/d/e", LX_RENAME_EXCHANGE), 0);
    ck_assert_int_eq(find("/f", LOOKUP_DIRECTORY), 0);
    ck_assert_int_eq(find("/d/e", LOOKUP_DIRECTORY), -ENOTDIR);
    ck_assert_int_eq(
        move_to("/d/e", "/a_name_that_is_much_longer_than_the_short_name_space_of_a_dentry", 0), 0);
    ck_assert_int_eq(find("/a_name_that_is_much_longer_than_the_short_name_space_of_a_dentry", 0),
                     0);
    ck_assert_int_eq(find("/d/e", 0), -ENOENT);
    ck_assert_int_eq(move_to("/d", "/f", 0), 0); /* over an empty directory */
    end();
}

TEST(sticky_and_permission)
{
    begin();
    ck_assert_int_eq(make_file("/mine"), 0);
    ck_assert_int_eq(make_dir("/priv"), 0);
    ck_assert_int_eq(make_file("/priv/f"), 0);
    task.cred->fsuid = 1001;
    ck_assert_int_eq(with_parent("/mine", vfs_unlink), -EPERM);
    ck_assert_int_eq(with_parent("/priv/f", vfs_unlink), -EACCES);
    ck_assert_int_eq(move_to("/mine", "/other", 0), -EPERM);
    task.cred->cap_effective = LX_CAP_FULL_SET;
    ck_assert_int_eq(with_parent("/mine", vfs_unlink), 0);
    ck_assert_int_eq(with_parent("/priv/f", vfs_unlink), 0);
    end();
}

TEST(path_text)
{
    char buf[64];
    struct path p;

    begin();
    ck_assert_int_eq(make_dir("/d"), 0);
    ck_assert_int_eq(make_dir("/d/e"), 0);
    ck_assert_int_eq(path_lookup(&task, LX_AT_FDCWD, "/d/e", 0, &p), 0);
    ck_assert_int_eq(path_name(&p, NULL, buf, sizeof(buf)), 4);
    ck_assert_str_eq(buf, "/d/e");
    ck_assert_int_eq(path_name(&p, NULL, buf, 4), -ENAMETOOLONG);
    ck_assert_int_eq(with_parent("/d/e", vfs_rmdir), 0);
    ck_assert_int_eq(path_name(&p, NULL, buf, sizeof(buf)), 14);
    ck_assert_str_eq(buf, "/d/e (deleted)");
    path_put(&p);
    end();
}

/* Every allocation of a whole scenario fails once; nothing leaks and nothing breaks. */
TEST(out_of_memory)
{
    for (uint64_t n = 1;; n++) {
        begin();
        kalloc_fail_after(n);
        (void)!make_dir("/d");
        (void)!make_file("/d/a_rather_long_file_name_that_does_not_fit_inside");
        (void)!make_link("d", "/l");
        (void)!find("/l/x", LOOKUP_FOLLOW);
        (void)!move_to("/d", "/moved", 0);
        bool failed = kalloc_failed();
        kalloc_fail_after(0);
        end();
        if (!failed)
            break;
    }
}

TEST_SUITE(namei)
{
    TEST_ADD(agrees_with_the_model);
    TEST_ADD(symlink_limit_is_forty);
    TEST_ADD(long_names);
    TEST_ADD(scoped_walks);
    TEST_ADD(creation_errors);
    TEST_ADD(rename_rules);
    TEST_ADD(sticky_and_permission);
    TEST_ADD(path_text);
    TEST_ADD(out_of_memory);
}
