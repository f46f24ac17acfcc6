#pragma once
/*
 * cgroup_oci.h: the cgroup of a container: linux.cgroupsPath and linux.resources, v1 or v2.
 *
 * A group is a list of directories, one a controller under v1, one in all under v2. Only a
 * directory that did not exist before, or was empty, is taken; only such a one is ever
 * emptied or removed. A controller that the host lacks is reported, not fatal.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct buf;
struct error;
struct oci_resources;

enum cgroup_controller {
    CG_MEMORY,
    CG_CPU,
    CG_CPUACCT,
    CG_PIDS,
    CG_CPUSET,
    CG_CONTROLLERS
};

enum {
    CG_PATH_MAX = 1024
};

struct oci_cgroup {
    bool v2;
    bool planned; /* not made yet, as far as is known: nothing in it may be killed */
    /* "" where there is none; under v2 all are the same. */
    char dir[CG_CONTROLLERS][CG_PATH_MAX];
};

/* Works out the directories for a path of config.json (NULL: from the id); nothing is made yet. */
int oci_cgroup_plan(struct oci_cgroup *cg, const char *cgroups_path, const char *id,
                    struct error *err) MUST_CHECK;
/* The same with a mount of cgroups and a list of the caller's groups of a test's own. */
int oci_cgroup_plan_in(struct oci_cgroup *cg, const char *mount, const char *self,
                       const char *cgroups_path, const char *id, struct error *err) MUST_CHECK;
/* Makes them and sets the limits. Controllers that could not be used are dropped from cg and
 * noted. -EBUSY: the group exists and is in use. */
int oci_cgroup_make(struct oci_cgroup *cg, const struct oci_resources *res, struct error *err)
    MUST_CHECK;
/* Takes a v2 group that was made for this container (cgroup_systemd.h), and sets the limits. */
void oci_cgroup_adopt(struct oci_cgroup *cg, const char *dir, const struct oci_resources *res);
/* Whether the group holds a limit of memory: else the sandbox has to count itself. */
bool oci_cgroup_limits_memory(const struct oci_cgroup *cg);
/* Changes limits. A limit that the host refuses is an error. */
int oci_cgroup_update(const struct oci_cgroup *cg, const struct oci_resources *res,
                      struct error *err) MUST_CHECK;
/* The calling process (and what it forks later) goes in. */
void oci_cgroup_enter(const struct oci_cgroup *cg);
bool oci_cgroup_exists(const struct oci_cgroup *cg);

/* Kills every process in it until it is empty, at most for timeout_ms. */
void oci_cgroup_kill(const struct oci_cgroup *cg, int timeout_ms);
void oci_cgroup_remove(const struct oci_cgroup *cg);

/* For state.json: a JSON object of directories. */
void oci_cgroup_print(const struct oci_cgroup *cg, struct buf *out);
int oci_cgroup_parse(struct oci_cgroup *cg, const char *json, struct error *err) MUST_CHECK;

/* The statistics that `events --stats` prints, as the value of "data". */
void oci_cgroup_stats(const struct oci_cgroup *cg, struct buf *out);
