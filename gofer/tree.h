#pragma once
/*
 * The host's side of the served trees: every host call about the image is in tree.c and
 * host.c. A tree object serves all roots. Nodes (nodes.h) are reached from their root's directory
 * descriptor by openat2 with RESOLVE_BENEATH and without any symlink or mount crossing; a
 * bounded number of directories stays open as O_PATH in a least-recently-used cache. Everything
 * returns >= 0 or -errno of the host. Single-threaded; server.c is the only caller.
 */
#include "lib/compiler.h"

#include "gofer/nodes.h"
#include "gofer/proto.h"
#include "lib/list.h"

enum {
    TREE_DIRS = 128, /* directories kept open */
};

/* An open directory of the cache. Slot 0 is not used. */
struct tree_dir {
    struct list_head lru;
    uint32_t node;
    int fd; /* -1: free */
};

struct tree_root {
    int fd;            /* owned by whoever made the tree */
    uint64_t mount_id; /* nodes of other mounts are refused; 0: unknown */
};

struct tree {
    struct nodes nodes;
    struct tree_root roots[GOFER_ROOTS_MAX];
    struct tree_dir dirs[TREE_DIRS + 1];
    struct list_head lru; /* of all dirs, the next victim last */
    struct {
        uint32_t node;
        int fd;          /* -1: none */
        uint64_t cookie; /* where fd stands */
    } stream;            /* the directory that was listed last */
    uint32_t chain[GOFER_DEPTH_MAX + 1];
    char path[4096];
    bool squash; /* everything belongs to the guest's root: no owner is known by number */
};

/* Borrows the root descriptors, which must be directories, until tree_done. */
MUST_CHECK int tree_init(struct tree *t, const int *root_fds, uint32_t nroots);
void tree_done(struct tree *t);

/* Looks up one valid name; the node exists afterwards. -ENOTDIR, -ENOENT, -EACCES, ... */
MUST_CHECK int tree_lookup(struct tree *t, struct node *dir, const char *name, size_t len,
                           struct node **ret, struct gofer_attr *ret_attr);
MUST_CHECK int tree_getattr(struct tree *t, struct node *n, struct gofer_attr *ret_attr);
/* Opens a regular file for reading; the descriptor is the caller's. */
MUST_CHECK int tree_open(struct tree *t, struct node *n, int *ret_fd);
/* Copies a symlink's target, without a NUL; cap is at least GOFER_LINK_MAX + 1. */
MUST_CHECK int64_t tree_readlink(struct tree *t, struct node *n, char *buf, size_t cap);
/* Appends a gofer_readdir_rep and its entries. */
MUST_CHECK int tree_readdir(struct tree *t, struct node *n, uint64_t cookie, struct gofer_out *out);
MUST_CHECK int tree_statfs(struct tree *t, struct node *n, struct gofer_statfs *ret);
/* name is NUL-terminated. Only user.* and security.capability exist. */
MUST_CHECK int64_t tree_getxattr(struct tree *t, struct node *n, const char *name, void *buf,
                                 size_t cap);
MUST_CHECK int64_t tree_listxattr(struct tree *t, struct node *n, char *buf, size_t cap);
void tree_forget(struct tree *t, uint32_t id);
/* Invariants, as nodes_check. */
bool tree_check(const struct tree *t);
