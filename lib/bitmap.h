#pragma once
/*
 * Growable bitmap. Bits at and above nbits read as zero and cannot be set before bitmap_grow.
 * Embedded in its owner: bitmap_init, bitmap_done.
 */
#include "lib/compiler.h"

struct bitmap {
    uint64_t *words;
    size_t nbits; /* multiple of 64 */
};

void bitmap_init(struct bitmap *b);
void bitmap_done(struct bitmap *b);

/* Makes bits 0 .. nbits-1 usable; 0 or -ENOMEM (then unchanged). Never shrinks. */
int bitmap_grow(struct bitmap *b, size_t nbits) MUST_CHECK;
/* dst, freshly initialised, becomes a copy of src; 0 or -ENOMEM. */
int bitmap_copy(struct bitmap *dst, const struct bitmap *src) MUST_CHECK;

bool bitmap_test(const struct bitmap *b, size_t bit);
void bitmap_set(struct bitmap *b, size_t bit);
void bitmap_clear(struct bitmap *b, size_t bit);

/* First clear bit at or after from; may be >= nbits (the caller grows). */
size_t bitmap_first_zero(const struct bitmap *b, size_t from);
/* First set bit at or after from, or nbits when there is none. */
size_t bitmap_first_set(const struct bitmap *b, size_t from);
size_t bitmap_count(const struct bitmap *b);
