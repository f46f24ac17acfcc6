/*
 * The client cannot make the server hold more than its tables allow, and one that does not read its
 * replies only stops its own requests.
 */
#include "gofer/serve.h"

#include <errno.h>
#include <string.h>

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

int serve_message(const struct service *sv, void *server, const uint8_t *request, size_t size,
                  uint8_t *reply, struct server_reply *ret)
{
    struct exchange x = {.server = server, .fd = -1};
    struct gofer_header h;
    gofer_in_init(&x.in, request, size);
    gofer_get(&x.in, &h, sizeof(h));
    if (x.in.bad || h.size != size || h.zero != 0 || h.status != 0 || h.type < sv->first ||
        h.type >= sv->end || !sv->handlers[h.type - sv->first] || !sv->acceptable(server, h.type))
        return -EPROTO;
    gofer_out_init(&x.out, reply, GOFER_MSG_MAX);
    gofer_put(&x.out, &h, sizeof(h));
    int rc = sv->handlers[h.type - sv->first](&x);
    if (rc == -EPROTO)
        return rc;
    if (x.out.full) { /* no reply is that long */
        fd_close(x.fd);
        return -EOVERFLOW;
    }
    if (rc < 0) {
        x.out.size = sizeof(h);
        h.status = sv->status(rc);
    }
    h.size = (uint32_t)x.out.size;
    memcpy(reply, &h, sizeof(h));
    *ret = (struct server_reply){.size = x.out.size, .fd = x.fd};
    return 0;
}

/* --- pieces of handlers --------------------------------------------------------------------------
 */

int serve_node_request(struct exchange *x, uint32_t *ret_node)
{
    struct gofer_node_req req;
    gofer_get(&x->in, &req, sizeof(req));
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    *ret_node = req.node;
    return 0;
}

int serve_readdir_request(struct exchange *x, struct gofer_readdir_req *ret)
{
    gofer_get(&x->in, ret, sizeof(*ret));
    return gofer_in_done(&x->in) && ret->zero == 0 ? 0 : -EPROTO;
}

int serve_forget_request(struct exchange *x, void (*forget)(void *server, uint32_t node))
{
    struct gofer_forget_req req;
    gofer_get(&x->in, &req, sizeof(req));
    if (x->in.bad || req.zero != 0 || x->in.left != (uint64_t)req.count * sizeof(uint32_t))
        return -EPROTO;
    for (uint32_t i = 0; i < req.count; i++) {
        uint32_t node;
        gofer_get(&x->in, &node, sizeof(node));
        forget(x->server, node);
    }
    return 0;
}

static void keep_name(serve_name ret, const char *name, size_t len)
{
    memset(ret, 0, sizeof(serve_name));
    if (name)
        memcpy(ret, name, len);
}

void serve_take_name(struct exchange *x, serve_name ret)
{
    size_t len;
    const char *name = gofer_get_name(&x->in, &len);
    keep_name(ret, name, len);
}

void serve_take_xattr_name(struct exchange *x, serve_name ret)
{
    size_t len;
    const char *name = gofer_get_xattr_name(&x->in, &len);
    keep_name(ret, name, len);
}

void *serve_space(struct exchange *x)
{
    return x->out.data + x->out.size;
}

int serve_bytes(struct exchange *x, int64_t len)
{
    if (len < 0)
        return (int)len;
    x->out.size += (size_t)len;
    return 0;
}

int serve_put(struct exchange *x, int rc, const void *body, size_t size)
{
    if (rc == 0)
        gofer_put(&x->out, body, size);
    return rc;
}

/* --- the loop ------------------------------------------------------------------------------------
 */

int serve_run(const struct gofer_port *port, uint8_t *request, const uint8_t *reply, serve_fn *fn,
              void *server)
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
        int rc = fn(server, (size_t)n, &r);
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
