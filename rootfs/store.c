/*
 * store.c: the store's directories, names and small files.
 */
#include "rootfs/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

/* --- opening
 * --------------------------------------------------------------------------------------- */

static int store_path(char path[PATH_MAX], struct error *err)
{
    const char *own = getenv("SENTRY_STORE"), *home = getenv("HOME");
    int n;
    if (own != NULL && own[0] != '\0') {
        n = snprintf(path, PATH_MAX, "%s", own);
    } else if (home != NULL && home[0] == '/') {
        n = snprintf(path, PATH_MAX, "%s/.local/share/sentry", home);
    } else {
        return error_set(err, ENOENT, "no place for the image store: set HOME or SENTRY_STORE");
    }
    return n < PATH_MAX ? 0 : error_set(err, ENAMETOOLONG, "the store's path is too long");
}

static int make_path(const char *path)
{
    char part[PATH_MAX];
    for (size_t n = 1; n <= strlen(path); n++) {
        if (path[n] != '/' && path[n] != '\0')
            continue;
        memcpy(part, path, n);
        part[n] = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static int open_part(const struct store *s, const char *name, bool create, int *ret_fd,
                     struct error *err)
{
    struct stat st;
    if (create && mkdirat(s->fd, name, 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "image store %.300s/%s", s->path, name);
    *ret_fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0 || fstat(*ret_fd, &st) < 0)
        return error_errno(err, errno, "image store %.300s/%s", s->path, name);
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return error_set(err, EPERM, "image store %.300s/%s is not the user's own with mode 0700",
                         s->path, name);
    return 0;
}

int store_open(struct store *s, bool create, struct error *err)
{
    struct stat st;
    *s = (struct store){.fd = -1, .images = -1, .refs = -1, .cache = -1, .tmp = -1, .lock = -1};
    int r = store_path(s->path, err);
    if (r < 0)
        return r;
    r = create ? make_path(s->path) : 0;
    if (r == 0)
        s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->fd < 0)
        return error_errno(err, r < 0 ? -r : errno, "image store %.300s", s->path);
    if (fstat(s->fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        r = error_set(err, EPERM,
                      "image store %.300s belongs to or can be written by somebody else", s->path);
    if (r == 0)
        r = open_part(s, "images", create, &s->images, err);
    if (r == 0)
        r = open_part(s, "refs", create, &s->refs, err);
    if (r == 0)
        r = open_part(s, "cache", create, &s->cache, err);
    if (r == 0)
        r = open_part(s, "tmp", create, &s->tmp, err);
    if (r < 0)
        store_close(s);
    return r;
}

void store_close(struct store *s)
{
    store_unlock(s);
    fd_close(s->images);
    fd_close(s->refs);
    fd_close(s->cache);
    fd_close(s->tmp);
    fd_close(s->fd);
    s->fd = s->images = s->refs = s->cache = s->tmp = -1;
}

int store_lock(struct store *s, struct error *err)
{
    auto_fd int fd = openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno, "image store %.300s/lock", s->path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK && isatty(2))
            (void)fprintf(stderr, "sentry: waiting for another command on %s\n", s->path);
        while (flock(fd, LOCK_EX) < 0) {
            if (errno != EINTR)
                return error_errno(err, errno, "image store %.300s/lock", s->path);
        }
    }
    s->lock = take_fd(fd);
    return 0;
}

void store_unlock(struct store *s)
{
    fd_close(s->lock);
    s->lock = -1;
}

/* --- small files
 * ----------------------------------------------------------------------------------- */

static void tmp_name(char ret_name[STORE_TMP_NAME])
{
    uint64_t r[2] = {0};
    (void)!getrandom(r, sizeof(r), 0);
    (void)snprintf(ret_name, STORE_TMP_NAME, "%016llx%016llx", (unsigned long long)r[0],
                   (unsigned long long)r[1]);
}

int store_tmp_dir(const struct store *s, char ret_name[STORE_TMP_NAME], int *ret_fd,
                  struct error *err)
{
    tmp_name(ret_name);
    if (mkdirat(s->tmp, ret_name, 0700) < 0)
        return error_errno(err, errno, "image store %.300s/tmp", s->path);
    *ret_fd = openat(s->tmp, ret_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret_fd < 0 ? error_errno(err, errno, "image store %.300s/tmp", s->path) : 0;
}

int store_write(const struct store *s, int dir, const char *name, const char *text, size_t len,
                bool durable, struct error *err)
{
    char tmp[STORE_TMP_NAME];
    tmp_name(tmp);
    auto_fd int fd =
        openat(s->tmp, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : fd_write_full(fd, text, len);
    if (r == 0 && durable && fdatasync(fd) < 0)
        r = -errno;
    if (r == 0 && renameat(s->tmp, tmp, dir, name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(s->tmp, tmp, 0);
        return error_errno(err, -r, "image store %.300s", s->path);
    }
    return 0;
}

static int write_id(const struct store *s, int dir, const char *name, const struct digest *id,
                    bool durable, struct error *err)
{
    char text[DIGEST_HEX + 2];
    digest_hex(id, text);
    text[DIGEST_HEX] = '\n';
    text[DIGEST_HEX + 1] = '\0';
    return store_write(s, dir, name, text, DIGEST_HEX + 1, durable, err);
}

static int read_id(int dir, const char *name, struct digest *ret_id)
{
    char text[DIGEST_HEX + 1];
    auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int64_t n = fd_read_full(fd, text, sizeof(text));
    if (n < 0)
        return (int)n;
    return n == DIGEST_HEX + 1 && digest_parse_hex(text, DIGEST_HEX, ret_id) ? 0 : -EINVAL;
}

/* --- names
 * ------------------------------------------------------------------------------------------ */

int store_ref_check(const char *name, struct error *err)
{
    size_t n = strlen(name);
    bool good = n > 0 && n <= STORE_NAME_MAX && name[0] != '-' && name[0] != '/' && name[0] != '.';
    for (size_t i = 0; i < n; i++)
        good = good && name[i] > ' ' && name[i] < 0x7f;
    return good ? 0
                : error_set(err, EINVAL,
                            "'%.64s' cannot be the name of an image (1 to %d printable "
                            "characters, not starting with - / or .)",
                            name, STORE_NAME_MAX);
}

/* Slashes and percent signs escaped: the name of the file. False when it would be too long. */
static bool file_name(const char *name, char ret[256])
{
    size_t used = 0;
    for (; *name != '\0'; name++) {
        if (used + 4 > 256)
            return false;
        if (*name == '/' || *name == '%') {
            (void)snprintf(ret + used, 4, "%%%02X", (unsigned)*name);
            used += 3;
        } else {
            ret[used++] = *name;
        }
    }
    ret[used] = '\0';
    return used > 0 && strcmp(ret, ".") != 0 && strcmp(ret, "..") != 0;
}

static void unescape(const char *file, char ret[256])
{
    size_t used = 0;
    while (*file != '\0' && used + 1 < 256) {
        if (strncmp(file, "%2F", 3) == 0 || strncmp(file, "%25", 3) == 0) {
            ret[used++] = file[2] == 'F' ? '/' : '%';
            file += 3;
        } else {
            ret[used++] = *file++;
        }
    }
    ret[used] = '\0';
}

int store_ref_get(const struct store *s, const char *name, struct digest *ret_id)
{
    char file[256];
    return file_name(name, file) ? read_id(s->refs, file, ret_id) : -ENOENT;
}

int store_ref_set(const struct store *s, const char *name, const struct digest *id,
                  struct error *err)
{
    char file[256];
    int r = store_ref_check(name, err);
    if (r == 0 && !file_name(name, file))
        r = error_set(err, ENAMETOOLONG, "the name '%.64s...' is too long", name);
    return r < 0 ? r : write_id(s, s->refs, file, id, true, err);
}

int store_ref_drop(const struct store *s, const char *name)
{
    char file[256];
    if (!file_name(name, file))
        return -ENOENT;
    return unlinkat(s->refs, file, 0) < 0 ? -errno : 0;
}

static DIR *open_list(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL)
        fd_close(fd);
    return d;
}

int store_each_ref(const struct store *s, store_ref_fn *f, void *arg)
{
    char name[256];
    struct digest id;
    struct dirent *e;
    int r = 0;
    DIR *d = open_list(s->refs);
    if (d == NULL)
        return -errno;
    while (r == 0 && (e = readdir(d)) != NULL) {
        unescape(e->d_name, name);
        if (e->d_name[0] != '.' && read_id(s->refs, e->d_name, &id) == 0)
            r = f(arg, name, &id);
    }
    (void)closedir(d);
    return r;
}

int store_each_image(const struct store *s, store_image_fn *f, void *arg)
{
    struct digest id;
    struct dirent *e;
    int r = 0;
    DIR *d = open_list(s->images);
    if (d == NULL)
        return -errno;
    while (r == 0 && (e = readdir(d)) != NULL) {
        if (digest_parse_hex(e->d_name, strlen(e->d_name), &id))
            r = f(arg, &id);
    }
    (void)closedir(d);
    return r;
}

struct by_prefix {
    const char *text;
    size_t n, found;
    struct digest id;
};

static int match_prefix(void *arg, const struct digest *id)
{
    struct by_prefix *p = arg;
    char hex[DIGEST_HEX + 1];
    digest_hex(id, hex);
    if (strncmp(hex, p->text, p->n) == 0) {
        p->id = *id;
        p->found++;
    }
    return 0;
}

static bool is_id(const char *text)
{
    size_t n = strlen(text);
    return n >= 6 && n <= DIGEST_HEX && strspn(text, "0123456789abcdef") == n;
}

int store_resolve(const struct store *s, const char *text, struct digest *ret_id,
                  char ret_name[STORE_FOUND_MAX], struct error *err)
{
    static const char *const before[] = {"", "localhost/"};
    static const char *const after[] = {"", ":latest"};
    const char *hex = strncmp(text, "sha256:", 7) == 0 ? text + 7 : text;

    for (size_t i = 0; i < ARRAY_LEN(before) * ARRAY_LEN(after); i++) {
        (void)snprintf(ret_name, STORE_FOUND_MAX, "%s%.300s%s", before[i / ARRAY_LEN(after)], text,
                       after[i % ARRAY_LEN(after)]);
        if (store_ref_get(s, ret_name, ret_id) == 0)
            return 0;
    }
    ret_name[0] = '\0';
    struct by_prefix p = {.text = hex, .n = strlen(hex)};
    if (is_id(hex) && store_each_image(s, match_prefix, &p) == 0 && p.found == 1) {
        *ret_id = p.id;
        return 0;
    }
    if (p.found > 1)
        return error_set(err, EINVAL, "'%.100s' could be %zu images", text, p.found);
    return error_set(err, ENOENT, "no image '%.200s', neither as a path nor in the store", text);
}

/* --- the cache
 * ------------------------------------------------------------------------------------- */

int store_cache_get(const struct store *s, const struct digest *key, struct digest *ret_id)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(key, hex);
    return read_id(s->cache, hex, ret_id);
}

int store_cache_set(const struct store *s, const struct digest *key, const struct digest *id,
                    struct error *err)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(key, hex);
    /* Lost or damaged by a crash of the host, it is only a file that is read once more. */
    return write_id(s, s->cache, hex, id, false, err);
}
