#pragma once
/*
 * A growing argument vector that owns its strings. After a failure it stays failed, so a builder
 * looks once, at the end.
 */
#include "lib/compiler.h"

enum {
    ARGS_MAX = 192
};

struct args {
    char *v[ARGS_MAX + 1]; /* NULL-terminated */
    size_t n;
    bool failed;
};

void args_init(struct args *a);
void args_done(struct args *a);
void args_add(struct args *a, const char *s);
void args_addf(struct args *a, const char *fmt, ...) PRINTF(2, 3);
/* The words of text, split at blanks. */
void args_add_words(struct args *a, const char *text);
