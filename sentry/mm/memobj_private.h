#pragma once
/*
 * memobj_private.h: an object's insides, for memobj.c (what is done with it) and memobj_pages.c
 * (its budget, and its pages as long as they are blocks of the heap).
 */
#include "lib/compiler.h"

#include "lib/list.h"
#include "sentry/mm/memobj.h"

enum {
    CHUNK_PAGES = 32
};

struct chunk {
    uint64_t index; /* page number / CHUNK_PAGES */
    uint32_t used;
    uint8_t *page[CHUNK_PAGES];
};

struct memobj {
    uint32_t ref;
    int fd; /* -1: heap pages */
    uint64_t size;
    uint64_t charged;           /* bytes */
    uint64_t counted;           /* bytes of the memfd that usage_files knows of */
    struct list_head mapped;    /* in mapped_objects once a guest may have mapped it */
    struct memobj_quota *quota; /* counted, or NULL */
    struct chunk **chunks;      /* by index */
    uint32_t nchunks, cap;
    uint32_t npages;
    uint64_t changed; /* mtime of fd when it was last asked for */
};

/* Every byte is charged before it exists; -ENOSPC. */
int memobj_charge(struct memobj *o, uint64_t bytes) MUST_CHECK;
void memobj_uncharge(struct memobj *o, uint64_t bytes);
/* Brings the charge of a memfd to what it really holds; what the budgets refuse stays uncharged. */
void memobj_settle(struct memobj *o);

/* Position of the first chunk with at least this index. */
uint32_t memobj_chunk_position(const struct memobj *o, uint64_t index);
/* The page, NULL: a hole. */
uint8_t *memobj_page(const struct memobj *o, uint64_t pageno);
/* The page, allocated and charged if it was a hole. */
int memobj_page_make(struct memobj *o, uint64_t pageno, uint8_t **ret_page) MUST_CHECK;
/* Frees the pages first .. end-1. */
void memobj_pages_free(struct memobj *o, uint64_t first, uint64_t end);
void memobj_zero_within_page(struct memobj *o, uint64_t pos, uint64_t len);
