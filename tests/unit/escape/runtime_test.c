/*
 * Command lines of the runtimes, and which attacks they cannot be judged by.
 */
#include <stdlib.h>
#include <string.h>

#include "escape-suite/harness/runtime.h"
#include "lib/error.h"
#include "tests/support/test.h"

static struct runtime runtime;
static struct attack attack;

static void find(const char *name)
{
    struct error err;
    error_init(&err);
    ck_assert_msg(runtime_find(&runtime, name, "/nowhere", &err) == 0, "%s", err.text);
}

static void parse(const char *options)
{
    struct error err;
    error_init(&err);
    attack = (struct attack){.id = "n01-x", .options = options};
    ck_assert_msg(attack_parse_options(&attack, &err) == 0, "%s", err.text);
}

static bool has(const struct args *a, const char *word, const char *next)
{
    for (size_t i = 0; i < a->n && a->v[i]; i++)
        if (strcmp(a->v[i], word) == 0 &&
            (next == NULL || (a->v[i + 1] && strcmp(a->v[i + 1], next) == 0)))
            return true;
    return false;
}

TEST(a_command_of_sentry)
{
    char *const argv[] = {(char[]){"/attack/x"}, (char[]){"attack"}, NULL};
    struct job j = {.attack = &attack,
                    .image = "/img",
                    .mount = "/built",
                    .report = "/r.json",
                    .scratch = "/s",
                    .id = "suite-1-2",
                    .argv = argv};
    struct args c, cleanup;
    struct error err;
    find("/bin/sh --platform unotify");
    ck_assert_int_eq(runtime.kind, RUNTIME_SENTRY);
    parse("user=0 writable; limits=--memory 64M --timeout 3s");
    args_init(&c);
    args_init(&cleanup);
    error_init(&err);
    ck_assert_int_eq(runtime_command(&runtime, &j, &c, &cleanup, &err), 0);
    ck_assert(has(&c, "--platform", "unotify") && has(&c, "--report", "/r.json"));
    ck_assert(has(&c, "--user", "0") && has(&c, "--writable", NULL));
    ck_assert(has(&c, "--volume", "/built:/attack:ro") && has(&c, "--memory", "64M"));
    ck_assert(has(&c, "/img", "--") && has(&c, "--", "/attack/x"));
    ck_assert(!has(&c, "--tty", NULL));
    ck_assert_uint_eq(cleanup.n, 0);
    args_done(&c);
    args_done(&cleanup);
    runtime_done(&runtime);
}
END_TEST

TEST(runtimes_found_or_not)
{
    static const char *const bad[] = {"", " ", "oci:", "/no/such/program", "no-such-program"};
    struct error err;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        error_init(&err);
        ck_assert_msg(runtime_find(&runtime, bad[i], "/nowhere", &err) < 0, "%s", bad[i]);
        runtime_done(&runtime);
    }
    find("oci:/bin/true");
    ck_assert_int_eq(runtime.kind, RUNTIME_OCI);
    ck_assert(!runtime.own_kernel && !runtime.own_shim);
    runtime_done(&runtime);
}
END_TEST

TEST(limits_that_are_not_there)
{
    char text[32];
    find("oci:/bin/true");
    parse("expect=output-limit");
    ck_assert_ptr_nonnull(runtime_lacks(&runtime, &attack));
    parse("limits=--memory 64M; expect=memory-limit");
    ck_assert_ptr_null(runtime_lacks(&runtime, &attack));
    ck_assert_str_eq(limit_value(&attack, "--memory", text, sizeof(text)), "64M");
    ck_assert_ptr_null(limit_value(&attack, "--pids", text, sizeof(text)));
    runtime.kind = RUNTIME_BWRAP;
    ck_assert_ptr_nonnull(runtime_lacks(&runtime, &attack));
    parse("limits=--pids=5");
    ck_assert_str_eq(limit_value(&attack, "--pids", text, sizeof(text)), "5");
    ck_assert_ptr_nonnull(runtime_lacks(&runtime, &attack));
    parse("");
    ck_assert_ptr_null(runtime_lacks(&runtime, &attack));
    runtime.kind = RUNTIME_SENTRY;
    parse("expect=output-limit");
    ck_assert_ptr_null(runtime_lacks(&runtime, &attack));
    runtime_done(&runtime);
}
END_TEST

TEST_SUITE(runtime)
{
    TEST_ADD(a_command_of_sentry);
    TEST_ADD(runtimes_found_or_not);
    TEST_ADD(limits_that_are_not_there);
}
