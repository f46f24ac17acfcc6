#pragma once
/*
 * The sentry's side of the volume server: synchronous requests about bind mounts. Used by the
 * kernel thread only (hostfs). The same rules as client.h: every call returns >= 0 or -errno, what
 * the server sends is checked as hostile, and once it broke the protocol or died every call is
 * -EIO.
 *
 * Root r has node id r. A node id means the same file until it is forgotten; one file of a volume
 * is one id, whatever its names. A place is where a file is expected: its directory's node, its
 * name and its own node; -ESTALE when something else is there by now.
 */
#include "lib/compiler.h"

#include "gofer/client.h"
#include "gofer/volume_proto.h"

struct volume_client;

/* What a request may take: the host's disk, and what it has to do for a large file, is no failure.
 */
#define VOLUME_TIMEOUT_MS 120000

struct volume_ref {
    uint32_t dir, node;
    const char *name; /* "" and dir == node: a root */
};

/* Greets the server behind sock_fd, which the client now owns. */
MUST_CHECK int volume_client_new(CONSUMES int sock_fd, uint32_t nroots, struct volume_client **ret,
                                 struct error *err);
void volume_client_free(struct volume_client *c);
bool volume_client_dead(const struct volume_client *c);
/* What the greeting said of root r: attributes then, VOLUME_ROOT_* flags. -ENOENT: no such root. */
MUST_CHECK int volume_client_root(const struct volume_client *c, uint32_t r,
                                  struct volume_root *ret);

/* One name. *ret_link: the target of a symlink, NUL-terminated, borrowed until the next call; or
 * NULL. */
MUST_CHECK int volume_client_lookup(struct volume_client *c, uint32_t dir, const char *name,
                                    struct gofer_step *ret, const char **ret_link);
/* Several names at once: done of them were found, and `error` says why the next one was not (0: all
 * were, or the last is no directory). */
struct volume_walk {
    uint16_t done;
    int error;
    struct gofer_attr dir; /* where it started */
    struct gofer_step steps[VOLUME_WALK_MAX];
    const char *link; /* as for lookup: of the last step */
};
MUST_CHECK int volume_client_walk(struct volume_client *c, uint32_t dir, const char *const *names,
                                  uint16_t n, struct volume_walk *ret);
MUST_CHECK int volume_client_getattr(struct volume_client *c, uint32_t node,
                                     struct gofer_attr *ret);
/* flags: VOLUME_READ | VOLUME_WRITE. A CLOEXEC descriptor of a regular file with just that access.
 */
MUST_CHECK int volume_client_open(struct volume_client *c, const struct volume_ref *ref,
                                  uint32_t flags, int *ret_fd);
MUST_CHECK int64_t volume_client_readdir(struct volume_client *c, uint32_t node, uint64_t cookie,
                                         gofer_dirent_fn *fn, void *ctx);
MUST_CHECK int volume_client_statfs(struct volume_client *c, uint32_t node,
                                    struct gofer_statfs *ret);
MUST_CHECK int64_t volume_client_getxattr(struct volume_client *c, const struct volume_ref *ref,
                                          const char *name, void *buf, size_t cap);
MUST_CHECK int64_t volume_client_listxattr(struct volume_client *c, const struct volume_ref *ref,
                                           char *buf, size_t cap);
MUST_CHECK int volume_client_forget(struct volume_client *c, const uint32_t *nodes, size_t n);

/* Changes: -EROFS in a root that is not writable. */
/* target: of a symlink, else NULL. *ret_fd: -1, or of a regular file a descriptor, O_RDWR. */
MUST_CHECK int volume_client_create(struct volume_client *c, const struct volume_create_req *req,
                                    const char *name, const char *target, struct gofer_step *ret,
                                    int *ret_fd);
MUST_CHECK int volume_client_link(struct volume_client *c, const struct volume_ref *ref,
                                  uint32_t new_dir, const char *new_name, struct gofer_attr *ret);
MUST_CHECK int volume_client_remove(struct volume_client *c, uint32_t dir, const char *name,
                                    bool directory);
MUST_CHECK int volume_client_rename(struct volume_client *c, const struct volume_rename_req *req,
                                    const char *name, const char *new_name);
/* req: dir and node are ref's. */
MUST_CHECK int volume_client_setattr(struct volume_client *c, const struct volume_ref *ref,
                                     const struct volume_setattr_req *req, struct gofer_attr *ret);
MUST_CHECK int volume_client_setxattr(struct volume_client *c, const struct volume_ref *ref,
                                      const char *name, const void *value, size_t len, int flags);
MUST_CHECK int volume_client_removexattr(struct volume_client *c, const struct volume_ref *ref,
                                         const char *name);
MUST_CHECK int volume_client_sync(struct volume_client *c, uint32_t dir);
