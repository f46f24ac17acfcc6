#pragma once
/*
 * The cgroup of one run, made by the monitor: memory and CPU share, v2 where it has the
 * controllers, else v1, else nothing (and the report says which).
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct error;

enum cgroup_kind {
    CGROUP_NONE,
    CGROUP_V1,
    CGROUP_V2
};

struct cgroup {
    enum cgroup_kind memory, cpu;
    char memory_dir[512], cpu_dir[512]; /* equal under v2 */
    int janitor;                        /* pipe whose closing starts the janitor; -1: none */
};

/* Makes the groups with these limits (0: none). Never fails because a controller is missing. */
void cgroup_make(struct cgroup *ret_cg, uint64_t memory, uint32_t cpus_milli);
/* pid 0: the calling process. */
void cgroup_attach(const struct cgroup *cg, pid_t pid);
/* Ends every process in it (cgroup.kill where there is v2). */
void cgroup_kill(const struct cgroup *cg);
/* True when the limit of memory was hit and something was killed for it. */
bool cgroup_oom(const struct cgroup *cg);
/* Peak bytes; 0: unknown. */
uint64_t cgroup_memory_peak(const struct cgroup *cg);
/* Removes what cgroup_make made; everything in it has ended. */
void cgroup_remove(struct cgroup *cg);
