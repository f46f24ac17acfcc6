/*
 * findings.c: the list of what oracles found.
 */
#include "escape-suite/harness/findings.h"

#include <stdarg.h>
#include <stdio.h>

void findings_add(struct findings *f, const char *fmt, ...)
{
    va_list ap;
    if (f->n == FINDINGS_MAX)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(f->text[f->n++], FINDING_TEXT, fmt, ap);
    va_end(ap);
}
