#pragma once
/*
 * Credentials of a task: emulated, without any meaning on the host. Immutable once published:
 * change a copy (cred_dup) and replace t->cred.
 */
#include "lib/compiler.h"

#include "abi/prctl.h"

#define CRED_NGROUPS 64

struct cred {
    uint32_t ref;
    uint32_t uid, euid, suid, fsuid;
    uint32_t gid, egid, sgid, fsgid;
    uint32_t ngroups;
    uint32_t groups[CRED_NGROUPS];
    uint64_t cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
    uint32_t securebits;
};

struct cred *cred_new(void) MUST_CHECK; /* all zero ids, no capability; NULL: no memory */
struct cred *cred_dup(const struct cred *from) MUST_CHECK;
struct cred *cred_get(struct cred *c);
void cred_put(struct cred *c);
bool cred_capable(const struct cred *c, int cap);       /* LX_CAP_* number */
bool cred_in_group(const struct cred *c, uint32_t gid); /* fsgid or supplementary */
