/* lib/buf.h: appending, the cap, the sticky error. */
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "tests/support/test.h"

TEST(appends)
{
    for_each_failure {
        struct buf b;
        buf_init(&b, 4096);
        ck_assert_str_eq(buf_cstr(&b), "");
        (void)buf_puts(&b, "one ");
        (void)buf_printf(&b, "%d %s", 2, "three");
        (void)buf_printf(&b, "%400d", 4);
        (void)buf_putc(&b, '!');
        if (buf_error(&b)) {
            ck_assert_int_eq(buf_error(&b), -ENOMEM);
        } else {
            ck_assert_uint_eq(b.len, 4 + 7 + 400 + 1);
            ck_assert_int_eq(strncmp(buf_cstr(&b), "one 2 three ", 12), 0);
            ck_assert_int_eq(b.data[b.len - 1], '!');
            buf_consume(&b, 4);
            ck_assert_int_eq(strncmp(buf_cstr(&b), "2 three", 7), 0);
        }
        buf_done(&b);
    }
}

TEST(cap_is_hard)
{
    struct buf b;

    buf_init(&b, 8);
    ck_assert_int_eq(buf_append(&b, "12345678", 8), 0);
    ck_assert_int_eq(buf_putc(&b, '9'), -E2BIG);
    ck_assert_int_eq(buf_puts(&b, ""), -E2BIG);
    ck_assert_str_eq(buf_cstr(&b), "12345678");
    buf_reset(&b);
    ck_assert_int_eq(buf_error(&b), 0);
    ck_assert_int_eq(buf_printf(&b, "%s", "123456789"), -E2BIG);
    ck_assert_str_eq(buf_cstr(&b), "");
    buf_done(&b);
}

TEST(take_and_extend)
{
    struct buf b;

    buf_init(&b, 100);
    char *room = buf_extend(&b, 3);
    ck_assert_ptr_nonnull(room);
    ck_assert_mem_eq(room, "\0\0\0", 4);
    memcpy(room, "abc", 3);
    ck_assert_ptr_null(buf_extend(&b, 98));
    char *taken = buf_take(&b);
    ck_assert_str_eq(taken, "abc");
    ck_assert_uint_eq(b.len, 0);
    ck_assert_int_eq(buf_error(&b), 0);
    kfree(taken);
    buf_done(&b);
}

TEST_SUITE(buf)
{
    TEST_ADD(appends);
    TEST_ADD(cap_is_hard);
    TEST_ADD(take_and_extend);
}
