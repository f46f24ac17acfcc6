#pragma once
/*
 * What a server gives up, piece by piece. None of it can be taken back.
 */
#include "lib/compiler.h"

struct error;

/* Closes every descriptor but the n given ones (in any order). */
void drop_files(const int *keep, size_t n);

/* The capability is in force, over the caller's own user namespace. */
bool drop_holds(int cap);

/* An id for drop_privilege, nobody's where there is one to spare; chosen while the caller's own
 * user namespace is in sight. */
uint32_t drop_id(void);
/*
 * Becomes user and group `id` (when the caller is root and has such ids) and drops all
 * capabilities, except those of `keep` (a set of bits) that the process has. Returns what was kept.
 */
uint64_t drop_privilege(uint32_t id, uint64_t keep);

/* no_new_privs, not dumpable, no core, dies with the parent (once more: a change of ids undoes it).
 */
MUST_CHECK int drop_process(struct error *err);

/* Enters one of the filters of platform/confine/filter.h. */
struct confine_filter;
MUST_CHECK int drop_syscalls(const struct confine_filter *filter, struct error *err);

/* Landlock: only these files and the trees below these directories. */
struct drop_path {
    int fd;
    bool directory, writable;
};
/* The ABI in force, 0: none. */
int drop_paths(const struct drop_path *paths, size_t n);
