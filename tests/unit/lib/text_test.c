/* lib/error.h, lib/log.h, lib/parse.h: what people write and read. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/parse.h"
#include "tests/support/test.h"

TEST(error_text)
{
    struct error err;

    error_init(&err);
    ck_assert_int_eq(error_set(&err, ENOENT, "no image at %s", "x"), -ENOENT);
    ck_assert_int_eq(error_prefix(&err, "policy %d", 1), -ENOENT);
    ck_assert_str_eq(err.text, "policy 1: no image at x");
    ck_assert_int_eq(error_errno(&err, EPERM, "open"), -EPERM);
    ck_assert_str_eq(err.text, "open: Operation not permitted");
    ck_assert_int_eq(error_set(NULL, EPERM, "nothing"), -EPERM);
    for (int i = 0; i < 100; i++)
        (void)error_prefix(&err, "a long prefix that is repeated");
    ck_assert_uint_lt(strlen(err.text), sizeof(err.text));
}

TEST(parse_numbers)
{
    struct error err;
    uint64_t v = 77;

    ck_assert_int_eq(parse_u64("10", 0, 20, &v, &err), 0);
    ck_assert_uint_eq(v, 10);
    ck_assert_int_eq(parse_u64("0xff", 0, UINT64_MAX, &v, &err), 0);
    ck_assert_uint_eq(v, 255);
    ck_assert_int_eq(parse_u64("18446744073709551615", 0, UINT64_MAX, &v, &err), 0);
    v = 77;
    static const char *const bad[] = {"",   " 1", "1 ", "-1",
                                      "+1", "1x", "0x", "18446744073709551616"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(parse_u64(bad[i], 0, UINT64_MAX, &v, &err), -EINVAL);
    ck_assert_int_eq(parse_u64("21", 0, 20, &v, &err), -ERANGE);
    ck_assert_str_eq(err.text, "21 is not between 0 and 20");
    ck_assert_uint_eq(v, 77);
}

TEST(parse_units)
{
    struct error err;
    uint64_t v = 0;

    ck_assert_int_eq(parse_size("64K", &v, &err), 0);
    ck_assert_uint_eq(v, 65536);
    ck_assert_int_eq(parse_size("2G", &v, &err), 0);
    ck_assert_uint_eq(v, 2ull << 30);
    ck_assert_int_eq(parse_size("20000000T", &v, &err), -EINVAL);
    ck_assert_int_eq(parse_size("1.5M", &v, &err), -EINVAL);
    ck_assert_int_eq(parse_duration("500ms", &v, &err), 0);
    ck_assert_uint_eq(v, 500000000);
    ck_assert_int_eq(parse_duration("1.5s", &v, &err), 0);
    ck_assert_uint_eq(v, 1500000000);
    ck_assert_int_eq(parse_duration("2", &v, &err), 0);
    ck_assert_uint_eq(v, 2000000000);
    ck_assert_int_eq(parse_duration("2m", &v, &err), 0);
    ck_assert_uint_eq(v, 120000000000);
    ck_assert_int_eq(parse_duration("1.h", &v, &err), -EINVAL);
    ck_assert_int_eq(parse_duration("10000000h", &v, &err), -EINVAL);
    ck_assert_int_eq(parse_milli("0.25", &v, &err), 0);
    ck_assert_uint_eq(v, 250);
}

TEST(parse_pairs)
{
    for_each_failure {
        struct error err;
        char *key = NULL;
        const char *value;
        int r = parse_key_value("A=b=c", &key, &value, &err);
        if (r == 0) {
            ck_assert_str_eq(key, "A");
            ck_assert_str_eq(value, "b=c");
            kfree(key);
        } else {
            ck_assert_int_eq(r, -ENOMEM);
        }
        ck_assert_int_lt(parse_key_value("=b", &key, &value, &err), 0);
        ck_assert_int_lt(parse_key_value("b", &key, &value, &err), 0);
    }
}

TEST(log_spec)
{
    struct error err;

    ck_assert_int_eq(log_parse_spec("fs:D,mm:i", &err), 0);
    ck_assert_uint_eq(log_levels[CH_FS], LOG_LEVEL_D);
    ck_assert_uint_eq(log_levels[CH_MM], LOG_LEVEL_I);
    ck_assert_uint_eq(log_levels[CH_SIG], LOG_LEVEL_W);
    ck_assert_int_eq(log_parse_spec("E,cli:D", &err), 0);
    ck_assert_uint_eq(log_levels[CH_FS], LOG_LEVEL_E);
    ck_assert_uint_eq(log_levels[CH_CLI], LOG_LEVEL_D);
    ck_assert_int_eq(log_parse_spec("nosuch:D", &err), -EINVAL);
    ck_assert_int_eq(log_parse_spec("fs:Q", &err), -EINVAL);
    ck_assert_int_eq(log_parse_spec("", &err), -EINVAL);
    ck_assert_int_eq(log_parse_spec("all:E,fs:", &err), -EINVAL);
    ck_assert_uint_eq(log_levels[CH_CLI], LOG_LEVEL_D);
}

static void log_many(int n)
{
    for (int i = 0; i < n; i++)
        LOG_E(CH_FS, "line %d", i);
}

TEST(log_lines_and_limit)
{
    int fds[2];
    char text[8192];

    ck_assert_int_eq(pipe(fds), 0);
    log_set_fd(fds[1]);
    log_set_task(12, 13);
    LOG_D(CH_FS, "not written");
    log_many(100);
    log_set_fd(STDERR_FILENO);
    close(fds[1]);
    ssize_t n = read(fds[0], text, sizeof(text) - 1);
    close(fds[0]);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    ck_assert_uint_eq(lines, 10);
    ck_assert_ptr_nonnull(strstr(text, " E fs    12/13 line 0\n"));
    ck_assert_ptr_null(strstr(text, "not written"));
}

TEST(log_escapes_guest_bytes)
{
    char big[600];

    ck_assert_str_eq(log_guest("a\n\x1b[0m\0\"", 8), "a\\n\\x1b[0m\\x00\\\"");
    memset(big, 'x', sizeof(big));
    ck_assert_uint_eq(strlen(log_guest(big, sizeof(big))), 256 + 3);
    memset(big, 1, sizeof(big));
    ck_assert_uint_eq(strlen(log_guest(big, sizeof(big))), 256 + 3);
}

TEST_SUITE(text)
{
    TEST_ADD(error_text);
    TEST_ADD(parse_numbers);
    TEST_ADD(parse_units);
    TEST_ADD(parse_pairs);
    TEST_ADD(log_spec);
    TEST_ADD(log_lines_and_limit);
    TEST_ADD(log_escapes_guest_bytes);
}
