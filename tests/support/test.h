#pragma once
/*
 * What every unit test file includes. A file defines one suite, which registers itself:
 *
 *      TEST(split_keeps_sum) { ck_assert_int_eq(...); }          a libcheck test
 *      TEST_SUITE(vma_tree) { TEST_ADD(split_keeps_sum); }       at the end of the file
 *
 * main.c runs all suites of the program, each test in its own process (CK_FORK=no for a debugger;
 * CK_RUN_SUITE=name for one suite). The fixture checks after each test that the descriptor count
 * and the kalloc balance are what they were before it.
 */
#include "lib/compiler.h"

#include <check.h>

#include "tests/support/fixture.h"

typedef void test_fill_fn(Suite *s, TCase *tc);

/* Called by TEST_SUITE's constructor. */
void test_register(const char *name, test_fill_fn *fill);

#define TEST(name) START_TEST(name)

#define TEST_SUITE(name)                                           \
    static test_fill_fn name##_fill;                               \
    __attribute__((constructor)) static void name##_register(void) \
    {                                                              \
        test_register(#name, name##_fill);                         \
    }                                                              \
    static void name##_fill(UNUSED Suite *suite_, TCase *tc_)

#define TEST_ADD(test) tcase_add_test(tc_, test)
