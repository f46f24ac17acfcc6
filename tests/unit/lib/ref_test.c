/* lib/ref.h and lib/assert.h: counting, saturation, the end of the program. */
#include <signal.h>

#include "lib/ref.h"
#include "tests/support/test.h"

TEST(counts)
{
    struct ref r;

    ref_init(&r);
    ref_get(&r);
    ck_assert_uint_eq(ref_count(&r), 2);
    ck_assert(!ref_put(&r));
    ck_assert(ref_put(&r));
}

TEST(saturates)
{
    struct ref r = {.n = UINT32_MAX - 1};

    ref_get(&r);
    ref_get(&r);
    ck_assert(!ref_put(&r));
    ck_assert_uint_eq(ref_count(&r), UINT32_MAX);
}

TEST(never_comes_back)
{
    struct ref r;

    ref_init(&r);
    ck_assert(ref_put(&r));
    ref_get(&r);
}

TEST_SUITE(ref)
{
    TEST_ADD(counts);
    TEST_ADD(saturates);
    tcase_add_test_raise_signal(tc_, never_comes_back, SIGABRT);
}
