#pragma once
/*
 * What both servers are made of: the loop (receive a packet, have it handled, send the reply), the
 * frame of one message, and the requests that both know.
 */
#include "lib/compiler.h"

#include "gofer/proto.h"

/* The reply to one request. */
struct server_reply {
    size_t size; /* bytes in the server's reply buffer */
    int fd;      /* -1, or a descriptor that goes with it and is closed afterwards */
};

/* A request under way: what is left to read, and the reply as far as it is written. */
struct exchange {
    void *server;
    struct gofer_in in;
    struct gofer_out out;
    int fd; /* -1, or what goes with the reply */
};

/*
 * Reads its whole request and refuses it with -EPROTO, malformed, if anything is missing, left over
 * or out of range; only then is anything done. Appends the body of the reply; when it returns
 * another errno, what it appended is dropped and the reply is that alone.
 */
typedef int serve_handler(struct exchange *x);

struct service {
    serve_handler *const *handlers; /* of the types first .. end - 1; NULL: no request */
    uint32_t first, end;
    bool (*acceptable)(const void *server, uint32_t type); /* now; of those that have a handler */
    uint32_t (*status)(int rc); /* what the client gets to know of an errno of the host */
};

/* Handles size bytes of request; both buffers have GOFER_MSG_MAX bytes. -EPROTO: malformed, hang
 * up. */
MUST_CHECK int serve_message(const struct service *sv, void *server, const uint8_t *request,
                             size_t size, uint8_t *reply, struct server_reply *ret);

/* Handles size bytes of the request buffer. Negative: hang up. */
typedef int serve_fn(void *server, size_t size, struct server_reply *ret);

/* 0 when the client hung up, -EPROTO when it sent nonsense, or -errno. */
MUST_CHECK int serve_run(const struct gofer_port *port, uint8_t *request, const uint8_t *reply,
                         serve_fn *fn, void *server);
/* The status of a reply for an errno of the host. */
uint32_t serve_status(int rc);

/* -- pieces of handlers --------------------------------------------------------------------------
 */

/* A whole request that names a node and says nothing else. -EPROTO. */
MUST_CHECK int serve_node_request(struct exchange *x, uint32_t *ret_node);
MUST_CHECK int serve_readdir_request(struct exchange *x, struct gofer_readdir_req *ret);
/* A whole FORGET: each of its nodes. -EPROTO. */
MUST_CHECK int serve_forget_request(struct exchange *x,
                                    void (*forget)(void *server, uint32_t node));
/* A name of a file; empty, and x->in is bad, if there is none. */
typedef char serve_name[GOFER_NAME_MAX + 1];
void serve_take_name(struct exchange *x, serve_name ret);
void serve_take_xattr_name(struct exchange *x, serve_name ret);
/* For values and lists that were written to serve_space, GOFER_XATTR_MAX bytes at most, which fit
 * into any reply: len of them, or an errno. */
void *serve_space(struct exchange *x);
MUST_CHECK int serve_bytes(struct exchange *x, int64_t len);
/* rc, and if it is no error the structure. */
MUST_CHECK int serve_put(struct exchange *x, int rc, const void *body, size_t size);
