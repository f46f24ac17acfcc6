/* Growable bitmap; see bitmap.h. */
#include "lib/bitmap.h"

#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/assert.h"

enum {
    WORD_BITS = 64
};

void bitmap_init(struct bitmap *b)
{
    b->words = NULL;
    b->nbits = 0;
}

void bitmap_done(struct bitmap *b)
{
    kfree(b->words);
    bitmap_init(b);
}

int bitmap_grow(struct bitmap *b, size_t nbits)
{
    if (nbits <= b->nbits)
        return 0;
    size_t words = (nbits - 1) / WORD_BITS + 1;
    uint64_t *grown = krealloc(b->words, words * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    b->words = grown;
    b->nbits = words * WORD_BITS;
    return 0;
}

int bitmap_copy(struct bitmap *dst, const struct bitmap *src)
{
    int err = bitmap_grow(dst, src->nbits);

    if (err)
        return err;
    if (src->nbits)
        memcpy(dst->words, src->words, src->nbits / 8);
    return 0;
}

bool bitmap_test(const struct bitmap *b, size_t bit)
{
    if (bit >= b->nbits)
        return false;
    return (b->words[bit / WORD_BITS] >> (bit % WORD_BITS)) & 1;
}

void bitmap_set(struct bitmap *b, size_t bit)
{
    KASSERT(bit < b->nbits);
    b->words[bit / WORD_BITS] |= 1ull << (bit % WORD_BITS);
}

void bitmap_clear(struct bitmap *b, size_t bit)
{
    if (bit < b->nbits)
        b->words[bit / WORD_BITS] &= ~(1ull << (bit % WORD_BITS));
}

/* First bit at or after from that is set in word ^ flip; nbits when none. */
static size_t scan(const struct bitmap *b, size_t from, uint64_t flip)
{
    size_t i = from / WORD_BITS;
    uint64_t mask = ~0ull << (from % WORD_BITS);

    for (; i < b->nbits / WORD_BITS; i++, mask = ~0ull) {
        uint64_t word = (b->words[i] ^ flip) & mask;
        if (word)
            return i * WORD_BITS + (size_t)__builtin_ctzll(word);
    }
    return b->nbits;
}

size_t bitmap_first_zero(const struct bitmap *b, size_t from)
{
    return from >= b->nbits ? from : scan(b, from, ~0ull);
}

size_t bitmap_first_set(const struct bitmap *b, size_t from)
{
    return from >= b->nbits ? b->nbits : scan(b, from, 0);
}

size_t bitmap_count(const struct bitmap *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->nbits / WORD_BITS; i++)
        n += (size_t)__builtin_popcountll(b->words[i]);
    return n;
}
