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

static int put_name(struct gofer_out *out, const char *name)
{
    return gofer_put_checked(out, name, strlen(name));
}

/* The name of a place: none for a root. */
static int put_place_name(struct gofer_out *out, const struct volume_ref *ref)
{
    if (ref->name[0])
        return put_name(out, ref->name);
    gofer_put_name(out, "", 0);
    return 0;
}

static int put_place(struct gofer_out *out, const struct volume_ref *ref, uint32_t flags)
{
    struct volume_place_req req = {.dir = ref->dir, .node = ref->node, .flags = flags};
    gofer_put(out, &req, sizeof(req));
    return put_place_name(out, ref);
}

/* A place and the name of one of its attributes. */
static int put_attribute(struct gofer_out *out, const struct volume_ref *ref, uint32_t flags,
                         const char *name)
{
    int rc = put_place(out, ref, flags);
    return rc < 0 ? rc : gofer_put_xattr(out, name);
}

/* A node, and behind it the target if it is a symlink. */
static int call_lookup(struct volume_client *c, const struct gofer_out *out, struct gofer_step *ret,
                       const char **ret_link)
{
    struct gofer_reply r;
    struct gofer_step step;
    int rc = gofer_call(&c->link, out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &step, sizeof(step));
    bool with_link = S_ISLNK(step.attr.mode);
    const char *link = NULL;
    if (!gofer_step_valid(&step, 0) ||
        (with_link && !gofer_get_link(&c->link, &r.in, r.in.left, &link)))
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc < 0)
        return rc;
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
    return rc < 0 ? rc : call_lookup(c, &out, ret, ret_link);
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
    bool good = rep.zero == 0 && gofer_attr_valid(&rep.dir) &&
                gofer_get_steps(&r.in, 0, n, rep.done, rep.error, ret->steps);
    ret->link = NULL;
    if (good && rep.done > 0 && S_ISLNK(ret->steps[rep.done - 1].attr.mode) && r.in.left > 0)
        good = gofer_get_link(&c->link, &r.in, r.in.left, &ret->link);
    if (!good)
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, 0);
    if (rc < 0)
        return rc;
    ret->dir = rep.dir;
    ret->done = rep.done;
    ret->error = rep.error ? gofer_errno(rep.error) : 0;
    return 0;
}

int volume_client_getattr(struct volume_client *c, uint32_t node, struct gofer_attr *ret)
{
    struct gofer_out out = gofer_request_node(&c->link, VOLUME_GETATTR, node);
    return gofer_call_attr(&c->link, &out, ret);
}

int volume_client_open(struct volume_client *c, const struct volume_ref *ref, uint32_t flags,
                       int *ret_fd)
{
    static const int access[] = {0, O_RDONLY, O_WRONLY, O_RDWR};
    struct gofer_out out = gofer_request(&c->link, VOLUME_OPEN);
    int rc = flags == 0 || flags > 3 ? -EINVAL : put_place(&out, ref, flags);
    return rc < 0 ? rc : gofer_call_fd(&c->link, &out, access[flags], ret_fd);
}

int64_t volume_client_readdir(struct volume_client *c, uint32_t node, uint64_t cookie,
                              gofer_dirent_fn *fn, void *ctx)
{
    return gofer_call_readdir(&c->link, VOLUME_READDIR, node, cookie, fn, ctx);
}

int volume_client_statfs(struct volume_client *c, uint32_t node, struct gofer_statfs *ret)
{
    return gofer_call_statfs(&c->link, VOLUME_STATFS, node, ret);
}

int64_t volume_client_getxattr(struct volume_client *c, const struct volume_ref *ref,
                               const char *name, void *buf, size_t cap)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_GETXATTR);
    struct gofer_reply r;
    int rc = put_attribute(&out, ref, 0, name);
    if (rc == 0 && !gofer_xattr_served(name))
        return -ENODATA;
    if (rc == 0)
        rc = gofer_call(&c->link, &out, &r);
    return rc < 0 ? rc : gofer_call_bytes(&c->link, &r, buf, cap);
}

int64_t volume_client_listxattr(struct volume_client *c, const struct volume_ref *ref, char *buf,
                                size_t cap)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_LISTXATTR);
    int rc = put_place(&out, ref, 0);
    return rc < 0 ? rc : gofer_call_names(&c->link, &out, buf, cap);
}

int volume_client_forget(struct volume_client *c, const uint32_t *nodes, size_t n)
{
    return gofer_call_forget(&c->link, VOLUME_FORGET, nodes, n);
}

/* --- changes -------------------------------------------------------------------------------------
 */

/* A node, and maybe a descriptor of a regular file. */
static int call_create(struct volume_client *c, const struct gofer_out *out, struct gofer_step *ret,
                       int *ret_fd)
{
    struct gofer_reply r;
    struct gofer_step step;
    int rc = gofer_call(&c->link, out, &r);
    if (rc < 0)
        return rc;
    gofer_get(&r.in, &step, sizeof(step));
    bool good = gofer_step_valid(&step, 0) && r.nfds <= 1;
    if (good && r.nfds == 1)
        good = S_ISREG(step.attr.mode) && gofer_fd_valid(r.fds[0], O_RDWR);
    if (!good)
        return gofer_break(&c->link, &r);
    rc = gofer_call_end(&c->link, &r, r.nfds);
    if (rc < 0)
        return rc;
    *ret = step;
    *ret_fd = r.nfds == 1 ? r.fds[0] : -1;
    return 0;
}

int volume_client_create(struct volume_client *c, const struct volume_create_req *req,
                         const char *name, const char *target, struct gofer_step *ret, int *ret_fd)
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
    return call_create(c, &out, ret, ret_fd);
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
    return rc < 0 ? rc : gofer_call_attr(&c->link, &out, ret);
}

int volume_client_remove(struct volume_client *c, uint32_t dir, const char *name, bool directory)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_REMOVE);
    struct volume_dir_req req = {.dir = dir, .flags = directory ? VOLUME_DIRECTORY : 0};
    gofer_put(&out, &req, sizeof(req));
    int rc = put_name(&out, name);
    return rc < 0 ? rc : gofer_call_plain(&c->link, &out);
}

int volume_client_rename(struct volume_client *c, const struct volume_rename_req *req,
                         const char *name, const char *new_name)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_RENAME);
    gofer_put(&out, req, sizeof(*req));
    int rc = put_name(&out, name);
    if (rc == 0)
        rc = put_name(&out, new_name);
    return rc < 0 ? rc : gofer_call_plain(&c->link, &out);
}

int volume_client_setattr(struct volume_client *c, const struct volume_ref *ref,
                          const struct volume_setattr_req *req, struct gofer_attr *ret)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_SETATTR);
    struct volume_setattr_req full = *req;
    full.dir = ref->dir;
    full.node = ref->node;
    gofer_put(&out, &full, sizeof(full));
    int rc = put_place_name(&out, ref);
    return rc < 0 ? rc : gofer_call_attr(&c->link, &out, ret);
}

int volume_client_setxattr(struct volume_client *c, const struct volume_ref *ref, const char *name,
                           const void *value, size_t len, int flags)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_SETXATTR);
    int rc = len > GOFER_XATTR_MAX ? -E2BIG : put_attribute(&out, ref, (uint32_t)flags, name);
    if (rc < 0)
        return rc;
    gofer_put(&out, value, len);
    return gofer_call_plain(&c->link, &out);
}

int volume_client_removexattr(struct volume_client *c, const struct volume_ref *ref,
                              const char *name)
{
    struct gofer_out out = gofer_request(&c->link, VOLUME_REMOVEXATTR);
    int rc = put_attribute(&out, ref, 0, name);
    return rc < 0 ? rc : gofer_call_plain(&c->link, &out);
}

int volume_client_sync(struct volume_client *c, uint32_t dir)
{
    struct gofer_out out = gofer_request_node(&c->link, VOLUME_SYNC, dir);
    /* However long the host's disk takes. */
    c->link.port.timeout_ms = 0;
    int rc = gofer_call_plain(&c->link, &out);
    c->link.port.timeout_ms = VOLUME_TIMEOUT_MS;
    return rc;
}
