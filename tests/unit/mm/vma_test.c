/* sentry/mm: the vma tree and the operations on it against a model; single cases of mmap, mremap,
 * brk. */
#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/rlimit.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/vma_tree.h"
#include "tests/support/fake_platform.h"
#include "tests/support/mm_model.h"
#include "tests/support/test.h"

static uint64_t seed;

static uint8_t next_byte(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint8_t)(seed >> 56);
}

static void random_op(uint8_t op[MM_MODEL_OP])
{
    for (size_t i = 0; i < MM_MODEL_OP; i++)
        op[i] = next_byte();
}

TEST(equals_page_array)
{
    uint8_t op[MM_MODEL_OP];
    for (seed = 1; seed < 12; seed++) {
        uint64_t start = seed;
        struct mm_model *m = mm_model_new();
        ck_assert_ptr_nonnull(m);
        for (int i = 0; i < 400; i++) {
            random_op(op);
            mm_model_step(m, op);
        }
        mm_model_free(m);
        seed = start;
    }
}

static struct plat *plat;
static struct task task;
static struct thread_group group;
static struct mm *mm;

static void setup(void)
{
    plat = fake_platform_new();
    ck_assert_int_eq(kernel_init(plat, NULL), 0);
    task = (struct task){.group = &group, .cred = cred_new()};
    for (int i = 0; i < LX_RLIM_NLIMITS; i++)
        group.rlimit[i] = (struct lx_rlimit){LX_RLIM_INFINITY, LX_RLIM_INFINITY};
    ck_assert_int_eq(mm_new(&mm), 0);
    task.mm = mm;
}

static void teardown(void)
{
    mm_check(mm);
    plat_ops->as_drop(mm->as);
    mm_put(mm);
    cred_put(task.cred);
    plat_ops->shutdown(plat);
}

static int64_t map(uint64_t addr, uint64_t len, uint64_t prot, uint64_t flags)
{
    struct mmap_args a = {.addr = addr, .len = len, .prot = prot, .flags = flags};
    return mm_mmap(&task, mm, &a);
}

#define ANON (LX_MAP_PRIVATE | LX_MAP_ANONYMOUS)

TEST(mmap_errors)
{
    setup();
    ck_assert_int_eq(map(0, 0, 3, ANON), -EINVAL);
    ck_assert_int_eq(map(0, UINT64_MAX, 3, ANON), -ENOMEM);
    ck_assert_int_eq(map(0, 1ull << 47, 3, ANON), -ENOMEM);
    ck_assert_int_eq(map(0, 20ull << 40, 3, ANON), -ENOMEM);
    ck_assert_int_eq(map(0, 4096, 3, LX_MAP_ANONYMOUS), -EINVAL);
    ck_assert_int_eq(map(0x10001, 4096, 3, ANON | LX_MAP_FIXED), -EINVAL);
    ck_assert_int_eq(map(0x1000, 4096, 3, ANON | LX_MAP_FIXED), -EPERM);
    ck_assert_int_eq(map(LX_TASK_SIZE, 4096, 3, ANON | LX_MAP_FIXED), -ENOMEM);
    ck_assert_int_eq(map(0, 4096, 3, ANON | LX_MAP_HUGETLB), -ENOMEM);
    group.rlimit[LX_RLIMIT_AS].rlim_cur = 1 << 20;
    ck_assert_int_eq(map(0, 2 << 20, 3, ANON), -ENOMEM);
    ck_assert_int_gt(map(0, 1 << 20, 3, ANON), 0);
    ck_assert_int_eq(map(0, 4096, 3, ANON), -ENOMEM);
    group.rlimit[LX_RLIMIT_MEMLOCK].rlim_cur = 4096;
    ck_assert_int_eq(map(0, 8192, 3, ANON | LX_MAP_LOCKED), -EAGAIN);
    group.rlimit[LX_RLIMIT_MEMLOCK].rlim_cur = 0;
    ck_assert_int_eq(map(0, 4096, 3, ANON | LX_MAP_LOCKED), -EPERM);
    teardown();
}

TEST(reservations_are_free)
{
    setup();
    ck_assert_int_gt(map(0, 20ull << 40, 0, ANON), 0);
    ck_assert_int_gt(map(0, 1ull << 40, 3, ANON | LX_MAP_NORESERVE), 0);
    teardown();
}

TEST(merges_neighbours)
{
    setup();
    uint32_t before = mm->nvmas;
    int64_t a = map(0, 3 * 4096, 3, ANON);
    ck_assert_int_gt(a, 0);
    int64_t b = map(0, 4096, 3, ANON);
    ck_assert_int_eq(b, a - 4096);
    ck_assert_uint_eq(mm->nvmas, before + 1);
    ck_assert_int_eq(mm_protect(mm, (uint64_t)a + 4096, 4096, 1), 0);
    ck_assert_uint_eq(mm->nvmas, before + 3);
    ck_assert_int_eq(mm_protect(mm, (uint64_t)a + 4096, 4096, 3), 0);
    ck_assert_uint_eq(mm->nvmas, before + 1);
    teardown();
}

TEST(quarantine_is_not_handed_out)
{
    setup();
    uint64_t end;
    int64_t a = map(0, 4 * 4096, 3, ANON);
    ck_assert_int_gt(a, 0);
    ck_assert_int_eq(mm_unmap_prepare(mm, (uint64_t)a, 4 * 4096, &end), 0);
    ck_assert_int_eq(quarantine_add(mm, &task, (uint64_t)a, end), 0);
    vma_carve(mm, (uint64_t)a, end);
    int64_t b = map(0, 4096, 3, ANON);
    ck_assert(b + 4096 <= a || b >= (int64_t)end);
    ck_assert_int_eq(map((uint64_t)a, 4096, 3, ANON | LX_MAP_FIXED), MM_QUARANTINED);
    mm_quarantine_release(mm, &task);
    ck_assert_int_eq(map((uint64_t)a, 4096, 3, ANON | LX_MAP_FIXED), a);
    teardown();
}

TEST(platform_range_is_refused)
{
    setup();
    const struct plat_layout *l = &kernel.layout;
    uint64_t end;
    ck_assert_int_lt(map(l->stub_start, 4096, 3, ANON | LX_MAP_FIXED), 0);
    ck_assert_int_lt(mm_unmap_prepare(mm, l->stub_start, 4096, &end), 0);
    ck_assert_int_lt(mm_protect(mm, l->stub_start, 4096, 3), 0);
    ck_assert_int_lt(mm_remap(&task, mm, l->stub_start, 4096, 4096, LX_MREMAP_MAYMOVE, 0), 0);
    int64_t a = map(0, 4096, 3, ANON);
    ck_assert_int_lt(mm_remap(&task, mm, (uint64_t)a, 4096, 4096,
                              LX_MREMAP_MAYMOVE | LX_MREMAP_FIXED, l->stub_start),
                     0);
    teardown();
}

TEST(brk_grows_and_shrinks)
{
    setup();
    mm->brk_start = mm->brk = 0x5000123;
    ck_assert_uint_eq(mm_brk(&task, mm, 0), 0x5000123);
    ck_assert_uint_eq(mm_brk(&task, mm, 0x5004000), 0x5004000);
    ck_assert_ptr_null(mm_find(mm, 0x5000123));
    ck_assert_ptr_nonnull(mm_find(mm, 0x5003fff));
    ck_assert_uint_eq(mm_brk(&task, mm, 0x5001001), 0x5001001);
    ck_assert_ptr_null(mm_find(mm, 0x5002000));
    ck_assert_int_gt(map(0x5010000, 4096, 3, ANON | LX_MAP_FIXED), 0);
    ck_assert_uint_eq(mm_brk(&task, mm, 0x5020000), 0x5001001);
    group.rlimit[LX_RLIMIT_DATA].rlim_cur = 0x2000;
    ck_assert_uint_eq(mm_brk(&task, mm, 0x5009000), 0x5001001);
    teardown();
}

TEST(mremap_duplicates_shared)
{
    setup();
    int64_t a = map(0, 2 * 4096, 3, LX_MAP_SHARED | LX_MAP_ANONYMOUS);
    ck_assert_int_gt(a, 0);
    int64_t b = mm_remap(&task, mm, (uint64_t)a, 0, 2 * 4096, LX_MREMAP_MAYMOVE, 0);
    ck_assert_int_gt(b, 0);
    ck_assert_ptr_eq(mm_find(mm, (uint64_t)a)->obj, mm_find(mm, (uint64_t)b)->obj);
    int64_t p = map(0, 4096, 3, ANON);
    ck_assert_int_eq(mm_remap(&task, mm, (uint64_t)p, 0, 4096, LX_MREMAP_MAYMOVE, 0), -EINVAL);
    ck_assert_int_eq(mm_remap(&task, mm, (uint64_t)p, 8192, 4096, LX_MREMAP_FIXED, 0), -EINVAL);
    ck_assert_int_eq(mm_remap(&task, mm, 0x7000, 4096, 8192, LX_MREMAP_MAYMOVE, 0), -EFAULT);
    teardown();
}

TEST(many_vmas)
{
    setup();
    limit_set(LIMIT_VMAS, 100000);
    int64_t base = map(0, 60000ull * 4096, 3, ANON);
    ck_assert_int_gt(base, 0);
    for (uint64_t i = 1; i < 60000; i += 4)
        ck_assert_int_eq(mm_protect(mm, (uint64_t)base + i * 4096, 4096, 1), 0);
    mm_check(mm);
    for (int i = 0; i < 20000; i++)
        ck_assert_int_gt(map(0, 4096, i & 1 ? 3 : 1, ANON), 0);
    mm_check(mm);
    teardown();
}

static void check_pages(uint64_t start, uint64_t end)
{
    mm_check(mm);
    for (uint64_t p = start; p < end; p += 4096) {
        const struct vma *v = mm_find(mm, p);
        ck_assert_int_eq(fake_page_prot(mm->as, p), v != NULL ? (int)v->prot : -1);
    }
}

TEST(failing_allocations)
{
    const uint64_t base = 0x20000, end = 0x30000;
    setup();
    for (uint64_t n = 1; n < 8; n++) {
        int64_t r = map(base, 8 * 4096, 3, ANON | LX_MAP_FIXED);
        ck_assert_int_eq(r, (int64_t)base);
        kalloc_fail_after(n);
        r = map(0x21000, 4096, 1, ANON | LX_MAP_FIXED);
        ck_assert(r > 0 || r == -ENOMEM);
        check_pages(base, end);
        kalloc_fail_after(n);
        r = mm_protect(mm, 0x23000, 4096, 0);
        ck_assert(r == 0 || r == -ENOMEM);
        kalloc_fail_after(0);
        if (r == 0)
            ck_assert_int_eq(plat_ops->protect(mm->as, 0x23000, 4096, 0), 0);
        kalloc_fail_after(n);
        r = mm_remap(&task, mm, 0x25000, 4096, 8192, LX_MREMAP_MAYMOVE, 0);
        ck_assert(r > 0 || r == -ENOMEM);
        check_pages(base, end);
        kalloc_fail_after(n);
        r = mm_munmap(&task, mm, 0x26000, 4096);
        ck_assert(r == 0 || r == -ENOMEM);
        check_pages(base, end);
        struct mm *child;
        kalloc_fail_after(n);
        if (mm_dup(mm, mm->as, &child) == 0)
            mm_put(child);
        kalloc_fail_after(0);
    }
    teardown();
}

TEST_SUITE(mm_vma)
{
    TEST_ADD(equals_page_array);
    TEST_ADD(mmap_errors);
    TEST_ADD(reservations_are_free);
    TEST_ADD(merges_neighbours);
    TEST_ADD(quarantine_is_not_handed_out);
    TEST_ADD(platform_range_is_refused);
    TEST_ADD(brk_grows_and_shrinks);
    TEST_ADD(mremap_duplicates_shared);
    TEST_ADD(many_vmas);
    TEST_ADD(failing_allocations);
}
