#pragma once
/*
 * pidfd: a descriptor that names a process for as long as it is open.
 */
#include "lib/compiler.h"

struct file;
struct thread_group;

/* flags: LX_O_NONBLOCK or 0. The file holds a reference of tg. */
int pidfd_new(struct thread_group *tg, uint32_t flags, struct file **ret_file) MUST_CHECK;
/* The process of a pidfd (borrowed), or NULL when f is something else. */
struct thread_group *pidfd_group(const struct file *f);
