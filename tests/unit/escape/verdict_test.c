/*
 * The rules of the verdict, without running anything.
 */
#include <string.h>

#include "escape-suite/harness/verdict.h"
#include "tests/support/test.h"

static struct attack attack;
static struct observation run, twin, next;
static struct findings findings;
static char reason[600];

static void print(struct observation *o, const char *text)
{
    o->end = RUN_EXIT;
    o->out.bytes += strlen(text);
    ck_assert_int_eq(buf_puts(&o->out.head, text), 0);
    ck_assert_int_eq(buf_puts(&o->out.tail, text), 0);
}

static void begin(const char *expect, const char *attack_text, const char *twin_text)
{
    attack = (struct attack){.id = "n01-x", .want_stdout = -1, .want_stderr = -1};
    (void)strcpy(attack.expect, expect);
    findings.n = 0;
    observation_init(&run);
    observation_init(&twin);
    observation_init(&next);
    print(&run, attack_text);
    print(&twin, twin_text);
    print(&next, "ok\n");
    (void)strcpy(run.verdict, "ok");
}

static enum outcome end(enum runtime_kind kind)
{
    struct evidence e = {&attack, kind, &run, &twin, &next, &findings};
    enum outcome o = judge(&e, reason, sizeof(reason));
    observation_done(&run);
    observation_done(&twin);
    observation_done(&next);
    return o;
}

TEST(plain_outcomes)
{
    begin("", "step a\ncontained EPERM\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_CONTAINED);
    ck_assert_str_eq(reason, "EPERM");
    begin("", "ESCAPED got it\ncontained no\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    ck_assert_str_eq(reason, "got it");
    begin("", "cannot no python\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    begin("", "containedish\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    begin("", "contained x\n", "broken y\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_TWIN_BROKEN);
    begin("", "contained x\n", "cannot y\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    begin("", "contained x\n", "");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_TWIN_BROKEN);
}
END_TEST

TEST(an_oracle_wins)
{
    begin("", "contained x\n", "works\n");
    findings_add(&findings, "a file has changed");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    ck_assert_str_eq(reason, "a file has changed");
    begin("", "cannot x\n", "broken\n");
    findings_add(&findings, "left");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("", "cannot x\n", "works\n");
    next.status = 1;
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("", "cannot x\n", "broken\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_TWIN_BROKEN);
}
END_TEST

TEST(expected_limits)
{
    begin("pids-limit|memory-limit", "", "works\n");
    (void)strcpy(run.verdict, "memory-limit");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_CONTAINED);
    /* Ended by itself: the limit did not bite. */
    begin("memory-limit", "", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("memory-limit", "contained ENOMEM\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("memory-limit|transcript", "contained ENOMEM\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_CONTAINED);
    begin("memory-limit", "cannot\n", "works\n");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    /* Another limit came first, or the sandbox broke. */
    begin("memory-limit", "", "works\n");
    (void)strcpy(run.verdict, "wall-limit");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    begin("memory-limit", "", "works\n");
    (void)strcpy(run.verdict, "internal-error");
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
    begin("wall-limit", "", "works\n");
    run.end = RUN_GIVEN_UP;
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_NOT_JUDGED);
}
END_TEST

TEST(runtimes_without_words)
{
    begin("memory-limit", "", "works\n");
    run.verdict[0] = '\0';
    run.status = 137;
    ck_assert_int_eq(end(RUNTIME_OCI), OUTCOME_CONTAINED);
    begin("wall-limit", "", "works\n");
    run.verdict[0] = '\0';
    run.end = RUN_GIVEN_UP;
    ck_assert_int_eq(end(RUNTIME_OCI), OUTCOME_CONTAINED);
    begin("memory-limit", "", "works\n");
    run.verdict[0] = '\0';
    ck_assert_int_eq(end(RUNTIME_OCI), OUTCOME_NOT_JUDGED);
    begin("", "contained x\n", "works\n");
    run.verdict[0] = '\0';
    run.end = RUN_GIVEN_UP;
    ck_assert_int_eq(end(RUNTIME_BWRAP), OUTCOME_NOT_JUDGED);
    begin("", "", "works\n");
    run.end = RUN_NOT_STARTED;
    ck_assert_int_eq(end(RUNTIME_BWRAP), OUTCOME_NOT_JUDGED);
}
END_TEST

TEST(counts)
{
    begin("output-limit", "x", "works\n");
    (void)strcpy(run.verdict, "output-limit");
    attack.want_stdout = 1;
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_CONTAINED);
    begin("output-limit", "xy", "works\n");
    (void)strcpy(run.verdict, "output-limit");
    attack.want_stdout = 1;
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("output-limit", "x", "works\n");
    (void)strcpy(run.verdict, "output-limit");
    attack.want_stderr = 1;
    run.err.bytes = 50; /* with the runtime's own last words */
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_ESCAPED);
    begin("output-limit", "x", "works\n");
    (void)strcpy(run.verdict, "output-limit");
    attack.want_stderr = 1;
    run.guest_err = 1;
    run.err.bytes = 50;
    ck_assert_int_eq(end(RUNTIME_SENTRY), OUTCOME_CONTAINED);
}
END_TEST

TEST(exit_statuses)
{
    unsigned c[OUTCOME_COUNT] = {0};
    ck_assert_int_eq(suite_status(c), 2);
    c[OUTCOME_CONTAINED] = 3;
    c[OUTCOME_NOT_APPLICABLE] = 1;
    ck_assert_int_eq(suite_status(c), 0);
    c[OUTCOME_NOT_JUDGED] = 1;
    ck_assert_int_eq(suite_status(c), 2);
    c[OUTCOME_TWIN_BROKEN] = 1;
    ck_assert_int_eq(suite_status(c), 1);
    c[OUTCOME_TWIN_BROKEN] = 0;
    c[OUTCOME_ESCAPED] = 1;
    ck_assert_int_eq(suite_status(c), 1);
}
END_TEST

TEST(transcripts_of_any_bytes)
{
    static const char bytes[] = "\xff\0works no\ncontained\r\nstep x\n\0\0";
    struct transcript t;
    transcript_parse(bytes, sizeof(bytes), &t);
    ck_assert_int_eq(t.last, LAST_CONTAINED);
    ck_assert_str_eq(t.text, "");
    transcript_parse("works", 5, &t);
    ck_assert_int_eq(t.last, LAST_WORKS);
    transcript_parse("", 0, &t);
    ck_assert_int_eq(t.last, LAST_NONE);
    transcript_parse(" works\nworksx\nWORKS\n", 20, &t);
    ck_assert_int_eq(t.last, LAST_NONE);
}
END_TEST

TEST_SUITE(verdict)
{
    TEST_ADD(plain_outcomes);
    TEST_ADD(an_oracle_wins);
    TEST_ADD(expected_limits);
    TEST_ADD(runtimes_without_words);
    TEST_ADD(counts);
    TEST_ADD(exit_statuses);
    TEST_ADD(transcripts_of_any_bytes);
}
