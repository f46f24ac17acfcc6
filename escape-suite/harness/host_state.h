#pragma once
/*
 * What of the host must be as it was: mounts, cgroups, IPC objects, message queues, chosen settings
 * and files, device nodes, the clock, the runtime's own program.
 */
#include "lib/compiler.h"

#include <jansson.h>

#include "escape-suite/harness/findings.h"

struct host_state {
    json_t *items;    /* key: value, both text */
    int64_t clock_ms; /* of the real-time clock against the monotonic one */
};

/* runtime_path: the program to watch, may be "". */
int host_state_take(struct host_state *s, const char *runtime_path) MUST_CHECK;
void host_state_done(struct host_state *s);
/* Whose cgroups count: other runs of other people come and go. */
struct host_marks {
    long pid;            /* of the runtime's command */
    const char *id;      /* that the run was given */
    const char *scratch; /* name of the lane's directory */
};

/* Removes the cgroups that were found: the next attack is not to find them, nor the machine to keep
 * them. */
void host_state_sweep(const struct host_state *before, struct host_state *after,
                      const struct host_marks *marks);
/* Number of differences; f may be NULL. Of new cgroups those count that carry one of the marks in
 * their name, and in which nobody lives. */
size_t host_state_diff(const struct host_state *before, const struct host_state *after,
                       const struct host_marks *marks, struct findings *f);
