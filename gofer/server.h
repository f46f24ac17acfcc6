#pragma once
/*
 * The server: turns one request into one reply over a tree. server_run serves a socket until the
 * other side hangs up; server_handle is the same for one message in memory (tests, fuzzing).
 * Requests are hostile input. A request that is well-formed but cannot be done gets an errno; a
 * malformed one ends the connection, and there is only one.
 */
#include "lib/compiler.h"

#include "gofer/proto.h"
#include "gofer/serve.h"
#include "gofer/tree.h"

struct server {
    struct tree tree;
    uint32_t nroots;
    bool greeted; /* HELLO was answered */
    _Alignas(8) uint8_t request[GOFER_MSG_MAX];
    _Alignas(8) uint8_t reply[GOFER_MSG_MAX];
};

/* Borrows the root descriptors until server_free. -ENOMEM, or why a root cannot be served. */
MUST_CHECK int server_new(const int *root_fds, uint32_t nroots, struct server **ret);
void server_free(struct server *s);

/* Handles size bytes in s->request. -EPROTO: malformed, hang up. */
MUST_CHECK int server_handle(struct server *s, size_t size, struct server_reply *ret);

/* Serves the port: 0 when the client hung up, -EPROTO when it sent nonsense, or -errno. */
MUST_CHECK int server_run(struct server *s, const struct gofer_port *port);
