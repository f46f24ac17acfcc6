/*
 * Every block carries a 16-byte header with its size, so that the balance is exact in terms of what
 * was asked for, krealloc knows where the new bytes start, and freeing something that is not a
 * block of ours (or twice) ends the program at once.
 */
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assert.h"
#include "lib/checked.h"

struct block {
    uint64_t size;
    uint64_t magic;
};

enum {
    BLOCK_LIVE = 0x6b61,
    BLOCK_FREED = 0x6672
};

static uint64_t balance;
static uint64_t limit;
static uint64_t fail_countdown;
static bool fail_fired;

_Static_assert(sizeof(struct block) == 16, "blocks keep malloc's alignment");

static struct block *block_of(const void *p)
{
    struct block *b = (struct block *)unconst((const char *)p - sizeof(struct block));
    KASSERT(b->magic == BLOCK_LIVE);
    return b;
}

/* Whether growing by n bytes is allowed now; counts down to the failure that a test asked for. */
static bool may_grow(size_t n)
{
    if (fail_countdown && --fail_countdown == 0) {
        fail_fired = true;
        return false;
    }
    return !limit || (balance <= limit && n <= limit - balance);
}

void *kalloc(size_t n)
{
    size_t total;

    if (!checked_add(n, sizeof(struct block), &total) || !may_grow(n))
        return NULL;
    struct block *b = calloc(1, total);
    if (!b)
        return NULL;
    b->size = n;
    b->magic = BLOCK_LIVE;
    balance += n;
    return b + 1;
}

void *kalloc_array(size_t count, size_t size)
{
    size_t total;

    if (!checked_mul(count, size, &total))
        return NULL;
    return kalloc(total);
}

void *krealloc(void *p, size_t n)
{
    size_t total;

    if (!p)
        return kalloc(n);
    struct block *b = block_of(p);
    size_t old = b->size;
    if (!checked_add(n, sizeof(struct block), &total) || !may_grow(n > old ? n - old : 0))
        return NULL;
    b = realloc(b, total);
    if (!b)
        return NULL;
    b->size = n;
    balance = balance - old + n;
    if (n > old)
        memset((char *)(b + 1) + old, 0, n - old);
    return b + 1;
}

void kfree(const void *p)
{
    if (!p)
        return;
    struct block *b = block_of(p);
    balance -= b->size;
    b->magic = BLOCK_FREED;
    free(b);
}

char *kstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = kalloc(len + 1);

    if (copy)
        memcpy(copy, s, len);
    return copy;
}

char *kstrdup(const char *s)
{
    return kstrndup(s, SIZE_MAX - 1);
}

void *kmemdup(const void *p, size_t n)
{
    void *copy = kalloc(n);

    if (copy && n)
        memcpy(copy, p, n);
    return copy;
}

uint64_t kalloc_balance(void)
{
    return balance;
}

void kalloc_set_limit(uint64_t bytes)
{
    limit = bytes;
}

void kalloc_fail_after(uint64_t n)
{
    fail_countdown = n;
    fail_fired = false;
}

bool kalloc_failed(void)
{
    return fail_fired;
}

#if SENTRY_SANITIZED
/* Freed blocks stay for a while so that a use of them is found. A quarter of a GiB of them, which
 * is the default, would count against the memory limit of a guest that only makes many small
 * objects come and go. */
/* NOLINTBEGIN(readability-identifier-naming): the name is the sanitizer's */
const char *__asan_default_options(void);
__attribute__((visibility("default"), used)) const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16";
}
/* NOLINTEND(readability-identifier-naming) */
#endif
