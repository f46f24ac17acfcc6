/*
 * memobj_pages.c: budgets, and the pages of small objects: heap blocks, found through a sorted
 * array of chunks.
 */
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/host/host.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/memobj_private.h"

/* -- budgets --------------------------------------------------------------------------------- */

struct memobj_quota *memobj_quota_new(uint64_t max)
{
    struct memobj_quota *q = kalloc(sizeof(*q));

    if (q) {
        q->ref = 1;
        q->max = max;
    }
    return q;
}

void memobj_quota_put(struct memobj_quota *q)
{
    if (q && --q->ref == 0)
        kfree(q);
}

int memobj_quota_charge(struct memobj_quota *q, uint64_t bytes)
{
    if (q && q->max && (bytes > q->max || q->used > q->max - bytes))
        return -ENOSPC;
    if (limit_charge(LIMIT_DISK_BYTES, bytes) < 0)
        return -ENOSPC;
    if (q)
        q->used += bytes;
    return 0;
}

void memobj_quota_release(struct memobj_quota *q, uint64_t bytes)
{
    limit_release(LIMIT_DISK_BYTES, bytes);
    if (q)
        q->used = bytes > q->used ? 0 : q->used - bytes;
}

int memobj_charge(struct memobj *o, uint64_t bytes)
{
    int r = memobj_quota_charge(o->quota, bytes);

    if (r == 0)
        o->charged += bytes;
    return r;
}

void memobj_uncharge(struct memobj *o, uint64_t bytes)
{
    bytes = MIN(bytes, o->charged);
    memobj_quota_release(o->quota, bytes);
    o->charged -= bytes;
}

void memobj_settle(struct memobj *o)
{
    uint64_t real = host_fd_blocks(o->fd) * 512;

    usage_files((int64_t)(real - o->counted));
    o->counted = real;
    if (real < o->charged) {
        memobj_uncharge(o, o->charged - real);
    } else if (real > o->charged) {
        uint64_t missing = real - o->charged;

        while (missing >= PAGE_SIZE && memobj_charge(o, missing) < 0)
            missing = page_down(missing / 2);
    }
}

/* -- heap pages ------------------------------------------------------------------------------ */

uint32_t memobj_chunk_position(const struct memobj *o, uint64_t index)
{
    uint32_t lo = 0, hi = o->nchunks;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (o->chunks[mid]->index < index)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct chunk *chunk_find(const struct memobj *o, uint64_t index)
{
    uint32_t at = memobj_chunk_position(o, index);

    return at < o->nchunks && o->chunks[at]->index == index ? o->chunks[at] : NULL;
}

uint8_t *memobj_page(const struct memobj *o, uint64_t pageno)
{
    const struct chunk *c = chunk_find(o, pageno / CHUNK_PAGES);

    return c ? c->page[pageno % CHUNK_PAGES] : NULL;
}

static int chunk_make(struct memobj *o, uint64_t index, struct chunk **ret_chunk)
{
    uint32_t at = memobj_chunk_position(o, index);
    struct chunk *c;

    if (at < o->nchunks && o->chunks[at]->index == index) {
        *ret_chunk = o->chunks[at];
        return 0;
    }
    if (o->nchunks == o->cap) {
        uint32_t cap = o->cap ? o->cap * 2 : 2;
        struct chunk **grown = krealloc(o->chunks, cap * sizeof(struct chunk *));

        if (!grown)
            return -ENOMEM;
        o->chunks = grown;
        o->cap = cap;
    }
    c = kalloc(sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->index = index;
    memmove(o->chunks + at + 1, o->chunks + at, (o->nchunks - at) * sizeof(struct chunk *));
    o->chunks[at] = c;
    o->nchunks++;
    *ret_chunk = c;
    return 0;
}

static void chunk_drop(struct memobj *o, uint32_t at)
{
    kfree(o->chunks[at]);
    o->nchunks--;
    memmove(o->chunks + at, o->chunks + at + 1, (o->nchunks - at) * sizeof(struct chunk *));
}

int memobj_page_make(struct memobj *o, uint64_t pageno, uint8_t **ret_page)
{
    struct chunk *c;
    uint8_t **slot;
    int r = chunk_make(o, pageno / CHUNK_PAGES, &c);

    if (r < 0)
        return r;
    slot = &c->page[pageno % CHUNK_PAGES];
    if (!*slot) {
        r = memobj_charge(o, PAGE_SIZE);
        if (r == 0) {
            *slot = kalloc(PAGE_SIZE);
            if (!*slot) {
                memobj_uncharge(o, PAGE_SIZE);
                r = -ENOMEM;
            }
        }
        if (r < 0) {
            if (!c->used)
                chunk_drop(o, memobj_chunk_position(o, c->index));
            return r;
        }
        c->used++;
        o->npages++;
    }
    *ret_page = *slot;
    return 0;
}

void memobj_pages_free(struct memobj *o, uint64_t first, uint64_t end)
{
    uint32_t at = memobj_chunk_position(o, first / CHUNK_PAGES);

    while (at < o->nchunks && o->chunks[at]->index * CHUNK_PAGES < end) {
        struct chunk *c = o->chunks[at];

        for (uint32_t i = 0; i < CHUNK_PAGES; i++) {
            uint64_t pageno = c->index * CHUNK_PAGES + i;

            if (!c->page[i] || pageno < first || pageno >= end)
                continue;
            kfree(c->page[i]);
            c->page[i] = NULL;
            c->used--;
            o->npages--;
            memobj_uncharge(o, PAGE_SIZE);
        }
        if (c->used)
            at++;
        else
            chunk_drop(o, at);
    }
}

void memobj_zero_within_page(struct memobj *o, uint64_t pos, uint64_t len)
{
    uint8_t *page = memobj_page(o, pos / PAGE_SIZE);

    if (page)
        memset(page + pos % PAGE_SIZE, 0, (size_t)len);
}
