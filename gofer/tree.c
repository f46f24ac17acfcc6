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

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "lib/fdio.h"

enum {
    STATX_WANTED = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
    STATX_FLAGS = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
    NO_SLOT = 0,
};

/* As the kernel's getdents64 has it. */
struct host_dirent {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

static int open_beneath(int dir_fd, const char *path, uint64_t flags)
{
    struct open_how how = {
        .flags = flags | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
    };
    for (;;) {
        long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        /* EAGAIN: something was renamed meanwhile, and the kernel cannot be sure. */
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
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
    struct node *last = NULL;
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

static struct gofer_time time_of(const struct statx_timestamp *ts)
{
    return (struct gofer_time){.sec = ts->tv_sec, .nsec = MIN(ts->tv_nsec, 999999999u)};
}

static int attr_of(struct tree *t, const struct node *near, const struct statx *st,
                   struct gofer_attr *ret)
{
    uint64_t mount_id = t->roots[near->root].mount_id;
    if ((st->stx_mask & STATX_MNT_ID) && mount_id && st->stx_mnt_id != mount_id)
        return -EACCES;
    *ret = (struct gofer_attr){
        .ino = st->stx_ino,
        .size = st->stx_size,
        .blocks = st->stx_blocks,
        .mode = st->stx_mode,
        .nlink = st->stx_nlink,
        .uid = st->stx_uid,
        .gid = st->stx_gid,
        .dev_major = st->stx_dev_major,
        .dev_minor = st->stx_dev_minor,
        .rdev_major = st->stx_rdev_major,
        .rdev_minor = st->stx_rdev_minor,
        .blksize = st->stx_blksize,
        .atime = time_of(&st->stx_atime),
        .mtime = time_of(&st->stx_mtime),
        .ctime = time_of(&st->stx_ctime),
    };
    if (st->stx_mask & STATX_BTIME)
        ret->btime = time_of(&st->stx_btime);
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
    if (statx(fd, text, STATX_FLAGS, STATX_WANTED, &st) < 0)
        return -errno;
    int rc = attr_of(t, dir, &st, ret_attr);
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
    if (statx(fd, name, STATX_FLAGS, STATX_WANTED, &st) < 0)
        return -errno;
    return attr_of(t, n, &st, ret_attr);
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
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) < 0 || !S_ISREG(st.stx_mode)) {
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

/* Appends the host's entries, without "." and "..", and those that no name of ours can say. */
static uint32_t entries_put(struct tree *t, size_t size, struct gofer_out *out)
{
    uint32_t count = 0;
    const struct host_dirent *e;
    for (size_t at = 0; at + offsetof(struct host_dirent, name) < size; at += e->reclen) {
        e = (const struct host_dirent *)(const void *)(t->entries + at);
        size_t len = strnlen(e->name, e->reclen - offsetof(struct host_dirent, name));
        t->stream.cookie = (uint64_t)e->off;
        if (!gofer_name_valid(e->name, len))
            continue;
        struct gofer_dirent_wire wire = {
            .ino = e->ino, .cookie = (uint64_t)e->off, .length = (uint16_t)len, .type = e->type};
        gofer_put(out, &wire, sizeof(wire));
        gofer_put(out, e->name, len);
        gofer_put(out, "", 1);
        count++;
    }
    return count;
}

int tree_readdir(struct tree *t, struct node *n, uint64_t cookie, struct gofer_out *out)
{
    if (n->type != DT_DIR)
        return -ENOTDIR;
    int rc = stream_seek(t, n, cookie);
    if (rc < 0)
        return rc;
    struct gofer_readdir_rep *rep = gofer_put_space(out, sizeof(*rep));
    if (!rep)
        return -EIO;
    /* A batch without one entry that counts would look like the end. */
    while (rep->count == 0) {
        long size = syscall(SYS_getdents64, t->stream.fd, t->entries, sizeof(t->entries));
        if (size < 0)
            return -errno;
        if (size == 0)
            break;
        rep->count = entries_put(t, (size_t)size, out);
    }
    return 0;
}

int tree_statfs(struct tree *t, struct node *n, struct gofer_statfs *ret)
{
    int fd = dir_fd(t, n->type == DT_DIR ? n : t->nodes.by_id[n->parent]);
    if (fd < 0)
        return fd;
    struct statfs st;
    if (fstatfs(fd, &st) < 0)
        return -errno;
    *ret = (struct gofer_statfs){
        .type = (uint64_t)st.f_type & UINT32_MAX,
        .bsize = (uint64_t)st.f_bsize,
        .blocks = st.f_blocks,
        .bfree = st.f_bfree,
        .bavail = st.f_bavail,
        .files = st.f_files,
        .ffree = st.f_ffree,
        .namelen = (uint64_t)st.f_namelen,
        .frsize = (uint64_t)st.f_frsize,
        .flags = (uint64_t)st.f_flags,
    };
    return 0;
}

/* --- extended attributes ------------------------------------------------------------------------
 */

static bool xattr_served(const char *name)
{
    return strncmp(name, "user.", 5) == 0 || strcmp(name, "security.capability") == 0;
}

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
    if (!xattr_served(name))
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
    size_t kept = 0;
    size_t left = (size_t)len;
    for (const char *at = buf; left > 0;) {
        size_t size = strnlen(at, left - 1) + 1;
        if (xattr_served(at)) {
            memmove(buf + kept, at, size);
            kept += size;
        }
        at += size;
        left -= size;
    }
    return (int64_t)kept;
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
        if (statx(root_fds[r], "", AT_EMPTY_PATH, STATX_WANTED, &st) < 0)
            rc = -errno;
        else if (!S_ISDIR(st.stx_mode))
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
