/* sentry/kernel/seccomp: programs and chains without tasks; the guest test has the rest. */
#include "abi/errno.h"

#include "sentry/kernel/limits.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/kernel/seccomp_bpf.h"
#include "tests/support/test.h"

#define RET(v)                 \
    {                          \
        .code = 0x06, .k = (v) \
    }
#define NR                   \
    {                        \
        .code = 0x20, .k = 0 \
    }
#define ARG0                  \
    {                         \
        .code = 0x20, .k = 16 \
    }
#define JEQ(v, t, f)                                 \
    {                                                \
        .code = 0x15, .jt = (t), .jf = (f), .k = (v) \
    }

static const struct lx_sock_filter only_39[] = {NR, JEQ(39, 0, 1), RET(LX_SECCOMP_RET_ERRNO | 33),
                                                RET(LX_SECCOMP_RET_ALLOW)};
static const struct lx_sock_filter by_argument[] = {
    NR, JEQ(7, 0, 3), ARG0, JEQ(1, 1, 0), RET(LX_SECCOMP_RET_TRAP), RET(LX_SECCOMP_RET_ALLOW)};

static uint32_t ask(const struct seccomp_filter *f, int nr, uint64_t arg)
{
    const struct lx_seccomp_data d = {.nr = nr, .arch = LX_AUDIT_ARCH_X86_64, .args = {arg}};
    return seccomp_filter_run(f, &d);
}

TEST(chains)
{
    limits_init();
    for_each_failure {
        struct seccomp_filter *low = NULL, *top = NULL;
        int r = seccomp_filter_new(only_39, ARRAY_LEN(only_39), NULL, &low);
        if (r == 0)
            r = seccomp_filter_new(by_argument, ARRAY_LEN(by_argument), low, &top);
        ck_assert(r == 0 || r == -ENOMEM);
        seccomp_filter_put(low);
        if (r == 0) {
            ck_assert_uint_eq(seccomp_filter_count(top), 2);
            ck_assert_uint_eq(ask(top, 39, 0), LX_SECCOMP_RET_ERRNO | 33);
            ck_assert_uint_eq(ask(top, 7, 0), LX_SECCOMP_RET_TRAP);
            ck_assert_uint_eq(ask(top, 7, 1), LX_SECCOMP_RET_ALLOW);
            seccomp_filter_put(top);
        }
    }
    ck_assert_uint_eq(limit_used(LIMIT_SECCOMP_BYTES), 0);
}

/* The short way, one bit for a number, says no more than the program does. */
TEST(allowed_numbers)
{
    ck_assert(seccomp_bpf_allows(only_39, 38));
    ck_assert(!seccomp_bpf_allows(only_39, 39));
    ck_assert(seccomp_bpf_allows(by_argument, 8));
    ck_assert(!seccomp_bpf_allows(by_argument, 7));
}

TEST(limit_of_all_chains)
{
    static struct lx_sock_filter longest[SECCOMP_MAX_INSNS];
    struct seccomp_filter *f[3] = {NULL};
    limits_init();
    for (size_t i = 0; i < ARRAY_LEN(longest); i++)
        longest[i] = (struct lx_sock_filter)RET(LX_SECCOMP_RET_ALLOW);
    limit_set(LIMIT_SECCOMP_BYTES, 80000);
    ck_assert_int_eq(seccomp_filter_new(longest, ARRAY_LEN(longest), NULL, &f[0]), 0);
    ck_assert_int_eq(seccomp_filter_new(longest, ARRAY_LEN(longest), NULL, &f[1]), 0);
    ck_assert_int_eq(seccomp_filter_new(longest, ARRAY_LEN(longest), NULL, &f[2]), -ENOMEM);
    seccomp_filter_put(f[0]);
    seccomp_filter_put(f[1]);
    ck_assert_uint_eq(limit_used(LIMIT_SECCOMP_BYTES), 0);
}

TEST_SUITE(seccomp)
{
    TEST_ADD(chains);
    TEST_ADD(allowed_numbers);
    TEST_ADD(limit_of_all_chains);
}
