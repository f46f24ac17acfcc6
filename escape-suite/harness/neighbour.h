#pragma once
/*
 * A second run of the same runtime, alive during the attacks of a lane, that holds a secret in its
 * memory, its files and its IPC objects (attacks/tool-neighbour.c).
 */
#include "lib/compiler.h"

#include <sys/types.h>

#include "escape-suite/harness/canary.h"
#include "escape-suite/harness/findings.h"

struct error;

struct neighbour {
    pid_t pid; /* of the runtime's command on the host; 0: none */
    int ask, answer;
    bool lost; /* does not answer any more */
    char secret[CANARY_TEXT + 1];
};

/* Starts argv and waits until it says that it is ready. */
int neighbour_start(struct neighbour *n, char *const *argv, struct error *err) MUST_CHECK;
void neighbour_check(struct neighbour *n, struct findings *f);
/* Ends it; cleanup (may be empty) is the command that removes what the runtime keeps of it. */
void neighbour_stop(struct neighbour *n, char *const *cleanup);
