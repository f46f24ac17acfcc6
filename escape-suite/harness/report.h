#pragma once
/*
 * Reports. All are made from the document of suite_run (or of an earlier run, read back), so any of
 * them can be made later from the JSON one.
 */
#include "lib/compiler.h"

#include <jansson.h>

struct buf;

enum report_format {
    REPORT_TEXT,
    REPORT_TAP,
    REPORT_JUNIT,
    REPORT_JSON,
    REPORT_HTML,
    REPORT_FORMATS
};

/* REPORT_FORMATS when there is none of this name. */
enum report_format report_format_find(const char *name);

/* Each appends to b and returns buf_error. */
int report_json(struct buf *b, const json_t *doc);
int report_junit(struct buf *b, const json_t *doc);
int report_tap(struct buf *b, const json_t *doc);
/* One line; with verbose also the transcript. */
int report_text_attack(struct buf *b, const json_t *attack, bool verbose);
int report_text_head(struct buf *b, const json_t *doc);
int report_text_summary(struct buf *b, const json_t *doc);
/* docs: an array of documents, one a runtime. */
int report_html(struct buf *b, const json_t *docs);

/* The counts of a document's summary by outcome. */
void report_counts(const json_t *doc, unsigned *counts);
/* "3 attacks: 3 contained, 0 escaped, ..." */
void report_sentence(const json_t *doc, char *buf, size_t cap);
