#pragma once
/*
 * One request and its reply: what the clients of both servers are made of (client.c,
 * volume_client.c), and nobody else includes.
 */
#include "lib/compiler.h"

#include "gofer/client.h"
#include "gofer/proto.h"

enum {
    GOFER_REPLY_FDS = 4, /* room for descriptors nobody asked for, so that they can be closed */
};

struct gofer_link {
    struct gofer_port port; /* sock -1: dead */
    uint32_t tag;
    uint8_t request[GOFER_MSG_MAX];
    uint8_t reply[GOFER_MSG_MAX + 1]; /* one more, to end a link's target with a NUL */
};

/* A received reply: what follows its header, and its descriptors (owned until taken). */
struct gofer_reply {
    struct gofer_in in;
    int fds[GOFER_REPLY_FDS];
    size_t nfds;
};

/* Takes the socket over. */
void gofer_link_init(struct gofer_link *l, int sock_fd CONSUMES);
void gofer_link_done(struct gofer_link *l);
/* A request to be filled in. */
struct gofer_out gofer_request(struct gofer_link *l, uint16_t type);
/*
 * A call in two halves, so that several requests can be under way: their replies come in the same
 * order. -EINVAL: nothing was sent; -EIO: the connection is closed. ret_sent is for the other half.
 */
MUST_CHECK int gofer_send(struct gofer_link *l, const struct gofer_out *out,
                          struct gofer_header *ret_sent);
MUST_CHECK int gofer_receive(struct gofer_link *l, const struct gofer_header *sent,
                             struct gofer_reply *r);
/*
 * Sends the request and waits for its reply. 0: *r holds it, and the caller ends with
 * gofer_call_end. Else the errno that the server gave, or -EIO with the connection closed.
 */
MUST_CHECK int gofer_call(struct gofer_link *l, const struct gofer_out *out, struct gofer_reply *r);
/* Checks that the reply was decoded to its last byte and brought nfds descriptors. */
MUST_CHECK int gofer_call_end(struct gofer_link *l, struct gofer_reply *r, size_t nfds);
/* Gives the connection up: no reply can be trusted to belong to its request any more. -EIO. */
int gofer_break(struct gofer_link *l, struct gofer_reply *r);
/* The errors that a server may report; anything else is EIO. */
int gofer_errno(uint32_t status);
/* Whether a donated descriptor is what was promised: a regular file, open as asked (O_RDONLY, ...).
 */
bool gofer_fd_valid(int fd, int access);

/* -- pieces of requests: -EINVAL or -ENAMETOOLONG, and it is not to be sent ----------------------
 */
MUST_CHECK int gofer_put_checked(struct gofer_out *out, const char *name, size_t len);
/* An attribute's name; -ERANGE. */
MUST_CHECK int gofer_put_xattr(struct gofer_out *out, const char *name);

/* -- pieces of replies; false: nothing that a server may say -------------------------------------
 */
/*
 * The steps of a walk over n names: all but the last are directories, and only the last one ends it
 * early. Nodes are first .. GOFER_NODES_MAX - 1.
 */
bool gofer_get_steps(struct gofer_in *in, uint32_t first, uint16_t n, uint16_t done, uint16_t error,
                     struct gofer_step *steps);
bool gofer_step_valid(const struct gofer_step *s, uint32_t first);
/* The target of a symlink, len bytes, which has to be the last that the reply says; a NUL behind
 * it. Valid until the next call. */
bool gofer_get_link(struct gofer_link *l, struct gofer_in *in, size_t len, const char **ret_link);

/* -- whole calls ---------------------------------------------------------------------------------
 */
/* Whose reply says nothing; attributes; a descriptor of a regular file with that access. */
MUST_CHECK int gofer_call_plain(struct gofer_link *l, const struct gofer_out *out);
MUST_CHECK int gofer_call_attr(struct gofer_link *l, const struct gofer_out *out,
                               struct gofer_attr *ret);
MUST_CHECK int gofer_call_fd(struct gofer_link *l, const struct gofer_out *out, int access,
                             int *ret_fd);
MUST_CHECK int gofer_call_statfs(struct gofer_link *l, uint16_t type, uint32_t node,
                                 struct gofer_statfs *ret);
/* A list of names of attributes. */
MUST_CHECK int64_t gofer_call_names(struct gofer_link *l, const struct gofer_out *out, char *buf,
                                    size_t cap);
/* A request about one node that has nothing else to say. */
struct gofer_out gofer_request_node(struct gofer_link *l, uint16_t type, uint32_t node);
MUST_CHECK int gofer_call_node(struct gofer_link *l, uint16_t type, uint32_t node,
                               struct gofer_reply *r);
/* Ends a call whose reply is plain bytes, as getxattr and listxattr hand them out. */
MUST_CHECK int64_t gofer_call_bytes(struct gofer_link *l, struct gofer_reply *r, void *buf,
                                    size_t cap);
MUST_CHECK int64_t gofer_call_readdir(struct gofer_link *l, uint16_t type, uint32_t node,
                                      uint64_t cookie, gofer_dirent_fn *fn, void *ctx);
MUST_CHECK int gofer_call_forget(struct gofer_link *l, uint16_t type, const uint32_t *nodes,
                                 size_t n);
