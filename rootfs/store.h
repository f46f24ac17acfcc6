#pragma once
/*
 * The local store of unpacked images: $SENTRY_STORE, else ~/.local/share/sentry.
 *
 *      images/ID/rootfs   the tree, read-only by convention; ID is the digest of the configuration
 *      images/ID/meta     struct image_config as records
 *      images/ID/boot     while the tree was not synced to disk: the boot it was made in
 *      images/ID/use      shared lock: a run uses it; exclusive: it is being removed
 *      refs/NAME          ID (NAME with %2F for slashes)
 *      cache/KEY          ID of the image in a file, by the file's identity and times
 *      blobs/sha256/HEX   layers as they were pulled
 *      tmp/               everything unfinished; what is there while nobody holds `lock` is garbage
 *      lock               exclusive: making, naming, removing
 *
 * An image appears by one rename, complete and verified. Reading takes no store lock. All
 * directories below the store's are 0700: images hold setuid files of strangers.
 */
#include "lib/compiler.h"

#include <limits.h>

#include "rootfs/config.h"
#include "rootfs/unpack.h"

struct error;

struct store {
    int fd, images, refs, cache, tmp, lock; /* lock: the open file, -1 while not held */
    char path[PATH_MAX];
};

enum {
    STORE_NAME_MAX = 240
};

/* Without create: -ENOENT when there is no store yet. */
int store_open(struct store *s, bool create, struct error *err) MUST_CHECK;
void store_close(struct store *s);
/* Waits for others; says so on standard error when that is a terminal. */
int store_lock(struct store *s, struct error *err) MUST_CHECK;
void store_unlock(struct store *s);

struct store_image {
    struct digest id;
    int root; /* O_PATH: rootfs */
    int use;  /* keeps the image from being removed until it is closed */
    struct image_config config;
};
/* -ENOENT: not there, or made before a crash of the host and never synced. */
int store_get(const struct store *s, const struct digest *id, struct store_image *ret_image,
              struct error *err) MUST_CHECK;
void store_image_done(struct store_image *i);
bool store_has(const struct store *s, const struct digest *id);

/* Names. A name has 1..240 bytes, printable, no space; -EINVAL else. */
int store_ref_check(const char *name, struct error *err) MUST_CHECK;
int store_ref_get(const struct store *s, const char *name, struct digest *ret_id) MUST_CHECK;
int store_ref_set(const struct store *s, const char *name, const struct digest *id,
                  struct error *err) MUST_CHECK;
int store_ref_drop(const struct store *s, const char *name) MUST_CHECK;
/* Calls f for each until it returns non-zero, which is returned. */
typedef int store_ref_fn(void *arg, const char *name, const struct digest *id);
int store_each_ref(const struct store *s, store_ref_fn *f, void *arg) MUST_CHECK;
typedef int store_image_fn(void *arg, const struct digest *id);
int store_each_image(const struct store *s, store_image_fn *f, void *arg) MUST_CHECK;

enum {
    STORE_FOUND_MAX = 512
};
/* What people write: a name, with :latest or a registry left out, or six or more digits of an ID.
 * ret_name: the name in full, "" for an ID. */
int store_resolve(const struct store *s, const char *text, struct digest *ret_id,
                  char ret_name[STORE_FOUND_MAX], struct error *err) MUST_CHECK;

/* The image of a file that was unpacked before, by a key made of what identifies the file. */
int store_cache_get(const struct store *s, const struct digest *key, struct digest *ret_id)
    MUST_CHECK;
int store_cache_set(const struct store *s, const struct digest *key, const struct digest *id,
                    struct error *err) MUST_CHECK;

/* -- under the lock ------------------------------------------------------------------------------
 */

struct store_add {
    int image, blobs; /* as in unpack_request; blobs -1 */
    bool is_dir, progress;
    bool durable; /* sync before it appears */
    const char *want;
    const struct image_limits *limits;
};
struct store_added {
    struct digest id;
    char name[512]; /* what the image calls itself, or "" */
    struct layer_notes notes;
};
/* Unpacks an image into the store, unless it is there. Nothing stays behind on failure. */
int store_add(struct store *s, const struct store_add *a, struct store_added *ret,
              struct error *err) MUST_CHECK;
/* -EBUSY while a run uses it. Its names are the caller's business. */
int store_remove(struct store *s, const struct digest *id, struct error *err) MUST_CHECK;

struct store_pruned {
    uint64_t images, unfinished, entries, blobs, busy;
};
/* Removes what is unfinished, images that no name leads to, cache entries and layers of images that
 * are gone. */
int store_prune(struct store *s, struct store_pruned *ret, struct error *err) MUST_CHECK;

/* A new empty directory below tmp; ret_name for removing it, ret_fd its descriptor. */
enum {
    STORE_TMP_NAME = 40
};
int store_tmp_dir(const struct store *s, char ret_name[STORE_TMP_NAME], int *ret_fd,
                  struct error *err) MUST_CHECK;
/* Replaces dir/name by the text, atomically; durable: the text is on disk before it has the name.
 */
int store_write(const struct store *s, int dir, const char *name, const char *text, size_t len,
                bool durable, struct error *err) MUST_CHECK;
