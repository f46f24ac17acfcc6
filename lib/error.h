#pragma once
/*
 * Errors for people: a code for the caller and one sentence for whoever reads it. Filled where the
 * error is found, given context on the way up, printed once at the top. No allocation.
 *
 *      return error_set(err, ENOENT, "no image at %s", path);        returns -ENOENT
 *      return error_prefix(err, "policy %s", file);                  "policy x.json: no image ..."
 */
#include "lib/compiler.h"

struct error {
    int code; /* errno value, 0 while unset */
    char text[512];
};

void error_init(struct error *err);
/* Sets code and text (cut when too long) and returns -code. err may be NULL: only the code counts.
 */
int error_set(struct error *err, int code, const char *fmt, ...) PRINTF(3, 4);
/* As error_set, with ": " and the words for the code (strerror) at the end. */
int error_errno(struct error *err, int code, const char *fmt, ...) PRINTF(3, 4);
/* Puts "prefix: " before the text; returns -code of what is there. */
int error_prefix(struct error *err, const char *fmt, ...) PRINTF(2, 3);

/* What they return is negative, and compilers and analysers are to know that: a caller that tests
 * the result reads nothing that was not set. */
static inline int error_negative(int r)
{
    if (r >= 0)
        __builtin_unreachable();
    return r;
}
#define error_set(...)    error_negative(error_set(__VA_ARGS__))
#define error_errno(...)  error_negative(error_errno(__VA_ARGS__))
#define error_prefix(...) error_negative(error_prefix(__VA_ARGS__))
