/*
 * Main program of every unit test binary. Suites register through constructors; here they are run
 * one test per process (libcheck's fork mode) and the number of failures becomes the exit status.
 */
#include <stdlib.h>

#
#include "tests/support/test.h"

enum {
    MAX_SUITES = 64
};

static struct {
    const char *name;
    test_fill_fn *fill;
} suites[MAX_SUITES];
static size_t suite_count;

void test_register(const char *name, test_fill_fn *fill)
{
    if (suite_count == MAX_SUITES)
        abort();
    suites[suite_count].name = name;
    suites[suite_count].fill = fill;
    suite_count++;
}

int main(void)
{
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < suite_count; i++) {
        Suite *suite = suite_create(suites[i].name);
        TCase *tc = tcase_create("all");
        tcase_set_timeout(tc, 280); /* for a hang: on a busy machine all takes long */
        tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
        suites[i].fill(suite, tc);
        suite_add_tcase(suite, tc);
        srunner_add_suite(runner, suite);
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    bool ran = srunner_ntests_run(runner) > 0;
    srunner_free(runner);
    return failed == 0 && ran ? EXIT_SUCCESS : EXIT_FAILURE;
}
