#pragma once
/*
 * Arbitrary bytes as text that every report can carry, and small helpers on strings.
 */
#include "lib/compiler.h"

#include <jansson.h>

struct buf;

/* Valid UTF-8 without control characters stays; everything else (and the backslash) becomes \xNN
 * (\\), so that the bytes can be recovered. Newlines and tabs stay with keep_lines. */
int text_escape(struct buf *b, const void *data, size_t n, bool keep_lines);
/* & < > " ' as entities, for XML and HTML; s is already escaped as above. */
int text_xml(struct buf *b, const char *s);
/* A JSON string of the escaped bytes; new reference, NULL when there is no memory. */
json_t *text_json(const void *p, size_t n);
/* The string member of an object, "" when there is none. Borrowed. */
const char *json_text(const json_t *o, const char *key);
