/* Leak checks around every unit test; see fixture.h. */
#include "tests/support/fixture.h"

#include <check.h>
#include <dirent.h>

static int fds_at_start;

static int fd_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(dir);
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

void fixture_setup(void)
{
    fds_at_start = fd_count();
}

void fixture_teardown(void)
{
    ck_assert_msg(fd_count() == fds_at_start, "descriptors: %d before the test, %d after",
                  fds_at_start, fd_count());
}
