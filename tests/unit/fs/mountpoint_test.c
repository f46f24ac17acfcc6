/* Places to mount on: what is made up in an image, what is really made in tmpfs, binds, settings.
 */
#include <errno.h>
#include <string.h>

#include "abi/dir.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "tests/support/fixture.h"
#include "tests/support/listing.h"
#include "tests/support/test.h"
#include "tests/unit/fs/fake_image.h"

static const struct fake_file files[] = {
    {"/etc", LX_S_IFDIR | 0755, NULL, 0, 0},
    {"/etc/passwd", LX_S_IFREG | 0644, "root", 0, 0},
    {"/var", LX_S_IFDIR | 0755, NULL, 0, 0},
    {"/var/run", LX_S_IFLNK | 0777, "/run/it", 0, 0},
    {"/var/lock", LX_S_IFLNK | 0777, "../lock", 0, 0},
    {"/var/loop", LX_S_IFLNK | 0777, "loop", 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static struct gofer_client *image;

static int mount_image(void)
{
    struct super *sb;
    int r = goferfs_mount_new(image, 0, &sb);

    return r < 0 ? r : mount_add(NULL, sb, MOUNT_RDONLY, "image", NULL);
}

static void begin(void)
{
    limits_init();
    image = fake_image_new(files);
    ck_assert_int_eq(mount_image(), 0);
}

static void end(void)
{
    mounts_done();
    ck_assert_uint_eq(fake_image_nodes(image), 0);
    fake_image_free(image);
    ck_assert_uint_eq(limit_used(LIMIT_DENTRIES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_DISK_INODES), 0);
}

static int mount_tmpfs(const char *at)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *sb;
    struct path p;
    int r = mountpoint_make(at, true, &p);

    if (r < 0)
        return r;
    r = tmpfs_mount_new(&opt, &sb);
    if (r == 0)
        r = mount_add(&p, sb, 0, "t", NULL);
    path_put(&p);
    return r;
}

static const char *place_of(const char *name)
{
    static char buf[256];
    struct path p;

    if (kernel_path_lookup(name, LOOKUP_FOLLOW, &p) < 0)
        return "nothing";
    ck_assert_int_gt(path_name(&p, NULL, buf, sizeof(buf)), 0);
    path_put(&p);
    return buf;
}

static const char *names_in(const char *name)
{
    static struct listing l;
    struct cred *c = cred_new();
    struct path p;
    struct file *f;

    listing_init(&l, false);
    ck_assert_int_eq(kernel_path_lookup(name, LOOKUP_FOLLOW, &p), 0);
    ck_assert_int_eq(vfs_open_path(&p, LX_O_RDONLY | LX_O_DIRECTORY, c, &f), 0);
    ck_assert_int_eq(f->ops->readdir(f, &l.dc), 0);
    ck_assert_int_eq(f->ops->readdir(f, &l.dc), 0); /* nothing is emitted twice */
    file_put(f);
    path_put(&p);
    cred_put(c);
    return l.names;
}

TEST(missing_directories_are_made_up)
{
    begin();
    ck_assert_int_eq(mount_tmpfs("/a//b/c/"), 0);
    ck_assert_int_eq(mount_tmpfs("/a/d"), 0);
    ck_assert_str_eq(place_of("/a/b/c"), "/a/b/c");
    ck_assert_str_eq(names_in("/"), "etc var a ");
    ck_assert_str_eq(names_in("/a"), "b d ");
    ck_assert_str_eq(names_in("/a/b/c"), "");
    ck_assert_str_eq(place_of("/a/none"), "nothing");
    /* Below a tmpfs they are real. */
    ck_assert_int_eq(mount_tmpfs("/a/b/c/x/y"), 0);
    ck_assert_str_eq(names_in("/a/b/c"), "x ");
    ck_assert_int_eq(mount_tmpfs("/etc/passwd"), -ENOTDIR);
    ck_assert_int_eq(mount_tmpfs("/etc/passwd/x"), -ENOTDIR);
    ck_assert_int_eq(mount_tmpfs("/none/../x"), 0);
    ck_assert_str_eq(place_of("/x"), "/x");
    end();
}
END_TEST

TEST(dangling_symlinks_are_followed)
{
    begin();
    ck_assert_int_eq(mount_tmpfs("/var/run/pid"), 0);
    ck_assert_str_eq(place_of("/var/run/pid"), "/run/it/pid");
    ck_assert_int_eq(mount_tmpfs("/var/lock"), 0);
    ck_assert_str_eq(place_of("/var/lock"), "/lock");
    ck_assert_int_eq(mount_tmpfs("/var/loop"), -ELOOP);
    end();
}
END_TEST

TEST(files_are_bound)
{
    struct path at, from;

    begin();
    ck_assert_int_eq(kernel_path_lookup("/etc/passwd", 0, &from), 0);
    ck_assert_int_eq(mountpoint_make("/run/file", false, &at), 0);
    ck_assert_int_eq(mount_bind(&at, &from, MOUNT_RDONLY, "x", NULL), 0);
    path_put(&at);
    ck_assert_int_eq(mountpoint_make("/run/file", false, &at), 0);
    ck_assert_ptr_eq(at.dentry, from.dentry);
    path_put(&at);
    ck_assert_int_eq(mountpoint_make("/run/dir", true, &at), 0);
    ck_assert_int_eq(mount_bind(&at, &from, 0, "x", NULL), -ENOTDIR);
    path_put(&at);
    path_put(&from);
    end();
}
END_TEST

TEST(failing_allocations)
{
    for_each_failure {
        limits_init();
        image = fake_image_new(files);
        if (mount_image() == 0)
            (void)!mount_tmpfs("/var/run/a/b");
        end();
    }
}
END_TEST

TEST(settings_of_the_configuration)
{
    begin();
    ck_assert_int_eq(sysctl_set("kernel.shmmax", "4096"), 0);
    ck_assert_uint_eq(sysctl_number("kernel.shmmax", 7), 4096);
    ck_assert_int_eq(sysctl_set("kernel/shmmax", "8192"), 0);
    ck_assert_uint_eq(sysctl_number("kernel.shmmax", 7), 8192);
    ck_assert_uint_eq(sysctl_number("kernel.msgmax", 7), 7);
    ck_assert_int_eq(sysctl_set("kernel.sem", "250 32000"), 0);
    ck_assert_uint_eq(sysctl_number("kernel.sem", 7), 250);
    ck_assert_int_eq(sysctl_set("kernel.msgmax", "99999999999999999999999"), 0);
    ck_assert_uint_eq(sysctl_number("kernel.msgmax", 7), UINT64_MAX >> 1);
    ck_assert_int_eq(sysctl_set("fs.pipe-max-size", "12288"), 0);
    ck_assert_uint_eq(sysctl_number("fs.pipe-max-size", 1), 16384);
    ck_assert_int_eq(sysctl_set("fs.pipe-max-size", "0"), -EINVAL);
    ck_assert_int_eq(sysctl_set("vm.swappiness", "201"), -EINVAL);
    ck_assert_int_eq(sysctl_set("kernel.core_pattern", "x"), 0);
    ck_assert_uint_eq(sysctl_number("kernel.core_pattern", 7), 7);
    ck_assert_int_eq(sysctl_set("kernel.hostname", "h"), 0);
    ck_assert_str_eq(kernel.hostname, "h");
    ck_assert_int_eq(sysctl_set("kernel.ostype", "Windows"), -EACCES);
    ck_assert_int_eq(sysctl_set("kernel", "1"), -ENOENT);
    ck_assert_int_eq(sysctl_set("kernel.none", "1"), -ENOENT);
    ck_assert_int_eq(sysctl_set("kernel.shmmax.x", "1"), -ENOENT);
    ck_assert_int_eq(sysctl_set("", "1"), -ENOENT);
    ck_assert_int_eq(sysctl_set("kernel.shmmax", "1\n2"), -EINVAL);
    sysctl_done();
    end();
}
END_TEST

TEST_SUITE(mountpoint)
{
    TEST_ADD(missing_directories_are_made_up);
    TEST_ADD(dangling_symlinks_are_followed);
    TEST_ADD(files_are_bound);
    TEST_ADD(failing_allocations);
    TEST_ADD(settings_of_the_configuration);
}
