/*
 * The options column, the selection, the search for secrets.
 */
#include <string.h>

#include "escape-suite/harness/catalogue.h"
#include "escape-suite/harness/scan.h"
#include "lib/error.h"
#include "tests/support/test.h"

static const char secret[] = "0123456789abcdef0123456789abcdef";

TEST(the_list_loads)
{
    struct error err;
    error_init(&err);
    ck_assert_msg(catalogue_load(&err) == 0, "%s", err.text);
    ck_assert_uint_gt(catalogue_count(), 0);
}
END_TEST

TEST(options)
{
    struct error err;
    struct attack a = {.id = "x",
                       .options = "image=debian user=0; writable tty leak;limits=--memory "
                                  "64M --pids 3; expect=ok|exit stdout=7 deadline=9"};
    error_init(&err);
    ck_assert_int_eq(attack_parse_options(&a, &err), 0);
    ck_assert_str_eq(a.image, "debian");
    ck_assert(a.user0 && a.writable && a.tty && a.leak && !a.host_side && !a.slow && !a.no_twin);
    ck_assert_str_eq(a.limits, "--memory 64M --pids 3");
    ck_assert_str_eq(a.expect, "ok|exit");
    ck_assert_int_eq(a.want_stdout, 7);
    ck_assert_int_eq(a.want_stderr, -1);
    ck_assert_uint_eq(a.deadline_s, 9);
}
END_TEST

TEST(options_refused)
{
    static const char *const bad[] = {"image=alpine", "user=1",   "nonsense", "stdout=x",
                                      "deadline=",    "twin=yes", "=",        "limit=--x"};
    struct error err;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct attack a = {.id = "x", .options = bad[i]};
        error_init(&err);
        ck_assert_msg(attack_parse_options(&a, &err) < 0, "%s", bad[i]);
    }
}
END_TEST

TEST(selection)
{
    struct attack a = {.id = "n01-socket", .group = GROUP_NETWORK};
    ck_assert(attack_selected(&a, NULL));
    ck_assert(attack_selected(&a, "f,n01"));
    ck_assert(attack_selected(&a, "n"));
    ck_assert(attack_selected(&a, "files,network"));
    ck_assert(!attack_selected(&a, "files"));
    ck_assert(!attack_selected(&a, "n02,,o"));
    ck_assert(word_in("a|bc", '|', "bc") && !word_in("a|bc", '|', "b") && !word_in("", '|', ""));
}
END_TEST

static bool finds(const char *text, size_t n, size_t piece)
{
    static struct scan_set set;
    struct scan s;
    set.n = 0;
    scan_set_add(&set, "test", secret);
    scan_init(&s, &set);
    for (size_t i = 0; i < n; i += piece)
        scan_feed(&s, text + i, MIN(piece, n - i));
    return s.found != NULL;
}

TEST(secrets_are_found)
{
    static const char *const texts[] = {
        "xx0123456789abcdef0123456789abcdefyy",
        "0123456789ABCDEF0123456789ABCDEF",
        "fedcba9876543210fedcba9876543210",
        "30313233343536373839616263646566303132333435363738396162636465660a",
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", /* at the three alignments */
        "eDAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm",
        "eHgwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg==",
        "ASNFZ4mrze8BI0VniavN7w==", /* the bytes that the digits stand for */
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t piece = 1; piece < 70; piece += 3)
            ck_assert_msg(finds(texts[i], strlen(texts[i]), piece), "%s by %zu", texts[i], piece);
    ck_assert(finds("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef", 16, 5));
    ck_assert(!finds("0123456789abcdef0123456789abcde", 31, 4));
    ck_assert(!finds("", 0, 1));
}
END_TEST

TEST_SUITE(catalogue)
{
    TEST_ADD(the_list_loads);
    TEST_ADD(options);
    TEST_ADD(options_refused);
    TEST_ADD(selection);
    TEST_ADD(secrets_are_found);
}
