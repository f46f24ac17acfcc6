#pragma once
/*
 * Timeouts and signal masks of the calls that wait for readiness (sys_poll.c, sys_epoll.c).
 */
#include "lib/compiler.h"

#include "abi/types.h"

struct task;

/* In the first run: a deadline ns from now; 0 and negative: none. */
void poll_set_timeout(struct task *t, int64_t ns);
/* ns of a guest timespec; -1 for the null address. -EFAULT, -EINVAL. */
int poll_timespec(struct task *t, gaddr_t addr, int64_t *ret_ns) MUST_CHECK;
/* Sets the temporary mask of the call; nothing for the null address. -EFAULT, -EINVAL. */
int poll_sigmask(struct task *t, gaddr_t addr, uint64_t size) MUST_CHECK;
