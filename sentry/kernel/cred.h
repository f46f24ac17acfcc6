#pragma once
/*
 * Credentials of a task: emulated, without any meaning on the host. Immutable once published:
 * change a copy (cred_dup) and replace t->cred.
 */
#include "lib/compiler.h"

#define CRED_NGROUPS 64
#define CRED_CAP_ALL 0x1ffffffffffull

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
struct cred *cred_dup(const struct cred *c) MUST_CHECK;
struct cred *cred_get(struct cred *c);
void cred_put(struct cred *c);
bool cred_capable(const struct cred *c, int cap);       /* LX_CAP_* number */
bool cred_in_group(const struct cred *c, uint32_t gid); /* fsgid or supplementary */

enum {
    CAP_CHOWN_NR = 0,
    CAP_DAC_OVERRIDE_NR = 1,
    CAP_DAC_READ_SEARCH_NR = 2,
    CAP_FOWNER_NR = 3,
    CAP_FSETID_NR = 4,
    CAP_KILL_NR = 5,
    CAP_SETGID_NR = 6,
    CAP_SETUID_NR = 7,
    CAP_SETPCAP_NR = 8,
    CAP_LINUX_IMMUTABLE_NR = 9,
    CAP_IPC_LOCK_NR = 14,
    CAP_IPC_OWNER_NR = 15,
    CAP_SYS_CHROOT_NR = 18,
    CAP_SYS_PTRACE_NR = 19,
    CAP_SYS_ADMIN_NR = 21,
    CAP_SYS_NICE_NR = 23,
    CAP_SYS_RESOURCE_NR = 24,
    CAP_SYS_TIME_NR = 25,
    CAP_MKNOD_NR = 27,
    CAP_LEASE_NR = 28,
    CAP_SETFCAP_NR = 31,
};
