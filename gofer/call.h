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

/* A request about one node that has nothing else to say. */
MUST_CHECK int gofer_call_node(struct gofer_link *l, uint16_t type, uint32_t node,
                               struct gofer_reply *r);
/* Ends a call whose reply is plain bytes, as getxattr and listxattr hand them out. */
MUST_CHECK int64_t gofer_call_bytes(struct gofer_link *l, struct gofer_reply *r, void *buf,
                                    size_t cap);
MUST_CHECK int64_t gofer_call_readdir(struct gofer_link *l, uint16_t type, uint32_t node,
                                      uint64_t cookie, gofer_dirent_fn *fn, void *ctx);
MUST_CHECK int gofer_call_forget(struct gofer_link *l, uint16_t type, const uint32_t *nodes,
                                 size_t n);
