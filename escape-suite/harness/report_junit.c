/*
 * report_junit.c: the report that CI systems read. An escape and a broken twin are failures, what
 * could not be judged is an error (never skipped: it is no pass), what is about another kind of
 * runtime is skipped.
 */
#include <string.h>

#include "escape-suite/harness/report.h"
#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/buf.h"

static void attribute(struct buf *b, const char *name, const char *value)
{
    (void)buf_printf(b, " %s=\"", name);
    (void)text_xml(b, value);
    (void)buf_putc(b, '"');
}

static void lines(struct buf *b, const json_t *attack, const char *part)
{
    const json_t *run = json_object_get(attack, part);
    json_t *list = json_object_get(run, "lines"), *line;
    size_t i;
    if (run == NULL)
        return;
    (void)buf_printf(b, "%s: ", part);
    (void)text_xml(b, json_text(run, "status"));
    (void)buf_putc(b, '\n');
    json_array_foreach(list, i, line)
    {
        (void)text_xml(b, json_string_value(line));
        (void)buf_putc(b, '\n');
    }
}

static void problem(struct buf *b, const json_t *a, const char *element)
{
    (void)buf_printf(b, "\n    <%s", element);
    attribute(b, "type", json_text(a, "outcome"));
    attribute(b, "message", json_text(a, "reason"));
    (void)buf_puts(b, "/>");
}

static void testcase(struct buf *b, const json_t *a, const char *runtime)
{
    const char *outcome = json_text(a, "outcome");
    double s = (double)json_integer_value(json_object_get(a, "ms")) / 1000;
    (void)buf_puts(b, "  <testcase");
    attribute(b, "name", json_text(a, "id"));
    (void)buf_puts(b, " classname=\"");
    (void)text_xml(b, runtime);
    (void)buf_putc(b, '.');
    (void)text_xml(b, json_text(a, "group"));
    (void)buf_printf(b, "\" time=\"%.3f\">", s);
    if (strcmp(outcome, "escaped") == 0 || strcmp(outcome, "twin-broken") == 0)
        problem(b, a, "failure");
    else if (strcmp(outcome, "not-judged") == 0)
        problem(b, a, "error");
    else if (strcmp(outcome, "not-applicable") == 0)
        problem(b, a, "skipped");
    (void)buf_puts(b, "\n    <system-out>");
    (void)text_xml(b, json_text(a, "what"));
    (void)buf_putc(b, '\n');
    lines(b, a, "attack");
    lines(b, a, "twin");
    (void)buf_puts(b, "</system-out>\n  </testcase>\n");
}

int report_junit(struct buf *b, const json_t *doc)
{
    json_t *list = json_object_get(doc, "attacks"), *a;
    size_t i;
    unsigned c[OUTCOME_COUNT];
    report_counts(doc, c);
    (void)buf_puts(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    attribute(b, "name", "escape-suite");
    attribute(b, "timestamp", json_text(doc, "started"));
    (void)buf_printf(b,
                     " tests=\"%zu\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n",
                     json_array_size(list), c[OUTCOME_ESCAPED] + c[OUTCOME_TWIN_BROKEN],
                     c[OUTCOME_NOT_JUDGED], c[OUTCOME_NOT_APPLICABLE],
                     (double)json_integer_value(
                         json_object_get(json_object_get(doc, "summary"), "duration_ms")) /
                         1000);
    json_array_foreach(list, i, a)
    {
        testcase(b, a, json_text(doc, "runtime"));
    }
    (void)buf_puts(b, "</testsuite>\n");
    return buf_error(b);
}
