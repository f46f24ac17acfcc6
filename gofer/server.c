/*
 * One request at a time (serve.c). A handler first reads its whole request
 * and refuses it with -EPROTO if anything is missing, left over or out of range; only then does it
 * touch the tree. It appends the body of the reply behind the header's place; when it returns an
 * errno, what it appended is dropped and the reply is the header alone.
 *
 * The client cannot make the server hold more than its tables allow (nodes, open directories), and
 * one that does not read its replies only stops its own requests.
 */
#include "gofer/server.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/fdio.h"

/* A request under way: what is left to read, and the reply as far as it is written. */
struct exchange {
    struct server *s;
    struct gofer_in in;
    struct gofer_out out;
    int fd;
};

/* 0, a negative errno for the client, or -EPROTO: malformed. */
typedef int handler_fn(struct exchange *x);

/* What the client gets to know of an errno of the host: another mount is never entered. */
static uint32_t status_of(int rc)
{
    return rc == -EXDEV ? EACCES : serve_status(rc);
}

/* The node of a request that says nothing else (or whose rest the caller has read). */
static int node_of(struct exchange *x, uint32_t id, struct node **ret)
{
    struct node *n = nodes_get(&x->s->tree.nodes, id);
    if (!n)
        return -ESTALE;
    *ret = n;
    return 0;
}

static int node_request(struct exchange *x, struct node **ret)
{
    struct gofer_node_req req;
    gofer_get(&x->in, &req, sizeof(req));
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    return node_of(x, req.node, ret);
}

static int handle_hello(struct exchange *x)
{
    struct server *s = x->s;
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
        int rc = tree_lookup(&x->s->tree, n, names->names[rep->done], names->lens[rep->done], &n,
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
        int64_t len = tree_readlink(&x->s->tree, n, target, sizeof(target));
        if (len > 0) {
            rep.link = (uint16_t)len;
            gofer_put(&x->out, target, (size_t)len);
        }
    }
    /* If it cannot be opened, the client sees no descriptor and asks again to learn why. */
    if ((req.flags & GOFER_WALK_OPEN) && rep.done == req.count && n->type == DT_REG &&
        tree_open(&x->s->tree, n, &x->fd) == 0)
        rep.fds = 1;
    if (place)
        *place = rep;
    return 0;
}

static int handle_getattr(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    if (rc < 0)
        return rc;
    struct gofer_attr attr;
    rc = tree_getattr(&x->s->tree, n, &attr);
    if (rc < 0)
        return rc;
    gofer_put(&x->out, &attr, sizeof(attr));
    return 0;
}

static int handle_open(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    return rc < 0 ? rc : tree_open(&x->s->tree, n, &x->fd);
}

static int handle_readlink(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    if (rc < 0)
        return rc;
    char target[GOFER_LINK_MAX + 1];
    int64_t len = tree_readlink(&x->s->tree, n, target, sizeof(target));
    if (len < 0)
        return (int)len;
    gofer_put(&x->out, target, (size_t)len);
    return 0;
}

static int handle_readdir(struct exchange *x)
{
    struct gofer_readdir_req req;
    gofer_get(&x->in, &req, sizeof(req));
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    struct node *n;
    int rc = node_of(x, req.node, &n);
    return rc < 0 ? rc : tree_readdir(&x->s->tree, n, req.cookie, &x->out);
}

static int handle_statfs(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    if (rc < 0)
        return rc;
    struct gofer_statfs st;
    rc = tree_statfs(&x->s->tree, n, &st);
    if (rc < 0)
        return rc;
    gofer_put(&x->out, &st, sizeof(st));
    return 0;
}

/* Values and lists go straight into the reply; both are bounded by what fits there. */
static int bytes_done(struct exchange *x, int64_t len)
{
    if (len < 0)
        return (int)len;
    x->out.size += (size_t)len;
    return 0;
}

static int handle_getxattr(struct exchange *x)
{
    struct gofer_node_req req;
    char name[GOFER_NAME_MAX + 1] = {0};
    size_t len;
    gofer_get(&x->in, &req, sizeof(req));
    const char *said = gofer_get_xattr_name(&x->in, &len);
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    memcpy(name, said, len);
    struct node *n;
    int rc = node_of(x, req.node, &n);
    if (rc < 0)
        return rc;
    return bytes_done(
        x, tree_getxattr(&x->s->tree, n, name, x->out.data + x->out.size, GOFER_XATTR_MAX));
}

static int handle_listxattr(struct exchange *x)
{
    struct node *n;
    int rc = node_request(x, &n);
    if (rc < 0)
        return rc;
    return bytes_done(
        x, tree_listxattr(&x->s->tree, n, (char *)x->out.data + x->out.size, GOFER_XATTR_MAX));
}

static int handle_forget(struct exchange *x)
{
    struct gofer_forget_req req;
    gofer_get(&x->in, &req, sizeof(req));
    if (x->in.bad || req.zero != 0 || x->in.left != (uint64_t)req.count * sizeof(uint32_t))
        return -EPROTO;
    for (uint32_t i = 0; i < req.count; i++) {
        uint32_t node;
        gofer_get(&x->in, &node, sizeof(node));
        tree_forget(&x->s->tree, node);
    }
    return 0;
}

static handler_fn *const handlers[GOFER_MSG_END] = {
    [GOFER_HELLO] = handle_hello,         [GOFER_WALK] = handle_walk,
    [GOFER_GETATTR] = handle_getattr,     [GOFER_OPEN] = handle_open,
    [GOFER_READLINK] = handle_readlink,   [GOFER_READDIR] = handle_readdir,
    [GOFER_STATFS] = handle_statfs,       [GOFER_GETXATTR] = handle_getxattr,
    [GOFER_LISTXATTR] = handle_listxattr, [GOFER_FORGET] = handle_forget,
};

int server_handle(struct server *s, size_t size, struct server_reply *ret)
{
    struct exchange x = {.s = s, .fd = -1};
    struct gofer_header h;
    gofer_in_init(&x.in, s->request, size);
    gofer_get(&x.in, &h, sizeof(h));
    if (x.in.bad || h.size != size || h.zero != 0 || h.status != 0)
        return -EPROTO;
    if (h.type == 0 || h.type >= GOFER_MSG_END || (h.type == GOFER_HELLO) == s->greeted)
        return -EPROTO;
    gofer_out_init(&x.out, s->reply, sizeof(s->reply));
    gofer_put(&x.out, &h, sizeof(h));
    int rc = handlers[h.type](&x);
    if (rc == -EPROTO)
        return rc;
    if (x.out.full) { /* no reply is that long */
        fd_close(x.fd);
        return -EOVERFLOW;
    }
    if (rc < 0) {
        x.out.size = sizeof(h);
        h.status = status_of(rc);
    }
    h.size = (uint32_t)x.out.size;
    memcpy(s->reply, &h, sizeof(h));
    *ret = (struct server_reply){.size = x.out.size, .fd = x.fd};
    return 0;
}

static int handle(void *ctx, size_t size, struct server_reply *ret)
{
    return server_handle(ctx, size, ret);
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
