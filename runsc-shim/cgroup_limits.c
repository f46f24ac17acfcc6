/*
 * cgroup_limits.c: linux.resources into the files of a cgroup.
 *
 * The guest's own limit of tasks is the sentry's. The host counts more processes than the guest has
 * (the sentry's threads, a helper for each address space), so pids.max is set well above it: it is
 * the second wall.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "runsc-shim/cgroup_oci.h"
#include "runsc-shim/oci_config.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/cgroup_file.h"

enum {
    PIDS_MARGIN = 64,
    DEFAULT_PERIOD = 100000
};

struct setting {
    const struct oci_cgroup *cg;
    struct error *err;
    int result; /* the first failure */
};

static void set(struct setting *s, enum cgroup_controller c, const char *file, const char *value)
{
    const char *dir = s->cg->dir[c];

    if (dir[0] == '\0')
        return; /* noted when the group was made */
    int r = cgroup_file_write(dir, file, value);
    if (r < 0 && s->result == 0)
        s->result = error_errno(s->err, -r, "cgroup: %s = %s", file, value);
}

static void set_number(struct setting *s, enum cgroup_controller c, const char *file, int64_t v)
{
    char text[32];

    if (v < 0 && s->cg->v2)
        (void)snprintf(text, sizeof(text), "max");
    else
        (void)snprintf(text, sizeof(text), "%" PRId64, v);
    set(s, c, file, text);
}

/* -- memory ---------------------------------------------------------------------------------------
 */

static void memory_v2(struct setting *s, const struct oci_resources *r)
{
    if (r->has_memory_limit && r->memory_limit != 0) {
        set_number(s, CG_MEMORY, "memory.max", r->memory_limit);
        (void)!cgroup_file_write(s->cg->dir[CG_MEMORY], "memory.oom.group", "1");
    }
    if (r->has_memory_reservation && r->memory_reservation != 0)
        set_number(s, CG_MEMORY, "memory.low", r->memory_reservation);
    if (!r->has_memory_swap || r->memory_swap == 0)
        return;
    /* In v1's words the sum of both; here swap alone. */
    int64_t swap = r->memory_swap;
    if (swap > 0)
        swap = r->has_memory_limit && r->memory_limit > 0 ? swap - r->memory_limit : swap;
    struct error ignored;
    struct setting quiet = {s->cg, &ignored, 0};
    set_number(&quiet, CG_MEMORY, "memory.swap.max", swap < -1 ? 0 : swap);
    if (quiet.result < 0)
        shim_note(SHIM_WARNING, "%s", ignored.text);
}

static void memory_v1(struct setting *s, const struct oci_resources *r)
{
    const char *dir = s->cg->dir[CG_MEMORY];
    bool limit = r->has_memory_limit && r->memory_limit != 0;
    bool swap = r->has_memory_swap && r->memory_swap != 0 && dir[0] != '\0';
    char text[32];

    /* The sum may never be below the limit, so whichever grows is written first. */
    if (limit && swap) {
        uint64_t now = cgroup_file_number(dir, "memory.memsw.limit_in_bytes");
        if (r->memory_swap < 0 || (uint64_t)r->memory_swap > now) {
            (void)snprintf(text, sizeof(text), "%" PRId64, r->memory_swap);
            (void)!cgroup_file_write(dir, "memory.memsw.limit_in_bytes", text);
        }
    }
    if (limit)
        set_number(s, CG_MEMORY, "memory.limit_in_bytes", r->memory_limit);
    if (swap) {
        (void)snprintf(text, sizeof(text), "%" PRId64, r->memory_swap);
        int rc = cgroup_file_write(dir, "memory.memsw.limit_in_bytes", text);
        if (rc == -ENOENT)
            shim_note(SHIM_WARNING, "cgroup: the host does not count swap");
        else if (rc < 0 && s->result == 0)
            s->result = error_errno(s->err, -rc, "cgroup: memory.memsw.limit_in_bytes = %s", text);
    }
    if (r->has_memory_reservation && r->memory_reservation != 0)
        set_number(s, CG_MEMORY, "memory.soft_limit_in_bytes", r->memory_reservation);
}

/* -- cpu ------------------------------------------------------------------------------------------
 */

/* v1's 2 to 262144 on v2's scale of 1 to 10000. */
static uint64_t weight_of(uint64_t shares)
{
    shares = MIN(MAX(shares, (uint64_t)2), (uint64_t)262144);
    return 1 + (shares - 2) * 9999 / 262142;
}

static void cpu_v2(struct setting *s, const struct oci_resources *r)
{
    char text[64];

    if (r->has_cpu_shares && r->cpu_shares != 0)
        set_number(s, CG_CPU, "cpu.weight", (int64_t)weight_of(r->cpu_shares));
    bool quota = r->has_cpu_quota && r->cpu_quota != 0;
    bool period = r->has_cpu_period && r->cpu_period != 0;
    if (!quota && !period)
        return;
    if (!quota || r->cpu_quota < 0)
        (void)snprintf(text, sizeof(text), "max %" PRIu64,
                       period ? r->cpu_period : (uint64_t)DEFAULT_PERIOD);
    else
        (void)snprintf(text, sizeof(text), "%" PRId64 " %" PRIu64, r->cpu_quota,
                       period ? r->cpu_period : (uint64_t)DEFAULT_PERIOD);
    set(s, CG_CPU, "cpu.max", text);
}

static void cpu_v1(struct setting *s, const struct oci_resources *r)
{
    if (r->has_cpu_shares && r->cpu_shares != 0)
        set_number(s, CG_CPU, "cpu.shares", (int64_t)r->cpu_shares);
    if (r->has_cpu_period && r->cpu_period != 0)
        set_number(s, CG_CPU, "cpu.cfs_period_us", (int64_t)r->cpu_period);
    if (r->has_cpu_quota && r->cpu_quota != 0)
        set_number(s, CG_CPU, "cpu.cfs_quota_us", r->cpu_quota);
}

static void cpuset(struct setting *s, const struct oci_resources *r)
{
    if (r->cpuset_cpus != NULL && r->cpuset_cpus[0] != '\0')
        set(s, CG_CPUSET, "cpuset.cpus", r->cpuset_cpus);
    if (r->cpuset_mems != NULL && r->cpuset_mems[0] != '\0')
        set(s, CG_CPUSET, "cpuset.mems", r->cpuset_mems);
}

/* -- all ------------------------------------------------------------------------------------------
 */

static void pids(struct setting *s, const struct oci_resources *r)
{
    char text[32];

    if (!r->has_pids || r->pids == 0)
        return;
    if (r->pids < 0 || r->pids > 1000000)
        (void)snprintf(text, sizeof(text), "max");
    else
        (void)snprintf(text, sizeof(text), "%" PRId64, r->pids * 3 + PIDS_MARGIN);
    set(s, CG_PIDS, "pids.max", text);
}

int oci_cgroup_update(const struct oci_cgroup *cg, const struct oci_resources *res,
                      struct error *err)
{
    struct setting s = {cg, err, 0};

    if (cg->v2)
        memory_v2(&s, res);
    else
        memory_v1(&s, res);
    if (cg->v2)
        cpu_v2(&s, res);
    else
        cpu_v1(&s, res);
    cpuset(&s, res);
    pids(&s, res);
    for (size_t i = 0; i < res->unified.n; i++) {
        const struct oci_pair *p = &res->unified.v[i];
        if (cg->v2)
            set(&s, CG_MEMORY, p->key, p->value);
        else
            shim_note(SHIM_WARNING, "linux.resources.unified: %s: this host has cgroup v1", p->key);
    }
    return s.result;
}
