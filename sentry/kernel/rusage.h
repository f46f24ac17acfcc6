#pragma once
/*
 * CPU time in the forms that guests ask for.
 */
#include "lib/compiler.h"

#include "abi/time.h"

struct task;

/* Splits ns of CPU time: the host does not say per guest how much was system time, so all is user
 * time. */
void rusage_fill(struct lx_rusage *ru, uint64_t cpu_ns, uint64_t maxrss_kib);
struct lx_timeval timeval_from_ns(uint64_t ns);
struct lx_timespec timespec_from_ns(uint64_t ns);
/* -EINVAL when a field is out of range; saturates at 2^63-1 ns. */
int timespec_to_ns(const struct lx_timespec *ts, uint64_t *ret_ns) MUST_CHECK;
int timeval_to_ns(const struct lx_timeval *tv, uint64_t *ret_ns) MUST_CHECK;
