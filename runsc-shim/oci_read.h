#pragma once
/*
 * oci_read.h: the table-driven reader that the files oci_*.c share. An object of the specification
 * is a table of fields; each names its JSON type and where the value goes. Unlike lib/jsonx alone
 * it takes null for "not there", as every runtime written in Go does, and turns unknown fields into
 * warnings.
 */
#include "runsc-shim/oci_config.h"

enum oci_kind {
    OCI_SKIP,    /* known, and without meaning for a guest of ours */
    OCI_STRING,  /* const char * */
    OCI_BOOL,    /* bool */
    OCI_U16,     /* uint16_t */
    OCI_U32,     /* uint32_t */
    OCI_U64,     /* uint64_t */
    OCI_I64,     /* int64_t */
    OCI_STRINGS, /* struct oci_strings */
    OCI_PAIRS,   /* struct oci_pairs: an object of strings */
    OCI_READ     /* a function */
};

struct oci_reader {
    struct buf *warnings;
};

typedef int oci_read_fn(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err);

struct oci_field {
    const char *key;
    enum oci_kind kind;
    bool required;
    size_t offset;     /* of the value in the structure; READ gets the structure plus it */
    size_t has;        /* offset of a bool that says the field was there, plus 1; 0: none */
    oci_read_fn *read; /* READ */
};

#define OCI_FIELD(key, kind, type, member)                \
    {                                                     \
        key, kind, false, offsetof(type, member), 0, NULL \
    }
#define OCI_REQUIRED(key, kind, type, member)            \
    {                                                    \
        key, kind, true, offsetof(type, member), 0, NULL \
    }
#define OCI_OPTIONAL(key, kind, type, member, flag)                              \
    {                                                                            \
        key, kind, false, offsetof(type, member), offsetof(type, flag) + 1, NULL \
    }
#define OCI_OBJECT(key, type, member, fn)                   \
    {                                                       \
        key, OCI_READ, false, offsetof(type, member), 0, fn \
    }
#define OCI_WHOLE(key, fn)             \
    {                                  \
        key, OCI_READ, false, 0, 0, fn \
    }
#define OCI_IGNORED(key)                 \
    {                                    \
        key, OCI_SKIP, false, 0, 0, NULL \
    }

int oci_object(struct oci_reader *r, const struct jsonx *at, const struct oci_field *fields,
               size_t n, void *to, struct error *err) MUST_CHECK;
/* An array of objects, at most max: *array (kalloc'd) grows by size bytes an element, which read
 * fills. */
struct oci_elements {
    size_t max, size;
    oci_read_fn *read;
};
int oci_array(struct oci_reader *r, const struct jsonx *at, const struct oci_elements *kind,
              void **array, size_t *count, struct error *err) MUST_CHECK;
int oci_read_strings(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
/* An absolute path without NUL and not too long. */
int oci_read_path(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
/* Notes something that is ignored, with the place. */
void oci_warn(struct oci_reader *r, const struct jsonx *at, const char *fmt, ...) PRINTF(3, 4);

void oci_strings_done(struct oci_strings *s);

/* The parts. */
int oci_read_process(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
int oci_read_linux(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
int oci_read_resources(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
int oci_read_seccomp(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
int oci_read_hooks(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
    MUST_CHECK;
