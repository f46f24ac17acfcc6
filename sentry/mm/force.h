#pragma once
/* Copies to and from a guest's memory whatever its protection: ptrace and /proc/PID/mem. */
#include "lib/compiler.h"

struct mm;

/* Bytes from the start on, or -EFAULT. */
int64_t mm_force_copy(struct mm *mm, uint64_t addr, void *buf, size_t len, bool write) MUST_CHECK;
