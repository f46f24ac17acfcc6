#pragma once
/* memfd_create(2): an unlinked tmpfs file. flags: LX_MFD_*, checked by the caller. */
#include "lib/compiler.h"

struct cred;
struct file;

int memfd_new(const char *name, uint32_t flags, const struct cred *c, struct file **ret_file) MUST_CHECK;
