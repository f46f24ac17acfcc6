/*
 * The JSON library parses and holds the values but not where they stood. The line of a value is
 * therefore found again only when a refusal needs it: the path is followed through the text, which
 * is known to be valid JSON at that point. Depth is checked before parsing, as the library
 * recurses.
 */
#include "lib/jsonx.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash.h"

enum {
    MAX_PATH_PARTS = 64,
    MAX_PATH_TEXT = 200
};

/* --- finding a value in the text ------------------------------------------------------------ */

struct scan {
    const char *p, *end;
    size_t line;
};

static void scan_step(struct scan *s)
{
    if (s->p < s->end && *s->p++ == '\n')
        s->line++;
}

static void scan_blank(struct scan *s)
{
    while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p)
        scan_step(s);
}

/* At the opening quote; leaves s behind the closing one. */
static void scan_string(struct scan *s)
{
    scan_step(s);
    while (s->p < s->end && *s->p != '"') {
        if (*s->p == '\\')
            scan_step(s);
        scan_step(s);
    }
    scan_step(s);
}

/* Skips one whole value. */
static void scan_value(struct scan *s)
{
    size_t depth = 0;

    scan_blank(s);
    while (s->p < s->end) {
        char c = *s->p;
        if (c == '"') {
            scan_string(s);
        } else if (c == '{' || c == '[') {
            depth++;
            scan_step(s);
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return;
            depth--;
            scan_step(s);
        } else if (depth == 0 && (c == ',' || c == ':')) {
            return;
        } else {
            scan_step(s);
            if (depth || (s->p < s->end && !strchr(",:]} \t\r\n", *s->p)))
                continue;
        }
        if (depth == 0)
            return;
    }
}

/* Whether the JSON string at s is key. Escapes are left to the library. */
static bool scan_key_is(const struct scan *s, const char *key)
{
    struct scan after = *s;
    scan_string(&after);
    json_t *v = json_loadb(s->p, (size_t)(after.p - s->p), JSON_DECODE_ANY, NULL);
    bool same = json_is_string(v) && strcmp(json_string_value(v), key) == 0;
    json_decref(v);
    return same;
}

/* From the start of a container to the start of one of its members. */
static void scan_enter(struct scan *s, const struct jsonx *member)
{
    scan_blank(s);
    scan_step(s);
    for (size_t i = 0; s->p < s->end; i++) {
        scan_blank(s);
        if (member->key) {
            bool found = scan_key_is(s, member->key);
            scan_string(s);
            scan_blank(s);
            scan_step(s);
            if (found) {
                scan_blank(s);
                return;
            }
        } else if (i == member->index) {
            return;
        }
        scan_value(s);
        scan_blank(s);
        scan_step(s);
    }
}

/* The chain from the root to at, outermost first, without the root; returns its length. A deeper
 * path is cut at the outer end. */
static size_t path_of(const struct jsonx *at, const struct jsonx *parts[MAX_PATH_PARTS])
{
    size_t depth = 0;

    for (const struct jsonx *j = at; j->parent; j = j->parent)
        depth++;
    depth = MIN(depth, (size_t)MAX_PATH_PARTS);
    for (size_t i = depth; i > 0; i--, at = at->parent)
        parts[i - 1] = at;
    return depth;
}

int(jsonx_refuse)(const struct jsonx *at, struct error *err, int code, const char *fmt, ...)
{
    const struct jsonx *parts[MAX_PATH_PARTS];
    char path[MAX_PATH_TEXT] = "", text[256];
    size_t n = path_of(at, parts), used = 0;
    struct scan s = {.p = at->doc->text, .end = at->doc->text + at->doc->len, .line = 1};
    va_list ap;

    scan_blank(&s);
    for (size_t i = 0; i < n; i++) {
        int w =
            parts[i]->key
                ? snprintf(path + used, sizeof(path) - used, "%s%s", i ? "." : "", parts[i]->key)
                : snprintf(path + used, sizeof(path) - used, "[%zu]", parts[i]->index);
        used = MIN(used + (size_t)MAX(w, 0), sizeof(path) - 1);
        scan_enter(&s, parts[i]);
    }
    /* Keys are somebody else's bytes; a refusal is one line. */
    for (char *c = path; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return error_set(err, code, "%s:%zu: %s%s%s", at->doc->name, s.line, path, n ? ": " : "", text);
}

/* --- parsing -----------------------------------------------------------------------------------
 */

static size_t depth_of(const char *text, size_t len)
{
    struct scan s = {.p = text, .end = text + len, .line = 1};
    size_t depth = 0, deepest = 0;

    while (s.p < s.end) {
        char c = *s.p;
        if (c == '"') {
            scan_string(&s);
            continue;
        }
        if (c == '{' || c == '[')
            deepest = MAX(deepest, ++depth);
        else if ((c == '}' || c == ']') && depth)
            depth--;
        scan_step(&s);
    }
    return deepest;
}

/* The library does not say reliably that memory was what it lacked. */
static bool library_starved;

static void *get_block(size_t n)
{
    void *p = kalloc(n);

    library_starved |= !p;
    return p;
}

static void free_block(void *p)
{
    kfree(p);
}

static void library_init(void)
{
    static bool done;

    if (done)
        return;
    done = true;
    json_set_alloc_funcs(get_block, free_block);
    /* Never zero: the library would open a file for its seed. */
    json_object_seed((size_t)hash_seed() | 1);
}

static int parse(struct jsonx_doc *doc, const char *name, const char *text, size_t len,
                 size_t max_depth, size_t flags, struct error *err)
{
    json_error_t why;

    library_init();
    *doc = (struct jsonx_doc){.name = name, .text = text, .len = len};
    if (depth_of(text, len) > max_depth)
        return error_set(err, EINVAL, "%s: nested deeper than %zu", name, max_depth);
    library_starved = false;
    doc->root = json_loadb(text, len, flags | JSON_DECODE_ANY, &why);
    if (doc->root)
        return 0;
    if (library_starved)
        return error_set(err, ENOMEM, "%s: out of memory", name);
    return error_set(err, EINVAL, "%s:%d: %s", name, MAX(why.line, 1), why.text);
}

int jsonx_parse(struct jsonx_doc *doc, const char *name, const char *text, size_t len,
                size_t max_depth, struct error *err)
{
    return parse(doc, name, text, len, max_depth, JSON_REJECT_DUPLICATES, err);
}

/* The n digits at p, longer than a 64-bit integer may be, become the nearest integer and blanks. */
static void clamp_digits(char *p, size_t n, bool negative)
{
    static const char most[] = "9223372036854775807", least[] = "9223372036854775808";
    const char *limit = negative ? least : most;
    size_t width = sizeof(most) - 1;

    if (n < width || (n == width && memcmp(p, limit, width) <= 0))
        return;
    memcpy(p, limit, width);
    memset(p + width, ' ', n - width);
}

/* Numbers with a fraction or an exponent are left to the library, as are leading zeros. */
static void clamp_integers(char *text, size_t len)
{
    struct scan s = {.p = text, .end = text + len, .line = 1};

    while (s.p < s.end) {
        if (*s.p == '"') {
            scan_string(&s);
            continue;
        }
        size_t at = (size_t)(s.p - text), n = 0;
        while (at + n < len && text[at + n] >= '0' && text[at + n] <= '9')
            n++;
        if (n == 0) {
            scan_step(&s);
            continue;
        }
        bool whole = at + n == len || !memchr(".eE", text[at + n], 3);
        bool before = at > 0 && memchr(".eE+", text[at - 1], 4);
        if (whole && !before && text[at] != '0')
            clamp_digits(text + at, n, at > 0 && text[at - 1] == '-');
        s.p += n;
    }
}

int jsonx_parse_lenient(struct jsonx_doc *doc, const char *name, char *text, size_t len,
                        size_t max_depth, struct error *err)
{
    clamp_integers(text, len);
    return parse(doc, name, text, len, max_depth, 0, err);
}

void jsonx_done(struct jsonx_doc *doc)
{
    json_decref(doc->root);
    doc->root = NULL;
}

struct jsonx jsonx_root(const struct jsonx_doc *doc)
{
    return (struct jsonx){.doc = doc, .value = doc->root};
}

/* --- containers ---------------------------------------------------------------------------------
 */

static struct jsonx member_of(const struct jsonx *at, const char *key, json_t *value)
{
    return (struct jsonx){.doc = at->doc, .value = value, .parent = at, .key = key};
}

static const char *type_name(const struct jsonx *at)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return names[json_typeof(at->value)];
}

static int wrong_type(const struct jsonx *at, struct error *err, const char *wanted)
{
    return jsonx_refuse(at, err, EINVAL, "must be %s, not %s", wanted, type_name(at));
}

static bool field_known(const struct jsonx_field *fields, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(fields[i].key, key) == 0)
            return true;
    }
    return false;
}

int jsonx_object(const struct jsonx *at, const struct jsonx_field *fields, size_t n,
                 enum jsonx_unknown unknown, void *arg, struct error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(at->value))
        return wrong_type(at, err, "an object");
    json_object_foreach (at->value, key, value) {
        struct jsonx member = member_of(at, key, value);
        if (unknown == JSONX_UNKNOWN_REFUSED && !field_known(fields, n, key))
            return jsonx_refuse(&member, err, EINVAL, "unknown key");
    }
    for (size_t i = 0; i < n; i++) {
        value = json_object_get(at->value, fields[i].key);
        if (!value && fields[i].required)
            return jsonx_refuse(at, err, EINVAL, "needs the key \"%s\"", fields[i].key);
        if (!value)
            continue;
        struct jsonx member = member_of(at, fields[i].key, value);
        int r = fields[i].read(&member, arg, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int jsonx_each_member(const struct jsonx *at, size_t max, jsonx_read_fn *read, void *arg,
                      struct error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(at->value))
        return wrong_type(at, err, "an object");
    if (json_object_size(at->value) > max)
        return jsonx_refuse(at, err, E2BIG, "more than %zu members", max);
    json_object_foreach (at->value, key, value) {
        struct jsonx member = member_of(at, key, value);
        int r = read(&member, arg, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int jsonx_each_element(const struct jsonx *at, size_t max, jsonx_read_fn *read, void *arg,
                       struct error *err)
{
    size_t n = json_array_size(at->value);

    if (!json_is_array(at->value))
        return wrong_type(at, err, "an array");
    if (n > max)
        return jsonx_refuse(at, err, E2BIG, "more than %zu elements", max);
    for (size_t i = 0; i < n; i++) {
        struct jsonx element = {
            .doc = at->doc, .value = json_array_get(at->value, i), .parent = at, .index = i};
        int r = read(&element, arg, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- scalars ------------------------------------------------------------------------------------
 */

int jsonx_i64(const struct jsonx *at, int64_t min, int64_t max, int64_t *ret_v, struct error *err)
{
    if (!json_is_integer(at->value))
        return wrong_type(at, err, "an integer");
    json_int_t v = json_integer_value(at->value);
    if (v < min || v > max)
        return jsonx_refuse(at, err, ERANGE, "must be between %lld and %lld", (long long)min,
                            (long long)max);
    *ret_v = v;
    return 0;
}

int jsonx_u64(const struct jsonx *at, uint64_t min, uint64_t max, uint64_t *ret_v,
              struct error *err)
{
    if (!json_is_integer(at->value))
        return wrong_type(at, err, "an integer");
    json_int_t v = json_integer_value(at->value);
    if (v < 0 || (uint64_t)v < min || (uint64_t)v > max)
        return jsonx_refuse(at, err, ERANGE, "must be between %llu and %llu",
                            (unsigned long long)min, (unsigned long long)max);
    *ret_v = (uint64_t)v;
    return 0;
}

int jsonx_double(const struct jsonx *at, double min, double max, double *ret_v, struct error *err)
{
    if (!json_is_number(at->value))
        return wrong_type(at, err, "a number");
    double v = json_number_value(at->value);
    if (!(v >= min && v <= max))
        return jsonx_refuse(at, err, ERANGE, "must be between %g and %g", min, max);
    *ret_v = v;
    return 0;
}

int jsonx_bool(const struct jsonx *at, bool *ret_v, struct error *err)
{
    if (!json_is_boolean(at->value))
        return wrong_type(at, err, "true or false");
    *ret_v = json_is_true(at->value);
    return 0;
}

int jsonx_string(const struct jsonx *at, size_t max, const char **ret_s, struct error *err)
{
    if (!json_is_string(at->value))
        return wrong_type(at, err, "a string");
    if (json_string_length(at->value) > max)
        return jsonx_refuse(at, err, E2BIG, "longer than %zu bytes", max);
    *ret_s = json_string_value(at->value);
    return 0;
}

bool jsonx_is_null(const struct jsonx *at)
{
    return json_is_null(at->value);
}

int jsonx_choice(const struct jsonx *at, const char *const *names, size_t n, size_t *ret_index,
                 struct error *err)
{
    char list[200] = "";
    size_t used = 0;
    const char *s;
    int r = jsonx_string(at, SIZE_MAX, &s, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], s) == 0) {
            *ret_index = i;
            return 0;
        }
        int w = snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
        used = MIN(used + (size_t)MAX(w, 0), sizeof(list) - 1);
    }
    return jsonx_refuse(at, err, EINVAL, "must be one of: %s", list);
}
