#pragma once
/*
 * The sentry's side of the gofer: synchronous requests for the read-only image. Used by the kernel
 * thread only (goferfs); makes host calls, so it is a library of its own (gofer_proto).
 *
 * Nodes are named by ids. Root r of the image server (0 = the image, 1.. = volumes) has id r; the
 * other ids come from gofer_lookup and gofer_walk. The same (directory, name) gives the same id
 * until it is forgotten. Two names of one file are two nodes with the same attr.dev_* and attr.ino.
 *
 * Every call returns >= 0 or -errno. What the gofer sends is checked as hostile. Once it broke the
 * protocol, died, or let a request wait for GOFER_TIMEOUT_MS, the client is dead: the socket is
 * closed and this and every later call returns -EIO.
 */
#include "lib/compiler.h"

#include "gofer/proto.h"

struct error;
struct gofer_client;

#define GOFER_TIMEOUT_MS 10000

/*
 * Host calls: sendmsg, recvmsg, poll, close; fstat and fcntl(F_GETFL) on donated descriptors;
 * sched_getaffinity once.
 */

/* Greets the server behind sock_fd, a connected SOCK_SEQPACKET socket that the client now owns. */
MUST_CHECK int gofer_client_new(CONSUMES int sock_fd, uint32_t nroots, struct gofer_client **ret,
                                struct error *err);
void gofer_client_free(struct gofer_client *c);
/* What to do, again and again, while an answer is awaited; NULL: nothing. It makes no request, and
 * waits for something else no longer than until sock is readable. */
void gofer_client_meanwhile(struct gofer_client *c, void (*fn)(void *arg, int sock), void *arg);

/* True once the connection is lost or was given up. */
bool gofer_client_dead(const struct gofer_client *c);

/* Attributes of root number r, learned at the greeting (no request). -ENOENT: no such root. */
MUST_CHECK int gofer_root_attr(const struct gofer_client *c, uint32_t r,
                               struct gofer_attr *ret_attr);

/*
 * One name in directory `node`. -ENOENT, -ENOTDIR, -EACCES (also: another file system is mounted
 * there, which is never entered), -EINVAL for a name that is empty, "." or "..", or has a '/' or
 * NUL in it, -ENAMETOOLONG, -ESTALE for an id that the server does not know.
 */
MUST_CHECK int gofer_lookup(struct gofer_client *c, uint32_t node, const char *name, size_t len,
                            uint32_t *ret_node, struct gofer_attr *ret_attr);

/*
 * Several names at once, in one round trip. The walk stops behind the first step that is no
 * directory (a symlink is never followed) and before the first name that cannot be resolved.
 */
struct gofer_walk {
    /* in */
    uint32_t node;  /* the directory to start in */
    uint16_t flags; /* GOFER_WALK_OPEN: open names[n - 1] too if it is a regular file */
    uint16_t n;     /* 1..GOFER_WALK_MAX */
    const char *names[GOFER_WALK_MAX];
    uint16_t lens[GOFER_WALK_MAX];
    /* out, valid when gofer_walk returned 0 */
    uint16_t done; /* steps filled in, 0..n */
    int error;     /* 0, or why names[done] could not be resolved, as gofer_lookup would say */
    struct gofer_step steps[GOFER_WALK_MAX];
    int fd;           /* -1, or the opened last file: O_RDONLY, CLOEXEC, owned by the caller */
    const char *link; /* target of the last step if that is a symlink, NUL behind it; else NULL */
    size_t link_len;  /* borrowed: valid until the next call on this client */
};
/* Returns 0 when the server answered, also if w->error is set. */
MUST_CHECK int gofer_walk(struct gofer_client *c, struct gofer_walk *w);
/*
 * Several walks, at most GOFER_WALKS_MAX, asked for at once: the server need not be woken for each.
 * Returns 0 or -EIO; a walk that could not be asked for or was refused has its error and no step.
 * Targets of symlinks are not kept but for the last walk's.
 */
enum {
    GOFER_WALKS_MAX = 8
};
MUST_CHECK int gofer_walks(struct gofer_client *c, struct gofer_walk *w, size_t n);

MUST_CHECK int gofer_getattr(struct gofer_client *c, uint32_t node, struct gofer_attr *ret_attr);

/*
 * A read-only CLOEXEC descriptor of a regular file, owned by the caller. -EISDIR, -ELOOP for a
 * symlink, -ENXIO for fifos, sockets and devices, -EACCES.
 */
MUST_CHECK int gofer_open(struct gofer_client *c, uint32_t node, int *ret_fd);

/* Target of a symlink, cut at cap, no NUL added; returns the number of bytes. -EINVAL: no symlink.
 */
MUST_CHECK int64_t gofer_readlink(struct gofer_client *c, uint32_t node, char *buf, size_t cap);

/* An entry of a directory; never "." or "..". name is NUL-terminated, borrowed for the callback. */
struct gofer_dirent {
    uint64_t ino;
    uint64_t cookie; /* pass this to gofer_readdir to go on behind this entry */
    const char *name;
    uint16_t name_len;
    uint8_t type; /* DT_* */
};
/* Returns false to stop. Must not call this client. */
typedef bool gofer_dirent_fn(void *ctx, const struct gofer_dirent *e);
/*
 * One batch of entries behind `cookie` (0: from the start). Returns how many were handed to fn, the
 * one that stopped included; 0 is the end of the directory. Cookies are opaque, not ordered.
 */
MUST_CHECK int64_t gofer_readdir(struct gofer_client *c, uint32_t node, uint64_t cookie,
                                 gofer_dirent_fn *fn, void *ctx);

MUST_CHECK int gofer_statfs(struct gofer_client *c, uint32_t node, struct gofer_statfs *ret);

/*
 * Extended attributes: only user.* and security.capability are served. With cap 0 the size is
 * returned, else -ERANGE if it does not fit. -ENODATA, -EOPNOTSUPP, -E2BIG above GOFER_XATTR_MAX.
 */
MUST_CHECK int64_t gofer_getxattr(struct gofer_client *c, uint32_t node, const char *name,
                                  void *buf, size_t cap);
MUST_CHECK int64_t gofer_listxattr(struct gofer_client *c, uint32_t node, char *buf, size_t cap);

/*
 * Gives ids back; they may be handed out again for other files. Unknown ids and roots are ignored.
 * A directory may be forgotten before its entries: it stays usable for those until they go.
 */
MUST_CHECK int gofer_forget(struct gofer_client *c, const uint32_t *nodes, size_t n);
