#pragma once
/*
 * Clocks by their Linux number (clock_gettime(2)).
 */
#include "lib/compiler.h"

struct task;

/* ns of clock id as t sees it; -EINVAL. */
int clock_now(struct task *t, int id, uint64_t *ret_ns) MUST_CHECK;
bool clock_is_realtime(int id);
bool clock_is_cpu(int id);
/* The guest monotonic instant at which clock id (not a CPU clock) reads ns. */
uint64_t clock_to_monotonic(int id, uint64_t ns);
/* The guest monotonic instant ns from now, saturating. */
uint64_t clock_after(uint64_t ns);
