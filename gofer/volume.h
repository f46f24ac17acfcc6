#pragma once
/*
 * The host's side of bind mounts: nodes that are files of the host, held by an O_PATH descriptor
 * each (volume_proto.h says why), and every host call about them. Reading is in volume.c, changing
 * in volume_write.c. Everything returns >= 0 or -errno of the host. Single-threaded;
 * volume_server.c is the only caller.
 *
 * Every call names what it acts on by the descriptor of a directory and one component, or by a
 * descriptor alone; no symlink is followed, so nothing that guest or host puts into a directory
 * leads elsewhere. A directory that the host moves out of the volume while it is held stays
 * reachable, as for any process that works in it.
 */
#include "lib/compiler.h"

#include "gofer/volume_proto.h"
#include "lib/hash.h"

enum {
    VOLUME_NODES_MAX = 65536
};

/* What a volume is, before it is served. */
struct volume_source {
    int fd;        /* O_PATH: a directory or a regular file */
    bool writable; /* or the guest may only read it */
    bool cross;    /* what the host has mounted below is part of it (rbind) */
};

struct vnode {
    struct hash_node link; /* volumes.by_file */
    uint32_t id;
    uint32_t root;
    int fd;       /* O_PATH; a root's is borrowed */
    uint8_t type; /* DT_* */
    uint64_t ino;
    uint64_t dev;
    uint64_t mount_id;
};

struct volume_stream {
    uint32_t node;
    int fd; /* -1: none */
    uint64_t cookie;
};

struct volumes {
    struct vnode **by_id; /* [cap]; NULL: free */
    uint32_t cap, live, max, next_free;
    uint32_t nroots;
    struct volume_source roots[GOFER_ROOTS_MAX];
    /* A directory in which root N has the name "N": files among them can be opened anew. -1: the
     * roots are directories only. Borrowed. */
    int top;
    bool squash;
    uint32_t uid; /* the server's own; set by whoever made it, as squash */
    struct hash_table by_file;
    struct volume_stream stream; /* the directory that was listed last */
};

/* Where a file is: what is done by name is done here. */
struct volume_place {
    struct vnode *dir, *node;
    const char *name; /* "" when node is a root (and dir the same) */
};

/* Borrows all descriptors. max_nodes: how many descriptors nodes may take. */
MUST_CHECK int volumes_init(struct volumes *v, const struct volume_source *roots, uint32_t nroots,
                            int top, uint32_t max_nodes);
void volumes_done(struct volumes *v);
struct vnode *volumes_get(const struct volumes *v, uint32_t id);
void volumes_forget(struct volumes *v, uint32_t id);
/* Invariants; reads the whole table. */
bool volumes_check(const struct volumes *v);

MUST_CHECK int volume_lookup(struct volumes *v, struct vnode *dir, const char *name,
                             struct vnode **ret, struct gofer_attr *ret_attr);
MUST_CHECK int volume_getattr(struct volumes *v, const struct vnode *n, struct gofer_attr *ret);
MUST_CHECK int64_t volume_readlink(const struct vnode *n, char *buf, size_t cap);
/* A regular file, O_RDONLY, O_WRONLY or O_RDWR. -ESTALE: the place has another file now. */
MUST_CHECK int volume_open(struct volumes *v, const struct volume_place *p, int access,
                           int *ret_fd);
MUST_CHECK int volume_readdir(struct volumes *v, struct vnode *n, uint64_t cookie,
                              struct gofer_out *out);
MUST_CHECK int volume_statfs(const struct vnode *n, struct gofer_statfs *ret);
MUST_CHECK int64_t volume_getxattr(struct volumes *v, const struct volume_place *p,
                                   const char *name, void *buf, size_t cap);
MUST_CHECK int64_t volume_listxattr(struct volumes *v, const struct volume_place *p, char *buf,
                                    size_t cap);

/* -- volume_write.c; the caller has checked that the root is writable -------------------------- */
struct volume_made {
    struct vnode *node;
    struct gofer_attr attr;
    int fd; /* of a regular file, O_RDWR; else -1 */
};
MUST_CHECK int volume_create(struct volumes *v, struct vnode *dir, const char *name,
                             const struct volume_create_req *req, const char *target,
                             struct volume_made *ret);
MUST_CHECK int volume_link(struct volumes *v, const struct volume_place *p, struct vnode *new_dir,
                           const char *new_name, struct gofer_attr *ret_attr);
MUST_CHECK int volume_remove(struct vnode *dir, const char *name, bool directory);
MUST_CHECK int volume_rename(struct vnode *dir, const char *name, struct vnode *new_dir,
                             const char *new_name, uint32_t flags);
MUST_CHECK int volume_setattr(struct volumes *v, const struct volume_place *p,
                              const struct volume_setattr_req *req, struct gofer_attr *ret_attr);
MUST_CHECK int volume_setxattr(struct volumes *v, const struct volume_place *p, const char *name,
                               const void *value, size_t len, int flags);
MUST_CHECK int volume_removexattr(struct volumes *v, const struct volume_place *p,
                                  const char *name);
MUST_CHECK int volume_sync(struct vnode *n);

/* For volume_write.c: the descriptor and the name to act on, after a look that the expected file is
 * there (-ESTALE). */
MUST_CHECK int volume_at(struct volumes *v, const struct volume_place *p, const char **ret_name,
                         char text[16]);
/* Whether the descriptor is of this very file. */
bool volume_is(const struct vnode *n, int fd);
/* Whether the name may be a mount of its own. */
bool volume_crosses(const struct volumes *v, const struct volume_place *p);
