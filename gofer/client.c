/*
 * How the sentry asks the gofer. One request is one packet and is followed by exactly one reply
 * packet: send, receive, check, decode. There is one request under way at a time, so the client
 * needs no queue; the tag only proves that both sides still agree on where they are.
 *
 * The reply is checked before a byte of it is used: size, type, tag, status, number of
 * descriptors, then every count, length, name and attribute in it, and that nothing is left over.
 * Whatever does not fit ends the connection: client_break closes the socket, and from then on every
 * call is -EIO. A status is mapped through a list, so the server cannot make up error numbers.
 */
#include "gofer/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    REQUEST_MAX = 8192, /* the longest request: WALK with 16 names of 255 bytes */
    FORGET_BATCH = 1024,
    REPLY_FDS = 4, /* room for descriptors nobody asked for, so that they can be closed */
};

struct gofer_client {
    struct gofer_port port; /* sock -1: dead */
    uint32_t tag;
    uint32_t nroots;
    struct gofer_attr *roots; /* [nroots] */
    uint8_t request[REQUEST_MAX];
    uint8_t reply[GOFER_MSG_MAX + 1]; /* one more, to end a link's target with a NUL */
};

/* A received reply: what follows its header, and its descriptors (owned until taken). */
struct reply {
    struct gofer_in in;
    int fds[REPLY_FDS];
    size_t nfds;
};

/* Gives the connection up: no reply can be trusted to belong to its request any more. */
static int client_break(struct gofer_client *c, struct reply *r)
{
    for (size_t i = 0; i < r->nfds; i++)
        fd_close(r->fds[i]);
    fd_close(c->port.sock);
    c->port.sock = -1;
    return -EIO;
}

/* The errors that a server may report; anything else is EIO. */
static int status_errno(uint32_t status)
{
    static const uint16_t known[] = {
        ENOENT, ENOTDIR, EACCES, EPERM,   EINVAL, ENAMETOOLONG, ESTALE, EISDIR,         ELOOP,
        ENXIO,  ERANGE,  E2BIG,  ENODATA, ENOMEM, EOPNOTSUPP,   ENFILE, EPROTONOSUPPORT};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i] == status)
            return -(int)known[i];
    }
    return -EIO;
}

static struct gofer_out request_begin(struct gofer_client *c, enum gofer_msg type)
{
    struct gofer_out out;
    gofer_out_init(&out, c->request, sizeof(c->request));
    struct gofer_header h = {.type = (uint16_t)type, .tag = ++c->tag};
    gofer_put(&out, &h, sizeof(h));
    return out;
}

/*
 * Sends the request and waits for its reply. 0: *r holds it, and the caller ends with call_end.
 * Else the errno that the server gave, or -EIO with the connection closed.
 */
static int call(struct gofer_client *c, const struct gofer_out *out, struct reply *r)
{
    *r = (struct reply){0};
    if (c->port.sock < 0)
        return -EIO;
    if (out->full)
        return -EINVAL;
    struct gofer_header sent;
    memcpy(&sent, c->request, sizeof(sent));
    sent.size = (uint32_t)out->size;
    memcpy(c->request, &sent, sizeof(sent));
    /* There is always room for one request: whoever waits for room would wait for ever. */
    if (fd_send(c->port.sock, c->request, out->size, NULL, 0, MSG_DONTWAIT) != (int64_t)out->size)
        return client_break(c, r);
    int64_t n = gofer_recv(&c->port, c->reply, GOFER_MSG_MAX, r->fds, REPLY_FDS, &r->nfds);
    struct gofer_header h;
    if (n < (int64_t)sizeof(h))
        return client_break(c, r);
    memcpy(&h, c->reply, sizeof(h));
    if (h.size != (uint64_t)n || h.type != sent.type || h.tag != sent.tag || h.zero != 0)
        return client_break(c, r);
    gofer_in_init(&r->in, c->reply + sizeof(h), (size_t)n - sizeof(h));
    if (h.status == 0)
        return 0;
    if (r->in.left != 0 || r->nfds != 0)
        return client_break(c, r);
    return status_errno(h.status);
}

/* Checks that the reply was decoded to its last byte and brought nfds descriptors. */
static int call_end(struct gofer_client *c, struct reply *r, size_t nfds)
{
    if (!gofer_in_done(&r->in) || r->nfds != nfds)
        return client_break(c, r);
    return 0;
}

/* A request about one node that has nothing else to say. */
static int call_node(struct gofer_client *c, enum gofer_msg type, uint32_t node, struct reply *r)
{
    struct gofer_out out = request_begin(c, type);
    struct gofer_node_req req = {.node = node};
    gofer_put(&out, &req, sizeof(req));
    return call(c, &out, r);
}

/* Whether a donated descriptor is what was promised: a regular file, open for reading only. */
static bool fd_valid(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & (O_ACCMODE | O_PATH)) == O_RDONLY && fstat(fd, &st) == 0 &&
           S_ISREG(st.st_mode);
}

static int client_greet(struct gofer_client *c, struct error *err)
{
    struct gofer_out out = request_begin(c, GOFER_HELLO);
    struct gofer_hello hello = {.version = GOFER_PROTO_VERSION, .nroots = c->nroots};
    gofer_put(&out, &hello, sizeof(hello));
    struct reply r;
    int rc = call(c, &out, &r);
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
    if (call_end(c, &r, 0) < 0 || !good)
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
    c->port = (struct gofer_port){
        .sock = sock_fd, .spins = gofer_spins(), .timeout_ms = GOFER_TIMEOUT_MS};
    int rc = client_open(c, nroots, err);
    if (rc < 0) {
        gofer_client_free(c);
        return rc;
    }
    *ret = c;
    return 0;
}

void gofer_client_free(struct gofer_client *c)
{
    if (!c)
        return;
    fd_close(c->port.sock);
    kfree(c->roots);
    kfree(c);
}

bool gofer_client_dead(const struct gofer_client *c)
{
    return c->port.sock < 0;
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
    *ret = request_begin(c, GOFER_WALK);
    struct gofer_walk_req req = {.node = w->node, .count = w->n, .flags = w->flags};
    gofer_put(ret, &req, sizeof(req));
    for (uint16_t i = 0; i < w->n; i++) {
        if (w->lens[i] > GOFER_NAME_MAX)
            return -ENAMETOOLONG;
        if (!gofer_name_valid(w->names[i], w->lens[i]))
            return -EINVAL;
        gofer_put_name(ret, w->names[i], w->lens[i]);
    }
    return 0;
}

static bool step_valid(const struct gofer_client *c, const struct gofer_step *s)
{
    return s->zero == 0 && s->node >= c->nroots && s->node < GOFER_NODES_MAX &&
           gofer_attr_valid(&s->attr);
}

/* Takes the steps: all but the last are directories, and only the last one ends a walk early. */
static bool walk_steps(struct gofer_client *c, struct gofer_walk *w, struct gofer_in *in,
                       const struct gofer_walk_rep *rep)
{
    if (rep->done > w->n)
        return false;
    for (uint16_t i = 0; i < rep->done; i++) {
        gofer_get(in, &w->steps[i], sizeof(w->steps[i]));
        if (!step_valid(c, &w->steps[i]))
            return false;
        if (i > 0 && !S_ISDIR(w->steps[i - 1].attr.mode))
            return false;
    }
    bool at_dir = rep->done == 0 || S_ISDIR(w->steps[rep->done - 1].attr.mode);
    return rep->error ? at_dir && rep->done < w->n : rep->done == w->n || !at_dir;
}

/* Takes the target behind the steps; it is there exactly if the last step is a symlink. */
static bool walk_link(struct gofer_client *c, struct gofer_walk *w, struct gofer_in *in,
                      const struct gofer_walk_rep *rep)
{
    bool symlink = rep->done > 0 && S_ISLNK(w->steps[rep->done - 1].attr.mode);
    if (rep->link == 0)
        return true;
    const char *target = gofer_get_bytes(in, rep->link);
    if (!symlink || !target || !gofer_link_valid(target, rep->link) || !gofer_in_done(in))
        return false;
    c->reply[(size_t)((const uint8_t *)target - c->reply) + rep->link] = '\0';
    w->link = target;
    w->link_len = rep->link;
    return true;
}

static bool walk_fd(struct gofer_walk *w, const struct reply *r, const struct gofer_walk_rep *rep)
{
    if (rep->fds == 0)
        return r->nfds == 0;
    return rep->fds == 1 && r->nfds == 1 && (w->flags & GOFER_WALK_OPEN) && rep->done == w->n &&
           rep->error == 0 && S_ISREG(w->steps[w->n - 1].attr.mode) && fd_valid(r->fds[0]);
}

int gofer_walk(struct gofer_client *c, struct gofer_walk *w)
{
    struct gofer_out out;
    w->done = 0;
    w->error = 0;
    w->fd = -1;
    w->link = NULL;
    w->link_len = 0;
    int rc = walk_request(c, w, &out);
    if (rc < 0)
        return rc;
    struct reply r;
    rc = call(c, &out, &r);
    if (rc < 0)
        return rc;
    struct gofer_walk_rep rep;
    gofer_get(&r.in, &rep, sizeof(rep));
    if (!walk_steps(c, w, &r.in, &rep) || !walk_link(c, w, &r.in, &rep) || !walk_fd(w, &r, &rep))
        return client_break(c, &r);
    rc = call_end(c, &r, rep.fds);
    if (rc < 0)
        return rc;
    w->done = rep.done;
    w->error = rep.error ? status_errno(rep.error) : 0;
    w->fd = rep.fds ? r.fds[0] : -1;
    return 0;
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
    struct reply r;
    int rc = call_node(c, GOFER_GETATTR, node, &r);
    if (rc < 0)
        return rc;
    struct gofer_attr attr;
    gofer_get(&r.in, &attr, sizeof(attr));
    if (!gofer_attr_valid(&attr))
        return client_break(c, &r);
    rc = call_end(c, &r, 0);
    if (rc == 0)
        *ret_attr = attr;
    return rc;
}

int gofer_open(struct gofer_client *c, uint32_t node, int *ret_fd)
{
    struct reply r;
    int rc = call_node(c, GOFER_OPEN, node, &r);
    if (rc < 0)
        return rc;
    if (r.nfds != 1 || !fd_valid(r.fds[0]))
        return client_break(c, &r);
    rc = call_end(c, &r, 1);
    if (rc == 0)
        *ret_fd = r.fds[0];
    return rc;
}

int64_t gofer_readlink(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    struct reply r;
    int rc = call_node(c, GOFER_READLINK, node, &r);
    if (rc < 0)
        return rc;
    size_t n = r.in.left;
    const char *target = gofer_get_bytes(&r.in, n);
    if (!target || !gofer_link_valid(target, n))
        return client_break(c, &r);
    rc = call_end(c, &r, 0);
    if (rc < 0)
        return rc;
    n = MIN(n, cap);
    if (n > 0)
        memcpy(buf, target, n);
    return (int64_t)n;
}

/* Takes one entry. *ret_e points into the message. */
static bool dirent_get(struct gofer_in *in, struct gofer_dirent *ret_e)
{
    struct gofer_dirent_wire wire;
    gofer_get(in, &wire, sizeof(wire));
    const char *name = gofer_get_bytes(in, (size_t)wire.length + 1);
    if (!name || name[wire.length] != '\0' || !gofer_name_valid(name, wire.length))
        return false;
    *ret_e = (struct gofer_dirent){.ino = wire.ino,
                                   .cookie = wire.cookie,
                                   .name = name,
                                   .name_len = wire.length,
                                   .type = wire.type};
    return wire.type <= 14;
}

int64_t gofer_readdir(struct gofer_client *c, uint32_t node, uint64_t cookie, gofer_dirent_fn *fn,
                      void *ctx)
{
    struct gofer_out out = request_begin(c, GOFER_READDIR);
    struct gofer_readdir_req req = {.node = node, .cookie = cookie};
    gofer_put(&out, &req, sizeof(req));
    struct reply r;
    int rc = call(c, &out, &r);
    if (rc < 0)
        return rc;
    struct gofer_readdir_rep rep;
    gofer_get(&r.in, &rep, sizeof(rep));
    struct gofer_in first = r.in;
    struct gofer_dirent e;
    for (uint32_t i = 0; i < rep.count; i++) {
        if (!dirent_get(&r.in, &e))
            return client_break(c, &r);
    }
    rc = call_end(c, &r, 0);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < rep.count; i++) {
        if (!dirent_get(&first, &e))
            return -EIO;
        if (!fn(ctx, &e))
            return (int64_t)i + 1;
    }
    return rep.count;
}

int gofer_statfs(struct gofer_client *c, uint32_t node, struct gofer_statfs *ret)
{
    struct reply r;
    int rc = call_node(c, GOFER_STATFS, node, &r);
    if (rc < 0)
        return rc;
    struct gofer_statfs st;
    gofer_get(&r.in, &st, sizeof(st));
    rc = call_end(c, &r, 0);
    if (rc == 0)
        *ret = st;
    return rc;
}

/* Ends a call whose reply is plain bytes, as getxattr and listxattr hand them out. */
static int64_t call_bytes(struct gofer_client *c, struct reply *r, void *buf, size_t cap)
{
    size_t n = r->in.left;
    const void *bytes = gofer_get_bytes(&r->in, n);
    if (n > GOFER_XATTR_MAX)
        return client_break(c, r);
    int rc = call_end(c, r, 0);
    if (rc < 0)
        return rc;
    if (cap == 0)
        return (int64_t)n;
    if (n > cap)
        return -ERANGE;
    if (n > 0)
        memcpy(buf, bytes, n);
    return (int64_t)n;
}

int64_t gofer_getxattr(struct gofer_client *c, uint32_t node, const char *name, void *buf,
                       size_t cap)
{
    size_t len = strnlen(name, GOFER_NAME_MAX + 1);
    if (!gofer_xattr_name_valid(name, len))
        return -ERANGE;
    struct gofer_out out = request_begin(c, GOFER_GETXATTR);
    struct gofer_node_req req = {.node = node};
    gofer_put(&out, &req, sizeof(req));
    gofer_put_name(&out, name, len);
    struct reply r;
    int rc = call(c, &out, &r);
    return rc < 0 ? rc : call_bytes(c, &r, buf, cap);
}

int64_t gofer_listxattr(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    struct reply r;
    int rc = call_node(c, GOFER_LISTXATTR, node, &r);
    if (rc < 0)
        return rc;
    if (r.in.left > 0 && r.in.data[r.in.left - 1] != '\0')
        return client_break(c, &r);
    return call_bytes(c, &r, buf, cap);
}

int gofer_forget(struct gofer_client *c, const uint32_t *nodes, size_t n)
{
    while (n > 0) {
        size_t batch = MIN(n, (size_t)FORGET_BATCH);
        struct gofer_out out = request_begin(c, GOFER_FORGET);
        struct gofer_forget_req req = {.count = (uint32_t)batch};
        gofer_put(&out, &req, sizeof(req));
        gofer_put(&out, nodes, batch * sizeof(*nodes));
        struct reply r;
        int rc = call(c, &out, &r);
        if (rc == 0)
            rc = call_end(c, &r, 0);
        if (rc < 0)
            return rc;
        nodes += batch;
        n -= batch;
    }
    return 0;
}
