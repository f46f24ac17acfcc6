/*
 * store_image.c: images of the store: made, used, removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/store.h"
#include "rootfs/tree.h"

enum {
    BOOT_ID = 36
};

/* --- using
 * ------------------------------------------------------------------------------------------ */

static int read_boot_id(char ret_id[BOOT_ID + 1])
{
    auto_fd int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    int64_t n = fd < 0 ? -errno : fd_read_full(fd, ret_id, BOOT_ID);
    if (n != BOOT_ID)
        return n < 0 ? (int)n : -EIO;
    ret_id[BOOT_ID] = '\0';
    return 0;
}

/* An image that was never synced is good in the boot that made it. */
static bool survived(int dir)
{
    char then[BOOT_ID + 1] = "", now[BOOT_ID + 1];
    auto_fd int fd = openat(dir, "boot", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    return fd_read_full(fd, then, BOOT_ID) == BOOT_ID && read_boot_id(now) == 0 &&
           memcmp(then, now, BOOT_ID) == 0;
}

static int open_image_dir(const struct store *s, const struct digest *id)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(id, hex);
    int fd = openat(s->images, hex, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int read_meta(int dir, struct image_config *c, struct error *err)
{
    char *text = NULL;
    size_t len = 0;
    auto_fd int fd = openat(dir, "meta", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : fd_read_all(fd, IMAGE_CONFIG_BYTES, &text, &len);
    if (r < 0)
        return error_errno(err, -r, "the image's meta file");
    image_config_init(c);
    r = image_config_read(c, text, len, err);
    kfree(text);
    if (r < 0)
        image_config_done(c);
    return r < 0 ? error_prefix(err, "the image's meta file") : 0;
}

int store_get(const struct store *s, const struct digest *id, struct store_image *ret_image,
              struct error *err)
{
    char hex[13];
    digest_short(id, hex);
    auto_fd int dir = open_image_dir(s, id);
    if (dir < 0)
        return error_errno(err, -dir, "image %s in the store", hex);
    auto_fd int use = openat(dir, "use", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (use < 0 || flock(use, LOCK_SH | LOCK_NB) < 0)
        return error_set(err, ENOENT, "image %s is being removed", hex);
    auto_fd int root = openat(dir, "rootfs", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* Removed before we had the lock: it is under another name now, or gone. */
    auto_fd int again = open_image_dir(s, id);
    struct stat a, b;
    if (root < 0 || again < 0 || !survived(dir) || fstat(dir, &a) < 0 || fstat(again, &b) < 0 ||
        a.st_ino != b.st_ino)
        return error_set(err, ENOENT, "image %s is not in the store", hex);
    int r = read_meta(dir, &ret_image->config, err);
    if (r < 0)
        return r;
    ret_image->id = *id;
    ret_image->root = take_fd(root);
    ret_image->use = take_fd(use);
    return 0;
}

void store_image_done(struct store_image *i)
{
    fd_close(i->root);
    fd_close(i->use);
    i->root = i->use = -1;
    image_config_done(&i->config);
}

bool store_has(const struct store *s, const struct digest *id)
{
    auto_fd int dir = open_image_dir(s, id);
    return dir >= 0 && survived(dir);
}

/* --- making
 * ----------------------------------------------------------------------------------------- */

static bool known(void *arg, const struct digest *id)
{
    return store_has(arg, id);
}

static int write_text(int dir, const char *name, const char *text, size_t len, struct error *err)
{
    auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : fd_write_full(fd, text, len);
    return r < 0 ? error_errno(err, -r, "writing the image's %s", name) : 0;
}

/* What lies beside the tree. */
static int describe(int dir, const struct image_config *c, bool durable, struct error *err)
{
    char boot[BOOT_ID + 1];
    struct buf b;
    buf_init(&b, IMAGE_CONFIG_BYTES);
    image_config_write(c, &b);
    int r = buf_error(&b);
    r = r < 0 ? error_errno(err, -r, "the image's meta file")
              : write_text(dir, "meta", b.data, b.len, err);
    buf_done(&b);
    if (r == 0)
        r = write_text(dir, "use", "", 0, err);
    if (r == 0 && !durable) {
        r = read_boot_id(boot);
        r = r < 0 ? error_errno(err, -r, "this boot's id")
                  : write_text(dir, "boot", boot, BOOT_ID, err);
    }
    if (r == 0 && durable && syncfs(dir) < 0)
        r = error_errno(err, errno, "syncing the image");
    return r;
}

/* An image that a run left unsynced stays. */
static int make_durable(const struct store *s, const struct digest *id, struct error *err)
{
    auto_fd int dir = open_image_dir(s, id);
    if (dir < 0 || syncfs(dir) < 0 || (unlinkat(dir, "boot", 0) < 0 && errno != ENOENT))
        return error_errno(err, dir < 0 ? -dir : errno, "syncing the image");
    return 0;
}

/* Takes an image (or what a crash left of one) out of sight, then apart. */
static int retire(struct store *s, const struct digest *id)
{
    char hex[DIGEST_HEX + 1], name[STORE_TMP_NAME];
    int fd;
    digest_hex(id, hex);
    int r = store_tmp_dir(s, name, &fd, NULL);
    if (r < 0)
        return r;
    r = renameat(s->images, hex, fd, "image") < 0 ? -errno : 0;
    fd_close(fd);
    int removed = tree_remove(s->tmp, name);
    return r < 0 ? (r == -ENOENT ? 0 : r) : removed;
}

static int publish(struct store *s, const char *tmp, const struct digest *id, bool durable,
                   struct error *err)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(id, hex);
    int r = retire(s, id);
    if (r == 0 && renameat(s->tmp, tmp, s->images, hex) < 0)
        r = -errno;
    if (r == 0 && durable && fsync(s->images) < 0)
        r = -errno;
    return r < 0 ? error_errno(err, -r, "image store %.300s", s->path) : 0;
}

/* A file without a name, also where the file system cannot make one so. */
static int scratch_file(const struct store *s)
{
    char name[] = "scratch-0000000000000000";
    int fd = openat(s->tmp, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    (void)snprintf(name, sizeof(name), "scratch-%016llx", (unsigned long long)getpid());
    fd = openat(s->tmp, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    (void)unlinkat(s->tmp, name, 0);
    return fd;
}

static int fill(struct store *s, const struct store_add *a, const char *tmp, int dir,
                struct store_added *ret, struct error *err)
{
    struct unpack_result result;
    if (mkdirat(dir, "rootfs", 0755) < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    auto_fd int root = openat(dir, "rootfs", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    auto_fd int scratch = scratch_file(s);
    if (root < 0 || scratch < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    struct unpack_request q = {
        .image = a->image,
        .is_dir = a->is_dir,
        .blobs = a->blobs,
        .target = root,
        .scratch = scratch,
        .want = a->want,
        .limits = a->limits,
        .progress = a->progress,
        .known = known,
        .arg = s,
    };
    int r = unpack_image(&q, &result, err);
    if (r < 0)
        return r;
    ret->id = result.id;
    ret->notes = result.notes;
    memcpy(ret->name, result.name, sizeof(ret->name));
    if (!result.known) {
        r = describe(dir, &result.config, a->durable, err);
        if (r == 0)
            r = publish(s, tmp, &result.id, a->durable, err);
    } else if (a->durable) {
        r = make_durable(s, &result.id, err);
    }
    unpack_result_done(&result);
    return r;
}

int store_add(struct store *s, const struct store_add *a, struct store_added *ret,
              struct error *err)
{
    char tmp[STORE_TMP_NAME];
    int dir;
    *ret = (struct store_added){0};
    int r = store_tmp_dir(s, tmp, &dir, err);
    if (r < 0)
        return r;
    r = fill(s, a, tmp, dir, ret, err);
    fd_close(dir);
    /* Still there when it failed, or when the image was in the store already. */
    int removed = tree_remove(s->tmp, tmp);
    return r == 0 && removed < 0 ? error_errno(err, -removed, "image store %.300s", s->path) : r;
}

/* --- removing
 * --------------------------------------------------------------------------------------- */

int store_remove(struct store *s, const struct digest *id, struct error *err)
{
    char hex[13];
    digest_short(id, hex);
    auto_fd int dir = open_image_dir(s, id);
    if (dir < 0)
        return error_errno(err, -dir, "image %s", hex);
    auto_fd int use = openat(dir, "use", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (use >= 0 && flock(use, LOCK_EX | LOCK_NB) < 0)
        return error_set(err, EBUSY, "image %s is in use", hex);
    int r = retire(s, id);
    return r < 0 ? error_errno(err, -r, "removing image %s", hex) : 0;
}

struct prune {
    struct store *s;
    struct store_pruned *count;
    struct digest *named; /* ids that names lead to */
    size_t nnamed;
    struct digest *layers; /* of the images that stay */
    size_t nlayers;
    struct error *err;
};

static int add_digest(struct digest **v, size_t *n, const struct digest *d)
{
    struct digest *more = krealloc(*v, (*n + 1) * sizeof(*more));
    if (more == NULL)
        return -ENOMEM;
    more[(*n)++] = *d;
    *v = more;
    return 0;
}

static bool among(const struct digest *v, size_t n, const struct digest *d)
{
    for (size_t i = 0; i < n; i++) {
        if (digest_equal(&v[i], d))
            return true;
    }
    return false;
}

static int note_name(void *arg, const char *name, const struct digest *id)
{
    struct prune *p = arg;
    if (!store_has(p->s, id)) {
        (void)!store_ref_drop(p->s, name);
        return 0;
    }
    return add_digest(&p->named, &p->nnamed, id);
}

static int prune_image(void *arg, const struct digest *id)
{
    struct prune *p = arg;
    struct image_config c;
    int r = 0;
    if (!among(p->named, p->nnamed, id)) {
        r = store_remove(p->s, id, p->err);
        if (r == 0)
            p->count->images++;
        if (r != -EBUSY)
            return r;
        p->count->busy++;
    }
    auto_fd int dir = open_image_dir(p->s, id);
    if (dir < 0 || read_meta(dir, &c, NULL) < 0)
        return 0;
    for (size_t i = 0; i < c.nlayers && r != -ENOMEM; i++)
        r = add_digest(&p->layers, &p->nlayers, &c.layers[i]);
    image_config_done(&c);
    return r == -ENOMEM ? r : 0;
}

static bool keep_cached(void *arg, const char *name)
{
    struct prune *p = arg;
    struct digest key, id;
    bool keep = digest_parse_hex(name, strlen(name), &key) &&
                store_cache_get(p->s, &key, &id) == 0 && store_has(p->s, &id);
    p->count->entries += !keep;
    return keep;
}

static bool keep_layer(void *arg, const char *name)
{
    struct prune *p = arg;
    struct digest d;
    bool keep = digest_parse_hex(name, strlen(name), &d) && among(p->layers, p->nlayers, &d);
    p->count->blobs += !keep;
    return keep;
}

static bool count_unfinished(void *arg, const char *name)
{
    (void)name;
    ((struct prune *)arg)->count->unfinished++;
    return false;
}

int store_prune(struct store *s, struct store_pruned *ret, struct error *err)
{
    struct error why;
    struct prune p = {.s = s, .count = ret, .err = &why};
    *ret = (struct store_pruned){0};
    error_init(&why);
    int r = tree_clear(s->tmp, count_unfinished, &p);
    if (r == 0)
        r = store_each_ref(s, note_name, &p);
    if (r == 0)
        r = store_each_image(s, prune_image, &p);
    if (r == 0)
        r = tree_clear(s->cache, keep_cached, &p);
    auto_fd int blobs = openat(s->fd, "blobs/sha256", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0 && blobs >= 0)
        r = tree_clear(blobs, keep_layer, &p);
    kfree(p.named);
    kfree(p.layers);
    if (r == 0)
        return 0;
    return why.code != 0 ? error_set(err, why.code, "%s", why.text)
                         : error_errno(err, -r, "pruning %.300s", s->path);
}
