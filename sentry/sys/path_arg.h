#pragma once
/*
 * Path arguments of the *at calls: AT_* flags to LOOKUP_* flags.
 */
#include "lib/compiler.h"

#include "abi/file.h"
#include "sentry/fs/vfs.h"

/* For calls that follow symlinks unless AT_SYMLINK_NOFOLLOW is given. */
static inline uint32_t at_lookup_flags(uint32_t at_flags)
{
    uint32_t f = at_flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
    return at_flags & LX_AT_EMPTY_PATH ? f | LOOKUP_EMPTY : f;
}

/* A path of the guest as a string of the kernel (kfree), at most PATH_MAX with its NUL. "" is -ENOENT unless empty_ok. */
int path_arg(struct task *t, gaddr_t addr, bool empty_ok, char **ret_path) MUST_CHECK;
