/*
 * report_html.c: one page without anything from elsewhere: attacks down, runtimes across, colour
 * and words in each cell; a row opens to what was tried and seen.
 */
#include <string.h>

#include "escape-suite/harness/catalogue.h"
#include "escape-suite/harness/report.h"
#include "escape-suite/harness/text.h"
#include "lib/buf.h"

static const char top[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n<title>escape-suite</title>\n<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;"
    "color:#1c1c1c;background:#fff}\n"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .4rem}\n"
    ".row{display:grid;gap:.5rem;align-items:baseline}\n"
    "summary,.head{padding:.3rem .4rem;border-bottom:1px solid #ddd}\n"
    "summary{cursor:pointer}summary:hover{background:#f4f4f4}.head{font-weight:600}\n"
    ".cell{border-radius:.2rem;padding:.05rem .45rem;text-align:center;font-size:.85rem}\n"
    ".contained{background:#d7f0d9;color:#12491a}.escaped{background:#b3191f;color:#fff;"
    "font-weight:700}\n"
    ".twin-broken{background:#f6c26b;color:#4a2d00}.not-judged{background:#dcdcdc;color:#333}\n"
    ".not-applicable,.none{color:#777}\n"
    ".more{padding:.4rem 1rem 1rem;border-bottom:1px solid #ddd;background:#fafafa}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.3rem 0}\n"
    "dt{color:#666}dd{margin:0}code,pre{font:13px/1.4 ui-monospace,monospace}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f0f0f0;padding:.5rem;margin:.2rem "
    "0;max-height:22rem;overflow:auto}\n"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}.more{background:#1e1e1e}"
    "pre{background:#262626}summary:hover{background:#222}summary,.head,.more{border-color:#333}"
    ".contained{background:#1d4a25;color:#cdebd0}.not-judged{background:#444;color:#ddd}}\n"
    "</style></head><body>\n<h1>escape-suite</h1>\n"
    "<p>Hostile programs, each run under three oracles: its own goal failed, the host is unchanged, "
    "the next run is normal. Then its benign twin must work. A row opens to what was tried and "
    "seen.</p>\n";

static void element(struct buf *b, const char *tag, const char *text)
{
    (void)buf_printf(b, "<%s>", tag);
    (void)text_xml(b, text);
    (void)buf_printf(b, "</%s>", tag);
}

static void pair(struct buf *b, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    element(b, "dt", name);
    element(b, "dd", text);
}

/* The attack of this id in a document, or NULL. */
static const json_t *find(const json_t *doc, const char *id)
{
    json_t *list = json_object_get(doc, "attacks"), *a;
    size_t i;
    json_array_foreach(list, i, a)
    {
        if (strcmp(json_text(a, "id"), id) == 0)
            return a;
    }
    return NULL;
}

static void transcript(struct buf *b, const json_t *attack, const char *part, const char *title)
{
    const json_t *run = json_object_get(attack, part);
    json_t *list = json_object_get(run, "lines"), *line;
    size_t i;
    if (run == NULL)
        return;
    (void)buf_puts(b, "<div>");
    element(b, "b", title);
    (void)buf_puts(b, ": ");
    (void)text_xml(b, json_text(run, "status"));
    if (json_text(run, "message")[0] != '\0') {
        (void)buf_puts(b, " (");
        (void)text_xml(b, json_text(run, "message"));
        (void)buf_puts(b, ")");
    }
    if (json_array_size(list) > 0) {
        (void)buf_puts(b, "<pre>");
        json_array_foreach(list, i, line)
        {
            (void)text_xml(b, json_string_value(line));
            (void)buf_putc(b, '\n');
        }
        (void)buf_puts(b, "</pre>");
    }
    (void)buf_puts(b, "</div>\n");
}

static void details_of_runtime(struct buf *b, const json_t *doc, const json_t *a)
{
    json_t *findings = json_object_get(a, "findings"), *item;
    size_t i;
    (void)buf_puts(b, "<h3><code>");
    (void)text_xml(b, json_text(doc, "runtime"));
    (void)buf_puts(b, "</code>: ");
    (void)text_xml(b, json_text(a, "outcome"));
    (void)buf_puts(b, "</h3>\n<p>");
    (void)text_xml(b, json_text(a, "reason"));
    (void)buf_puts(b, "</p>\n");
    json_array_foreach(findings, i, item)
    {
        element(b, "p", json_string_value(item));
    }
    transcript(b, a, "attack", "The attack");
    transcript(b, a, "next", "The next run");
    transcript(b, a, "twin", "The benign twin");
}

static void grid(struct buf *b, const char *tag, const char *class, size_t runtimes)
{
    (void)buf_printf(b, "<%s class=\"row %s\" style=\"grid-template-columns:15rem 1fr", tag, class);
    for (size_t i = 0; i < runtimes; i++)
        (void)buf_puts(b, " 8.5rem");
    (void)buf_puts(b, "\">");
}

static void row(struct buf *b, const json_t *docs, const char *id)
{
    json_t *doc;
    size_t i;
    const json_t *first = NULL;
    json_array_foreach(docs, i, doc)
    {
        first = first != NULL ? first : find(doc, id);
    }
    (void)buf_puts(b, "<details>");
    grid(b, "summary", "", json_array_size(docs));
    element(b, "code", id);
    element(b, "span", json_text(first, "what"));
    json_array_foreach(docs, i, doc)
    {
        const json_t *a = find(doc, id);
        const char *outcome = a != NULL ? json_text(a, "outcome") : "none";
        (void)buf_puts(b, "<span class=\"cell ");
        (void)text_xml(b, outcome);
        (void)buf_puts(b, "\">");
        (void)text_xml(b, a == NULL ? "not run" : outcome);
        (void)buf_puts(b, "</span>");
    }
    (void)buf_puts(b, "</summary>\n<div class=\"more\"><dl>");
    pair(b, "tries", json_text(first, "tries"));
    pair(b, "must fail because", json_text(first, "must_fail"));
    pair(b, "an escape would", json_text(first, "escape"));
    pair(b, "source", json_text(first, "source"));
    pair(b, "program", json_text(first, "file"));
    (void)buf_puts(b, "</dl>\n");
    json_array_foreach(docs, i, doc)
    {
        const json_t *a = find(doc, id);
        if (a != NULL)
            details_of_runtime(b, doc, a);
    }
    (void)buf_puts(b, "</div></details>\n");
}

/* Was the id in an earlier document already? */
static bool seen_before(const json_t *docs, size_t before, const char *id)
{
    for (size_t i = 0; i < before; i++)
        if (find(json_array_get(docs, i), id) != NULL)
            return true;
    return false;
}

static void group_rows(struct buf *b, const json_t *docs, const char *group)
{
    json_t *doc, *a;
    size_t i, k;
    json_array_foreach(docs, i, doc)
    {
        json_array_foreach(json_object_get(doc, "attacks"), k, a)
        {
            const char *id = json_text(a, "id");
            if (strcmp(json_text(a, "group"), group) == 0 && !seen_before(docs, i, id))
                row(b, docs, id);
        }
    }
}

static bool group_present(const json_t *docs, const char *group)
{
    json_t *doc, *a;
    size_t i, k;
    json_array_foreach(docs, i, doc)
    {
        json_array_foreach(json_object_get(doc, "attacks"), k, a)
        {
            if (strcmp(json_text(a, "group"), group) == 0)
                return true;
        }
    }
    return false;
}

int report_html(struct buf *b, const json_t *docs)
{
    json_t *doc;
    size_t i;
    char text[256];
    (void)buf_puts(b, top);
    (void)buf_puts(b, "<ul>");
    json_array_foreach(docs, i, doc)
    {
        report_sentence(doc, text, sizeof(text));
        (void)buf_puts(b, "<li><code>");
        (void)text_xml(b, json_text(doc, "runtime"));
        (void)buf_puts(b, "</code> (");
        (void)text_xml(b, json_text(doc, "runtime_version"));
        (void)buf_puts(b, ") on ");
        (void)text_xml(b, json_text(doc, "host"));
        (void)buf_puts(b, ", ");
        (void)text_xml(b, json_text(doc, "started"));
        (void)buf_puts(b, ": <b>");
        (void)text_xml(b, text);
        (void)buf_puts(b, "</b></li>\n");
    }
    (void)buf_puts(b, "</ul>\n");
    for (int g = 0; g < GROUP_COUNT; g++) {
        if (!group_present(docs, group_name((enum group)g)))
            continue;
        element(b, "h2", group_title((enum group)g));
        grid(b, "div", "head", json_array_size(docs));
        (void)buf_puts(b, "<span>attack</span><span>what it tries</span>");
        json_array_foreach(docs, i, doc)
        {
            element(b, "span", json_text(doc, "runtime"));
        }
        (void)buf_puts(b, "</div>\n");
        group_rows(b, docs, group_name((enum group)g));
    }
    (void)buf_puts(b, "</body></html>\n");
    return buf_error(b);
}
