#pragma once
/* memfd_create(2): an unlinked tmpfs file. flags: LX_MFD_*, checked by the caller. */
#include "lib/compiler.h"

struct cred;
struct file;

struct inode;

/* Whether a shared mapping of ino exists somewhere that can be or become writable: F_SEAL_WRITE is
 * refused then. */
bool memfd_mapped_writable(const struct inode *ino);
int memfd_new(const char *name, uint32_t flags, const struct cred *c, struct file **ret_file)
    MUST_CHECK;
