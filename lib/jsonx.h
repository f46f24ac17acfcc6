#pragma once
/*
 * Strict reading of JSON that people or other programs wrote. A document is parsed once; a `jsonx`
 * is one value in it that knows its path, so that every refusal names the place:
 *
 *      policy.json:7: limits.wall_ms: must be between 0 and 86400000
 *
 * Objects are read through a table of fields; an unknown key is an error unless the table's reader
 * says otherwise. Values and strings are borrowed from the document, valid until jsonx_done.
 */
#include "lib/compiler.h"

#include "lib/error.h"
struct json_t;

struct jsonx_doc {
    const char *name; /* for messages; borrowed */
    const char *text; /* borrowed until jsonx_done */
    size_t len;
    struct json_t *root;
};

struct jsonx {
    const struct jsonx_doc *doc;
    struct json_t *value;
    const struct jsonx *parent; /* NULL at the root; lives on the reader's stack */
    const char *key;            /* in an object */
    size_t index;               /* in an array, when key is NULL */
};

typedef int jsonx_read_fn(const struct jsonx *at, void *arg, struct error *err);

struct jsonx_field {
    const char *key;
    jsonx_read_fn *read; /* gets the arg of jsonx_object */
    bool required;
};

enum jsonx_unknown {
    JSONX_UNKNOWN_REFUSED,
    JSONX_UNKNOWN_IGNORED
};

/* Parses text (need not end with NUL): duplicate keys, invalid UTF-8, anything behind the value and
 * nesting deeper than max_depth are refused. */
int jsonx_parse(struct jsonx_doc *doc, const char *name, const char *text, size_t len,
                size_t max_depth, struct error *err) MUST_CHECK;
/* For documents of other programs: of duplicate keys the last counts, an integer beyond 64 bits is
 * the nearest one that fits (text is changed for it). Everything else as above. */
int jsonx_parse_lenient(struct jsonx_doc *doc, const char *name, char *text, size_t len,
                        size_t max_depth, struct error *err) MUST_CHECK;
void jsonx_done(struct jsonx_doc *doc);
struct jsonx jsonx_root(const struct jsonx_doc *doc);

/* Calls each field's reader with its value, in the order of the table. */
int jsonx_object(const struct jsonx *at, const struct jsonx_field *fields, size_t n,
                 enum jsonx_unknown unknown, void *arg, struct error *err) MUST_CHECK;
/* Calls read for every member of an object whose keys are data (annotations, say); at->key is the
 * member's key. More than max members is an error. */
int jsonx_each_member(const struct jsonx *at, size_t max, jsonx_read_fn *read, void *arg,
                      struct error *err) MUST_CHECK;
/* Calls read for every element; more than max elements is an error. */
int jsonx_each_element(const struct jsonx *at, size_t max, jsonx_read_fn *read, void *arg,
                       struct error *err) MUST_CHECK;

/* Bounds are inclusive. */
int jsonx_u64(const struct jsonx *at, uint64_t min, uint64_t max, uint64_t *ret_v,
              struct error *err) MUST_CHECK;
int jsonx_i64(const struct jsonx *at, int64_t min, int64_t max, int64_t *ret_v, struct error *err)
    MUST_CHECK;
/* An integer counts as a real number. */
int jsonx_double(const struct jsonx *at, double min, double max, double *ret_v, struct error *err)
    MUST_CHECK;
int jsonx_bool(const struct jsonx *at, bool *ret_v, struct error *err) MUST_CHECK;
/* At most max bytes, without NUL bytes inside. *ret_s is borrowed from the document. */
int jsonx_string(const struct jsonx *at, size_t max, const char **ret_s, struct error *err)
    MUST_CHECK;
bool jsonx_is_null(const struct jsonx *at);
/* Index in names of the string, one of n words; the refusal lists them. */
int jsonx_choice(const struct jsonx *at, const char *const *names, size_t n, size_t *ret_index,
                 struct error *err) MUST_CHECK;

/* A refusal of this value for a reason of the caller's: "name:line: path: text". Returns -code. */
int jsonx_refuse(const struct jsonx *at, struct error *err, int code, const char *fmt, ...)
    PRINTF(4, 5);
#define jsonx_refuse(...) error_negative(jsonx_refuse(__VA_ARGS__))
