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
        if (c->groups != NULL)
            c->groups->ref++;
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
    if (c == NULL || --c->ref != 0)
        return;
    cred_set_groups(c, NULL);
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
    const struct group_list *l = c->groups;
    uint32_t low = 0, high = l != NULL ? l->n : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (l->gid[mid] == gid)
            return true;
        if (l->gid[mid] < gid)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

struct group_list *group_list_new(uint32_t n)
{
    struct group_list *l = kalloc(sizeof(*l) + n * sizeof(l->gid[0]));
    if (l != NULL) {
        l->ref = 1;
        l->n = n;
    }
    return l;
}

/* gid[at], which may be too small for its place, goes down the heap gid[0..n). */
static void sift_down(uint32_t *gid, uint32_t at, uint32_t n)
{
    uint32_t v = gid[at];
    for (uint32_t kid = 2 * at + 1; kid < n; kid = 2 * at + 1) {
        if (kid + 1 < n && gid[kid + 1] > gid[kid])
            kid++;
        if (gid[kid] <= v)
            break;
        gid[at] = gid[kid];
        at = kid;
    }
    gid[at] = v;
}

void group_list_sort(struct group_list *l)
{
    for (uint32_t i = l->n / 2; i-- > 0;)
        sift_down(l->gid, i, l->n);
    for (uint32_t n = l->n; n > 1; n--) {
        uint32_t top = l->gid[0];
        l->gid[0] = l->gid[n - 1];
        l->gid[n - 1] = top;
        sift_down(l->gid, 0, n - 1);
    }
}

void cred_set_groups(struct cred *c, struct group_list *l)
{
    if (c->groups != NULL && --c->groups->ref == 0)
        kfree(c->groups);
    c->groups = l;
}
