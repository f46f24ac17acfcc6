/*
 * The client cannot make the server hold more than its tables allow, and one that does not read its
 * replies only stops its own requests.
 */
#include "gofer/serve.h"

#include <errno.h>

#include "lib/fdio.h"

uint32_t serve_status(int rc)
{
    switch (-rc) {
    case EMFILE:
        return ENFILE;
    case ENOSYS:
        return EOPNOTSUPP;
    default:
        return (uint32_t)-rc;
    }
}

int serve_run(const struct gofer_port *port, uint8_t *request, const uint8_t *reply, serve_fn *fn,
              void *ctx)
{
    for (;;) {
        size_t nfds;
        int64_t n = gofer_recv(port, request, GOFER_MSG_MAX, NULL, 0, &nfds);
        if (n == 0 || n == -ECONNRESET)
            return 0;
        if (n == -EMSGSIZE)
            return -EPROTO;
        if (n < 0)
            return (int)n;
        struct server_reply r;
        int rc = fn(ctx, (size_t)n, &r);
        if (rc < 0)
            return rc;
        n = fd_send(port->sock, reply, r.size, &r.fd, r.fd >= 0 ? 1 : 0, 0);
        fd_close(r.fd);
        if (n == -EPIPE || n == -ECONNRESET)
            return 0;
        if (n < 0)
            return (int)n;
    }
}
