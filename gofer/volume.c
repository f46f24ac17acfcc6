/*
 * Nodes and reading. A lookup opens the name with O_PATH, looks at what it got, and finds or makes
 * the node of that very file; nothing is opened for reading or writing before it was seen to be a
 * regular file through such a descriptor. Opening it then goes by name once more (an O_PATH
 * descriptor cannot be opened without /proc): non-blocking, and the result is handed out only if it
 * is the same file.
 */
#include "gofer/volume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/xattr.h>

#include "gofer/host.h"
#include "lib/alloc.h"
#include "lib/fdio.h"

enum {
    FIRST_CAP = 256
};

/* --- nodes ---------------------------------------------------------------------------------------
 */

static uint64_t dev_of(const struct statx *st)
{
    return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

static uint64_t mount_of(const struct statx *st)
{
    return st->stx_mask & STATX_MNT_ID ? st->stx_mnt_id : 0;
}

static bool same_file(const struct vnode *n, const struct statx *st)
{
    return n->ino == st->stx_ino && n->dev == dev_of(st) && n->mount_id == mount_of(st) &&
           n->type == (uint8_t)((st->stx_mode & S_IFMT) >> 12);
}

static uint64_t file_hash(uint32_t root, uint64_t ino, uint64_t dev)
{
    return hash_u64(hash_seed() + root, ino ^ (dev << 20));
}

static struct vnode *find(const struct volumes *v, uint32_t root, const struct statx *st)
{
    struct hash_node *h;
    hash_for_each_match (h, &v->by_file, file_hash(root, st->stx_ino, dev_of(st))) {
        struct vnode *n = hash_entry(h, struct vnode, link);
        if (n->root == root && same_file(n, st))
            return n;
    }
    return NULL;
}

/* The lowest free id; the array grows when there is none. */
static int id_reserve(struct volumes *v, uint32_t *ret_id)
{
    uint32_t id = v->next_free;
    if (v->live >= v->max)
        return -ENFILE;
    while (id < v->cap && v->by_id[id])
        id++;
    v->next_free = id;
    if (id == v->cap) {
        struct vnode **by_id = krealloc(v->by_id, (size_t)v->cap * 2 * sizeof(struct vnode *));
        if (!by_id)
            return -ENOMEM;
        v->by_id = by_id;
        v->cap *= 2;
    }
    *ret_id = id;
    return 0;
}

static int node_add(struct volumes *v, uint32_t root, const struct statx *st, int fd,
                    struct vnode **ret)
{
    uint32_t id;
    int rc = id_reserve(v, &id);
    struct vnode *n = rc == 0 ? kalloc(sizeof(*n)) : NULL;
    if (!n)
        return rc < 0 ? rc : -ENOMEM;
    n->id = id;
    n->root = root;
    n->fd = fd;
    n->type = (uint8_t)((st->stx_mode & S_IFMT) >> 12);
    n->ino = st->stx_ino;
    n->dev = dev_of(st);
    n->mount_id = mount_of(st);
    hash_insert(&v->by_file, &n->link, file_hash(root, n->ino, n->dev));
    v->by_id[id] = n;
    v->live++;
    *ret = n;
    return 0;
}

static void node_remove(struct volumes *v, struct vnode *n)
{
    if (v->stream.fd >= 0 && v->stream.node == n->id) {
        fd_close(v->stream.fd);
        v->stream.fd = -1;
    }
    if (n->id >= v->nroots)
        fd_close(n->fd);
    hash_remove(&v->by_file, &n->link);
    v->by_id[n->id] = NULL;
    v->next_free = MIN(v->next_free, n->id);
    v->live--;
    kfree(n);
}

struct vnode *volumes_get(const struct volumes *v, uint32_t id)
{
    return id < v->cap ? v->by_id[id] : NULL;
}

void volumes_forget(struct volumes *v, uint32_t id)
{
    struct vnode *n = volumes_get(v, id);
    if (n && id >= v->nroots)
        node_remove(v, n);
}

/* Two binds of one directory are two roots with nodes of their own. */
static int root_add(struct volumes *v, uint32_t r)
{
    struct statx st;
    struct vnode *n;
    int rc = host_statx(v->roots[r].fd, "", &st);
    if (rc == 0 && !S_ISDIR(st.stx_mode) && !(S_ISREG(st.stx_mode) && v->top >= 0))
        rc = -ENOTDIR;
    return rc < 0 ? rc : node_add(v, r, &st, v->roots[r].fd, &n);
}

int volumes_init(struct volumes *v, const struct volume_source *roots, uint32_t nroots, int top,
                 uint32_t max_nodes)
{
    *v = (struct volumes){.top = top, .nroots = nroots, .stream.fd = -1};
    if (nroots == 0 || nroots > GOFER_ROOTS_MAX)
        return -EINVAL;
    v->max = MIN(max_nodes, (uint32_t)VOLUME_NODES_MAX);
    v->cap = FIRST_CAP;
    v->by_id = kalloc(FIRST_CAP * sizeof(struct vnode *));
    if (!v->by_id)
        return -ENOMEM;
    hash_init(&v->by_file);
    int rc = 0;
    for (uint32_t r = 0; r < nroots && rc == 0; r++) {
        v->roots[r] = roots[r];
        rc = root_add(v, r);
    }
    if (rc < 0)
        volumes_done(v);
    return rc;
}

void volumes_done(struct volumes *v)
{
    for (uint32_t i = 0; i < v->cap; i++) {
        if (v->by_id[i])
            node_remove(v, v->by_id[i]);
    }
    kfree(v->by_id);
    fd_close(v->stream.fd);
    hash_done(&v->by_file);
    *v = (struct volumes){.stream.fd = -1};
}

bool volumes_check(const struct volumes *v)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < v->cap; i++) {
        const struct vnode *n = v->by_id[i];
        if (!n) {
            if (i < v->next_free)
                return false;
            continue;
        }
        live++;
        if (n->id != i || n->root >= v->nroots || n->fd < 0 || (i < v->nroots && n->root != i))
            return false;
    }
    return live == v->live && live <= v->max && v->by_file.count == live;
}

/* --- looking -------------------------------------------------------------------------------------
 */

int volume_lookup(struct volumes *v, struct vnode *dir, const char *name, struct vnode **ret,
                  struct gofer_attr *ret_attr)
{
    struct statx st;
    if (dir->type != DT_DIR)
        return -ENOTDIR;
    int fd = host_open(dir->fd, name, O_PATH, 0, v->roots[dir->root].cross);
    if (fd < 0)
        return fd == -EXDEV ? -EACCES : fd; /* another mount: not entered */
    int rc = host_statx(fd, "", &st);
    struct vnode *n = rc == 0 ? find(v, dir->root, &st) : NULL;
    if (rc == 0 && !n) {
        rc = node_add(v, dir->root, &st, fd, &n);
        if (rc == 0)
            fd = -1;
    }
    fd_close(fd);
    if (rc < 0)
        return rc;
    host_attr(&st, ret_attr);
    *ret = n;
    return 0;
}

int volume_getattr(struct volumes *v, const struct vnode *n, struct gofer_attr *ret)
{
    struct statx st;
    (void)v;
    int rc = host_statx(n->fd, "", &st);
    if (rc == 0)
        host_attr(&st, ret);
    return rc;
}

int64_t volume_readlink(const struct vnode *n, char *buf, size_t cap)
{
    if (n->type != DT_LNK)
        return -EINVAL;
    ssize_t len = readlinkat(n->fd, "", buf, cap);
    if (len < 0)
        return -errno;
    return gofer_link_valid(buf, (size_t)len) ? len : -EIO;
}

static bool is_root(const struct volumes *v, const struct vnode *n)
{
    return n->id < v->nroots;
}

/* The directory and the name of a place. A root that is a directory is "." in itself. */
static int place_of(struct volumes *v, const struct volume_place *p, const char **ret_name,
                    char text[16])
{
    *ret_name = p->name;
    if (p->name[0])
        return p->dir->type == DT_DIR ? p->dir->fd : -ENOTDIR;
    if (!is_root(v, p->node) || p->dir != p->node)
        return -ESTALE;
    if (p->node->type == DT_DIR) {
        *ret_name = ".";
        return p->node->fd;
    }
    (void)snprintf(text, 16, "%u", p->node->root);
    *ret_name = text;
    return v->top;
}

/* Whether a name leads onto another mount is settled already: top has the roots as mounts. */
bool volume_crosses(const struct volumes *v, const struct volume_place *p)
{
    return v->roots[p->node->root].cross || (is_root(v, p->node) && p->node->type != DT_DIR);
}

int volume_at(struct volumes *v, const struct volume_place *p, const char **ret_name, char text[16])
{
    struct statx st;
    int at = place_of(v, p, ret_name, text);
    if (at < 0)
        return at;
    int rc = host_statx(at, *ret_name, &st);
    if (rc < 0)
        return rc;
    return same_file(p->node, &st) ? at : -ESTALE;
}

bool volume_is(const struct vnode *n, int fd)
{
    struct statx st;
    return host_statx(fd, "", &st) == 0 && same_file(n, &st);
}

int volume_open(struct volumes *v, const struct volume_place *p, int access, int *ret_fd)
{
    const char *name;
    char text[16];
    if (p->node->type == DT_DIR)
        return -EISDIR;
    if (p->node->type == DT_LNK)
        return -ELOOP;
    if (p->node->type != DT_REG)
        return -ENXIO;
    int at = volume_at(v, p, &name, text);
    if (at < 0)
        return at;
    int fd = host_open(at, name, (uint64_t)access | O_NONBLOCK | O_NOCTTY, 0, volume_crosses(v, p));
    if (fd < 0)
        return fd;
    if (!volume_is(p->node, fd)) {
        fd_close(fd);
        return -ESTALE;
    }
    *ret_fd = fd;
    return 0;
}

/* --- directories ---------------------------------------------------------------------------------
 */

/* Makes v->stream stand at `cookie` in directory n. */
static int stream_seek(struct volumes *v, struct vnode *n, uint64_t cookie)
{
    struct volume_stream *s = &v->stream;
    if (s->fd < 0 || s->node != n->id) {
        int fd = host_open(n->fd, ".", O_RDONLY | O_DIRECTORY, 0, false);
        if (fd < 0)
            return fd;
        fd_close(s->fd);
        *s = (struct volume_stream){.node = n->id, .fd = fd};
    }
    /* From the start always by lseek: that is what makes the host read the directory anew. */
    if (cookie == 0 || cookie != s->cookie) {
        if (cookie > INT64_MAX || lseek(s->fd, (off_t)cookie, SEEK_SET) < 0)
            return -EINVAL;
        s->cookie = cookie;
    }
    return 0;
}

int volume_readdir(struct volumes *v, struct vnode *n, uint64_t cookie, struct gofer_out *out)
{
    if (n->type != DT_DIR)
        return -ENOTDIR;
    int rc = stream_seek(v, n, cookie);
    return rc < 0 ? rc : host_readdir(v->stream.fd, &v->stream.cookie, out);
}

int volume_statfs(const struct vnode *n, struct gofer_statfs *ret)
{
    return host_statfs(n->fd, ret);
}

/* --- extended attributes -------------------------------------------------------------------------
 */

/* The l*xattr calls start from the working directory: it becomes that of the place. */
static int enter_place(struct volumes *v, const struct volume_place *p, const char **ret_name,
                       char text[16])
{
    int at = volume_at(v, p, ret_name, text);
    if (at < 0)
        return at;
    return fchdir(at) < 0 ? -errno : 0;
}

int64_t volume_getxattr(struct volumes *v, const struct volume_place *p, const char *name,
                        void *buf, size_t cap)
{
    const char *file;
    char text[16];
    if (!gofer_xattr_served(name))
        return -ENODATA;
    int rc = enter_place(v, p, &file, text);
    if (rc < 0)
        return rc;
    ssize_t len = lgetxattr(file, name, buf, cap);
    if (len < 0)
        return errno == ERANGE ? -E2BIG : -errno;
    return len;
}

int64_t volume_listxattr(struct volumes *v, const struct volume_place *p, char *buf, size_t cap)
{
    const char *file;
    char text[16];
    int rc = enter_place(v, p, &file, text);
    if (rc < 0)
        return rc;
    ssize_t len = llistxattr(file, buf, cap);
    if (len < 0)
        return errno == ERANGE ? -E2BIG : -errno;
    return (int64_t)host_xattr_filter(buf, (size_t)len);
}
