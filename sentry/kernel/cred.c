/*
 * cred.c: credential objects. Published ones are shared and never changed.
 */
#include "sentry/kernel/cred.h"

#include "lib/compiler.h"

#include "lib/alloc.h"

struct cred *cred_new(void)
{
    struct cred *c = kalloc(sizeof(*c));
    if (c != NULL)
        c->ref = 1;
    return c;
}

struct cred *cred_dup(const struct cred *from)
{
    struct cred *c = kalloc(sizeof(*c));
    if (c != NULL) {
        *c = *from;
        c->ref = 1;
    }
    return c;
}

struct cred *cred_get(struct cred *c)
{
    c->ref++;
    return c;
}

void cred_put(struct cred *c)
{
    if (c != NULL && --c->ref == 0)
        kfree(c);
}

bool cred_capable(const struct cred *c, int cap)
{
    return (c->cap_effective >> cap) & 1;
}

bool cred_in_group(const struct cred *c, uint32_t gid)
{
    if (c->fsgid == gid)
        return true;
    for (uint32_t i = 0; i < c->ngroups; i++) {
        if (c->groups[i] == gid)
            return true;
    }
    return false;
}
