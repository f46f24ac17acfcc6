/* Copies to and from guest memory: ranges, partial results, vectors, strings, extensible
 * structures. */
#include <string.h>

#include "abi/errno.h"
#include "abi/types.h"

#include "sentry/kernel/kernel.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define END (BOX_MEM + BOX_SIZE) /* nothing is mapped from here on */

TEST(ranges)
{
    char b[64] = "0123456789";
    box_begin();
    struct task *t = box.task;
    ck_assert_int_eq(copy_to_user(t, GADDR(BOX_MEM), b, 10), 0);
    memset(b, 0, sizeof(b));
    ck_assert_int_eq(copy_from_user(t, b, GADDR(BOX_MEM), 10), 0);
    ck_assert_str_eq(b, "0123456789");
    ck_assert_int_eq(copy_from_user(t, b, GADDR(END - 4), 8), -EFAULT);
    ck_assert_int_eq(copy_from_user_partial(t, b, GADDR(END - 4), 8), 4);
    ck_assert_int_eq(copy_from_user_partial(t, b, GADDR(END), 8), -EFAULT);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(END), 0), 0);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(LX_TASK_SIZE), 0), 0);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(LX_TASK_SIZE), 1), -EFAULT);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(~0ull), 2), -EFAULT);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(0), 1), -EFAULT);
    ck_assert_int_eq(copy_from_user(t, b, GADDR(kernel.layout.stub_start), 1), -EFAULT);
    ck_assert_int_eq(copy_to_user(t, GADDR(kernel.layout.stub_end - 1), b, 1), -EFAULT);
    ck_assert_int_eq(clear_user(t, GADDR(BOX_MEM), BOX_SIZE), 0);
    ck_assert_int_eq(clear_user(t, GADDR(BOX_MEM + 4096), BOX_SIZE), -EFAULT);
    ck_assert_uint_eq(box_get32(box.th, BOX_MEM), 0);
    box_end();
}

TEST(strings)
{
    char b[64];
    box_begin();
    struct task *t = box.task;
    box_write(box.th, BOX_MEM + 4090, "over a page", 12);
    ck_assert_int_eq(strncpy_from_user(t, b, GADDR(BOX_MEM + 4090), sizeof(b)), 11);
    ck_assert_str_eq(b, "over a page");
    ck_assert_int_eq(strncpy_from_user(t, b, GADDR(BOX_MEM + 4090), 11), -ENAMETOOLONG);
    box_write(box.th, END - 3, "abc", 3);
    ck_assert_int_eq(strncpy_from_user(t, b, GADDR(END - 3), sizeof(b)), -EFAULT);
    ck_assert_int_eq(strncpy_from_user(t, b, GADDR(LX_TASK_SIZE - 1), sizeof(b)), -EFAULT);
    ck_assert_int_eq(strncpy_from_user(t, b, GADDR(~0ull), sizeof(b)), -EFAULT);
    box_end();
}

TEST(extensible_structures)
{
    uint64_t k[4] = {9, 9, 9, 9};
    box_begin();
    struct task *t = box.task;
    for (uint64_t i = 0; i < 4; i++)
        box_put64(box.th, BOX_MEM + 8 * i, i + 1);
    ck_assert_int_eq(copy_struct_from_user(t, k, sizeof(k), GADDR(BOX_MEM), 16), 0);
    ck_assert(k[0] == 1 && k[1] == 2 && k[2] == 0 && k[3] == 0);
    ck_assert_int_eq(copy_struct_from_user(t, k, 16, GADDR(BOX_MEM), 32), -E2BIG);
    ck_assert_int_eq(copy_struct_from_user(t, k, 32, GADDR(BOX_MEM), 4096), 0);
    ck_assert_int_eq(copy_struct_from_user(t, k, 32, GADDR(BOX_MEM), 4097), -E2BIG);
    ck_assert_int_eq(copy_struct_from_user(t, k, 32, GADDR(END - 16), 32), -EFAULT);
    box_end();
}

static void put_iovec(uint64_t i, uint64_t base, uint64_t len)
{
    struct lx_iovec v = {GADDR(base), len};
    box_write(box.th, BOX_MEM + i * sizeof(v), &v, sizeof(v));
}

TEST(vectors)
{
    char b[64] = "abcdefghijklmnopqrstuvwxyz";
    struct uio u;
    box_begin();
    struct task *t = box.task;
    uint64_t data = BOX_MEM + 0x10000;
    for (uint64_t i = 0; i < 40; i++)
        put_iovec(i, data + 16 * i, i % 3 ? 1 : 0);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 40), 0);
    ck_assert_uint_eq(u.left, 26);
    ck_assert_int_eq(uio_copy_to(&u, b, 20), 20);
    ck_assert_int_eq(uio_copy_to(&u, b + 20, 20), 6);
    ck_assert_int_eq(uio_copy_to(&u, b, 20), 0);
    uio_done(&u);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 40), 0);
    uio_advance(&u, 3);
    char back[64] = "";
    ck_assert_int_eq(uio_copy_from(&u, back, 64), 23);
    ck_assert_str_eq(back, "defghijklmnopqrstuvwxyz");
    uio_done(&u);
    put_iovec(1, END - 2, 8);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 3), 0);
    ck_assert_int_eq(uio_copy_to(&u, b, 9), 2);
    ck_assert_int_eq(uio_copy_to(&u, b, 9), -EFAULT);
    uio_done(&u);
    put_iovec(1, data, ~0ull);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 3), -EINVAL);
    put_iovec(1, LX_TASK_SIZE, 1);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 3), -EFAULT);
    put_iovec(1, data, 0x7fffffff);
    put_iovec(2, data, 0x7fffffff);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 3), 0);
    ck_assert_uint_eq(u.left, 0x7ffff000);
    uio_done(&u);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(BOX_MEM), 1025), -EINVAL);
    ck_assert_int_eq(uio_init_iovec(&u, t, GADDR(END - 8), 1), -EFAULT);
    ck_assert_int_eq(uio_init_user(&u, t, GADDR(LX_TASK_SIZE), 1), -EFAULT);
    ck_assert_int_eq(uio_init_user(&u, t, GADDR(data), 64), 0);
    struct uio copy = u; /* a copied cursor goes on by itself */
    ck_assert_int_eq(uio_zero(&copy, 10), 10);
    ck_assert_uint_eq(u.left, 64);
    uio_init_kernel(&u, b, 4);
    ck_assert_int_eq(uio_copy_to(&u, "0123456", 7), 4);
    ck_assert_int_eq(strncmp(b, "0123efg", 7), 0);
    box_end();
}

TEST_SUITE(usercopy)
{
    TEST_ADD(ranges);
    TEST_ADD(strings);
    TEST_ADD(extensible_structures);
    TEST_ADD(vectors);
}
