/*
 * Requests to the volume server; call.c has the exchange itself. Names were checked by whoever
 * has walked them, and are checked here once more: an invalid one is -EINVAL and nothing is sent.
 */
#include "gofer/volume_client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/stat.h>

#include "gofer/call.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

struct volume_client {
    struct gofer_link link;
    uint32_t nroots;
    struct volume_root roots[];
};

/* --- life ----------------------------------------------------------------------------------------
 */

static bool root_valid(const struct volume_root *r)
{
    uint32_t type = r->attr.mode & S_IFMT;
    return r->zero == 0 && (r->flags & ~(VOLUME_ROOT_WRITABLE | VOLUME_ROOT_SQUASH)) == 0 &&
           gofer_attr_valid(&r->attr) && (type == S_IFDIR || type == S_IFREG);
}

static int greet(struct volume_client *c, struct error *err)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_HELLO);
    struct gofer_hello hello = {.version = VOLUME_PROTO_VERSION, .nroots = c->nroots};
    gofer_put(&out, &hello, sizeof(hello));
    struct gofer_reply r;
    int rc = gofer_call(&c->link, &out, &r);
    if (rc < 0)
        return error_set(err, -rc, "the volume server does not answer");
    struct gofer_hello said;
    gofer_get(&r.in, &said, sizeof(said));
    bool good = said.version == VOLUME_PROTO_VERSION && said.nroots == c->nroots;
    for (uint32_t i = 0; i < c->nroots; i++) {
        gofer_get(&r.in, &c->roots[i], sizeof(c->roots[i]));
        good = good && root_valid(&c->roots[i]);
    }
    if (gofer_call_end(&c->link, &r, 0) < 0 || !good)
        return error_set(err, EPROTO, "the volume server sent a malformed greeting");
    return 0;
}

int volume_client_new(CONSUMES int sock_fd, uint32_t nroots, struct volume_client **ret,
                      struct error *err)
{
    struct volume_client *c = NULL;
    if (nroots == 0 || nroots > GOFER_ROOTS_MAX) {
        fd_close(sock_fd);
        return error_set(err, EINVAL, "%u volumes: 1 to %u are possible", nroots, GOFER_ROOTS_MAX);
    }
    c = kalloc(sizeof(*c) + nroots * sizeof(c->roots[0]));
    if (!c) {
        fd_close(sock_fd);
        return error_set(err, ENOMEM, "no memory for the volumes' client");
    }
    gofer_link_init(&c->link, sock_fd);
    c->link.port.timeout_ms = VOLUME_TIMEOUT_MS;
    c->nroots = nroots;
    int rc = greet(c, err);
    if (rc < 0) {
        volume_client_free(c);
        return rc;
    }
    *ret = c;
    return 0;
}

void volume_client_free(struct volume_client *c)
{
    if (!c)
        return;
    gofer_link_done(&c->link);
    kfree(c);
}

bool volume_client_dead(const struct volume_client *c)
{
    return c->link.port.sock < 0;
}

int volume_client_root(const struct volume_client *c, uint32_t r, struct volume_root *ret)
{
    if (r >= c->nroots)
        return -ENOENT;
    *ret = c->roots[r];
    return 0;
}

/* --- pieces --------------------------------------------------------------------------------------
 */

/* -EINVAL or -ENAMETOOLONG, and the request is not to be sent. */
static int put_name(struct gofer_out *out, const char *name)
{
    size_t len = strlen(name);
    if (len > GOFER_NAME_MAX)
        return -ENAMETOOLONG;
    if (!gofer_name_valid(name, len))
        return -EINVAL;
    gofer_put_name(out, name, len);
    return 0;
}

static int put_place(struct gofer_out *out, const struct volume_ref *ref, uint32_t flags)
{
    struct volume_place_req req = {.dir = ref->dir, .node = ref->node, .flags = flags};
    gofer_put(out, &req, sizeof(req));
    if (ref->name[0])
        return put_name(out, ref->name);
    gofer_put_name(out, "", 0);
    return 0;
}

static int put_xattr_name(struct gofer_out *out, const char *name)
{
    size_t len = strnlen(name, GOFER_NAME_MAX + 1);
    if (!gofer_xattr_name_valid(name, len))
        return -ERANGE;
    gofer_put_name(out, name, len);
    return 0;
}

/* Sends a request whose reply says nothing. */
static int call_plain(struct volume_client *c, const struct gofer_out *out)
{
    struct gofer_reply r;
    int rc = gofer_call(&c->link, out, &r);
    return rc < 0 ? rc : gofer_call_end(&c->link, &r, 0);
}

static int call_attr(struct volume_client *c, const struct gofer_out *out, struct gofer_attr *ret)
{
    struct gofer_reply r;
    struct gofer_attr attr;
    int rc = gofer_call(&c->link, out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &attr, sizeof(attr));
    if (!gofer_attr_valid(&attr))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc == 0)
        *ret = attr;
    return rc;
}

static bool step_valid(const struct gofer_step *s)
{
    return s->zero == 0 && s->node < GOFER_NODES_MAX && gofer_attr_valid(&s->attr);
}

/* A node, and behind it the target if it is a symlink. */
static int call_step(struct volume_client *c, const struct gofer_out *out, struct gofer_step *ret,
                     const char **ret_link)
{
    struct gofer_reply r;
    struct gofer_step step;
    int rc = gofer_call(&c->link, out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &step, sizeof(step));
    size_t len = r.in.left;
    bool with_link = ret_link && S_ISLNK(step.attr.mode);
    const char *link = with_link ? gofer_get_bytes(&r.in, len) : NULL;
    if (!step_valid(&step) || (with_link && (!link || !gofer_link_valid(link, len))))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc < 0)
        return rc;
    if (link)
        c->link.reply[(size_t)((const uint8_t *)link - c->link.reply) + len] = '\0';
    if (ret_link)
        *ret_link = link;
    *ret = step;
    return 0;
}

/* --- reading -------------------------------------------------------------------------------------
 */

int volume_client_lookup(struct volume_client *c, uint32_t dir, const char *name,
                         struct gofer_step *ret, const char **ret_link)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_LOOKUP);
    struct volume_dir_req req = {.dir = dir};
    gofer_put(&out, &req, sizeof(req));
    int rc = put_name(&out, name);
    return rc < 0 ? rc : call_step(c, &out, ret, ret_link);
}

/* All but the last step are directories, and only the last one ends a walk early. */
static bool walk_steps(struct gofer_in *in, uint16_t n, const struct volume_walk_rep *rep,
                       struct volume_walk *ret)
{
    if (rep->zero != 0 || rep->done > n || (rep->error && rep->done == n))
        return false;
    for (uint16_t i = 0; i < rep->done; i++) {
        gofer_get(in, &ret->steps[i], sizeof(ret->steps[i]));
        if (!step_valid(&ret->steps[i]) || (i > 0 && !S_ISDIR(ret->steps[i - 1].attr.mode)))
            return false;
    }
    bool at_dir = rep->done == 0 || S_ISDIR(ret->steps[rep->done - 1].attr.mode);
    return rep->error ? at_dir : rep->done == n || !at_dir;
}

int volume_client_walk(struct volume_client *c, uint32_t dir, const char *const *names, uint16_t n,
                       struct volume_walk *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_WALK);
    struct volume_walk_req req = {.dir = dir, .count = n};
    struct volume_walk_rep rep;
    struct gofer_reply r;
    gofer_put(&out, &req, sizeof(req));
    int rc = n == 0 || n > VOLUME_WALK_MAX ? -EINVAL : 0;
    for (uint16_t i = 0; i < n && rc == 0; i++)
        rc = put_name(&out, names[i]);
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &rep, sizeof(rep));
    if (!walk_steps(&r.in, n, &rep, ret))
        return gofer_break(&c->link, &r);
    size_t len = r.in.left;
    bool symlink = rep.done > 0 && S_ISLNK(ret->steps[rep.done - 1].attr.mode);
    const char *link = symlink && len > 0 ? gofer_get_bytes(&r.in, len) : NULL;
    if (link && !gofer_link_valid(link, len))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc < 0)
        return rc;
    if (link)
        c->link.reply[(size_t)((const uint8_t *)link - c->link.reply) + len] = '\0';
    ret->link = link;
    ret->done = rep.done;
    ret->error = rep.error ? gofer_errno(rep.error) : 0;
    return 0;
}

int volume_client_getattr(struct volume_client *c, uint32_t node, struct gofer_attr *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_GETATTR);
    struct gofer_node_req req = {.node = node};
    gofer_put(&out, &req, sizeof(req));
    return call_attr(c, &out, ret);
}

int volume_client_open(struct volume_client *c, const struct volume_ref *ref, uint32_t flags,
                       int *ret_fd)
{
    static const int access[] = {0, O_RDONLY, O_WRONLY, O_RDWR};
    struct gofer_out out = gofer_request(&c->link, VOLUME_OPEN);
    struct gofer_reply r;
    int rc = flags == 0 || flags > 3 ? -EINVAL : put_place(&out, ref, flags);
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    if (rc < 0)
        return rc;
    if (r.nfds != 1 || !gofer_fd_valid(r.fds[0], access[flags]))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 1);
    if (rc == 0)
        *ret_fd = r.fds[0];
    return rc;
}

int64_t volume_client_readdir(struct volume_client *c, uint32_t node, uint64_t cookie,
                              gofer_dirent_fn *fn, void *ctx)
{
    return gofer_call_readdir(&c->link, VOLUME_READDIR, node, cookie, fn, ctx);
}

int volume_client_statfs(struct volume_client *c, uint32_t node, struct gofer_statfs *ret)
{
    struct gofer_reply r;
    struct gofer_statfs st;
    int rc = gofer_call_node(&c->link, VOLUME_STATFS, node, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &st, sizeof(st));
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc == 0)
        *ret = st;
    return rc;
}

int64_t volume_client_getxattr(struct volume_client *c, const struct volume_ref *ref,
                               const char *name, void *buf, size_t cap)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_GETXATTR);
    struct gofer_reply r;
    int rc = put_place(&out, ref, 0);
    if (rc == 0)
        rc = put_xattr_name(&out, name);
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    return rc < 0 ? rc : gofer_call_bytes(&c->link, &r, buf, cap);
}

int64_t volume_client_listxattr(struct volume_client *c, const struct volume_ref *ref, char *buf,
                                size_t cap)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_LISTXATTR);
    struct gofer_reply r;
    int rc = put_place(&out, ref, 0);
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    if (rc < 0)
        return rc;
    if (r.in.left > 0 && r.in.data[r.in.left - 1] != '\0')
        return gofer_break(&c->link, &r);
    return gofer_call_bytes(&c->link, &r, buf, cap);
}

int volume_client_forget(struct volume_client *c, const uint32_t *nodes, size_t n)
{
    return gofer_call_forget(&c->link, VOLUME_FORGET, nodes, n);
}

/* --- changes -------------------------------------------------------------------------------------
 */

int volume_client_create(struct volume_client *c, const struct volume_create_req *req,
                         const char *name, const char *target, struct gofer_step *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_CREATE);
    gofer_put(&out, req, sizeof(*req));
    int rc = put_name(&out, name);
    if (rc < 0)
        return rc;
    if (target) {
        if (!gofer_link_valid(target, strlen(target)))
            return -ENAMETOOLONG;
        gofer_put(&out, target, strlen(target));
    }
    return call_step(c, &out, ret, NULL);
}

int volume_client_link(struct volume_client *c, const struct volume_ref *ref, uint32_t new_dir,
                       const char *new_name, struct gofer_attr *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_LINK);
    struct volume_link_req req = {.dir = ref->dir, .node = ref->node, .new_dir = new_dir};
    gofer_put(&out, &req, sizeof(req));
    int rc = put_name(&out, ref->name);
    if (rc == 0)
        rc = put_name(&out, new_name);
    return rc < 0 ? rc : call_attr(c, &out, ret);
}

int volume_client_remove(struct volume_client *c, uint32_t dir, const char *name, bool directory)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_REMOVE);
    struct volume_dir_req req = {.dir = dir, .flags = directory ? VOLUME_DIRECTORY : 0};
    gofer_put(&out, &req, sizeof(req));
    int rc = put_name(&out, name);
    return rc < 0 ? rc : call_plain(c, &out);
}

int volume_client_rename(struct volume_client *c, const struct volume_rename_req *req,
                         const char *name, const char *new_name)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_RENAME);
    gofer_put(&out, req, sizeof(*req));
    int rc = put_name(&out, name);
    if (rc == 0)
        rc = put_name(&out, new_name);
    return rc < 0 ? rc : call_plain(c, &out);
}

int volume_client_setattr(struct volume_client *c, const struct volume_ref *ref,
                          const struct volume_setattr_req *req, struct gofer_attr *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_SETATTR);
    struct volume_setattr_req full = *req;
    full.dir = ref->dir;
    full.node = ref->node;
    gofer_put(&out, &full, sizeof(full));
    int rc = 0;
    if (ref->name[0])
        rc = put_name(&out, ref->name);
    else
        gofer_put_name(&out, "", 0);
    return rc < 0 ? rc : call_attr(c, &out, ret);
}

int volume_client_setxattr(struct volume_client *c, const struct volume_ref *ref, const char *name,
                           const void *value, size_t len, int flags)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_SETXATTR);
    int rc = len > GOFER_XATTR_MAX ? -E2BIG : put_place(&out, ref, (uint32_t)flags);
    if (rc == 0)
        rc = put_xattr_name(&out, name);
    if (rc < 0)
        return rc;
    gofer_put(&out, value, len);
    return call_plain(c, &out);
}

int volume_client_removexattr(struct volume_client *c, const struct volume_ref *ref,
                              const char *name)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_REMOVEXATTR);
    int rc = put_place(&out, ref, 0);
    if (rc == 0)
        rc = put_xattr_name(&out, name);
    return rc < 0 ? rc : call_plain(c, &out);
}

int volume_client_sync(struct volume_client *c, uint32_t dir)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_SYNC);
    struct gofer_node_req req = {.node = dir};
    gofer_put(&out, &req, sizeof(req));
    /* However long the host's disk takes. */
    c->link.port.timeout_ms = 0;
    int rc = call_plain(c, &out);
    c->link.port.timeout_ms = VOLUME_TIMEOUT_MS;
    return rc;
}
