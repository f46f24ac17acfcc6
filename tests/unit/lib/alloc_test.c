/* lib/alloc.h: zeroing, balance, limit, failing on demand. */
#include <string.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "tests/support/test.h"

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i])
            return false;
    }
    return true;
}

TEST(zeroed_and_counted)
{
    uint64_t start = kalloc_balance();
    unsigned char *p = kalloc(100);
    ck_assert_ptr_nonnull(p);
    ck_assert(all_zero(p, 100));
    ck_assert_uint_eq(kalloc_balance(), start + 100);
    memset(p, 1, 100);
    p = krealloc(p, 1000);
    ck_assert_ptr_nonnull(p);
    ck_assert(!all_zero(p, 100));
    ck_assert(all_zero(p + 100, 900));
    ck_assert_uint_eq(kalloc_balance(), start + 1000);
    p = krealloc(p, 10);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(kalloc_balance(), start + 10);
    kfree(p);
    kfree(NULL);
    ck_assert_uint_eq(kalloc_balance(), start);
}

TEST(refuses_overflow)
{
    ck_assert_ptr_null(kalloc_array(SIZE_MAX / 2, 3));
    volatile size_t huge = SIZE_MAX - 3;
    ck_assert_ptr_null(kalloc(huge));
}

TEST(limit_holds)
{
    kalloc_set_limit(kalloc_balance() + 100);
    auto_free char *a = kalloc(60);
    auto_free char *b = kalloc(41);
    auto_free char *c = kalloc(40);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_null(b);
    ck_assert_ptr_nonnull(c);
    ck_assert_ptr_null(krealloc(c, 41));
    kalloc_set_limit(0);
}

TEST(fails_once_on_demand)
{
    kalloc_fail_after(2);
    auto_free char *a = kalloc(1);
    auto_free char *b = kalloc(1);
    auto_free char *c = kalloc(1);
    ck_assert(a && !b && c);
    ck_assert(kalloc_failed());
}

TEST(strings)
{
    for_each_failure {
        auto_free char *s = kstrndup("hello", 3);
        auto_free char *t = kstrdup("whole");
        auto_free char *m = kmemdup("a\0b", 3);
        if (s)
            ck_assert_str_eq(s, "hel");
        if (t)
            ck_assert_str_eq(t, "whole");
        if (m)
            ck_assert_mem_eq(m, "a\0b", 3);
    }
}

TEST_SUITE(alloc)
{
    TEST_ADD(zeroed_and_counted);
    TEST_ADD(refuses_overflow);
    TEST_ADD(limit_holds);
    TEST_ADD(fails_once_on_demand);
    TEST_ADD(strings);
}
