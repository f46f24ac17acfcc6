/*
 * The volumes' requests (serve.c). Once a request has been read, the nodes it names must exist
 * (ESTALE) and, for a change, be of a writable root (EROFS); only then is the host asked.
 */
#include "gofer/volume_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/fdio.h"

/* --- pieces of requests --------------------------------------------------------------------------
 */

static struct volumes *volumes_of(const struct exchange *x)
{
    return &((struct volume_server *)x->server)->volumes;
}

/* A name, or none (length 0) for a root. */
static void take_place_name(struct exchange *x, serve_name ret)
{
    uint16_t len = 0;
    struct gofer_in ahead = x->in;
    gofer_get(&ahead, &len, sizeof(len));
    if (!ahead.bad && len == 0) {
        x->in = ahead;
        memset(ret, 0, sizeof(serve_name));
        return;
    }
    serve_take_name(x, ret);
}

static int node_of(const struct exchange *x, uint32_t id, struct vnode **ret)
{
    *ret = volumes_get(volumes_of(x), id);
    return *ret ? 0 : -ESTALE;
}

/* For changes. */
static int writable(const struct exchange *x, const struct vnode *n)
{
    return volumes_of(x)->roots[n->root].writable ? 0 : -EROFS;
}

static int place_of(const struct exchange *x, uint32_t dir, uint32_t node, const char *name,
                    struct volume_place *ret)
{
    int rc = node_of(x, dir, &ret->dir);
    if (rc == 0)
        rc = node_of(x, node, &ret->node);
    ret->name = name;
    if (rc == 0 && ret->dir->root != ret->node->root)
        rc = -ESTALE;
    return rc;
}

static int node_request(struct exchange *x, struct vnode **ret)
{
    uint32_t id;
    int rc = serve_node_request(x, &id);
    return rc < 0 ? rc : node_of(x, id, ret);
}

/* A whole request about a name in a directory, with flags of which these are known. */
static int dir_request(struct exchange *x, uint32_t known, uint32_t *ret_flags, serve_name name,
                       struct vnode **ret)
{
    struct volume_dir_req req;
    gofer_get(&x->in, &req, sizeof(req));
    serve_take_name(x, name);
    if (!gofer_in_done(&x->in) || (req.flags & ~known))
        return -EPROTO;
    *ret_flags = req.flags;
    return node_of(x, req.dir, ret);
}

/* The start of a request about a place: *req, its name and, unless NULL, that of an attribute. */
static void take_place(struct exchange *x, struct volume_place_req *req, serve_name name,
                       serve_name attr)
{
    gofer_get(&x->in, req, sizeof(*req));
    take_place_name(x, name);
    if (attr)
        serve_take_xattr_name(x, attr);
}

/* A whole request about a place that has no flags. */
static int place_request(struct exchange *x, serve_name name, serve_name attr,
                         struct volume_place *ret)
{
    struct volume_place_req req;
    take_place(x, &req, name, attr);
    if (!gofer_in_done(&x->in) || req.zero != 0 || req.flags != 0)
        return -EPROTO;
    return place_of(x, req.dir, req.node, name, ret);
}

static int attr_reply(struct exchange *x, int rc, const struct gofer_attr *attr)
{
    return serve_put(x, rc, attr, sizeof(*attr));
}

static int step_reply(struct exchange *x, const struct vnode *n, const struct gofer_attr *attr)
{
    struct gofer_step step = {.node = n->id, .attr = *attr};
    return serve_put(x, 0, &step, sizeof(step));
}

/* The target of a symlink behind what was put so far. */
static int put_link(struct exchange *x, const struct vnode *n)
{
    char target[GOFER_LINK_MAX + 1];
    int64_t len = volume_readlink(n, target, sizeof(target));
    if (len < 0)
        return (int)len;
    gofer_put(&x->out, target, (size_t)len);
    return 0;
}

/* --- reading -------------------------------------------------------------------------------------
 */

static int handle_hello(struct exchange *x)
{
    struct gofer_hello said;
    gofer_get(&x->in, &said, sizeof(said));
    if (!gofer_in_done(&x->in))
        return -EPROTO;
    const struct volumes *v = volumes_of(x);
    if (said.version != VOLUME_PROTO_VERSION || said.nroots != v->nroots)
        return -EPROTONOSUPPORT;
    gofer_put(&x->out, &said, sizeof(said));
    for (uint32_t r = 0; r < v->nroots; r++) {
        struct volume_root root = {.flags = v->squash ? VOLUME_ROOT_SQUASH : 0};
        root.flags |= v->roots[r].writable ? VOLUME_ROOT_WRITABLE : 0;
        int rc = volume_getattr(volumes_of(x), v->by_id[r], &root.attr);
        if (rc < 0)
            return rc;
        gofer_put(&x->out, &root, sizeof(root));
    }
    ((struct volume_server *)x->server)->greeted = true;
    return 0;
}

static int handle_lookup(struct exchange *x)
{
    uint32_t flags;
    serve_name name;
    struct vnode *dir, *n;
    struct gofer_attr attr;
    int rc = dir_request(x, 0, &flags, name, &dir);
    if (rc == 0)
        rc = volume_lookup(volumes_of(x), dir, name, &n, &attr);
    if (rc == 0)
        rc = step_reply(x, n, &attr);
    return rc < 0 || n->type != DT_LNK ? rc : put_link(x, n);
}

static int handle_walk(struct exchange *x)
{
    struct volume_walk_req req;
    serve_name names[VOLUME_WALK_MAX];
    struct volume_walk_rep rep = {0};
    struct vnode *n;
    gofer_get(&x->in, &req, sizeof(req));
    if (req.count == 0 || req.count > VOLUME_WALK_MAX || req.zero != 0)
        return -EPROTO;
    for (uint16_t i = 0; i < req.count; i++)
        serve_take_name(x, names[i]);
    if (!gofer_in_done(&x->in))
        return -EPROTO;
    int rc = node_of(x, req.dir, &n);
    if (rc == 0)
        rc = volume_getattr(volumes_of(x), n, &rep.dir);
    if (rc < 0)
        return rc;
    struct volume_walk_rep *place = gofer_put_space(&x->out, sizeof(*place));
    while (rep.done < req.count && n->type == DT_DIR) {
        struct gofer_attr attr;
        rc = volume_lookup(volumes_of(x), n, names[rep.done], &n, &attr);
        if (rc < 0)
            break;
        (void)step_reply(x, n, &attr);
        rep.done++;
    }
    if (rep.done == 0 && rc == 0)
        rc = -ENOTDIR;
    rep.error = rc < 0 ? (uint16_t)serve_status(rc) : 0;
    if (rep.done > 0 && n->type == DT_LNK)
        (void)!put_link(x, n); /* without one that cannot be read */
    if (place)
        *place = rep;
    return 0;
}

static int handle_getattr(struct exchange *x)
{
    struct vnode *n;
    struct gofer_attr attr;
    int rc = node_request(x, &n);
    if (rc == 0)
        rc = volume_getattr(volumes_of(x), n, &attr);
    return attr_reply(x, rc, &attr);
}

static int handle_open(struct exchange *x)
{
    static const int access[] = {0, O_RDONLY, O_WRONLY, O_RDWR};
    struct volume_place_req req;
    serve_name name;
    struct volume_place p;
    take_place(x, &req, name, NULL);
    if (!gofer_in_done(&x->in) || req.zero != 0 || req.flags == 0 ||
        (req.flags & ~(VOLUME_READ | VOLUME_WRITE)))
        return -EPROTO;
    int rc = place_of(x, req.dir, req.node, name, &p);
    if (rc == 0 && (req.flags & VOLUME_WRITE))
        rc = writable(x, p.node);
    return rc < 0 ? rc : volume_open(volumes_of(x), &p, access[req.flags], &x->fd);
}

static int handle_readdir(struct exchange *x)
{
    struct gofer_readdir_req req;
    struct vnode *n;
    int rc = serve_readdir_request(x, &req);
    if (rc < 0)
        return rc;
    rc = node_of(x, req.node, &n);
    return rc < 0 ? rc : volume_readdir(volumes_of(x), n, req.cookie, &x->out);
}

static int handle_statfs(struct exchange *x)
{
    struct vnode *n;
    struct gofer_statfs st;
    int rc = node_request(x, &n);
    if (rc == 0)
        rc = volume_statfs(n, &st);
    return serve_put(x, rc, &st, sizeof(st));
}

static int handle_getxattr(struct exchange *x)
{
    serve_name name, attr;
    struct volume_place p;
    int rc = place_request(x, name, attr, &p);
    return rc < 0 ? rc
                  : serve_bytes(x, volume_getxattr(volumes_of(x), &p, attr, serve_space(x),
                                                   GOFER_XATTR_MAX));
}

static int handle_listxattr(struct exchange *x)
{
    serve_name name;
    struct volume_place p;
    int rc = place_request(x, name, NULL, &p);
    return rc < 0 ? rc
                  : serve_bytes(
                        x, volume_listxattr(volumes_of(x), &p, serve_space(x), GOFER_XATTR_MAX));
}

static void forget(void *server, uint32_t node)
{
    struct volume_server *s = server;
    volumes_forget(&s->volumes, node);
}

static int handle_forget(struct exchange *x)
{
    return serve_forget_request(x, forget);
}

/* --- changes -------------------------------------------------------------------------------------
 */

/* The target takes the rest of the request, and is there exactly if a symlink is made. */
static bool take_target(struct exchange *x, uint32_t mode, char ret[GOFER_LINK_MAX + 1])
{
    size_t len = x->in.left;
    ret[0] = '\0';
    if (!S_ISLNK(mode))
        return true;
    const char *target = gofer_get_bytes(&x->in, len);
    if (!target || !gofer_link_valid(target, len))
        return false;
    memcpy(ret, target, len);
    ret[len] = '\0';
    return true;
}

static int handle_create(struct exchange *x)
{
    struct volume_create_req req;
    serve_name name;
    char target[GOFER_LINK_MAX + 1];
    struct vnode *dir;
    struct volume_made made;
    gofer_get(&x->in, &req, sizeof(req));
    serve_take_name(x, name);
    if (x->in.bad || !take_target(x, req.mode, target) || !gofer_in_done(&x->in) ||
        (req.mode & ~(uint32_t)(S_IFMT | 07777)))
        return -EPROTO;
    int rc = node_of(x, req.dir, &dir);
    if (rc == 0)
        rc = writable(x, dir);
    if (rc == 0)
        rc = volume_create(volumes_of(x), dir, name, &req, target, &made);
    if (rc < 0)
        return rc;
    x->fd = made.fd;
    return step_reply(x, made.node, &made.attr);
}

static int handle_link(struct exchange *x)
{
    struct volume_link_req req;
    serve_name name, new_name;
    struct volume_place p;
    struct vnode *new_dir;
    struct gofer_attr attr;
    gofer_get(&x->in, &req, sizeof(req));
    serve_take_name(x, name);
    serve_take_name(x, new_name);
    if (!gofer_in_done(&x->in) || req.zero != 0)
        return -EPROTO;
    int rc = place_of(x, req.dir, req.node, name, &p);
    if (rc == 0)
        rc = node_of(x, req.new_dir, &new_dir);
    if (rc == 0)
        rc = new_dir->root == p.node->root ? writable(x, new_dir) : -EXDEV;
    if (rc == 0)
        rc = volume_link(volumes_of(x), &p, new_dir, new_name, &attr);
    return attr_reply(x, rc, &attr);
}

static int handle_remove(struct exchange *x)
{
    uint32_t flags;
    serve_name name;
    struct vnode *dir;
    int rc = dir_request(x, VOLUME_DIRECTORY, &flags, name, &dir);
    if (rc == 0)
        rc = writable(x, dir);
    return rc < 0 ? rc : volume_remove(dir, name, flags & VOLUME_DIRECTORY);
}

static int handle_rename(struct exchange *x)
{
    struct volume_rename_req req;
    serve_name name, new_name;
    struct vnode *dir, *new_dir;
    gofer_get(&x->in, &req, sizeof(req));
    serve_take_name(x, name);
    serve_take_name(x, new_name);
    if (!gofer_in_done(&x->in) || req.zero != 0 ||
        (req.flags & ~(VOLUME_NOREPLACE | VOLUME_EXCHANGE)))
        return -EPROTO;
    int rc = node_of(x, req.dir, &dir);
    if (rc == 0)
        rc = node_of(x, req.new_dir, &new_dir);
    if (rc == 0)
        rc = writable(x, dir);
    if (rc == 0)
        rc = writable(x, new_dir);
    return rc < 0 ? rc : volume_rename(dir, name, new_dir, new_name, req.flags);
}

static bool time_valid(const struct gofer_time *t)
{
    return t->nsec < 1000000000u && t->zero == 0;
}

static int handle_setattr(struct exchange *x)
{
    struct volume_setattr_req req;
    serve_name name;
    struct volume_place p;
    struct gofer_attr attr;
    gofer_get(&x->in, &req, sizeof(req));
    take_place_name(x, name);
    if (!gofer_in_done(&x->in) || (req.valid & ~VOLUME_SET_ALL) || (req.mode & ~07777u) ||
        !time_valid(&req.atime) || !time_valid(&req.mtime))
        return -EPROTO;
    int rc = place_of(x, req.dir, req.node, name, &p);
    if (rc == 0)
        rc = writable(x, p.node);
    if (rc == 0)
        rc = volume_setattr(volumes_of(x), &p, &req, &attr);
    return attr_reply(x, rc, &attr);
}

static int handle_setxattr(struct exchange *x)
{
    struct volume_place_req req;
    serve_name name, attr;
    struct volume_place p;
    take_place(x, &req, name, attr);
    size_t len = x->in.left;
    const void *value = gofer_get_bytes(&x->in, len);
    if (!gofer_in_done(&x->in) || req.zero != 0 || (req.flags & ~3u) || len > GOFER_XATTR_MAX)
        return -EPROTO;
    int rc = place_of(x, req.dir, req.node, name, &p);
    if (rc == 0)
        rc = writable(x, p.node);
    return rc < 0 ? rc : volume_setxattr(volumes_of(x), &p, attr, value, len, (int)req.flags);
}

static int handle_removexattr(struct exchange *x)
{
    serve_name name, attr;
    struct volume_place p;
    int rc = place_request(x, name, attr, &p);
    if (rc == 0)
        rc = writable(x, p.node);
    return rc < 0 ? rc : volume_removexattr(volumes_of(x), &p, attr);
}

static int handle_sync(struct exchange *x)
{
    struct vnode *n;
    int rc = node_request(x, &n);
    if (rc == 0)
        rc = writable(x, n);
    return rc < 0 ? rc : volume_sync(n);
}

/* --- the table -----------------------------------------------------------------------------------
 */

#define AT(type) [(type)-VOLUME_MSG_FIRST]
static serve_handler *const handlers[] = {
    AT(VOLUME_HELLO) = handle_hello,
    AT(VOLUME_LOOKUP) = handle_lookup,
    AT(VOLUME_GETATTR) = handle_getattr,
    AT(VOLUME_OPEN) = handle_open,
    AT(VOLUME_READDIR) = handle_readdir,
    AT(VOLUME_STATFS) = handle_statfs,
    AT(VOLUME_GETXATTR) = handle_getxattr,
    AT(VOLUME_LISTXATTR) = handle_listxattr,
    AT(VOLUME_FORGET) = handle_forget,
    AT(VOLUME_WALK) = handle_walk,
    AT(VOLUME_CREATE) = handle_create,
    AT(VOLUME_LINK) = handle_link,
    AT(VOLUME_REMOVE) = handle_remove,
    AT(VOLUME_RENAME) = handle_rename,
    AT(VOLUME_SETATTR) = handle_setattr,
    AT(VOLUME_SETXATTR) = handle_setxattr,
    AT(VOLUME_REMOVEXATTR) = handle_removexattr,
    AT(VOLUME_SYNC) = handle_sync,
};

static bool acceptable(const void *server, uint32_t type)
{
    const struct volume_server *s = server;
    if (type > VOLUME_WRITES && !s->writable)
        return false;
    return (type == VOLUME_HELLO) != s->greeted;
}

int volume_server_handle(struct volume_server *s, size_t size, struct server_reply *ret)
{
    static const struct service volumes = {.handlers = handlers,
                                           .first = VOLUME_MSG_FIRST,
                                           .end = VOLUME_MSG_END,
                                           .acceptable = acceptable,
                                           .status = serve_status};
    return serve_message(&volumes, s, s->request, size, s->reply, ret);
}

static int handle(void *server, size_t size, struct server_reply *ret)
{
    return volume_server_handle(server, size, ret);
}

int volume_server_run(struct volume_server *s, const struct gofer_port *port)
{
    return serve_run(port, s->request, s->reply, handle, s);
}

int volume_server_new(const struct volume_source *roots, uint32_t nroots, int top,
                      uint32_t max_nodes, struct volume_server **ret)
{
    struct volume_server *s = kalloc(sizeof(*s));
    if (!s)
        return -ENOMEM;
    int rc = volumes_init(&s->volumes, roots, nroots, top, max_nodes);
    if (rc < 0) {
        kfree(s);
        return rc;
    }
    for (uint32_t r = 0; r < nroots; r++)
        s->writable |= roots[r].writable;
    *ret = s;
    return 0;
}

void volume_server_free(struct volume_server *s)
{
    if (!s)
        return;
    volumes_done(&s->volumes);
    kfree(s);
}
