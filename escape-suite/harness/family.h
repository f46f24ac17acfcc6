#pragma once
/*
 * The processes below this one, from /proc.
 */
#include "lib/compiler.h"

#include <sys/types.h>

enum {
    FAMILY_MAX = 4096
};

struct family {
    pid_t pids[FAMILY_MAX]; /* descendants, in no order */
    size_t n;
    pid_t except; /* this one and those below it are left out; 0: nobody */
};

/* All descendants of this process that are not zombies of it. */
void family_take(struct family *f);
bool family_has(const struct family *f, pid_t pid);
/* Those of `now` that `before` does not have; also processes anywhere whose environment has the
 * marker "K=V". */
void family_new(const struct family *before, const char *marker, struct family *ret);
/* Is it on its way out: gone, ending, or killed and waiting for a processor to end on? */
bool family_dying(pid_t pid);
/* "PID (name)" of a process. */
void family_name(pid_t pid, char *buf, size_t cap);
