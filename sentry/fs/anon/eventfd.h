#pragma once
/* eventfd(2). flags: LX_EFD_*. */
#include "lib/compiler.h"

struct file;

int eventfd_new(uint32_t count, uint32_t flags, struct file **ret_file) MUST_CHECK;
