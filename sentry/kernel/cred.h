#pragma once
/*
 * Credentials of a task: emulated, without any meaning on the host. Immutable once published:
 * change a copy (cred_dup) and replace t->cred.
 */
#include "lib/compiler.h"

#include "abi/prctl.h"

#define CRED_NGROUPS 65536u

/* Supplementary groups, ascending; shared by the credentials that have them, never changed. */
struct group_list {
    uint32_t ref, n;
    uint32_t gid[];
};

struct cred {
    uint32_t ref;
    uint32_t uid, euid, suid, fsuid;
    uint32_t gid, egid, sgid, fsgid;
    struct group_list *groups; /* counted, NULL: none */
    uint64_t cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
    uint32_t securebits;
};

struct cred *cred_new(void) MUST_CHECK; /* all zero ids, no capability; NULL: no memory */
struct cred *cred_dup(const struct cred *from) MUST_CHECK;
struct cred *cred_get(struct cred *c);
void cred_put(struct cred *c);
bool cred_capable(const struct cred *c, int cap);       /* LX_CAP_* number */
bool cred_in_group(const struct cred *c, uint32_t gid); /* fsgid or supplementary */
/* A list of n groups to be filled in, then sorted; n is not 0. NULL: no memory. */
struct group_list *group_list_new(uint32_t n) MUST_CHECK;
void group_list_sort(struct group_list *l);
/* Replaces the groups of an unpublished c; l (counted, or NULL) is handed over. */
void cred_set_groups(struct cred *c, struct group_list *l);
static inline uint32_t cred_ngroups(const struct cred *c)
{
    return c->groups ? c->groups->n : 0;
}
