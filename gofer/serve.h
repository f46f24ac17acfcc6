#pragma once
/* The loop of a server: receive a packet, have it handled, send the reply. For both servers. */
#include "lib/compiler.h"

#include "gofer/proto.h"

/* The reply to one request. */
struct server_reply {
    size_t size; /* bytes in the server's reply buffer */
    int fd;      /* -1, or a descriptor that goes with it and is closed afterwards */
};

/* Handles size bytes of the request buffer. Negative: hang up. */
typedef int serve_fn(void *ctx, size_t size, struct server_reply *ret);

/* Both buffers have GOFER_MSG_MAX bytes. 0 when the client hung up, -EPROTO when it sent nonsense,
 * or -errno. */
MUST_CHECK int serve_run(const struct gofer_port *port, uint8_t *request, const uint8_t *reply,
                         serve_fn *fn, void *ctx);
/* The status of a reply for an errno of the host. */
uint32_t serve_status(int rc);
