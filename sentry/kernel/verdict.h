#pragma once
/*
 * How a run can end, as the report says it.
 */
#include "lib/compiler.h"

enum verdict {
    VERDICT_NONE,
    VERDICT_OK,     /* exit status 0 */
    VERDICT_EXIT,   /* another exit status */
    VERDICT_SIGNAL, /* ended by a signal */
    VERDICT_WALL_LIMIT,
    VERDICT_CPU_LIMIT,
    VERDICT_MEMORY_LIMIT,
    VERDICT_PIDS_LIMIT,
    VERDICT_OUTPUT_LIMIT,
    VERDICT_START_FAILED,
    VERDICT_INTERNAL_ERROR,
};

/* Ends the run with this verdict at the next safe point; the first one counts. */
void kernel_end(enum verdict v);
/* The first process has ended: so has the run, at once or, while the processes that it left behind
 * go on multiplying, a moment later. */
void kernel_init_ended(int status);
