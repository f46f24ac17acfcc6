/*
 * The image's requests, one at a time (serve.c). The client cannot make the server hold more than
 * its tables allow (nodes, open directories), and one that does not read its replies only stops its
 * own requests.
 */
#include "gofer/server.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/fdio.h"

/* What the client gets to know of an errno of the host: another mount is never entered. */
static uint32_t status_of(int rc)
{
    return rc == -EXDEV ? EACCES : serve_status(rc);
}

static struct tree *tree_of(const struct exchange *x)
{
    return &((struct server *)x->server)->tree;
}

static int node_of(const struct exchange *x, uint32_t id, struct node **ret)
{
    struct node *n = nodes_get(&tree_of(x)->nodes, id);
    if (!n)
        return -ESTALE;
    *ret = n;
    return 0;
}

/* The node of a request that says nothing else. */
static int node_request(struct exchange *x, struct node **ret)
{
    uint32_t id;
    int rc = serve_node_request(x, &id);
    return rc < 0 ? rc : node_of(x, id, ret);
}

static int handle_hello(struct exchange *x)
{
    struct server *s = x->server;
    struct gofer_hello said;
    gofer_get(&x->in, &said, sizeof(said));
    if (!gofer_in_done(&x->in))
        return -EPROTO;
    if (said.version != GOFER_PROTO_VERSION || said.nroots != s->nroots)
        return -EPROTONOSUPPORT;
    struct gofer_hello hello = {.version = GOFER_PROTO_VERSION, .nroots = s->nroots};
    gofer_put(&x->out, &hello, sizeof(hello));
    for (uint32_t r = 0; r < s->nroots; r++) {
        struct gofer_attr attr;
        int rc = tree_getattr(&s->tree, s->tree.nodes.by_id[r], &attr);
        if (rc < 0)
            return rc;
        gofer_put(&x->out, &attr, sizeof(attr));
    }
    s->greeted = true;
    return 0;
}

struct walk_names {
    const char *names[GOFER_WALK_MAX];
    size_t lens[GOFER_WALK_MAX];
};

static int walk_request(struct exchange *x, struct gofer_walk_req *req, struct walk_names *names)
{
    gofer_get(&x->in, req, sizeof(*req));
    if (req->count == 0 || req->count > GOFER_WALK_MAX || (req->flags & ~GOFER_WALK_OPEN))
        return -EPROTO;
    for (uint16_t i = 0; i < req->count; i++)
        names->names[i] = gofer_get_name(&x->in, &names->lens[i]);
    return gofer_in_done(&x->in) ? 0 : -EPROTO;
}

/* Walks as far as it goes; *ret_last is the last node that was found, or the start. */
static void walk_steps(struct exchange *x, const struct gofer_walk_req *req,
                       const struct walk_names *names, struct gofer_walk_rep *rep,
                       struct node **ret_last)
{
    struct node *n = *ret_last;
    while (rep->done < req->count) {
        struct gofer_step step = {0};
        int rc = tree_lookup(tree_of(x), n, names->names[rep->done], names->lens[rep->done], &n,
                             &step.attr);
        if (rc < 0) {
            rep->error = (uint16_t)status_of(rc);
            break;
        }
        step.node = n->id;
        gofer_put(&x->out, &step, sizeof(step));
        rep->done++;
        if (n->type != DT_DIR)
            break;
    }
    *ret_last = n;
}

static int handle_walk(struct exchange *x)
{
    struct gofer_walk_req req;
    struct walk_names names;
    int rc = walk_request(x, &req, &names);
    if (rc < 0)
        return rc;
    struct node *n;
    rc = node_of(x, req.node, &n);
    if (rc < 0)
        return rc;
    struct gofer_walk_rep *place = gofer_put_space(&x->out, sizeof(*place));
    struct gofer_walk_rep rep = {0};
    walk_steps(x, &req, &names, &rep, &n);
    if (rep.done > 0 && n->type == DT_LNK) {
        char target[GOFER_LINK_MAX + 1];
        int64_t len = tree_readlink(tree_of(x), n, target, sizeof(target));
        if (len > 0) {
            rep.link = (uint16_t)len;
            gofer_put(&x->out, target, (size_t)len);
        }
    }
    /* If it cannot be opened, the client sees no descriptor and asks again to learn why. */
    if ((req.flags & GOFER_WALK_OPEN) && rep.done == req.count && n->type == DT_REG &&
        tree_open(tree_of(x), n, &x->fd) == 0)
        rep.fds = 1;
    if (place)
        *place = rep;
    return 0;
}

static int handle_getattr(struct exchange *x)
{
    struct node *n;
    struct gofer_attr attr;
    int rc = node_request(x, &n);
    if (rc == 0)
        rc = tree_getattr(tree_of(x), n, &attr);
    return serve_put(x, rc, &attr, sizeof(attr));
}

static int handle_open(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    return rc < 0 ? rc : tree_open(tree_of(x), n, &x->fd);
}

static int handle_readlink(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    if (rc < 0)
        return rc;
    char target[GOFER_LINK_MAX + 1];
    int64_t len = tree_readlink(tree_of(x), n, target, sizeof(target));
    if (len < 0)
        return (int)len;
    gofer_put(&x->out, target, (size_t)len);
    return 0;
}

static int handle_readdir(struct exchange *x)
{
    struct gofer_readdir_req req;
    struct node *n;
    int rc = serve_readdir_request(x, &req);
    if (rc < 0)
        return rc;
    rc = node_of(x, req.node, &n);
    return rc < 0 ? rc : tree_readdir(tree_of(x), n, req.cookie, &x->out);
}

static int handle_statfs(struct exchange *x)
{
    struct node *n;
    struct gofer_statfs st;
    int rc = node_request(x, &n);
    if (rc == 0)
        rc = tree_statfs(tree_of(x), n, &st);
    return serve_put(x, rc, &st, sizeof(st));
}

static int handle_getxattr(struct exchange *x)
{
    struct gofer_node_req req;
    serve_name name;
    struct node *n;
    gofer_get(&x->in, &req, sizeof(req));
    serve_take_xattr_name(x, name);
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    int rc = node_of(x, req.node, &n);
    return rc < 0 ? rc
                  : serve_bytes(
                        x, tree_getxattr(tree_of(x), n, name, serve_space(x), GOFER_XATTR_MAX));
}

static int handle_listxattr(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    return rc < 0 ? rc
                  : serve_bytes(x, tree_listxattr(tree_of(x), n, serve_space(x), GOFER_XATTR_MAX));
}

static void forget(void *server, uint32_t node)
{
    struct server *s = server;
    tree_forget(&s->tree, node);
}

static int handle_forget(struct exchange *x)
{
    return serve_forget_request(x, forget);
}

static serve_handler *const handlers[GOFER_MSG_END] = {
    [GOFER_HELLO] = handle_hello,         [GOFER_WALK] = handle_walk,
    [GOFER_GETATTR] = handle_getattr,     [GOFER_OPEN] = handle_open,
    [GOFER_READLINK] = handle_readlink,   [GOFER_READDIR] = handle_readdir,
    [GOFER_STATFS] = handle_statfs,       [GOFER_GETXATTR] = handle_getxattr,
    [GOFER_LISTXATTR] = handle_listxattr, [GOFER_FORGET] = handle_forget,
};

static bool acceptable(const void *server, uint32_t type)
{
    return (type == GOFER_HELLO) != ((const struct server *)server)->greeted;
}

int server_handle(struct server *s, size_t size, struct server_reply *ret)
{
    static const struct service image = {
        .handlers = handlers, .end = GOFER_MSG_END, .acceptable = acceptable, .status = status_of};
    return serve_message(&image, s, s->request, size, s->reply, ret);
}

static int handle(void *server, size_t size, struct server_reply *ret)
{
    return server_handle(server, size, ret);
}

int server_run(struct server *s, const struct gofer_port *port)
{
    return serve_run(port, s->request, s->reply, handle, s);
}

int server_new(const int *root_fds, uint32_t nroots, struct server **ret)
{
    if (nroots == 0 || nroots > GOFER_ROOTS_MAX)
        return -EINVAL;
    struct server *s = kalloc(sizeof(*s));
    if (!s)
        return -ENOMEM;
    int rc = tree_init(&s->tree, root_fds, nroots);
    if (rc < 0) {
        kfree(s);
        return rc;
    }
    s->nroots = nroots;
    *ret = s;
    return 0;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    tree_done(&s->tree);
    kfree(s);
}
