/* Leak checks and failure loops for unit tests; see fixture.h. */
#include "tests/support/fixture.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>

#include "lib/alloc.h"

enum {
    MAX_SOURCES = 4,
    MAX_FAILURES = 100000
};

static int fds_at_start;
static uint64_t balance_at_start;

static struct failure_source sources[MAX_SOURCES] = {{kalloc_fail_after, kalloc_failed}};
static size_t source_count = 1;

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
    balance_at_start = kalloc_balance();
}

void fixture_teardown(void)
{
    ck_assert_msg(fd_count() == fds_at_start, "descriptors: %d before the test, %d after",
                  fds_at_start, fd_count());
    ck_assert_msg(kalloc_balance() == balance_at_start,
                  "kalloc: %llu bytes before the test, %llu after",
                  (unsigned long long)balance_at_start, (unsigned long long)kalloc_balance());
}

void failure_add_source(const struct failure_source *source)
{
    /* Constructors come by here, before libcheck can hear of a failure. */
    if (source_count == MAX_SOURCES)
        abort();
    sources[source_count++] = *source;
}

bool failure_next(struct failure_loop *loop)
{
    const struct failure_source *source = &sources[loop->source];

    if (loop->n == 0) {
        loop->balance = kalloc_balance();
        loop->fds = fd_count();
    } else {
        bool failed = source->failed();
        source->fail_after(0);
        ck_assert_msg(kalloc_balance() == loop->balance,
                      "failure %llu of source %zu: kalloc %llu bytes before, %llu after",
                      (unsigned long long)loop->n, loop->source, (unsigned long long)loop->balance,
                      (unsigned long long)kalloc_balance());
        ck_assert_msg(fd_count() == loop->fds, "failure %llu of source %zu: a descriptor is left",
                      (unsigned long long)loop->n, loop->source);
        if (!failed) {
            loop->n = 0;
            if (++loop->source == source_count)
                return false;
            source = &sources[loop->source];
        }
    }
    loop->n++;
    ck_assert_uint_lt(loop->n, MAX_FAILURES);
    source->fail_after(loop->n);
    return true;
}
