#pragma once
/*
 * What the two kinds of trees (tree.c, volume.c) share: opening below a directory without following
 * anything, and the host's structures in the words of the wire.
 */
#include "lib/compiler.h"

#include "gofer/proto.h"

struct statx;

enum {
    HOST_ENTRIES_BYTES = 32768 /* of host entries in one batch */
};

/*
 * openat2 with RESOLVE_BENEATH, NO_MAGICLINKS, NO_SYMLINKS and, unless cross, NO_XDEV; always
 * O_NOFOLLOW and O_CLOEXEC. A descriptor or -errno.
 */
MUST_CHECK int host_open(int dir_fd, const char *path, uint64_t flags, uint64_t mode, bool cross);
/* Everything that gofer_attr says, of a name in dir_fd ("": of dir_fd itself), symlinks not
 * followed. -errno. */
MUST_CHECK int host_statx(int dir_fd, const char *name, struct statx *ret);
void host_attr(const struct statx *st, struct gofer_attr *ret);
MUST_CHECK int host_statfs(int fd, struct gofer_statfs *ret);
/*
 * Appends a gofer_readdir_rep and one batch of entries from where dir_fd stands, without "." and
 * "..", and those that no name of ours can say. *cookie: where it stands afterwards.
 */
MUST_CHECK int host_readdir(int dir_fd, uint64_t *cookie, struct gofer_out *out);
/* Reduces a list of names to the served ones (gofer_xattr_served); returns its new length. */
size_t host_xattr_filter(char *names, size_t len);
