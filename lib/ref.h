#pragma once
/*
 * Reference count of an object that one thread uses. It saturates (the object then lives for ever,
 * which is safe) and never comes back from zero.
 */
#include "lib/compiler.h"

#include "lib/assert.h"

struct ref {
    uint32_t n;
};

/* The creator's reference. */
static inline void ref_init(struct ref *r)
{
    r->n = 1;
}

static inline void ref_get(struct ref *r)
{
    KASSERT(r->n > 0);
    if (r->n != UINT32_MAX)
        r->n++;
}

/* True when this was the last reference and the object must be freed. */
static inline bool ref_put(struct ref *r) MUST_CHECK;
static inline bool ref_put(struct ref *r)
{
    KASSERT(r->n > 0);
    if (r->n == UINT32_MAX)
        return false;
    return --r->n == 0;
}

static inline uint32_t ref_count(const struct ref *r)
{
    return r->n;
}
