#pragma once
/*
 * cgroup_systemd.h: --systemd-cgroup. systemd owns the upper groups of a v2 host; who wants one
 * asks it for a scope, a unit made of processes that exist already. The scope is made with
 * Delegate=yes, so what lies below it is ours: the container's own group is its only child. The
 * scope goes by itself when its last process has ended.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct error;

struct scope_names {
    char slice[256], unit[512];
};

/* -ENOTSUP: this host cannot. */
int scope_check(struct error *err) MUST_CHECK;
/* linux.cgroupsPath as engines give it with this option: "SLICE:PREFIX:NAME"; NULL or "": from the
 * id, as with runc. */
int scope_parse(const char *cgroups_path, const char *id, bool user, struct scope_names *ret_n,
                struct error *err) MUST_CHECK;
/*
 * Makes the scope with the process pid in it, and in the scope a group of the container's, into
 * which pid is moved. *ret_dir: its directory. user: the user's own systemd.
 */
int scope_make(const struct scope_names *n, pid_t pid, bool user, char *ret_dir, size_t cap,
               struct error *err) MUST_CHECK;
/* The group of v2 that the calling process is in; false: none. */
bool scope_own_dir(char *ret_dir, size_t cap);
