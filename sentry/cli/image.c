/*
 * image.c: from what people name to a directory.
 *
 * A file is known by device, inode, size and times: while those are the same it is not read again,
 * and a run starts as fast as from a directory.
 */
#include "sentry/cli/image.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/parse.h"
#include "rootfs/limits.h"
#include "rootfs/store.h"
#include "sentry/cli/boot.h"

/* A path that is there, and the name behind it. */
struct place {
    char path[PATH_MAX];
    const char *want; /* NULL: none */
    int fd;           /* O_PATH */
    struct stat st;
    bool layout; /* a directory that holds an OCI layout */
};

/* --- a directory
 * ----------------------------------------------------------------------------------- */

static bool directory_empty(int fd)
{
    struct stat st;
    static const char *const usual[] = {"bin", "usr", "etc", "lib", "sbin", "opt", "app", "home"};
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        if (fstatat(fd, usual[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            return false;
    }
    /* Anything else but an empty directory (link count 2, no entry) is given a chance. */
    return fstat(fd, &st) == 0 && st.st_nlink <= 2 && st.st_size <= 4096 &&
           faccessat(fd, "init", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static int use_directory(struct boot *b, struct place *p, struct error *err)
{
    if (faccessat(p->fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
        return error_errno(err, errno, "image %s", p->path);
    if (directory_empty(p->fd))
        return error_set(err, ENOENT, "image %s is empty", p->path);
    b->image_fd = take_fd(p->fd);
    return 0;
}

/* --- finding
 * --------------------------------------------------------------------------------------- */

static int open_place(struct place *p)
{
    struct stat st;
    p->fd = open(p->path, O_PATH | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &p->st) < 0)
        return -errno;
    p->layout = S_ISDIR(p->st.st_mode) &&
                fstatat(p->fd, "oci-layout", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                fstatat(p->fd, "index.json", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    /* A layout is known by its index: everything else in it is named by digest. */
    if (p->layout)
        p->st = st;
    return 0;
}

/* The path as it is, else what stands before one of its colons. -ENOENT: no such path. */
static int find_place(const char *image, struct place *p)
{
    const char *colon = image + strlen(image);
    if (strlen(image) >= sizeof(p->path))
        return -ENAMETOOLONG;
    for (;;) {
        size_t n = (size_t)(colon - image);
        memcpy(p->path, image, n);
        p->path[n] = '\0';
        p->want = *colon == ':' ? colon + 1 : NULL;
        int r = open_place(p);
        /* A plain directory has no names in it: this is a name of the store, then. */
        if (r == 0 && p->want != NULL && !p->layout && S_ISDIR(p->st.st_mode)) {
            (void)close(take_fd(p->fd));
            r = -ENOENT;
        }
        if (r != -ENOENT && r != -ENOTDIR)
            return r;
        do {
            if (colon == image)
                return -ENOENT;
            colon--;
        } while (*colon != ':');
        if (colon == image)
            return -ENOENT;
    }
}

static void cache_key(const struct place *p, struct digest *ret_key)
{
    struct digest_state s;
    char text[256];
    int n = snprintf(text, sizeof(text), "%llu %llu %llu %lld.%09ld %lld.%09ld\n",
                     (unsigned long long)p->st.st_dev, (unsigned long long)p->st.st_ino,
                     (unsigned long long)p->st.st_size, (long long)p->st.st_mtim.tv_sec,
                     p->st.st_mtim.tv_nsec, (long long)p->st.st_ctim.tv_sec, p->st.st_ctim.tv_nsec);
    digest_begin(&s);
    digest_update(&s, text, (size_t)n);
    if (p->want != NULL)
        digest_update(&s, p->want, strlen(p->want));
    digest_end(&s, ret_key);
}

/* --- the store
 * ------------------------------------------------------------------------------------- */

void image_warn(const char *path, const struct layer_notes *n)
{
    if (n->devices > 0)
        (void)fprintf(stderr, "sentry: %s: %llu device nodes became empty files\n", path,
                      (unsigned long long)n->devices);
    if (n->xattrs > 0)
        (void)fprintf(stderr, "sentry: %s: %llu extended attributes could not be stored\n", path,
                      (unsigned long long)n->xattrs);
}

static int add(struct store *s, const struct place *p, bool durable,
               const struct image_limits *limits, struct store_added *ret, struct error *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (p->layout ? O_DIRECTORY : 0);
    auto_fd int fd = open(p->path, flags);
    if (fd < 0)
        return error_errno(err, errno, "image %s", p->path);
    struct store_add a = {
        .image = fd,
        .blobs = -1,
        .is_dir = p->layout,
        .progress = isatty(2),
        .durable = durable,
        .want = p->want,
        .limits = limits,
    };
    int r = store_add(s, &a, ret, err);
    if (r < 0)
        return error_prefix(err, "image %s", p->path);
    image_warn(p->path, &ret->notes);
    return 0;
}

static int kind_known(const struct place *p, struct error *err)
{
    if (p->layout || S_ISREG(p->st.st_mode))
        return 0;
    if (S_ISDIR(p->st.st_mode))
        return error_set(err, EINVAL, "image %s is a directory without an OCI layout", p->path);
    return error_set(err, EINVAL, "image %s is neither a directory nor a file", p->path);
}

int image_import(struct store *s, const char *path, const struct image_limits *limits,
                 struct store_added *ret, struct error *err)
{
    struct place p = {.fd = -1};
    struct digest key;
    int r = find_place(path, &p);
    if (r < 0)
        r = error_errno(err, -r, "image %s", path);
    else
        r = kind_known(&p, err);
    if (r == 0)
        r = add(s, &p, true, limits, ret, err);
    if (r == 0) {
        cache_key(&p, &key);
        r = store_cache_set(s, &key, &ret->id, err);
    }
    if (p.fd >= 0)
        (void)close(p.fd);
    return r;
}

static int use_stored(struct boot *b, const struct store *s, const struct digest *id,
                      struct image_config *ret_config, struct error *err)
{
    struct store_image i;
    int r = store_get(s, id, &i, err);
    if (r < 0)
        return r;
    b->image_fd = i.root;
    b->image_use_fd = i.use;
    *ret_config = i.config;
    return 0;
}

/* Unpacks, when nobody else did while we waited for the lock. */
static int unpack(struct boot *b, struct store *s, const struct place *p, const struct digest *key,
                  struct image_config *ret_config, struct error *err)
{
    struct image_limits limits = IMAGE_LIMITS_DEFAULT;
    struct store_added added;
    struct digest id;
    int r = store_lock(s, err);
    if (r < 0)
        return r;
    if (store_cache_get(s, key, &id) == 0 && use_stored(b, s, &id, ret_config, NULL) == 0)
        return 0;
    r = add(s, p, false, &limits, &added, err);
    if (r == 0)
        r = store_cache_set(s, key, &added.id, err);
    if (r == 0)
        r = use_stored(b, s, &added.id, ret_config, err);
    return r;
}

static int use_file(struct boot *b, const struct place *p, struct image_config *ret_config,
                    struct error *err)
{
    struct store s;
    struct digest key, id;
    int r = store_open(&s, true, err);
    if (r < 0)
        return r;
    cache_key(p, &key);
    if (store_cache_get(&s, &key, &id) < 0 || use_stored(b, &s, &id, ret_config, NULL) < 0)
        r = unpack(b, &s, p, &key, ret_config, err);
    store_close(&s);
    return r;
}

static int use_name(struct boot *b, const char *name, struct image_config *ret_config,
                    struct error *err)
{
    struct store s;
    struct digest id;
    struct error why;
    error_init(&why);
    char full[STORE_FOUND_MAX];
    int r = store_open(&s, false, &why);
    if (r == -ENOENT)
        return error_set(err, ENOENT, "no image '%.200s', neither as a path nor in the store",
                         name);
    if (r < 0)
        return error_set(err, -r, "%s", why.text);
    r = store_resolve(&s, name, &id, full, err);
    if (r == 0)
        r = use_stored(b, &s, &id, ret_config, err);
    store_close(&s);
    return r;
}

int image_open(struct boot *b, const char *image, struct image_config *ret_config,
               struct error *err)
{
    struct place p = {.fd = -1};
    image_config_init(ret_config);
    int r = find_place(image, &p);
    if (r == -ENOENT && image[0] != '/' && image[0] != '.')
        return use_name(b, image, ret_config, err);
    if (r < 0)
        r = error_errno(err, -r, "image %s", image);
    else if (S_ISDIR(p.st.st_mode) && p.want == NULL)
        r = use_directory(b, &p, err);
    else if ((r = kind_known(&p, err)) == 0)
        r = use_file(b, &p, ret_config, err);
    if (p.fd >= 0)
        (void)close(p.fd);
    return r;
}

/* --- options of import and pull
 * --------------------------------------------------------------------------- */

/* The value of an option that may be given in either form; NULL: it is another option. */
static const char *option_value(const char *name, int *argc, char ***argv)
{
    const char *arg = (*argv)[0];
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || (arg[n] != '=' && arg[n] != '\0'))
        return NULL;
    if (arg[n] == '=')
        return arg + n + 1;
    if (*argc < 2)
        return "";
    --*argc;
    ++*argv;
    return (*argv)[0];
}

static int read_tls(struct image_options *o, const char *value, struct error *err)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return error_set(err, EINVAL, "--tls-verify is true or false");
    o->plain_http = value[0] == 'f';
    return 0;
}

int image_options_read(struct image_options *o, bool pull, int *argc, char ***argv,
                       struct error *err)
{
    const char *value;
    *o = (struct image_options){.limits = IMAGE_LIMITS_DEFAULT};
    for (; *argc > 0 && (*argv)[0][0] == '-'; --*argc, ++*argv) {
        const char *name = (*argv)[0];
        int r;
        if (strcmp(name, "--") == 0) {
            --*argc;
            ++*argv;
            return 0;
        }
        if ((value = option_value("--max-size", argc, argv)) != NULL)
            r = parse_size(value, &o->limits.bytes, err);
        else if (pull && (value = option_value("--tls-verify", argc, argv)) != NULL)
            r = read_tls(o, value, err);
        else
            return error_set(err, EINVAL, "unknown option %s (see 'man sentry')", name);
        if (r < 0)
            return error_prefix(err, "%s", name);
    }
    return 0;
}

/* --- what the image says
 * --------------------------------------------------------------------------- */

static int copy_strings(struct boot *b, size_t *at, char *const *v, size_t n, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        b->argv[*at] = kstrdup(v[i]);
        if (b->argv[*at] == NULL)
            return error_set(err, ENOMEM, "no memory");
        ++*at;
    }
    return 0;
}

/* A program on the command line stands for Entrypoint and Cmd together. */
static int apply_program(struct boot *b, const struct image_config *c, int argc, char **argv,
                         struct error *err)
{
    size_t total = argc > 0 ? (size_t)argc : c->entrypoint.n + c->cmd.n, at = 0;
    if (total == 0)
        return error_set(err, EINVAL,
                         "no program given: sentry run [OPTIONS] IMAGE [--] PROG [ARGS...]");
    b->argv = kalloc_array(total + 1, sizeof(char *));
    if (b->argv == NULL)
        return error_set(err, ENOMEM, "no memory");
    int r = argc > 0 ? copy_strings(b, &at, argv, total, err)
                     : copy_strings(b, &at, c->entrypoint.v, c->entrypoint.n, err);
    if (r == 0 && argc == 0)
        r = copy_strings(b, &at, c->cmd.v, c->cmd.n, err);
    if (r == 0 && b->argv[0][0] == '\0')
        r = error_set(err, EINVAL, "the program's name is empty");
    return r;
}

static int copy_unless_set(char **slot, const char *text, struct error *err)
{
    if (*slot != NULL || text == NULL)
        return 0;
    *slot = kstrdup(text);
    return *slot != NULL ? 0 : error_set(err, ENOMEM, "no memory");
}

int image_apply(struct boot *b, const struct image_config *c, int argc, char **argv,
                struct error *err)
{
    int r = apply_program(b, c, argc, argv, err);
    for (size_t i = 0; i < c->env.n && r == 0; i++) {
        char key[256];
        size_t n = strcspn(c->env.v[i], "=");
        if (n >= sizeof(key))
            return error_set(err, ENAMETOOLONG, "the image's Env has a name of %zu bytes", n);
        memcpy(key, c->env.v[i], n);
        key[n] = '\0';
        if (!boot_env_has(b, key))
            r = boot_env_set(b, c->env.v[i], err);
    }
    if (r == 0)
        r = copy_unless_set(&b->cwd, c->workdir, err);
    if (r == 0)
        r = copy_unless_set(&b->user, c->user, err);
    return r;
}
