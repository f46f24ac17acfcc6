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

static int remove_at(int base, int dir, const char *last, int depth, uint64_t *trash);

/* A directory too deep to descend into goes up to the base under a new name, and is removed there.
 */
static int lift(int base, int dir, const char *last, uint64_t *trash)
{
    char name[48];
    int r;
    do {
        (void)snprintf(name, sizeof(name), ".sentry-trash-%llu", (unsigned long long)++*trash);
        r = (int)syscall(SYS_renameat2, dir, last, base, name, 1 /* RENAME_NOREPLACE */);
    } while (r < 0 && errno == EEXIST);
    return r < 0 ? -errno : remove_at(base, base, name, 0, trash);
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

static int clear(int base, int fd, int depth, uint64_t *trash,
                 bool (*keep)(void *arg, const char *name), void *arg)
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
        if (!is_dots(e->d_name) && (keep == NULL || !keep(arg, e->d_name)))
            r = remove_at(base, fd, e->d_name, depth, trash);
    }
    (void)closedir(d);
    return r;
}

static int remove_at(int base, int dir, const char *last, int depth, uint64_t *trash)
{
    if (unlinkat(dir, last, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (unlinkat(dir, last, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    if (depth >= REMOVE_DEPTH)
        return lift(base, dir, last, trash);
    auto_fd int fd = open_for_removal(dir, last);
    if (fd < 0)
        return fd;
    int r = clear(base, fd, depth + 1, trash, NULL, NULL);
    if (r == 0 && unlinkat(dir, last, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r;
}

int tree_remove(int dir, const char *last)
{
    uint64_t trash = 0;
    return remove_at(dir, dir, last, 0, &trash);
}

int tree_clear(int dir, bool (*keep)(void *arg, const char *name), void *arg)
{
    uint64_t trash = 0;
    auto_fd int fd = tree_open_at(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? fd : clear(fd, fd, 0, &trash, keep, arg);
}
