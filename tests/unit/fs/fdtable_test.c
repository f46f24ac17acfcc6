/* Descriptor tables: lowest number, limits, replacement, copies, close on exec. */
#include <errno.h>

#include "sentry/fs/anon/anon.h"
#include "sentry/fs/anon/eventfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct thread_group group;
static struct task task;

static void begin(uint64_t nofile)
{
    limits_init();
    group.rlimit[LX_RLIMIT_NOFILE] = (struct lx_rlimit){nofile, nofile};
    task.group = &group;
    ck_assert_int_eq(files_new(&task.files), 0);
}

static void end(void)
{
    files_put(task.files);
    ck_assert_uint_eq(limit_used(LIMIT_FILES), 0);
    anon_super_done();
}

static struct file *some_file(void)
{
    struct file *f;

    ck_assert_int_eq(eventfd_new(0, 0, &f), 0);
    return f;
}

TEST(the_lowest_free_number_is_used)
{
    begin(1024);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(fd_install(&task, some_file(), false, 0), i);
    ck_assert_int_eq(fdtable_close(&task, 70), 0);
    ck_assert_int_eq(fdtable_close(&task, 70), -EBADF);
    ck_assert_int_eq(fdtable_close(&task, 3), 0);
    ck_assert_int_eq(fd_install(&task, some_file(), false, 10), 70);
    ck_assert_int_eq(fd_install(&task, some_file(), false, 0), 3);
    ck_assert_int_eq(fd_install(&task, some_file(), false, 500), 500);
    ck_assert_ptr_null(fd_get(&task, -1));
    ck_assert_ptr_null(fd_get(&task, 499));
    ck_assert_ptr_null(fd_get(&task, 1 << 30));
    end();
}

TEST(the_limit_holds)
{
    struct file *f;

    begin(3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fd_install(&task, some_file(), false, 0), i);
    f = some_file();
    ck_assert_int_eq(fd_install(&task, f, false, 0), -EMFILE);
    ck_assert_int_eq(fd_replace(&task, f, false, 3), -EBADF);
    ck_assert_int_eq(fd_replace(&task, f, true, 2), 2);
    ck_assert_uint_eq(limit_used(LIMIT_FILES), 3);
    end();
}

TEST(copies_are_independent)
{
    struct files *copy, *own;

    begin(1024);
    ck_assert_int_eq(fd_install(&task, some_file(), true, 0), 0);
    ck_assert_int_eq(fd_install(&task, some_file(), false, 0), 1);
    ck_assert_int_eq(fd_install(&task, some_file(), true, 300), 300);
    ck_assert_int_eq(files_dup(task.files, &copy), 0);
    own = task.files;
    task.files = copy;
    files_close_on_exec(&task, copy);
    ck_assert_uint_eq(copy->nopen, 1);
    ck_assert_int_eq(fdtable_close(&task, 300), -EBADF);
    ck_assert_int_eq(fdtable_close(&task, 1), 0);
    task.files = own;
    ck_assert_uint_eq(own->nopen, 3);
    files_put(copy);
    ck_assert_uint_eq(limit_used(LIMIT_FILES), 3);
    end();
}

TEST(memory_may_run_out)
{
    limits_init();
    for_each_failure {
        struct files *copy;
        struct file *f;

        group.rlimit[LX_RLIMIT_NOFILE] = (struct lx_rlimit){1024, 1024};
        task.group = &group;
        if (files_new(&task.files) < 0)
            continue;
        for (int i = 0; i < 3; i++) {
            if (eventfd_new(0, 0, &f) < 0)
                continue;
            if (fd_install(&task, f, false, i * 100) < 0)
                file_put(f);
        }
        if (files_dup(task.files, &copy) == 0) {
            ck_assert_uint_eq(copy->nopen, task.files->nopen);
            files_put(copy);
        }
        files_put(task.files);
        ck_assert_uint_eq(limit_used(LIMIT_FILES), 0);
        anon_super_done();
    }
}

TEST_SUITE(fdtable)
{
    TEST_ADD(the_lowest_free_number_is_used);
    TEST_ADD(the_limit_holds);
    TEST_ADD(copies_are_independent);
    TEST_ADD(memory_may_run_out);
}
