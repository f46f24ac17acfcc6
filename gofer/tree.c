/*
 * How a node is reached. The descriptor of its directory comes from the cache, or from one openat2
 * of the path between the deepest ancestor that is open and that directory; then the last name,
 * which is a single component, is given to statx, openat2 or readlinkat together with that
 * descriptor. No symlink is ever followed, on no component, so nothing that the image contains can
 * lead a path elsewhere; RESOLVE_BENEATH and RESOLVE_NO_XDEV say it to the host's kernel once more.
 *
 * Files are opened only if they were regular at lookup, with O_NONBLOCK in case that changed since,
 * and are handed out only if they are regular now.
 */
#include "gofer/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/xattr.h>

#include "gofer/host.h"
#include "lib/fdio.h"

enum {
    NO_SLOT = 0
};

static int open_beneath(int dir_fd, const char *path, uint64_t flags)
{
    return host_open(dir_fd, path, flags, 0, false);
}

/* --- the cache of open directories ----------------------------------------------------------- */

static void slot_drop(struct tree *t, struct tree_dir *d)
{
    if (d->fd < 0)
        return;
    fd_close(d->fd);
    d->fd = -1;
    t->nodes.by_id[d->node]->slot = NO_SLOT;
    list_del_init(&d->lru);
    list_add_tail(&t->lru, &d->lru);
}

/* Puts an open directory into the least recently used slot. */
static void slot_fill(struct tree *t, struct node *n, int fd)
{
    struct tree_dir *d = list_entry(t->lru.prev, struct tree_dir, lru);
    slot_drop(t, d);
    d->fd = fd;
    d->node = n->id;
    n->slot = (uint16_t)(d - t->dirs);
    list_del_init(&d->lru);
    list_add(&t->lru, &d->lru);
}

/* The open descriptor of a directory node, or -1. */
static int dir_cached(struct tree *t, struct node *n)
{
    if (n->depth == 0)
        return t->roots[n->root].fd;
    if (n->slot == NO_SLOT)
        return -1;
    struct tree_dir *d = &t->dirs[n->slot];
    list_del_init(&d->lru);
    list_add(&t->lru, &d->lru);
    return d->fd;
}

/*
 * Opens chain[0..n) (deepest first) below the directory `at`, as far as one path can say it.
 * Returns how many are left, or -errno.
 */
static int64_t chain_open(struct tree *t, int at, size_t n)
{
    size_t used = 0;
    struct node *last = t->nodes.by_id[t->chain[n - 1]]; /* one name always fits */
    while (n > 0) {
        struct node *next = t->nodes.by_id[t->chain[n - 1]];
        size_t need = next->name_len + 1u;
        if (used + need > sizeof(t->path))
            break;
        if (used > 0)
            t->path[used - 1] = '/';
        memcpy(t->path + used, next->name, need);
        used += need;
        last = next;
        n--;
    }
    int fd = open_beneath(at, t->path, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd;
    slot_fill(t, last, fd);
    return (int64_t)n;
}

/* The O_PATH descriptor of a directory node, borrowed until the next call. */
static int dir_fd(struct tree *t, struct node *dir)
{
    int fd = dir_cached(t, dir);
    if (fd >= 0)
        return fd;
    size_t n = 0;
    for (struct node *up = dir; fd < 0; fd = dir_cached(t, up)) {
        t->chain[n++] = up->id;
        up = t->nodes.by_id[up->parent];
    }
    while (n > 0) {
        struct node *top = t->nodes.by_id[t->chain[n - 1]];
        int64_t left = chain_open(t, dir_cached(t, t->nodes.by_id[top->parent]), n);
        if (left < 0)
            return (int)left;
        n = (size_t)left;
    }
    return dir_cached(t, dir);
}

/* The directory of a node and its name there; a root is "." in itself. */
static int node_at(struct tree *t, struct node *n, const char **ret_name)
{
    *ret_name = n->depth == 0 ? "." : n->name;
    return dir_fd(t, t->nodes.by_id[n->parent]);
}

static void node_freed(void *ctx, struct node *n)
{
    struct tree *t = ctx;
    if (n->slot != NO_SLOT)
        slot_drop(t, &t->dirs[n->slot]);
    if (t->stream.fd >= 0 && t->stream.node == n->id) {
        fd_close(t->stream.fd);
        t->stream.fd = -1;
    }
}

/* --- attributes ----------------------------------------------------------------------------------
 */

static int attr_of(struct tree *t, const struct node *near, const struct statx *st,
                   struct gofer_attr *ret)
{
    uint64_t mount_id = t->roots[near->root].mount_id;
    if ((st->stx_mask & STATX_MNT_ID) && mount_id && st->stx_mnt_id != mount_id)
        return -EACCES;
    host_attr(st, ret);
    if (t->squash)
        ret->uid = ret->gid = 0;
    return 0;
}

/* The kernel's DT_ values are the file type bits of the mode. */
static uint8_t type_of(uint32_t mode)
{
    return (uint8_t)((mode & S_IFMT) >> 12);
}

int tree_lookup(struct tree *t, struct node *dir, const char *name, size_t len, struct node **ret,
                struct gofer_attr *ret_attr)
{
    if (dir->type != DT_DIR)
        return -ENOTDIR;
    char text[GOFER_NAME_MAX + 1];
    memcpy(text, name, len);
    text[len] = '\0';
    int fd = dir_fd(t, dir);
    if (fd < 0)
        return fd;
    struct statx st;
    int rc = host_statx(fd, text, &st);
    if (rc == 0)
        rc = attr_of(t, dir, &st, ret_attr);
    if (rc < 0)
        return rc;
    struct node *n;
    rc = nodes_add(&t->nodes, dir, name, len, &n);
    if (rc < 0)
        return rc;
    n->type = type_of(st.stx_mode);
    *ret = n;
    return 0;
}

int tree_getattr(struct tree *t, struct node *n, struct gofer_attr *ret_attr)
{
    const char *name;
    int fd = node_at(t, n, &name);
    if (fd < 0)
        return fd;
    struct statx st;
    int rc = host_statx(fd, name, &st);
    return rc < 0 ? rc : attr_of(t, n, &st, ret_attr);
}

/* --- contents ------------------------------------------------------------------------------------
 */

int tree_open(struct tree *t, struct node *n, int *ret_fd)
{
    if (n->type == DT_DIR)
        return -EISDIR;
    if (n->type == DT_LNK)
        return -ELOOP;
    if (n->type != DT_REG)
        return -ENXIO;
    const char *name;
    int at = node_at(t, n, &name);
    if (at < 0)
        return at;
    int fd = open_beneath(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    struct statx st;
    if (host_statx(fd, "", &st) < 0 || !S_ISREG(st.stx_mode)) {
        fd_close(fd);
        return -ESTALE;
    }
    *ret_fd = fd;
    return 0;
}

int64_t tree_readlink(struct tree *t, struct node *n, char *buf, size_t cap)
{
    if (n->type != DT_LNK)
        return -EINVAL;
    const char *name;
    int at = node_at(t, n, &name);
    if (at < 0)
        return at;
    ssize_t len = readlinkat(at, name, buf, cap);
    if (len < 0)
        return -errno;
    return gofer_link_valid(buf, (size_t)len) ? len : -EIO;
}

/* Makes t->stream stand at `cookie` in directory n. */
static int stream_seek(struct tree *t, struct node *n, uint64_t cookie)
{
    if (t->stream.fd < 0 || t->stream.node != n->id) {
        int at = dir_fd(t, n);
        if (at < 0)
            return at;
        int fd = open_beneath(at, ".", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
            return fd;
        fd_close(t->stream.fd);
        t->stream.fd = fd;
        t->stream.node = n->id;
        t->stream.cookie = 0;
    }
    /* From the start always by lseek: that is what makes the host read the directory anew. */
    if (cookie == 0 || cookie != t->stream.cookie) {
        if (cookie > INT64_MAX || lseek(t->stream.fd, (off_t)cookie, SEEK_SET) < 0)
            return -EINVAL;
        t->stream.cookie = cookie;
    }
    return 0;
}

int tree_readdir(struct tree *t, struct node *n, uint64_t cookie, struct gofer_out *out)
{
    if (n->type != DT_DIR)
        return -ENOTDIR;
    int rc = stream_seek(t, n, cookie);
    return rc < 0 ? rc : host_readdir(t->stream.fd, &t->stream.cookie, out);
}

int tree_statfs(struct tree *t, struct node *n, struct gofer_statfs *ret)
{
    int fd = dir_fd(t, n->type == DT_DIR ? n : t->nodes.by_id[n->parent]);
    if (fd < 0)
        return fd;
    return host_statfs(fd, ret);
}

/* --- extended attributes ------------------------------------------------------------------------
 */

/*
 * The l*xattr calls take no directory descriptor, and O_PATH descriptors have no f*xattr, so the
 * working directory serves as the one to start from.
 */
static int enter_dir_of(struct tree *t, struct node *n, const char **ret_name)
{
    int fd = node_at(t, n, ret_name);
    if (fd < 0)
        return fd;
    return fchdir(fd) < 0 ? -errno : 0;
}

int64_t tree_getxattr(struct tree *t, struct node *n, const char *name, void *buf, size_t cap)
{
    const char *file;
    if (!gofer_xattr_served(name))
        return -ENODATA;
    int rc = enter_dir_of(t, n, &file);
    if (rc < 0)
        return rc;
    ssize_t len = lgetxattr(file, name, buf, cap);
    if (len < 0)
        return errno == ERANGE ? -E2BIG : -errno;
    return len;
}

int64_t tree_listxattr(struct tree *t, struct node *n, char *buf, size_t cap)
{
    const char *file;
    int rc = enter_dir_of(t, n, &file);
    if (rc < 0)
        return rc;
    ssize_t len = llistxattr(file, buf, cap);
    if (len < 0)
        return errno == ERANGE ? -E2BIG : -errno;
    return (int64_t)host_xattr_filter(buf, (size_t)len);
}

/* --- life ----------------------------------------------------------------------------------------
 */

int tree_init(struct tree *t, const int *root_fds, uint32_t nroots)
{
    list_init(&t->lru);
    t->stream.fd = -1;
    for (size_t i = 1; i <= TREE_DIRS; i++) {
        t->dirs[i].fd = -1;
        list_init(&t->dirs[i].lru);
        list_add_tail(&t->lru, &t->dirs[i].lru);
    }
    int rc = nodes_init(&t->nodes, nroots);
    if (rc < 0)
        return rc;
    t->nodes.on_free = node_freed;
    t->nodes.ctx = t;
    for (uint32_t r = 0; r < nroots; r++) {
        struct statx st;
        rc = host_statx(root_fds[r], "", &st);
        if (rc == 0 && !S_ISDIR(st.stx_mode))
            rc = -ENOTDIR;
        if (rc < 0) {
            nodes_done(&t->nodes);
            return rc;
        }
        t->roots[r].fd = root_fds[r];
        t->roots[r].mount_id = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
    }
    return 0;
}

void tree_done(struct tree *t)
{
    for (size_t i = 1; i <= TREE_DIRS; i++)
        fd_close(t->dirs[i].fd);
    fd_close(t->stream.fd);
    nodes_done(&t->nodes);
}

void tree_forget(struct tree *t, uint32_t id)
{
    nodes_forget(&t->nodes, id);
}

bool tree_check(const struct tree *t)
{
    for (size_t i = 1; i <= TREE_DIRS; i++) {
        const struct tree_dir *d = &t->dirs[i];
        if (d->fd >= 0 && (!t->nodes.by_id[d->node] || t->nodes.by_id[d->node]->slot != i))
            return false;
    }
    return nodes_check(&t->nodes);
}
