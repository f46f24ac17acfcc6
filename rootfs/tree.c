/*
 * tree.c: names below a root, and removal.
 */
#include "rootfs/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    COMPONENT_MAX = 255,
    REMOVE_DEPTH = 64
};

static int open_how(int dir, const char *name, int flags, mode_t mode, uint64_t resolve)
{
    struct open_how how = {
        .flags = (uint32_t)flags | (uint32_t)O_CLOEXEC,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = resolve | (uint64_t)(RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV),
    };
    for (;;) {
        long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

int tree_open_at(int dir, const char *last, int flags, mode_t mode)
{
    return open_how(dir, last, flags | O_NOFOLLOW, mode, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int tree_open_follow(const struct tree *t, const char *name, int flags)
{
    return open_how(t->root, name[0] == '\0' ? "." : name, flags, 0, RESOLVE_IN_ROOT);
}

void tree_init(struct tree *t, int root, uint32_t depth)
{
    *t = (struct tree){.root = root, .depth = depth, .parent = -1};
}

void tree_forget(struct tree *t)
{
    fd_close(t->parent);
    t->parent = -1;
}

void tree_done(struct tree *t)
{
    tree_forget(t);
}

int tree_name(const struct tree *t, const char *name, char ret_name[PATH_MAX], struct error *err)
{
    size_t used = 0;
    uint32_t depth = 0;
    while (*name != '\0') {
        size_t n = strcspn(name, "/");
        const char *part = name;
        name += n + (name[n] == '/');
        if (n == 0 || (n == 1 && part[0] == '.'))
            continue;
        if (n == 2 && part[0] == '.' && part[1] == '.')
            return error_set(err, EPERM, "leads out of the image");
        if (n > COMPONENT_MAX || used + n + 2 > PATH_MAX)
            return error_set(err, ENAMETOOLONG, "the name is too long");
        if (++depth > t->depth)
            return error_set(err, ENAMETOOLONG, "deeper than %u directories", t->depth);
        if (used > 0)
            ret_name[used++] = '/';
        memcpy(ret_name + used, part, n);
        used += n;
    }
    ret_name[used] = '\0';
    return 0;
}

/* One step down that is missing, or leads through a link. dir is given up. */
static int step(struct tree *t, CONSUMES int dir, const char *upto, const char *part, bool make)
{
    int fd = tree_open_at(dir, part, O_PATH | O_DIRECTORY, 0);
    if (fd == -ENOENT && make) {
        fd = mkdirat(dir, part, 0755) < 0 && errno != EEXIST
                 ? -errno
                 : tree_open_at(dir, part, O_PATH | O_DIRECTORY, 0);
    }
    fd_close(dir);
    if (fd == -ELOOP || fd == -ENOTDIR) {
        /* O_DIRECTORY turns a link into ENOTDIR; followed inside the root it may be a directory. */
        fd = tree_open_follow(t, upto, O_PATH | O_DIRECTORY);
        if (fd == -ENOENT)
            fd = -ELOOP;
    }
    return fd;
}

static int walk(struct tree *t, const char *path, bool make)
{
    char upto[PATH_MAX], part[COMPONENT_MAX + 1];
    int fd = tree_open_at(t->root, ".", O_PATH | O_DIRECTORY, 0);
    size_t used = 0;
    while (path[used] != '\0' && fd >= 0) {
        size_t n = strcspn(path + used, "/");
        memcpy(part, path + used, n);
        part[n] = '\0';
        memcpy(upto, path, used + n);
        upto[used + n] = '\0';
        fd = step(t, fd, upto, part, make);
        used += n + (path[used + n] == '/');
    }
    return fd;
}

int tree_parent(struct tree *t, const char *name, bool make, int *ret_dir, const char **ret_last)
{
    const char *slash = strrchr(name, '/');
    size_t n = slash != NULL ? (size_t)(slash - name) : 0;

    *ret_last = slash != NULL ? slash + 1 : name;
    if (n == 0) {
        *ret_dir = t->root;
        return 0;
    }
    if (t->parent >= 0 && strlen(t->path) == n && memcmp(t->path, name, n) == 0) {
        *ret_dir = t->parent;
        return 0;
    }
    tree_forget(t);
    memcpy(t->path, name, n);
    t->path[n] = '\0';
    int fd = tree_open_at(t->root, t->path, O_PATH | O_DIRECTORY, 0);
    if (fd == -ELOOP || fd == -ENOTDIR || (fd == -ENOENT && make))
        fd = walk(t, t->path, make);
    if (fd < 0)
        return fd;
    t->parent = fd;
    *ret_dir = fd;
    return 0;
}

/* --- removal -------------------------------------------------------------------------------------
 */

/* Where directories go that are too deep to descend into: a directory of its own in the base, made
 * when it is first needed, under a name that nothing of the tree has. */
struct trash {
    int base;
    int fd; /* -1: not made */
    uint64_t n;
    char name[48];
};

static int trash_open(struct trash *t)
{
    unsigned i = 0;
    do
        (void)snprintf(t->name, sizeof(t->name), ".sentry-trash-%u", i++);
    while (mkdirat(t->base, t->name, 0700) < 0 && errno == EEXIST);
    t->fd = tree_open_at(t->base, t->name, O_PATH | O_DIRECTORY, 0);
    return t->fd < 0 ? t->fd : 0;
}

static int trash_put(struct trash *t, int dir, const char *last)
{
    char name[24];
    int r = t->fd < 0 ? trash_open(t) : 0;
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof(name), "%llu", (unsigned long long)++t->n);
    return renameat2(dir, last, t->fd, name, 0) < 0 ? -errno : 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directory, opened so that its entries can be removed. */
static int open_for_removal(int dir, const char *last)
{
    int fd = tree_open_at(dir, last, O_RDONLY | O_DIRECTORY, 0);
    if (fd == -EACCES && fchmodat(dir, last, 0700, 0) == 0)
        fd = tree_open_at(dir, last, O_RDONLY | O_DIRECTORY, 0);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700 && st.st_uid == geteuid())
        (void)fchmod(fd, 0700);
    return fd;
}

/* NOLINTBEGIN(misc-no-recursion): REMOVE_DEPTH is the end of it */
static int remove_at(struct trash *t, int dir, const char *last, int depth);

static int clear(struct trash *t, int fd, int depth, bool (*keep)(void *arg, const char *name),
                 void *arg)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    int r = 0;
    if (d == NULL) {
        r = -errno;
        fd_close(own);
        return r;
    }
    rewinddir(d);
    struct dirent *e;
    while (r == 0 && (e = readdir(d)) != NULL) {
        bool trash = depth == 0 && t->fd >= 0 && strcmp(e->d_name, t->name) == 0;
        if (!is_dots(e->d_name) && !trash && (keep == NULL || !keep(arg, e->d_name)))
            r = remove_at(t, fd, e->d_name, depth);
    }
    (void)closedir(d);
    return r;
}

static int remove_at(struct trash *t, int dir, const char *last, int depth)
{
    if (unlinkat(dir, last, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (unlinkat(dir, last, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    auto_fd int fd = open_for_removal(dir, last);
    if (fd < 0)
        return fd;
    if (depth >= REMOVE_DEPTH)
        return trash_put(t, dir, last);
    int r = clear(t, fd, depth + 1, NULL, NULL);
    if (r == 0 && unlinkat(dir, last, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r;
}
/* NOLINTEND(misc-no-recursion) */

/* What was put aside may put more aside. r: how the removal went so far. */
static int trash_empty(struct trash *t, int r)
{
    char name[24];
    if (t->fd < 0)
        return r;
    for (uint64_t i = 1; i <= t->n && r == 0; i++) {
        (void)snprintf(name, sizeof(name), "%llu", (unsigned long long)i);
        r = remove_at(t, t->fd, name, 1);
    }
    fd_close(t->fd);
    if (r == 0 && unlinkat(t->base, t->name, AT_REMOVEDIR) < 0)
        r = -errno;
    return r;
}

int tree_remove(int dir, const char *last)
{
    struct trash t = {.base = dir, .fd = -1};
    return trash_empty(&t, remove_at(&t, dir, last, 1));
}

int tree_clear(int dir, bool (*keep)(void *arg, const char *name), void *arg)
{
    auto_fd int fd = tree_open_at(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    struct trash t = {.base = fd, .fd = -1};
    return fd < 0 ? fd : trash_empty(&t, clear(&t, fd, 0, keep, arg));
}
