/* sentry/cli/account: the sum over a made-up /proc. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/stat.h>

#include "sentry/cli/account.h"
#include "tests/support/test.h"

static char dir[64];
static int proc;
static const pid_t roots[3] = {10, 11, 0};

static void put(const char *name, const char *text)
{
    int fd = openat(proc, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static void process(int pid, const char *status, const char *rollup, const char *children)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%d", pid);
    ck_assert_int_eq(mkdirat(proc, name, 0755), 0);
    (void)snprintf(name, sizeof(name), "%d/status", pid);
    put(name, status);
    (void)snprintf(name, sizeof(name), "%d/smaps_rollup", pid);
    if (rollup != NULL)
        put(name, rollup);
    (void)snprintf(name, sizeof(name), "%d/task", pid);
    ck_assert_int_eq(mkdirat(proc, name, 0755), 0);
    (void)snprintf(name, sizeof(name), "%d/task/%d", pid, pid);
    ck_assert_int_eq(mkdirat(proc, name, 0755), 0);
    (void)snprintf(name, sizeof(name), "%d/task/%d/children", pid, pid);
    if (children != NULL)
        put(name, children);
}

static void setup(void)
{
    (void)snprintf(dir, sizeof(dir), "/tmp/account.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    proc = open(dir, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(proc, 0);
}

static void teardown(void)
{
    char command[96];
    (void)close(proc);
    (void)snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

TEST(sums_everybody)
{
    struct account_sum s;
    setup();
    process(10,
            "Name:\tsentry\nVmPTE:\t      8 kB\nVmSwap:\t       1 kB\nRssAnon:\t     100 kB\n"
            "RssFile:\t  9000 kB\nRssShmem:\t       4 kB\n",
            NULL, "20 ");
    process(11, "Name:\tsentry-gofer\nVmPTE:\t       2 kB\nRssAnon:\t      50 kB\n", NULL, "12 ");
    process(12, "Name:\tsentry-gofer\nRssAnon:\t       7 kB\n", NULL, "");
    process(20, "Name:\ti\nRssAnon:\t       3 kB\n", NULL, "21 22 23 ");
    process(21, "Name:\ta\nRssAnon:\t    1000 kB\nRssShmem:\t  500 kB\n",
            "Rss: 1 kB\nPss_Anon:  400 kB\n", "");
    process(22, "Name:\tRssAnon:  77 kB\nVmSwap:\t      16 kB\nRssAnon:\t    1000 kB\n", NULL, "");
    /* 23 has ended meanwhile */
    account_read(proc, roots, false, &s);
    ck_assert(!s.failed);
    ck_assert_uint_eq(s.processes, 6);
    ck_assert_uint_eq(s.anon, (100 + 50 + 7 + 3 + 1000 + 1000) * 1024);
    ck_assert_uint_eq(s.largest, 1000 * 1024);
    ck_assert_uint_eq(s.swap, 17 * 1024);
    ck_assert_uint_eq(s.tables, 10 * 1024);
    ck_assert_uint_eq(s.shmem, 4 * 1024);
    /* The exact share where it can be read; else the larger number. */
    account_read(proc, roots, true, &s);
    ck_assert_uint_eq(s.anon, (100 + 50 + 7 + 3 + 400 + 1000) * 1024);
    teardown();
}

TEST(without_lists_of_children)
{
    struct account_sum s;
    setup();
    process(10, "RssAnon:\t     1 kB\n\nRssAnon:\t     100 kB\n", NULL, NULL);
    account_read(proc, roots, false, &s);
    ck_assert(s.failed);
    ck_assert_uint_eq(s.processes, 1);
    teardown();
}

TEST_SUITE(cli_account)
{
    TEST_ADD(sums_everybody);
    TEST_ADD(without_lists_of_children);
}
