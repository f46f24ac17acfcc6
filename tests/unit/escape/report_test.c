/*
 * Reports of documents that hold hostile text: each format stays well-formed.
 */
#include <stdlib.h>
#include <string.h>

#include "escape-suite/harness/report.h"
#include "escape-suite/harness/text.h"
#include "lib/buf.h"
#include "tests/support/test.h"

static const char nasty[] = "<b>&\"'\\ \xff\xc0\x80\x1b[2J\x7f\xe2\x80\xae]]>--> \xc3\xa9";

static void escaped(const char *bytes, size_t n, const char *want, bool lines)
{
    struct buf b;
    buf_init(&b, 4096);
    ck_assert_int_eq(text_escape(&b, bytes, n, lines), 0);
    ck_assert_str_eq(buf_cstr(&b), want);
    buf_done(&b);
}

TEST(bytes_become_text)
{
    escaped("a\\b", 3, "a\\\\b", false);
    escaped("\0\n\t", 3, "\\x00\\x0a\\x09", false);
    escaped("\0\n\t", 3, "\\x00\n\t", true);
    escaped("\xc3\xa9", 2, "\xc3\xa9", false);
    escaped("\xc3", 1, "\\xc3", false);
    escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80", false);          /* surrogate */
    escaped("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80", false); /* beyond the last */
    escaped("\xc0\xaf", 2, "\\xc0\\xaf", false);                   /* too long */
    escaped("\xef\xbf\xbf", 3, "\\xef\\xbf\\xbf", false);          /* no character */
    escaped("\xc2\x9b", 2, "\\xc2\\x9b", false);                   /* C1 control */
    escaped("\xe2\x80\xae", 3, "\\xe2\\x80\\xae", false);          /* turns text around */
    escaped("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80", false);
}
END_TEST

TEST(every_byte_makes_a_json_string)
{
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    json_t *s = text_json(all, sizeof(all));
    ck_assert_ptr_nonnull(s);
    json_decref(s);
}
END_TEST

static json_t *document(const char *outcome)
{
    json_t *attack = json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:i, s:[o], s:{s:s, s:[o]}}", "id", "n01-x", "group",
        "network", "what", text_json(nasty, sizeof(nasty)), "file", "x.c", "tries", "<i>", "reason",
        text_json(nasty, sizeof(nasty)), "source", text_json(nasty, sizeof(nasty)), "ms", 5,
        "findings", text_json(nasty, sizeof(nasty)), "attack", "status", "exit", "lines",
        text_json(nasty, sizeof(nasty)));
    ck_assert_ptr_nonnull(attack);
    (void)json_object_set_new(attack, "outcome", json_string(outcome));
    return json_pack("{s:i, s:s, s:o, s:s, s:[o], s:{s:i, s:i}}", "version", 1, "suite",
                     "escape-suite", "runtime", text_json(nasty, sizeof(nasty)), "host", "h",
                     "attacks", attack, "summary", outcome, 1, "duration_ms", 7);
}

static void no_raw_bytes(const struct buf *b)
{
    for (size_t i = 0; i < b->len; i++) {
        unsigned char c = (unsigned char)b->data[i];
        ck_assert_msg(c >= 0x20 || c == '\n', "byte %02x at %zu", c, i);
        ck_assert_uint_ne(c, 0x7f);
        ck_assert_uint_ne(c, 0xff);
    }
}

TEST(formats_survive_hostile_text)
{
    json_t *doc = document("escaped"), *docs = json_pack("[O,O]", doc, doc);
    struct buf b;
    buf_init(&b, 1 << 20);
    ck_assert_int_eq(report_json(&b, doc), 0);
    no_raw_bytes(&b);
    json_t *back = json_loadb(b.data, b.len, 0, NULL);
    ck_assert_ptr_nonnull(back);
    ck_assert(json_equal(back, doc));
    json_decref(back);
    const char *last = b.data + b.len - 2;
    while (*last != '\n')
        last--;
    ck_assert_ptr_nonnull(strstr(last, "\"escaped\":1"));
    buf_reset(&b);
    ck_assert_int_eq(report_junit(&b, doc), 0);
    no_raw_bytes(&b);
    ck_assert_ptr_null(strstr(buf_cstr(&b), "<b>"));
    ck_assert_ptr_nonnull(strstr(buf_cstr(&b), "<failure"));
    buf_reset(&b);
    ck_assert_int_eq(report_html(&b, docs), 0);
    no_raw_bytes(&b);
    ck_assert_ptr_null(strstr(buf_cstr(&b), "<b>&"));
    ck_assert_ptr_null(strstr(buf_cstr(&b), "<i>"));
    ck_assert_ptr_null(strstr(buf_cstr(&b), "<script"));
    buf_reset(&b);
    ck_assert_int_eq(report_tap(&b, doc), 0);
    no_raw_bytes(&b);
    ck_assert_ptr_nonnull(strstr(buf_cstr(&b), "not ok 1 - n01-x"));
    buf_reset(&b);
    ck_assert_int_eq(
        report_text_attack(&b, json_array_get(json_object_get(doc, "attacks"), 0), true), 0);
    no_raw_bytes(&b);
    buf_done(&b);
    json_decref(doc);
    json_decref(docs);
}
END_TEST

TEST(junit_elements)
{
    static const struct {
        const char *outcome, *element;
    } rows[] = {
        {"twin-broken", "<failure"}, {"not-judged", "<error"}, {"not-applicable", "<skipped"}};
    struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *doc = document(rows[i].outcome);
        buf_reset(&b);
        ck_assert_int_eq(report_junit(&b, doc), 0);
        ck_assert_ptr_nonnull(strstr(buf_cstr(&b), rows[i].element));
        json_decref(doc);
    }
    buf_done(&b);
}
END_TEST

TEST(format_names)
{
    ck_assert_int_eq(report_format_find("html"), REPORT_HTML);
    ck_assert_int_eq(report_format_find("pdf"), REPORT_FORMATS);
}
END_TEST

TEST_SUITE(report)
{
    TEST_ADD(bytes_become_text);
    TEST_ADD(every_byte_makes_a_json_string);
    TEST_ADD(formats_survive_hostile_text);
    TEST_ADD(junit_elements);
    TEST_ADD(format_names);
}
