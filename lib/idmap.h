#pragma once
/*
 * The ids of the caller's user namespace, as /proc/self/uid_map lists them. Root of a namespace
 * (rootless containers) has only some ids of the host, or one.
 */
#include "lib/compiler.h"

#include <sys/types.h>

enum {
    IDMAP_TEXT = 4096
};

/* The file ("uid_map", "gid_map"), "" when it cannot be read. */
void idmap_read(const char *file, char ret_text[IDMAP_TEXT]);
/* Every id of the host, each as itself: the namespace that the host began with. */
bool idmap_is_whole(const char *text);
/*
 * An id that owns nothing, chosen by n among many: of a range far above those that people and
 * images use, where the namespace has it; else of the third quarter of its highest range (whose end
 * has "nobody"). False: there are too few.
 */
bool idmap_spare(const char *text, uint32_t n, uint32_t *ret_id);
/* The same ids mapped to themselves, for the map of a new namespace; -E2BIG. */
int idmap_identity(const char *text, char ret_text[IDMAP_TEXT]) MUST_CHECK;
/* Of one id only. */
bool idmap_is_single(const char *text);
/* The same of the caller's own ids; file: "uid_map", "gid_map". -ENOENT, -E2BIG. */
int idmap_own_identity(const char *file, char ret_text[IDMAP_TEXT]) MUST_CHECK;
/*
 * Write the maps of a process in a new namespace; dir and process: its directory of /proc, as for
 * openat(2). -errno. Identity: of another process, the caller's ids mapped to themselves; needs
 * CAP_SETUID, CAP_SETGID and CAP_SETFCAP. Single: one user and one group, which are the caller's:
 * `inside` there, uid and gid here.
 */
int idmap_write_identity(int dir, const char *process) MUST_CHECK;
int idmap_write_single(int dir, const char *process, uint32_t inside, uid_t uid, gid_t gid)
    MUST_CHECK;
/* "Root" who is an ordinary user of the host, as under a rootless engine. */
bool idmap_rootless(void);
