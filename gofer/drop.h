#pragma once
/*
 * What a confined process gives up, piece by piece. Used by split.c for the keeper and by confine.c
 * for the server. None of it can be taken back.
 */
#include "lib/compiler.h"

struct error;

/* Closes every descriptor but the n given ones (in any order). */
void drop_files(const int *keep, size_t n);

/*
 * Becomes nobody (when the caller is root and that id exists) and drops all capabilities, except
 * CAP_DAC_READ_SEARCH if `reads_all` is asked for and the process has it. Returns whether it was
 * kept.
 */
bool drop_privilege(bool reads_all);

/* no_new_privs, not dumpable, no core, dies with the parent (once more: a change of ids undoes it).
 */
MUST_CHECK int drop_process(struct error *err);

/* Allows these calls in any form, and write to standard error. Everything else kills. */
MUST_CHECK int drop_syscalls(const int *calls, size_t n, struct error *err);

/* Landlock: only the trees below these descriptors, only for reading. The ABI in force, 0: none. */
int drop_paths(const int *dir_fds, size_t n);
