#pragma once
/* signalfd(2): the signals of the reading task that are in a set. */
#include "lib/compiler.h"

struct file;

int signalfd_new(uint64_t set, uint32_t flags, struct file **ret_file) MUST_CHECK;
/* signalfd with an old descriptor: -EINVAL when f is something else. */
int signalfd_set_mask(struct file *f, uint64_t set) MUST_CHECK;
