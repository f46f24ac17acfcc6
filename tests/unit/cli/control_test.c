/* The blob of an exec: whatever is packed parses to the same, anything else is refused. */
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/cli/control.h"
#include "tests/support/test.h"

static const char *const argv_[] = {"prog", "", "two words", NULL};
static const char *const env_[] = {"A=1", "B=", NULL};

static struct control_exec sample(void)
{
    struct control_exec ex = {
        .argv = argv_,
        .env = env_,
        .cwd = "/dir",
        .user = "somebody",
        .inherit = true,
        .terminal = true,
        .rows = 24,
        .cols = 65535,
        .process = {.ids_given = true,
                    .uid = 1,
                    .gid = 2,
                    .ngroups = 3,
                    .groups = {4, 5, UINT32_MAX},
                    .caps_given = true,
                    .cap_bounding = 1,
                    .cap_effective = 2,
                    .cap_inheritable = 3,
                    .cap_permitted = 4,
                    .cap_ambient = UINT64_MAX,
                    .no_new_privs = true,
                    .umask_given = true,
                    .umask = 027,
                    .oom_given = true,
                    .oom_score_adj = -1000,
                    .rlimits_given = 0x8001,
                    .find_home = true},
    };
    ex.process.rlimit[0].cur = 7;
    ex.process.rlimit[15].max = UINT64_MAX;
    return ex;
}

static void same_strings(const char *const *a, const char *const *b)
{
    size_t i = 0;
    for (; a[i] != NULL; i++)
        ck_assert_str_eq(a[i], b[i]);
    ck_assert_ptr_null(b[i]);
}

TEST(round_trip)
{
    struct control_exec ex = sample();
    struct control_exec_parsed p;
    struct buf b;

    buf_init(&b, CONTROL_MAX_BLOB);
    ck_assert_int_eq(control_exec_pack(&ex, &b), 0);
    ck_assert_int_eq(control_exec_parse(b.data, b.len, &p), 0);
    same_strings(ex.argv, p.ex.argv);
    same_strings(ex.env, p.ex.env);
    ck_assert_str_eq(p.ex.cwd, "/dir");
    ck_assert_str_eq(p.ex.user, "somebody");
    ck_assert(p.ex.inherit && p.ex.terminal);
    ck_assert_uint_eq(p.ex.rows, 24);
    ck_assert_uint_eq(p.ex.cols, 65535);
    const struct boot_process *x = &ex.process, *y = &p.ex.process;
    ck_assert(y->ids_given && y->caps_given && y->no_new_privs && y->umask_given && y->oom_given);
    ck_assert(y->find_home);
    ck_assert_uint_eq(x->uid, y->uid);
    ck_assert_uint_eq(x->gid, y->gid);
    ck_assert_uint_eq(x->ngroups, y->ngroups);
    ck_assert_mem_eq(x->groups, y->groups, sizeof(x->groups));
    ck_assert_uint_eq(x->cap_bounding, y->cap_bounding);
    ck_assert_uint_eq(x->cap_effective, y->cap_effective);
    ck_assert_uint_eq(x->cap_inheritable, y->cap_inheritable);
    ck_assert_uint_eq(x->cap_permitted, y->cap_permitted);
    ck_assert_uint_eq(x->cap_ambient, y->cap_ambient);
    ck_assert_uint_eq(x->umask, y->umask);
    ck_assert_int_eq(x->oom_score_adj, y->oom_score_adj);
    ck_assert_uint_eq(x->rlimits_given, y->rlimits_given);
    ck_assert_mem_eq(x->rlimit, y->rlimit, sizeof(x->rlimit));
    control_exec_parsed_done(&p);
    buf_done(&b);
}

TEST(least)
{
    static const char *const argv1[] = {"x", NULL};
    struct control_exec ex = {.argv = argv1};
    struct control_exec_parsed p;
    struct buf b;

    buf_init(&b, CONTROL_MAX_BLOB);
    ck_assert_int_eq(control_exec_pack(&ex, &b), 0);
    ck_assert_int_eq(control_exec_parse(b.data, b.len, &p), 0);
    ck_assert_str_eq(p.ex.argv[0], "x");
    ck_assert_ptr_null(p.ex.env[0]);
    ck_assert_ptr_null(p.ex.cwd);
    ck_assert_ptr_null(p.ex.user);
    control_exec_parsed_done(&p);
    buf_done(&b);
}

TEST(every_cut_is_refused)
{
    struct control_exec ex = sample();
    struct control_exec_parsed p;
    struct buf b;

    buf_init(&b, CONTROL_MAX_BLOB);
    ck_assert_int_eq(control_exec_pack(&ex, &b), 0);
    for (size_t n = 0; n < b.len; n++) {
        /* A block of its own, so that the sanitizer sees the first byte too many. */
        void *copy = kmemdup(b.data, n);
        ck_assert_int_eq(control_exec_parse(copy, n, &p), -EBADMSG);
        kfree(copy);
    }
    ck_assert_int_eq(buf_putc(&b, '\0'), 0);
    ck_assert_int_eq(control_exec_parse(b.data, b.len, &p), -EBADMSG);
    buf_done(&b);
}

/* Every byte of the fixed part, with several values: parsed or refused, never more. */
TEST(changed_bytes)
{
    static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    struct control_exec ex = sample();
    struct control_exec_parsed p;
    struct buf b;

    buf_init(&b, CONTROL_MAX_BLOB);
    ck_assert_int_eq(control_exec_pack(&ex, &b), 0);
    for (size_t at = 0; at < b.len; at++) {
        char old = b.data[at];
        for (size_t v = 0; v < ARRAY_LEN(values); v++) {
            b.data[at] = (char)values[v];
            int r = control_exec_parse(b.data, b.len, &p);
            ck_assert(r == 0 || r == -EBADMSG);
            if (r == 0) {
                ck_assert_uint_le(p.ex.process.ngroups, BOOT_MAX_GROUPS);
                ck_assert_uint_le(p.ex.process.umask, 0777);
                ck_assert_ptr_nonnull(p.ex.argv[0]);
                control_exec_parsed_done(&p);
            }
        }
        b.data[at] = old;
    }
    buf_done(&b);
}

TEST(too_long)
{
    char *text = kalloc(CONTROL_MAX_BLOB);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', CONTROL_MAX_BLOB - 1);
    const char *const argv1[] = {text, NULL};
    struct control_exec ex = {.argv = argv1};
    struct control_exec_parsed p;
    struct buf b;

    buf_init(&b, CONTROL_MAX_BLOB);
    ck_assert_int_eq(control_exec_pack(&ex, &b), -E2BIG);
    buf_done(&b);
    kfree(text);
    static char big[CONTROL_MAX_BLOB + 1];
    ck_assert_int_eq(control_exec_parse(big, sizeof(big), &p), -EBADMSG);
}

TEST(failing_allocations)
{
    struct control_exec ex = sample();
    for_each_failure {
        struct control_exec_parsed p;
        struct buf b;
        buf_init(&b, CONTROL_MAX_BLOB);
        int r = control_exec_pack(&ex, &b);
        ck_assert(r == 0 || r == -ENOMEM);
        if (r == 0) {
            r = control_exec_parse(b.data, b.len, &p);
            ck_assert(r == 0 || r == -ENOMEM);
            if (r == 0)
                control_exec_parsed_done(&p);
        }
        buf_done(&b);
    }
}

TEST_SUITE(control)
{
    TEST_ADD(round_trip);
    TEST_ADD(least);
    TEST_ADD(every_cut_is_refused);
    TEST_ADD(changed_bytes);
    TEST_ADD(too_long);
    TEST_ADD(failing_allocations);
}
