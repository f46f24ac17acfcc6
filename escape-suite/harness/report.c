/*
 * report.c: what the reports share, and the plain ones: text, TAP, JSON.
 */
#include "escape-suite/harness/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/buf.h"

enum report_format report_format_find(const char *name)
{
    static const char *const names[REPORT_FORMATS] = {"text", "tap", "junit", "json", "html"};
    int i = 0;
    while (i < REPORT_FORMATS && strcmp(names[i], name) != 0)
        i++;
    return (enum report_format)i;
}

void report_counts(const json_t *doc, unsigned *counts)
{
    const json_t *sum = json_object_get(doc, "summary");
    for (int o = 0; o < OUTCOME_COUNT; o++)
        counts[o] =
            (unsigned)json_integer_value(json_object_get(sum, outcome_name((enum outcome)o)));
}

void report_sentence(const json_t *doc, char *buf, size_t cap)
{
    unsigned c[OUTCOME_COUNT], all = 0;
    report_counts(doc, c);
    for (int o = 0; o < OUTCOME_COUNT; o++)
        all += c[o];
    int n = snprintf(
        buf, cap, "%u attacks: %u contained, %u escaped, %u twins broken, %u not judged", all,
        c[OUTCOME_CONTAINED], c[OUTCOME_ESCAPED], c[OUTCOME_TWIN_BROKEN], c[OUTCOME_NOT_JUDGED]);
    if (c[OUTCOME_NOT_APPLICABLE] > 0 && n > 0 && (size_t)n < cap)
        (void)snprintf(buf + n, cap - (size_t)n, ", %u about another kind of runtime",
                       c[OUTCOME_NOT_APPLICABLE]);
}

/* One line an attack; the last line ends with the summary. */
int report_json(struct buf *b, const json_t *doc)
{
    const char *key;
    json_t *value, *item;
    size_t i;
    (void)buf_putc(b, '{');
    /* The library's iterator takes no const object, and changes none. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    json_object_foreach ((json_t *)(uintptr_t)doc, key, value) {
        char *text =
            json_is_array(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        if (text != NULL)
            (void)buf_printf(b, "%s\"%s\":%s", b->data[b->len - 1] == '{' ? "" : ",", key, text);
        free(text);
        if (!json_is_array(value))
            continue;
        (void)buf_printf(b, ",\"%s\":[", key);
        json_array_foreach(value, i, item)
        {
            text = json_dumps(item, JSON_COMPACT);
            (void)buf_printf(b, "%s\n%s", i > 0 ? "," : "", text != NULL ? text : "null");
            free(text);
        }
        (void)buf_puts(b, "\n]");
    }
    (void)buf_puts(b, "}\n");
    return buf_error(b);
}

static void text_lines(struct buf *b, const json_t *attack, const char *part)
{
    const json_t *run = json_object_get(attack, part);
    json_t *lines = json_object_get(run, "lines");
    size_t n = json_array_size(lines);
    if (run == NULL)
        return;
    (void)buf_printf(b, "    %s: %s, %lld ms\n", part, json_text(run, "status"),
                     (long long)json_integer_value(json_object_get(run, "ms")));
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(b, "      %s\n", json_string_value(json_array_get(lines, i)));
    if (json_text(run, "stderr")[0] != '\0')
        (void)buf_printf(b, "      (standard error) %s\n", json_text(run, "stderr"));
}

int report_text_attack(struct buf *b, const json_t *attack, bool verbose)
{
    const char *outcome = json_text(attack, "outcome");
    json_t *findings = json_object_get(attack, "findings"), *item;
    size_t i;
    (void)buf_printf(b, "%-32s %-11s %s\n", json_text(attack, "id"),
                     strcmp(outcome, "escaped") == 0 ? "ESCAPED" : outcome,
                     json_text(attack, "reason"));
    json_array_foreach(findings, i, item)
    {
        if (i > 0)
            (void)buf_printf(b, "    also: %s\n", json_string_value(item));
    }
    if (verbose || (strcmp(outcome, "contained") != 0 && strcmp(outcome, "not-applicable") != 0)) {
        text_lines(b, attack, "attack");
        text_lines(b, attack, "next");
        text_lines(b, attack, "twin");
    }
    return buf_error(b);
}

int report_text_head(struct buf *b, const json_t *doc)
{
    return buf_printf(b, "runtime: %s (%s)\nhost: %s\n", json_text(doc, "runtime"),
                      json_text(doc, "runtime_version"), json_text(doc, "host"));
}

int report_text_summary(struct buf *b, const json_t *doc)
{
    char text[256];
    report_sentence(doc, text, sizeof(text));
    return buf_printf(b, "%s\n", text);
}

int report_tap(struct buf *b, const json_t *doc)
{
    json_t *list = json_object_get(doc, "attacks"), *a;
    size_t i;
    (void)buf_printf(b, "TAP version 13\n1..%zu\n", json_array_size(list));
    json_array_foreach(list, i, a)
    {
        const char *outcome = json_text(a, "outcome");
        bool applies = strcmp(outcome, "not-applicable") != 0;
        bool ok = strcmp(outcome, "contained") == 0 || !applies;
        (void)buf_printf(b, "%sok %zu - %s%s\n", ok ? "" : "not ", i + 1, json_text(a, "id"),
                         applies ? "" : " # SKIP about another kind of runtime");
        if (!ok)
            (void)buf_printf(b, "# %s: %s\n", outcome, json_text(a, "reason"));
    }
    return buf_error(b);
}
