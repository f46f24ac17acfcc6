/*
 * What the host may execute: the constructors refuse everything that could touch the platform
 * itself, and comparison is exact.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/gate_policy.h"
#include "platform/platform.h"
#include "platform/stub/page.h"

#include "tests/support/test.h"

TEST(ranges_are_checked)
{
    struct host_call c;

    ck_assert_int_eq(host_call_munmap(0x1000, 1, &c), 0);
    ck_assert_int_eq(host_call_munmap(0x1001, 1, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(0x1000, 0, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(0x1000, UINT64_MAX, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(0x1000, UINT64_MAX - 0xfff, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(STUB_USER_END - 4096, 4096, &c), 0);
    ck_assert_int_eq(host_call_munmap(STUB_USER_END - 4096, 4097, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(0xffffffffff600000, 4096, &c), -EINVAL);
    ck_assert_int_eq(host_call_munmap(STUB_CODE, 4096, &c), -EPERM);
    ck_assert_int_eq(host_call_munmap(STUB_CODE - 4096, 4097, &c), -EPERM);
    ck_assert_int_eq(host_call_munmap(STUB_CODE - 4096, 4096, &c), 0);
    ck_assert_int_eq(host_call_munmap(0x1000, STUB_USER_END - 0x1000, &c), -EPERM);
    ck_assert_int_eq(host_call_mprotect(STUB_SLOTS, 4096, 1, &c), -EPERM);
    ck_assert_int_eq(host_call_madvise(STUB_RANGE_END - 4096, 4096, MADV_DONTNEED, &c), -EPERM);
    ck_assert_int_eq(host_call_munmap(STUB_RANGE_END, 4096, &c), 0);
}

TEST(flags_are_checked)
{
    const uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    struct host_call c;

    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, flags, UINT64_MAX, 0, &c), 0);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, flags | MAP_NORESERVE, 0, 0, &c),
                     0);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, flags | MAP_GROWSDOWN, 0, 0, &c),
                     -EINVAL);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, MAP_PRIVATE | MAP_FIXED, 0, 0, &c),
                     -EINVAL);
    ck_assert_int_eq(
        host_call_mmap_fixed_anon(0x1000, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0, &c), -EINVAL);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, flags | MAP_SHARED, 0, 0, &c),
                     -EINVAL);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 8, flags, 0, 0, &c), -EINVAL);
    ck_assert_int_eq(host_call_mmap_fixed_anon(0x1000, 4096, 3, flags, 0, 5, &c), -EINVAL);
    ck_assert_int_eq(host_call_mprotect(0x1000, 4096, 0x1000001, &c), -EINVAL);
    ck_assert_int_eq(host_call_madvise(0x1000, 4096, MADV_MERGEABLE, &c), -EINVAL);
    ck_assert_int_eq(host_call_madvise(0x1000, 4096, MADV_HWPOISON, &c), -EINVAL);
    ck_assert_int_eq(host_call_madvise(0x1000, 4096, -1, &c), -EINVAL);
    ck_assert_int_eq(host_call_arch_prctl(0x1002, 5, &c), 0);
    ck_assert_int_eq(host_call_arch_prctl(0x1003, 5, &c), -EINVAL);
    ck_assert_int_eq(host_call_arch_prctl(0x4001, 5, &c), -EINVAL);
    for (uint64_t cmd = 0; cmd <= 0x400; cmd++) {
        bool ok = cmd == 8 || cmd == 0x10 || cmd == 0x20 || cmd == 0x40;

        ck_assert_int_eq(host_call_membarrier(cmd, 0, &c), ok ? 0 : -EINVAL);
        ck_assert_int_eq(host_call_membarrier(cmd, 1, &c), -EINVAL);
    }
    ck_assert_int_eq(stub_call_mmap(0x1000, 4096, 3, PLAT_MAP_ANON, 0, &c), 0);
    ck_assert_uint_eq(c.args[4], UINT64_MAX);
    ck_assert_int_eq(stub_call_mmap(STUB_CODE, 4096, 3, PLAT_MAP_ANON, 0, &c), -EPERM);
    ck_assert_int_eq(stub_call_mremap(0x1000, 4096, STUB_SLOTS, 4096, false, &c), -EPERM);
}

TEST(comparison_is_exact)
{
    uint64_t args[6] = {0x1000, 4096, 0xffffffff00000004, 1, 2, 3};
    struct host_call c;

    ck_assert_int_eq(host_call_madvise(0x1000, 4096, 4, &c), 0);
    ck_assert(host_call_equals(&c, SYS_madvise, args));
    ck_assert(!host_call_equals(&c, SYS_mprotect, args));
    ck_assert_int_eq(host_call_mprotect(0x1000, 4096, 4, &c), 0);
    ck_assert(!host_call_equals(&c, SYS_mprotect, args));
    args[2] = 4;
    ck_assert(host_call_equals(&c, SYS_mprotect, args));
    args[1] = 4097;
    ck_assert(!host_call_equals(&c, SYS_mprotect, args));
}

/* A process clone never shares anything but, where asked for, memory; a thread shares all. */
TEST(clones_carry_fixed_flags)
{
    struct host_call c;

    stub_call_clone_process(0, false, 5, &c);
    ck_assert_uint_eq(c.args[0], 0x8011);
    ck_assert_uint_eq(c.args[4], 0);
    stub_call_clone_process(0x1000, true, 5, &c);
    ck_assert_uint_eq(c.args[0], 0x88111);
    ck_assert_uint_eq(c.args[1], 0x1000);
    ck_assert_uint_eq(c.args[4], 5);
    stub_call_clone_thread(0x1000, false, 0, &c);
    ck_assert_uint_eq(c.args[0], 0x50f00);
}

TEST_SUITE(gate_policy)
{
    TEST_ADD(ranges_are_checked);
    TEST_ADD(flags_are_checked);
    TEST_ADD(comparison_is_exact);
    TEST_ADD(clones_carry_fixed_flags);
}
