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

/* -- programs --------------------------------------------------------------------------------- */

#define RET_A        \
    {                \
        .code = 0x16 \
    }
#define INSN(c, v)            \
    {                         \
        .code = (c), .k = (v) \
    }

/* What A is in the end, from A = a and X = x. */
static uint32_t compute(uint16_t code, uint32_t a, uint32_t x, uint32_t k)
{
    const struct lx_sock_filter program[] = {INSN(0x00, x), INSN(0x07, 0), INSN(0x00, a),
                                             INSN(code, k), RET_A};
    const struct lx_seccomp_data d = {.nr = 1};

    ck_assert_int_eq(seccomp_bpf_check(program, ARRAY_LEN(program)), 0);
    return seccomp_bpf_run(program, &d);
}

TEST(arithmetic)
{
    static const struct {
        uint16_t op;
        uint32_t a, b, result;
    } cases[] = {
        {0x00, 0xffffffff, 2, 1},  {0x10, 1, 2, 0xffffffff},  {0x20, 0x10001, 0x10000, 0x10000},
        {0x30, 7, 2, 3},           {0x40, 5, 2, 7},           {0x50, 5, 4, 4},
        {0x60, 3, 31, 0x80000000}, {0x70, 0x80000000, 31, 1}, {0xa0, 5, 1, 4},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_uint_eq(compute(cases[i].op | 0x04, cases[i].a, 0, cases[i].b), cases[i].result);
        ck_assert_uint_eq(compute(cases[i].op | 0x0c, cases[i].a, cases[i].b, 99), cases[i].result);
    }
    ck_assert_uint_eq(compute(0x84, 5, 0, 0), (uint32_t)-5);
    ck_assert_uint_eq(compute(0x87, 5, 6, 0), 6);                          /* TXA */
    ck_assert_uint_eq(compute(0x80, 5, 6, 0), 64);                         /* the length */
    ck_assert_uint_eq(compute(0x3c, 5, 0, 0), LX_SECCOMP_RET_KILL_THREAD); /* by X, which is 0 */
    ck_assert_uint_eq(compute(0x6c, 1, 33, 0), 2); /* as the host's processor */
}

TEST(jumps)
{
    static const struct {
        uint16_t op;
        uint32_t a, b;
        bool taken;
    } cases[] = {{0x10, 5, 5, true},  {0x10, 5, 6, false}, {0x20, 0xffffffff, 1, true},
                 {0x20, 5, 5, false}, {0x30, 5, 5, true},  {0x30, 1, 0xffffffff, false},
                 {0x40, 6, 2, true},  {0x40, 4, 2, false}};

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        bool by_x = i & 1;
        const struct lx_sock_filter program[] = {
            INSN(0x00, cases[i / 2].b),
            INSN(0x07, 0),
            INSN(0x00, cases[i / 2].a),
            {.code = (uint16_t)(cases[i / 2].op | 0x05 | (by_x ? 8 : 0)),
             .jt = 1,
             .k = by_x ? 99 : cases[i / 2].b},
            RET(2),
            INSN(0x05, 1), /* always, over one */
            RET(3),
            RET(1)};
        const struct lx_seccomp_data d = {.nr = 1};

        ck_assert_int_eq(seccomp_bpf_check(program, ARRAY_LEN(program)), 0);
        ck_assert_uint_eq(seccomp_bpf_run(program, &d), cases[i / 2].taken ? 1 : 2);
        ck_assert(!seccomp_bpf_allows(program, 1));
    }
}

/* One instruction before a return. */
static int check_one(uint16_t code, uint32_t k)
{
    const struct lx_sock_filter program[] = {INSN(code, k), RET(0)};

    return seccomp_bpf_check(program, ARRAY_LEN(program));
}

TEST(refused_programs)
{
    static const struct {
        uint16_t code;
        uint32_t k;
    } bad[] = {
        {0x34, 0},                     /* division by the constant 0 */
        {0x64, 32},                    /* a shift by the whole word */
        {0x74, 32},         {0x8c, 0}, /* - X */
        {0x94, 1},                     /* remainder: seccomp has none */
        {0x60, 16},                    /* beyond the memory */
        {0x02, 16},         {0x60, 0}, /* read before it was written */
        {0x20, 64},                    /* beyond the data */
        {0x20, 2},                     /* not a whole word */
        {0x28, 0},                     /* half a word, a byte, indirect, into X */
        {0x30, 0},          {0x40, 0}, {0x21, 0},  {0x05, 1}, /* a jump beyond the end */
        {0x05, 0xffffffff}, {0x0d, 0}, {0x55, 0}, /* an unknown jump, return, move, class of more
                                                     than a byte */
        {0x0e, 0},          {0x17, 0}, {0x106, 0},
    };
    const struct lx_sock_filter no_end[] = {RET(0), INSN(0x00, 0)};
    const struct lx_sock_filter one_way[] = {NR, JEQ(1, 0, 1), INSN(0x02, 3), INSN(0x60, 3),
                                             RET(0)};
    const struct lx_sock_filter both_ways[] = {
        NR, JEQ(1, 0, 2), INSN(0x02, 3), INSN(0x05, 1), INSN(0x03, 3), INSN(0x60, 3), RET_A};
    const struct lx_seccomp_data d = {.nr = 1};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(check_one(bad[i].code, bad[i].k) == -EINVAL, "%#x %u", bad[i].code, bad[i].k);
    ck_assert_int_eq(seccomp_bpf_check(no_end, 2), -EINVAL);
    ck_assert_int_eq(seccomp_bpf_check(no_end, 0), -EINVAL);
    ck_assert_int_eq(seccomp_bpf_check(one_way, ARRAY_LEN(one_way)), -EINVAL);
    ck_assert_int_eq(seccomp_bpf_check(both_ways, ARRAY_LEN(both_ways)), 0);
    ck_assert_uint_eq(seccomp_bpf_run(both_ways, &d), 1);
    ck_assert(!seccomp_bpf_allows(both_ways, 1));
    for_each_failure {
        int r = seccomp_bpf_check(both_ways, ARRAY_LEN(both_ways));

        ck_assert(r == 0 || r == -ENOMEM);
    }
}

TEST_SUITE(seccomp)
{
    TEST_ADD(arithmetic);
    TEST_ADD(jumps);
    TEST_ADD(refused_programs);
    TEST_ADD(chains);
    TEST_ADD(allowed_numbers);
    TEST_ADD(limit_of_all_chains);
}
