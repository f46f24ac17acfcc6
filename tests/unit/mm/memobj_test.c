/* Memory objects: heap pages, the memfd, holes, budgets, failing allocations. */
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/host/host.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static int64_t put(struct memobj *o, uint64_t pos, const void *p, size_t n)
{
    struct uio u;

    uio_init_kernel_const(&u, p, n);
    return memobj_write(o, pos, &u);
}

static int64_t get(struct memobj *o, uint64_t pos, void *p, size_t n)
{
    struct uio u;

    uio_init_kernel(&u, p, n);
    return memobj_read(o, pos, &u);
}

static void begin(uint64_t disk)
{
    limits_init();
    limit_set(LIMIT_DISK_BYTES, disk);
}

static void end(void)
{
    ck_assert_uint_eq(limit_used(LIMIT_DISK_BYTES), 0);
}

TEST(holes_and_data)
{
    struct memobj *o;
    char buf[8192];

    begin(1u << 20);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_eq(get(o, 0, buf, 10), 0);
    ck_assert_int_eq(put(o, 5 * PAGE_SIZE + 10, "data", 4), 4);
    ck_assert_uint_eq(memobj_size(o), 5 * PAGE_SIZE + 14);
    ck_assert_uint_eq(memobj_allocated(o), PAGE_SIZE);
    memset(buf, 'x', sizeof(buf));
    ck_assert_int_eq(get(o, 5 * PAGE_SIZE - 100, buf, sizeof(buf)), 114);
    ck_assert(buf[0] == 0 && buf[109] == 0);
    ck_assert(memcmp(buf + 110, "data", 4) == 0);
    ck_assert_int_eq(memobj_seek_data(o, 3), 5 * PAGE_SIZE);
    ck_assert_int_eq(memobj_seek_data(o, 5 * PAGE_SIZE + 12), 5 * PAGE_SIZE + 12);
    ck_assert_int_eq(memobj_seek_hole(o, 3), 3);
    ck_assert_int_eq(memobj_seek_hole(o, 5 * PAGE_SIZE), 5 * PAGE_SIZE + 14);
    ck_assert_int_eq(memobj_seek_data(o, 5 * PAGE_SIZE + 14), -ENXIO);
    memobj_put(o);
    end();
}

TEST(shrinking_zeroes)
{
    struct memobj *o;
    char buf[8];

    begin(1u << 20);
    for (int mapped = 0; mapped < 2; mapped++) {
        int fd;

        ck_assert_int_eq(memobj_new(0, &o), 0);
        ck_assert_int_eq(put(o, 0, "abcdefgh", 8), 8);
        if (mapped)
            ck_assert_int_eq(memobj_host_fd(o, &fd), 0);
        ck_assert_int_eq(memobj_resize(o, 3), 0);
        ck_assert_int_eq(memobj_resize(o, 8), 0);
        ck_assert_int_eq(get(o, 0, buf, 8), 8);
        ck_assert(memcmp(buf, "abc\0\0\0\0\0", 8) == 0);
        memobj_put(o);
    }
    end();
}

TEST(punching)
{
    static char page[3 * PAGE_SIZE], back[3 * PAGE_SIZE];
    struct memobj *o;

    begin(1u << 20);
    for (int mapped = 0; mapped < 2; mapped++) {
        int fd;

        memset(page, 'p', sizeof(page));
        ck_assert_int_eq(memobj_new(0, &o), 0);
        ck_assert_int_eq(put(o, 0, page, sizeof(page)), sizeof(page));
        if (mapped)
            ck_assert_int_eq(memobj_host_fd(o, &fd), 0);
        ck_assert_int_eq(memobj_punch(o, 100, 2 * PAGE_SIZE), 0);
        ck_assert_uint_eq(memobj_allocated(o), 2 * PAGE_SIZE);
        memset(page + 100, 0, 2 * PAGE_SIZE);
        ck_assert_int_eq(get(o, 0, back, sizeof(back)), sizeof(back));
        ck_assert(memcmp(page, back, sizeof(page)) == 0);
        memobj_put(o);
    }
    end();
}

/* Random writes, truncations and punches against a plain buffer, over the change to a memfd. */
TEST(agrees_with_a_buffer)
{
    enum {
        SPACE = 3u << 20
    };
    static uint8_t model[SPACE], chunk[100000], back[100000];
    uint64_t size = 0;
    uint32_t seed = 7;
    struct memobj *o;

    begin(16u << 20);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    for (int i = 0; i < 600; i++) {
        seed = seed * 1103515245u + 12345u;
        uint64_t pos = (seed >> 4) % (i < 300 ? 400000 : SPACE - sizeof(chunk));
        size_t n = 1 + (seed >> 9) % sizeof(chunk);

        switch (seed >> 29) {
        case 0:
            ck_assert_int_eq(memobj_resize(o, pos), 0);
            if (pos < size)
                memset(model + pos, 0, size - pos);
            size = pos;
            break;
        case 1:
            ck_assert_int_eq(memobj_punch(o, pos, n), 0);
            if (pos < size)
                memset(model + pos, 0, MIN((uint64_t)n, size - pos));
            break;
        case 2:
        case 3:
        case 4:
            memset(chunk, (int)(i & 0xff), n);
            ck_assert_int_eq(put(o, pos, chunk, n), (int64_t)n);
            memcpy(model + pos, chunk, n);
            size = MAX(size, pos + n);
            break;
        default: {
            int64_t want = pos >= size ? 0 : (int64_t)MIN((uint64_t)n, size - pos);

            ck_assert_int_eq(get(o, pos, back, n), want);
            ck_assert(memcmp(back, model + pos, (size_t)want) == 0);
        }
        }
        ck_assert_uint_eq(memobj_size(o), size);
    }
    memobj_put(o);
    end();
}

TEST(budget_is_enforced)
{
    static char block[20 * PAGE_SIZE];
    struct memobj_quota *q = memobj_quota_new(4 * PAGE_SIZE);
    struct memobj *o;

    begin(10 * PAGE_SIZE);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_eq(put(o, 0, block, sizeof(block)), 10 * PAGE_SIZE);
    ck_assert_int_eq(put(o, 10 * PAGE_SIZE, block, 1), -ENOSPC);
    ck_assert_int_eq(put(o, 0, block, sizeof(block) / 2), 10 * PAGE_SIZE);
    memobj_put(o);
    ck_assert_int_eq(memobj_new_in(q, 0, &o), 0);
    ck_assert_int_eq(put(o, 0, block, sizeof(block)), 4 * PAGE_SIZE);
    ck_assert_int_eq(memobj_allocate(o, 8 * PAGE_SIZE, PAGE_SIZE), -ENOSPC);
    memobj_put(o);
    ck_assert_uint_eq(q->used, 0);
    memobj_quota_put(q);
    end();
}

/* A full disk still takes writes over what is there, and gigabytes of hole cost nothing. */
TEST(full_memfd_and_sparse_size)
{
    static char block[2u << 20];
    struct memobj *o;
    int fd;

    begin(2u << 20);
    ck_assert_int_eq(memobj_new(0, &o), 0);
    ck_assert_int_eq(put(o, 0, block, sizeof(block)), sizeof(block));
    ck_assert_int_eq(memobj_host_fd(o, &fd), 0);
    ck_assert_int_eq(put(o, 4096, "again", 5), 5);
    ck_assert_int_eq(put(o, sizeof(block), "more", 4), -ENOSPC);
    ck_assert_int_eq(memobj_resize(o, 1ull << 40), 0);
    ck_assert_int_eq(memobj_allocate(o, 1ull << 30, 1ull << 30), -ENOSPC);
    memobj_put(o);
    end();
    ck_assert_int_eq(memobj_new(1ull << 40, &o), 0);
    for (uint64_t i = 0; i < 200; i++)
        ck_assert_int_eq(put(o, i << 30, "x", 1), 1);
    ck_assert_uint_eq(memobj_allocated(o), 200 * PAGE_SIZE);
    memobj_put(o);
    end();
}

TEST(out_of_memory)
{
    begin(1u << 20);
    for_each_failure {
        struct memobj *o;

        if (memobj_new(0, &o) == 0) {
            (void)!put(o, 3 * PAGE_SIZE - 2, "abcd", 4);
            (void)!put(o, 900 * PAGE_SIZE, "abcd", 4);
            (void)!memobj_allocate(o, 40 * PAGE_SIZE, 3 * PAGE_SIZE);
            memobj_put(o);
        }
        end();
    }
}

TEST_SUITE(memobj)
{
    TEST_ADD(holes_and_data);
    TEST_ADD(shrinking_zeroes);
    TEST_ADD(punching);
    TEST_ADD(agrees_with_a_buffer);
    TEST_ADD(budget_is_enforced);
    TEST_ADD(full_memfd_and_sparse_size);
    TEST_ADD(out_of_memory);
}
