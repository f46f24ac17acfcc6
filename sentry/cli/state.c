/*
 * state.c: the state directories of sandboxes: made, found, claimed, locked, removed.
 *
 * Everything is done below descriptors of directories that were checked to be the caller's own, so
 * nobody who can write in a parent (/tmp) leads us elsewhere.
 */
#include "sentry/cli/state.h"

#include "lib/compiler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"

enum {
    STATE_MAX_IDS = 65536
};

/* -- names ---------------------------------------------------------------------------------------
 */

int state_id_check(const char *id, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+.-";
    size_t n = strlen(id);
    if (n == 0)
        return error_set(err, EINVAL, "the id is empty");
    if (n > STATE_ID_MAX)
        return error_set(err, EINVAL, "the id is longer than %d characters", STATE_ID_MAX);
    if (strspn(id, allowed) != n || strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
        return error_set(err, EINVAL, "'%s' is no id: letters, digits and _ + . - only", id);
    return 0;
}

int state_default_root(char *buf, size_t cap, struct error *err)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");
    int n;
    if (!idmap_rootless())
        n = snprintf(buf, cap, "/run/sentry");
    else if (dir != NULL && dir[0] == '/')
        n = snprintf(buf, cap, "%s/sentry", dir);
    else
        n = snprintf(buf, cap, "/tmp/sentry-%u", (unsigned)geteuid());
    return n < 0 || (size_t)n >= cap ? error_set(err, ENAMETOOLONG, "the state directory's path")
                                     : 0;
}

/* -- directories ---------------------------------------------------------------------------------
 */

static int check_owner(int fd, const char *what, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_errno(err, errno, "%s", what);
    if (st.st_uid != geteuid())
        return error_set(err, EPERM, "%s belongs to another user", what);
    return 0;
}

static int open_root(const char *root, struct error *err)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "%s", root);
    int r = check_owner(fd, root, err);
    if (r < 0) {
        (void)close(fd);
        return r;
    }
    return fd;
}

static int make_root(const char *root, struct error *err)
{
    char path[STATE_PATH_MAX];
    size_t n = strlen(root);
    if (n >= sizeof(path))
        return error_set(err, ENAMETOOLONG, "the state directory's path");
    memcpy(path, root, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        char c = path[i];
        path[i] = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return error_errno(err, errno, "%s", path);
        path[i] = c;
    }
    return 0;
}

static int open_id(int root, const char *id, struct error *err)
{
    int fd = openat(root, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(err, ENOENT, "no sandbox '%s'", id);
    if (fd < 0)
        return error_errno(err, errno, "sandbox %s", id);
    int r = check_owner(fd, id, err);
    if (r < 0) {
        (void)close(fd);
        return r;
    }
    return fd;
}

static int create(const char *root, const char *id, mode_t mode, int *ret_dir, struct error *err)
{
    int r = state_id_check(id, err);
    if (r < 0)
        return r;
    int top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0) {
        r = make_root(root, err);
        if (r < 0)
            return r;
    } else {
        (void)close(top);
    }
    top = open_root(root, err);
    if (top < 0)
        return top;
    if (mkdirat(top, id, mode) < 0)
        r = errno == EEXIST ? error_set(err, EEXIST, "sandbox '%s' exists already", id)
                            : error_errno(err, errno, "%s/%s", root, id);
    int fd = r == 0 ? open_id(top, id, err) : r;
    (void)close(top);
    if (fd < 0)
        return fd;
    *ret_dir = fd;
    return 0;
}

int state_create(const char *root, const char *id, int *ret_dir, struct error *err)
{
    return create(root, id, 0700, ret_dir, err);
}

int state_create_claimable(const char *root, const char *id, int *ret_dir, struct error *err)
{
    return create(root, id, 0700 | S_ISVTX, ret_dir, err);
}

int state_open(const char *root, const char *id, int *ret_dir, struct error *err)
{
    int r = state_id_check(id, err);
    if (r < 0)
        return r;
    struct error e;
    error_init(&e);
    int top = open_root(root, &e);
    if (top == -ENOENT)
        return error_set(err, ENOENT, "no sandbox '%s'", id);
    if (top < 0)
        return error_set(err, e.code, "%s", e.text);
    int fd = open_id(top, id, err);
    (void)close(top);
    if (fd < 0)
        return fd;
    *ret_dir = fd;
    return 0;
}

int state_lock(int dir, int *ret_lock, struct error *err)
{
    struct stat st;
    int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno, "lock of the sandbox");
    while (flock(fd, LOCK_EX) < 0) {
        int e = errno;
        if (e == EINTR)
            continue;
        (void)close(fd);
        return error_errno(err, e, "lock of the sandbox");
    }
    /* Whoever held it may have removed everything. */
    if (fstat(fd, &st) == 0 && st.st_nlink == 0) {
        (void)close(fd);
        return error_set(err, ENOENT, "the sandbox has been removed");
    }
    *ret_lock = fd;
    return 0;
}

int state_claim(int dir, bool wait)
{
    struct stat st;
    if (fstat(dir, &st) < 0)
        return -errno;
    if (!(st.st_mode & S_ISVTX))
        return -EPERM;
    while (flock(dir, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return fstat(dir, &st) == 0 && st.st_nlink == 0 ? -ENOENT : 0;
}

static void remove_files(int dir)
{
    DIR *d;
    struct dirent *e;
    /* The lock last: who waits for it finds it without a name. */
    (void)unlinkat(dir, "state.json", 0);
    (void)unlinkat(dir, "control.sock", 0);
    int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    if (copy < 0 || (d = fdopendir(copy)) == NULL) {
        fd_close(copy);
        return;
    }
    rewinddir(d);
    while ((e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strcmp(e->d_name, "lock") != 0)
            (void)unlinkat(dir, e->d_name, 0);
    }
    (void)closedir(d);
    (void)unlinkat(dir, "lock", 0);
}

int state_remove(const char *root, const char *id, struct error *err)
{
    int r = state_id_check(id, err);
    if (r < 0)
        return r;
    struct error e;
    error_init(&e);
    int top = open_root(root, &e);
    if (top < 0)
        return top == -ENOENT ? 0 : error_set(err, e.code, "%s", e.text);
    int dir = open_id(top, id, &e);
    if (dir >= 0) {
        /* Nearly always just these two. */
        (void)unlinkat(dir, "state.json", 0);
        (void)unlinkat(dir, "control.sock", 0);
        if (unlinkat(top, id, AT_REMOVEDIR) < 0 && errno == ENOTEMPTY) {
            remove_files(dir);
            if (unlinkat(top, id, AT_REMOVEDIR) < 0 && errno != ENOENT)
                r = error_errno(err, errno, "removing %s/%s", root, id);
        }
        (void)close(dir);
    } else if (dir != -ENOENT) {
        r = error_set(err, e.code, "%s", e.text);
    }
    (void)close(top);
    return r;
}

void state_sweep(const char *root, unsigned max)
{
    struct dirent *ent;
    int top = open_root(root, NULL);
    DIR *d = top >= 0 ? fdopendir(top) : NULL;
    if (d == NULL) {
        fd_close(top);
        return;
    }
    for (unsigned i = 0; i < max && (ent = readdir(d)) != NULL;) {
        if (state_id_check(ent->d_name, NULL) < 0)
            continue;
        i++;
        int dir = open_id(top, ent->d_name, NULL);
        if (dir >= 0 && state_claim(dir, false) == 0)
            (void)!state_remove(root, ent->d_name, NULL);
        fd_close(dir);
    }
    (void)closedir(d);
}

static int name_cmp(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

int state_each(const char *root, int (*fn)(void *ctx, const char *id), void *ctx, struct error *err)
{
    struct error e;
    struct dirent *ent;
    char **ids = NULL;
    size_t n = 0;
    int r = 0;

    error_init(&e);
    int top = open_root(root, &e);
    if (top < 0)
        return top == -ENOENT ? 0 : error_set(err, e.code, "%s", e.text);
    DIR *d = fdopendir(top);
    if (d == NULL) {
        (void)close(top);
        return error_errno(err, errno, "%s", root);
    }
    while (r == 0 && (ent = readdir(d)) != NULL) {
        if (n >= STATE_MAX_IDS || state_id_check(ent->d_name, NULL) < 0)
            continue;
        char **more = krealloc(ids, (n + 1) * sizeof(*ids));
        char *copy = more != NULL ? kstrdup(ent->d_name) : NULL;
        ids = more != NULL ? more : ids;
        if (copy == NULL)
            r = error_set(err, ENOMEM, "no memory");
        else
            ids[n++] = copy;
    }
    (void)closedir(d);
    if (n > 0)
        qsort(ids, n, sizeof(*ids), name_cmp);
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = fn(ctx, ids[i]);
        kfree(ids[i]);
    }
    kfree(ids);
    return r;
}
