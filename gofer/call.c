/*
 * How the sentry asks a server. One request is one packet and is followed by exactly one reply
 * packet: send, receive, check, decode. There is mostly one request under way; where there are a
 * few, they are answered in turn, so no queue is needed. The tag only proves that both sides still
 * agree on where they are.
 *
 * The reply is checked before a byte of it is used: size, type, tag, status, number of descriptors,
 * then (by the callers) every count, length, name and attribute in it, and that nothing is left
 * over. Whatever does not fit ends the connection: gofer_break closes the socket, and from then on
 * every call is -EIO. A status is mapped through a list, so a server cannot make up error numbers.
 */
#include "gofer/call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/fdio.h"

enum {
    FORGET_BATCH = 1024
};

void gofer_link_init(struct gofer_link *l, CONSUMES int sock_fd)
{
    l->port = (struct gofer_port){
        .sock = sock_fd, .spins = gofer_spins(), .timeout_ms = GOFER_TIMEOUT_MS};
}

void gofer_link_done(struct gofer_link *l)
{
    fd_close(l->port.sock);
    l->port.sock = -1;
}

/* Gives the connection up: no reply can be trusted to belong to its request any more. */
int gofer_break(struct gofer_link *l, struct gofer_reply *r)
{
    for (size_t i = 0; i < r->nfds; i++)
        fd_close(r->fds[i]);
    fd_close(l->port.sock);
    l->port.sock = -1;
    return -EIO;
}

/* The errors that a server may report; anything else is EIO. */
int gofer_errno(uint32_t status)
{
    static const uint16_t known[] = {
        ENOENT, ENOTDIR, EACCES, EPERM,   EINVAL, ENAMETOOLONG, ESTALE, EISDIR,          ELOOP,
        ENXIO,  ERANGE,  E2BIG,  ENODATA, ENOMEM, EOPNOTSUPP,   ENFILE, EPROTONOSUPPORT, EEXIST,
        EXDEV,  EROFS,   ENOSPC, EDQUOT,  EMLINK, ENOTEMPTY,    EBUSY,  EFBIG,           ETXTBSY};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i] == status)
            return -(int)known[i];
    }
    return -EIO;
}

struct gofer_out gofer_request(struct gofer_link *l, uint16_t type)
{
    struct gofer_out out;
    gofer_out_init(&out, l->request, sizeof(l->request));
    struct gofer_header h = {.type = type, .tag = ++l->tag};
    gofer_put(&out, &h, sizeof(h));
    return out;
}

int gofer_send(struct gofer_link *l, const struct gofer_out *out, struct gofer_header *ret_sent)
{
    struct gofer_reply none = {0};
    if (l->port.sock < 0)
        return -EIO;
    if (out->full)
        return -EINVAL;
    memcpy(ret_sent, l->request, sizeof(*ret_sent));
    ret_sent->size = (uint32_t)out->size;
    memcpy(l->request, ret_sent, sizeof(*ret_sent));
    /* There is always room for a few requests: whoever waits for room would wait for ever. */
    if (fd_send(l->port.sock, l->request, out->size, NULL, 0, MSG_DONTWAIT) != (int64_t)out->size)
        return gofer_break(l, &none);
    return 0;
}

int gofer_receive(struct gofer_link *l, const struct gofer_header *sent, struct gofer_reply *r)
{
    *r = (struct gofer_reply){0};
    if (l->port.sock < 0)
        return -EIO;
    int64_t n = gofer_recv(&l->port, l->reply, GOFER_MSG_MAX, r->fds, GOFER_REPLY_FDS, &r->nfds);
    struct gofer_header h;
    if (n < (int64_t)sizeof(h))
        return gofer_break(l, r);
    memcpy(&h, l->reply, sizeof(h));
    if (h.size != (uint64_t)n || h.type != sent->type || h.tag != sent->tag || h.zero != 0)
        return gofer_break(l, r);
    gofer_in_init(&r->in, l->reply + sizeof(h), (size_t)n - sizeof(h));
    if (h.status == 0)
        return 0;
    if (r->in.left != 0 || r->nfds != 0)
        return gofer_break(l, r);
    return gofer_errno(h.status);
}

int gofer_call(struct gofer_link *l, const struct gofer_out *out, struct gofer_reply *r)
{
    struct gofer_header sent;
    *r = (struct gofer_reply){0};
    int rc = gofer_send(l, out, &sent);
    return rc < 0 ? rc : gofer_receive(l, &sent, r);
}

/* Checks that the reply was decoded to its last byte and brought nfds descriptors. */
int gofer_call_end(struct gofer_link *l, struct gofer_reply *r, size_t nfds)
{
    if (!gofer_in_done(&r->in) || r->nfds != nfds)
        return gofer_break(l, r);
    return 0;
}

/* A request about one node that has nothing else to say. */
struct gofer_out gofer_request_node(struct gofer_link *l, uint16_t type, uint32_t node)
{
    struct gofer_out out = gofer_request(l, type);
    struct gofer_node_req req = {.node = node};
    gofer_put(&out, &req, sizeof(req));
    return out;
}

int gofer_call_node(struct gofer_link *l, uint16_t type, uint32_t node, struct gofer_reply *r)
{
    struct gofer_out out = gofer_request_node(l, type, node);
    return gofer_call(l, &out, r);
}

/* --- pieces --------------------------------------------------------------------------------------
 */

int gofer_put_checked(struct gofer_out *out, const char *name, size_t len)
{
    if (len > GOFER_NAME_MAX)
        return -ENAMETOOLONG;
    if (!gofer_name_valid(name, len))
        return -EINVAL;
    gofer_put_name(out, name, len);
    return 0;
}

int gofer_put_xattr(struct gofer_out *out, const char *name)
{
    size_t len = strnlen(name, GOFER_NAME_MAX + 1);
    if (!gofer_xattr_name_valid(name, len))
        return -ERANGE;
    gofer_put_name(out, name, len);
    return 0;
}

bool gofer_step_valid(const struct gofer_step *s, uint32_t first)
{
    return s->zero == 0 && s->node >= first && s->node < GOFER_NODES_MAX &&
           gofer_attr_valid(&s->attr);
}

bool gofer_get_steps(struct gofer_in *in, uint32_t first, uint16_t n, uint16_t done, uint16_t error,
                     struct gofer_step *steps)
{
    if (done > n)
        return false;
    for (uint16_t i = 0; i < done; i++) {
        gofer_get(in, &steps[i], sizeof(steps[i]));
        if (!gofer_step_valid(&steps[i], first) || (i > 0 && !S_ISDIR(steps[i - 1].attr.mode)))
            return false;
    }
    bool at_dir = done == 0 || S_ISDIR(steps[done - 1].attr.mode);
    return error ? at_dir && done < n : done == n || !at_dir;
}

bool gofer_get_link(struct gofer_link *l, struct gofer_in *in, size_t len, const char **ret_link)
{
    const char *target = gofer_get_bytes(in, len);
    if (!target || !gofer_link_valid(target, len) || !gofer_in_done(in))
        return false;
    l->reply[(size_t)((const uint8_t *)target - l->reply) + len] = '\0';
    *ret_link = target;
    return true;
}

/* --- whole calls ---------------------------------------------------------------------------------
 */

int gofer_call_plain(struct gofer_link *l, const struct gofer_out *out)
{
    struct gofer_reply r;
    int rc = gofer_call(l, out, &r);
    return rc < 0 ? rc : gofer_call_end(l, &r, 0);
}

int gofer_call_attr(struct gofer_link *l, const struct gofer_out *out, struct gofer_attr *ret)
{
    struct gofer_reply r;
    struct gofer_attr attr;
    int rc = gofer_call(l, out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &attr, sizeof(attr));
    if (!gofer_attr_valid(&attr))
        return gofer_break(l, &r);
    rc = gofer_call_end(l, &r, 0);
    if (rc == 0)
        *ret = attr;
    return rc;
}

int gofer_call_fd(struct gofer_link *l, const struct gofer_out *out, int access, int *ret_fd)
{
    struct gofer_reply r;
    int rc = gofer_call(l, out, &r);
    if (rc < 0)
        return rc;
    if (r.nfds != 1 || !gofer_fd_valid(r.fds[0], access))
        return gofer_break(l, &r);
    rc = gofer_call_end(l, &r, 1);
    if (rc == 0)
        *ret_fd = r.fds[0];
    return rc;
}

int gofer_call_statfs(struct gofer_link *l, uint16_t type, uint32_t node, struct gofer_statfs *ret)
{
    struct gofer_reply r;
    struct gofer_statfs st;
    int rc = gofer_call_node(l, type, node, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &st, sizeof(st));
    rc = gofer_call_end(l, &r, 0);
    if (rc == 0)
        *ret = st;
    return rc;
}

int64_t gofer_call_names(struct gofer_link *l, const struct gofer_out *out, char *buf, size_t cap)
{
    struct gofer_reply r;
    int rc = gofer_call(l, out, &r);
    if (rc < 0)
        return rc;
    if (r.in.left > 0 && r.in.data[r.in.left - 1] != '\0')
        return gofer_break(l, &r);
    return gofer_call_bytes(l, &r, buf, cap);
}

bool gofer_fd_valid(int fd, int access)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & (O_ACCMODE | O_PATH)) == access && fstat(fd, &st) == 0 &&
           S_ISREG(st.st_mode);
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

int64_t gofer_call_readdir(struct gofer_link *l, uint16_t type, uint32_t node, uint64_t cookie,
                           gofer_dirent_fn *fn, void *ctx)
{
    struct gofer_out out = gofer_request(l, type);
    struct gofer_readdir_req req = {.node = node, .cookie = cookie};
    gofer_put(&out, &req, sizeof(req));
    struct gofer_reply r;
    int rc = gofer_call(l, &out, &r);
    if (rc < 0)
        return rc;
    struct gofer_readdir_rep rep;
    gofer_get(&r.in, &rep, sizeof(rep));
    struct gofer_in first = r.in;
    struct gofer_dirent e;
    for (uint32_t i = 0; i < rep.count; i++) {
        if (!dirent_get(&r.in, &e))
            return gofer_break(l, &r);
    }
    rc = gofer_call_end(l, &r, 0);
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

/* Ends a call whose reply is plain bytes, as getxattr and listxattr hand them out. */
int64_t gofer_call_bytes(struct gofer_link *l, struct gofer_reply *r, void *buf, size_t cap)
{
    size_t n = r->in.left;
    const void *bytes = gofer_get_bytes(&r->in, n);
    if (n > GOFER_XATTR_MAX)
        return gofer_break(l, r);
    int rc = gofer_call_end(l, r, 0);
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

int gofer_call_forget(struct gofer_link *l, uint16_t type, const uint32_t *nodes, size_t n)
{
    while (n > 0) {
        size_t batch = MIN(n, (size_t)FORGET_BATCH);
        struct gofer_out out = gofer_request(l, type);
        struct gofer_forget_req req = {.count = (uint32_t)batch};
        gofer_put(&out, &req, sizeof(req));
        gofer_put(&out, nodes, batch * sizeof(*nodes));
        int rc = gofer_call_plain(l, &out);
        if (rc < 0)
            return rc;
        nodes += batch;
        n -= batch;
    }
    return 0;
}
