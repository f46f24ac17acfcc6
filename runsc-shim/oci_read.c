/*
 * oci_read.c: objects of the specification through tables of fields.
 *
 * An object is walked in the order of the document, so that a warning about an unknown field and an
 * error about a known one come in the order in which a reader of the file would meet them.
 */
#include "runsc-shim/oci_read.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

enum {
    MAX_MEMBERS = 4096,
    MAX_FIELDS = 64
};

void oci_warn(struct oci_reader *r, const struct jsonx *at, const char *fmt, ...)
{
    char text[160];
    struct error where;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    error_init(&where);
    (void)jsonx_refuse(at, &where, EINVAL, "%s", text);
    (void)buf_printf(r->warnings, "%s\n", where.text);
}

void oci_strings_done(struct oci_strings *s)
{
    kfree(s->v);
    *s = (struct oci_strings){0};
}

/* -- arrays and objects of strings ---------------------------------------------------------------
 */

static int strings_element(const struct jsonx *at, void *arg, struct error *err)
{
    struct oci_strings *s = arg;
    int r = jsonx_string(at, OCI_MAX_STRING, &s->v[s->n], err);

    if (r == 0)
        s->n++;
    return r;
}

static int count_element(const struct jsonx *at, void *arg, struct error *err)
{
    (void)at;
    (void)err;
    ++*(size_t *)arg;
    return 0;
}

int oci_read_strings(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_strings *s = to;
    size_t n = 0;

    (void)r;
    oci_strings_done(s);
    int rc = jsonx_each_element(at, MAX_MEMBERS, count_element, &n, err);
    if (rc < 0 || n == 0)
        return rc;
    s->v = kalloc_array(n + 1, sizeof(*s->v));
    if (s->v == NULL)
        return error_set(err, ENOMEM, "no memory");
    return jsonx_each_element(at, MAX_MEMBERS, strings_element, s, err);
}

static int pairs_member(const struct jsonx *at, void *arg, struct error *err)
{
    struct oci_pairs *p = arg;
    struct oci_pair pair = {.key = at->key};

    if (jsonx_is_null(at))
        return 0;
    int r = jsonx_string(at, OCI_MAX_STRING, &pair.value, err);
    if (r == 0)
        p->v[p->n++] = pair;
    return r;
}

static int read_pairs(const struct jsonx *at, struct oci_pairs *p, struct error *err)
{
    size_t n = 0;

    kfree(p->v);
    *p = (struct oci_pairs){0};
    int r = jsonx_each_member(at, MAX_MEMBERS, count_element, &n, err);
    if (r < 0 || n == 0)
        return r;
    p->v = kalloc_array(n, sizeof(*p->v));
    if (p->v == NULL)
        return error_set(err, ENOMEM, "no memory");
    return jsonx_each_member(at, MAX_MEMBERS, pairs_member, p, err);
}

struct array {
    struct oci_reader *r;
    const struct oci_elements *kind;
    void **array;
    size_t *count;
};

static int array_element(const struct jsonx *at, void *arg, struct error *err)
{
    struct array *a = arg;
    char *bigger = krealloc(*a->array, (*a->count + 1) * a->kind->size);

    if (bigger == NULL)
        return error_set(err, ENOMEM, "no memory");
    *a->array = bigger;
    /* Counted first: what the element owns is released with the array. */
    ++*a->count;
    return a->kind->read(a->r, at, bigger + (*a->count - 1) * a->kind->size, err);
}

int oci_array(struct oci_reader *r, const struct jsonx *at, const struct oci_elements *kind,
              void **array, size_t *count, struct error *err)
{
    struct array a = {r, kind, array, count};

    return jsonx_each_element(at, kind->max, array_element, &a, err);
}

int oci_read_path(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    const char *s;
    int rc = jsonx_string(at, PATH_MAX - 1, &s, err);

    (void)r;
    if (rc < 0)
        return rc;
    if (s[0] != '/')
        return jsonx_refuse(at, err, EINVAL, "must be an absolute path");
    *(const char **)to = s;
    return 0;
}

/* -- objects --------------------------------------------------------------------------------------
 */

struct object {
    struct oci_reader *r;
    const struct oci_field *fields;
    size_t n;
    char *to;
    uint64_t seen;
};

static int read_unsigned(const struct jsonx *at, uint64_t max, uint64_t *ret_v, struct error *err)
{
    /* The JSON library has signed numbers only; its largest stands for everything above. */
    return jsonx_u64(at, 0, MIN(max, (uint64_t)INT64_MAX), ret_v, err);
}

static int read_small(const struct oci_field *f, const struct jsonx *at, void *to,
                      struct error *err)
{
    uint64_t v;
    int r = read_unsigned(at, f->kind == OCI_U16 ? UINT16_MAX : UINT32_MAX, &v, err);

    if (r < 0)
        return r;
    if (f->kind == OCI_U16)
        *(uint16_t *)to = (uint16_t)v;
    else
        *(uint32_t *)to = (uint32_t)v;
    return 0;
}

static int read_value(struct object *o, const struct oci_field *f, const struct jsonx *at,
                      struct error *err)
{
    void *to = o->to + f->offset;

    switch (f->kind) {
    case OCI_STRING:
        return jsonx_string(at, OCI_MAX_STRING, to, err);
    case OCI_BOOL:
        return jsonx_bool(at, to, err);
    case OCI_U16:
    case OCI_U32:
        return read_small(f, at, to, err);
    case OCI_U64:
        return read_unsigned(at, INT64_MAX, to, err);
    case OCI_I64:
        return jsonx_i64(at, INT64_MIN, INT64_MAX, to, err);
    case OCI_STRINGS:
        return oci_read_strings(o->r, at, to, err);
    case OCI_PAIRS:
        return read_pairs(at, to, err);
    case OCI_READ:
        return f->read(o->r, at, to, err);
    case OCI_SKIP:
    default:
        return 0;
    }
}

static int object_member(const struct jsonx *at, void *arg, struct error *err)
{
    struct object *o = arg;

    for (size_t i = 0; i < o->n; i++) {
        const struct oci_field *f = &o->fields[i];
        if (strcmp(f->key, at->key) != 0)
            continue;
        if (jsonx_is_null(at))
            return 0;
        o->seen |= 1ull << i;
        if (f->has != 0)
            *(bool *)(o->to + f->has - 1) = true;
        return read_value(o, f, at, err);
    }
    oci_warn(o->r, at, "unknown field, ignored");
    return 0;
}

int oci_object(struct oci_reader *r, const struct jsonx *at, const struct oci_field *fields,
               size_t n, void *to, struct error *err)
{
    struct object o = {r, fields, n, to, 0};
    int rc = jsonx_each_member(at, MAX_MEMBERS, object_member, &o, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        if (fields[i].required && (o.seen & 1ull << i) == 0)
            return jsonx_refuse(at, err, EINVAL, "needs the key \"%s\"", fields[i].key);
    }
    return 0;
}
