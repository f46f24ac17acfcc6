/*
 * Requests to the image server, and the check of what comes back; call.c has the exchange itself.
 */
#include "gofer/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/stat.h>

#include "gofer/call.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

struct gofer_client {
    struct gofer_link link;
    uint32_t nroots;
    struct gofer_attr *roots; /* [nroots] */
};

static int client_greet(struct gofer_client *c, struct error *err)
{
    struct gofer_out out = gofer_request(&c->link, GOFER_HELLO);
    struct gofer_hello hello = {.version = GOFER_PROTO_VERSION, .nroots = c->nroots};
    gofer_put(&out, &hello, sizeof(hello));
    struct gofer_reply r;
    int rc = gofer_call(&c->link, &out, &r);
    if (rc == -EPROTONOSUPPORT)
        return error_set(err, EPROTONOSUPPORT,
                         "the gofer speaks another version or serves other roots");
    if (rc < 0)
        return error_set(err, -rc, "the gofer does not answer");
    struct gofer_hello said;
    gofer_get(&r.in, &said, sizeof(said));
    bool good = said.version == GOFER_PROTO_VERSION && said.nroots == c->nroots;
    for (uint32_t i = 0; i < c->nroots; i++) {
        gofer_get(&r.in, &c->roots[i], sizeof(c->roots[i]));
        good = good && gofer_attr_valid(&c->roots[i]) && S_ISDIR(c->roots[i].mode);
    }
    if (gofer_call_end(&c->link, &r, 0) < 0 || !good)
        return error_set(err, EPROTO, "the gofer sent a malformed greeting");
    return 0;
}

static int client_open(struct gofer_client *c, uint32_t nroots, struct error *err)
{
    if (nroots == 0 || nroots > GOFER_ROOTS_MAX)
        return error_set(err, EINVAL, "%u roots: 1 to %u are possible", nroots, GOFER_ROOTS_MAX);
    c->nroots = nroots;
    c->roots = kalloc(nroots * sizeof(*c->roots));
    if (!c->roots)
        return error_set(err, ENOMEM, "no memory for the gofer's client");
    return client_greet(c, err);
}

int gofer_client_new(CONSUMES int sock_fd, uint32_t nroots, struct gofer_client **ret,
                     struct error *err)
{
    struct gofer_client *c = kalloc(sizeof(*c));
    if (!c) {
        fd_close(sock_fd);
        return error_set(err, ENOMEM, "no memory for the gofer's client");
    }
    gofer_link_init(&c->link, sock_fd);
    int rc = client_open(c, nroots, err);
    if (rc < 0) {
        gofer_client_free(c);
        return rc;
    }
    *ret = c;
    return 0;
}

void gofer_client_meanwhile(struct gofer_client *c, void (*fn)(void *arg, int sock), void *arg)
{
    c->link.port.meanwhile = fn;
    c->link.port.arg = arg;
}

void gofer_client_free(struct gofer_client *c)
{
    if (!c)
        return;
    gofer_link_done(&c->link);
    kfree(c->roots);
    kfree(c);
}

bool gofer_client_dead(const struct gofer_client *c)
{
    return c->link.port.sock < 0;
}

int gofer_root_attr(const struct gofer_client *c, uint32_t r, struct gofer_attr *ret_attr)
{
    if (r >= c->nroots)
        return -ENOENT;
    *ret_attr = c->roots[r];
    return 0;
}

static int walk_request(struct gofer_client *c, const struct gofer_walk *w, struct gofer_out *ret)
{
    if (w->n == 0 || w->n > GOFER_WALK_MAX)
        return -EINVAL;
    *ret = gofer_request(&c->link, GOFER_WALK);
    struct gofer_walk_req req = {.node = w->node, .count = w->n, .flags = w->flags};
    gofer_put(ret, &req, sizeof(req));
    int rc = 0;
    for (uint16_t i = 0; i < w->n && rc == 0; i++)
        rc = gofer_put_checked(ret, w->names[i], w->lens[i]);
    return rc;
}

/* Takes the target behind the steps; it is there exactly if the last step is a symlink. */
static bool walk_link(struct gofer_client *c, struct gofer_walk *w, struct gofer_in *in,
                      const struct gofer_walk_rep *rep)
{
    bool symlink = rep->done > 0 && S_ISLNK(w->steps[rep->done - 1].attr.mode);
    if (rep->link == 0)
        return true;
    if (!symlink || !gofer_get_link(&c->link, in, rep->link, &w->link))
        return false;
    w->link_len = rep->link;
    return true;
}

static bool walk_fd(struct gofer_walk *w, const struct gofer_reply *r,
                    const struct gofer_walk_rep *rep)
{
    if (rep->fds == 0)
        return r->nfds == 0;
    return rep->fds == 1 && r->nfds == 1 && (w->flags & GOFER_WALK_OPEN) && rep->done == w->n &&
           rep->error == 0 && S_ISREG(w->steps[w->n - 1].attr.mode) &&
           gofer_fd_valid(r->fds[0], O_RDONLY);
}

static int walk_send(struct gofer_client *c, struct gofer_walk *w, struct gofer_header *ret_sent)
{
    struct gofer_out out;
    w->done = 0;
    w->error = 0;
    w->fd = -1;
    w->link = NULL;
    w->link_len = 0;
    int rc = walk_request(c, w, &out);
    return rc < 0 ? rc : gofer_send(&c->link, &out, ret_sent);
}

static int walk_receive(struct gofer_client *c, struct gofer_walk *w,
                        const struct gofer_header *sent)
{
    struct gofer_reply r;
    int rc = gofer_receive(&c->link, sent, &r);
    if (rc < 0)
        return rc;
    struct gofer_walk_rep rep;
    gofer_get(&r.in, &rep, sizeof(rep));
    if (!gofer_get_steps(&r.in, c->nroots, w->n, rep.done, rep.error, w->steps) ||
        !walk_link(c, w, &r.in, &rep) || !walk_fd(w, &r, &rep))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, rep.fds);
    if (rc < 0)
        return rc;
    w->done = rep.done;
    w->error = rep.error ? gofer_errno(rep.error) : 0;
    w->fd = rep.fds ? r.fds[0] : -1;
    return 0;
}

int gofer_walk(struct gofer_client *c, struct gofer_walk *w)
{
    struct gofer_header sent;
    int rc = walk_send(c, w, &sent);
    return rc < 0 ? rc : walk_receive(c, w, &sent);
}

int gofer_walks(struct gofer_client *c, struct gofer_walk *w, size_t n)
{
    struct gofer_header sent[GOFER_WALKS_MAX];
    bool asked[GOFER_WALKS_MAX] = {false};
    for (size_t i = 0; i < n && i < ARRAY_LEN(sent); i++) {
        w[i].error = walk_send(c, &w[i], &sent[i]);
        asked[i] = w[i].error == 0;
    }
    for (size_t i = 0; i < n && i < ARRAY_LEN(sent); i++) {
        int rc = asked[i] ? walk_receive(c, &w[i], &sent[i]) : 0;
        if (rc < 0)
            w[i].error = rc;
        if (i + 1 < n)
            w[i].link = NULL;
    }
    return gofer_client_dead(c) ? -EIO : 0;
}

int gofer_lookup(struct gofer_client *c, uint32_t node, const char *name, size_t len,
                 uint32_t *ret_node, struct gofer_attr *ret_attr)
{
    if (len > GOFER_NAME_MAX)
        return -ENAMETOOLONG;
    struct gofer_walk w; /* 2 KiB, which gofer_walk fills in */
    w.node = node;
    w.flags = 0;
    w.n = 1;
    w.names[0] = name;
    w.lens[0] = (uint16_t)len;
    int rc = gofer_walk(c, &w);
    if (rc < 0)
        return rc;
    if (w.done != 1)
        return w.error;
    *ret_node = w.steps[0].node;
    *ret_attr = w.steps[0].attr;
    return 0;
}

int gofer_getattr(struct gofer_client *c, uint32_t node, struct gofer_attr *ret_attr)
{
    struct gofer_out out = gofer_request_node(&c->link, GOFER_GETATTR, node);
    return gofer_call_attr(&c->link, &out, ret_attr);
}

int gofer_open(struct gofer_client *c, uint32_t node, int *ret_fd)
{
    struct gofer_out out = gofer_request_node(&c->link, GOFER_OPEN, node);
    return gofer_call_fd(&c->link, &out, O_RDONLY, ret_fd);
}

int64_t gofer_readlink(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    struct gofer_reply r;
    int rc = gofer_call_node(&c->link, GOFER_READLINK, node, &r);
    if (rc < 0)
        return rc;
    size_t n = r.in.left;
    const char *target = gofer_get_bytes(&r.in, n);
    if (!target || !gofer_link_valid(target, n))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc < 0)
        return rc;
    n = MIN(n, cap);
    if (n > 0)
        memcpy(buf, target, n);
    return (int64_t)n;
}

int64_t gofer_readdir(struct gofer_client *c, uint32_t node, uint64_t cookie, gofer_dirent_fn *fn,
                      void *ctx)
{
    return gofer_call_readdir(&c->link, GOFER_READDIR, node, cookie, fn, ctx);
}

int gofer_statfs(struct gofer_client *c, uint32_t node, struct gofer_statfs *ret)
{
    return gofer_call_statfs(&c->link, GOFER_STATFS, node, ret);
}

int64_t gofer_getxattr(struct gofer_client *c, uint32_t node, const char *name, void *buf,
                       size_t cap)
{
    struct gofer_out out = gofer_request_node(&c->link, GOFER_GETXATTR, node);
    struct gofer_reply r;
    int rc = gofer_put_xattr(&out, name);
    if (rc == 0 && !gofer_xattr_served(name))
        return -ENODATA;
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    return rc < 0 ? rc : gofer_call_bytes(&c->link, &r, buf, cap);
}

int64_t gofer_listxattr(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    struct gofer_out out = gofer_request_node(&c->link, GOFER_LISTXATTR, node);
    return gofer_call_names(&c->link, &out, buf, cap);
}

int gofer_forget(struct gofer_client *c, const uint32_t *nodes, size_t n)
{
    return gofer_call_forget(&c->link, GOFER_FORGET, nodes, n);
}
