/* lib/bitmap.h: growth, searching across words, copies. */
#include "lib/bitmap.h"
#include "tests/support/test.h"

TEST(search)
{
    struct bitmap b;

    bitmap_init(&b);
    ck_assert_uint_eq(bitmap_first_zero(&b, 5), 5);
    ck_assert_uint_eq(bitmap_first_set(&b, 5), 0);
    ck_assert_int_eq(bitmap_grow(&b, 130), 0);
    ck_assert_uint_eq(b.nbits, 192);
    for (size_t i = 0; i < 192; i++)
        bitmap_set(&b, i);
    ck_assert_uint_eq(bitmap_first_zero(&b, 0), 192);
    bitmap_clear(&b, 100);
    bitmap_clear(&b, 100000);
    ck_assert_uint_eq(bitmap_first_zero(&b, 0), 100);
    ck_assert_uint_eq(bitmap_first_zero(&b, 101), 192);
    ck_assert_uint_eq(bitmap_first_set(&b, 100), 101);
    ck_assert_uint_eq(bitmap_count(&b), 191);
    ck_assert(!bitmap_test(&b, 100) && bitmap_test(&b, 101) && !bitmap_test(&b, 5000));
    bitmap_done(&b);
}

TEST(memory_failures)
{
    for_each_failure {
        struct bitmap a, b;
        bitmap_init(&a);
        bitmap_init(&b);
        if (bitmap_grow(&a, 64) == 0) {
            bitmap_set(&a, 63);
            if (bitmap_copy(&b, &a) == 0)
                ck_assert(bitmap_test(&b, 63));
            if (bitmap_grow(&a, 1000) == 0)
                ck_assert_uint_eq(bitmap_count(&a), 1);
        }
        bitmap_done(&a);
        bitmap_done(&b);
    }
}

TEST_SUITE(bitmap)
{
    TEST_ADD(search);
    TEST_ADD(memory_failures);
}
