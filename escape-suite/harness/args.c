/*
 * args.c: argument vectors.
 */
#include "escape-suite/harness/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"

void args_init(struct args *a)
{
    (void)memset(a, 0, sizeof(*a));
}

void args_done(struct args *a)
{
    for (size_t i = 0; i < a->n; i++)
        kfree(a->v[i]);
    args_init(a);
}

static void take(struct args *a, char *copy)
{
    if (copy == NULL || a->n == ARGS_MAX) {
        kfree(copy);
        a->failed = true;
        return;
    }
    a->v[a->n++] = copy;
    a->v[a->n] = NULL;
}

void args_add(struct args *a, const char *s)
{
    take(a, kstrdup(s));
}

void args_addf(struct args *a, const char *fmt, ...)
{
    char text[4200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    args_add(a, text);
}

void args_add_words(struct args *a, const char *text)
{
    while (*(text += strspn(text, " ")) != '\0') {
        size_t n = strcspn(text, " ");
        take(a, kstrndup(text, n));
        text += n;
    }
}
