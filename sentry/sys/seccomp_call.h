#pragma once
/* The half of seccomp(2) that prctl(2) offers too. */
#include "lib/compiler.h"

#include "abi/types.h"

struct task;

/* PR_SET_SECCOMP. */
int64_t seccomp_prctl(struct task *t, uint64_t mode, gaddr_t program);
