#pragma once
/*
 * What an oracle found wrong, in words. Any finding makes an attack an escape.
 */
#include "lib/compiler.h"

enum {
    FINDINGS_MAX = 16,
    FINDING_TEXT = 320
};

struct findings {
    size_t n;
    char text[FINDINGS_MAX][FINDING_TEXT];
};

/* Further ones than FINDINGS_MAX are counted out: the first say enough. */
void findings_add(struct findings *f, const char *fmt, ...) PRINTF(2, 3);
