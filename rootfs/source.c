/*
 * source.c: members by name.
 */
#include "rootfs/source.h"

#include <archive.h>
#include <archive_entry.h>
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
#include "lib/fdio.h"
#include "lib/log.h"
#include "rootfs/stream.h"
#include "rootfs/tree.h"

enum {
    LINKS_MAX = 8,
    NAME_MAX_BYTES = 1024
};

void source_init_dir(struct source *s, int fd, int blobs)
{
    *s = (struct source){.is_dir = true, .fd = fd, .blobs = blobs};
}

void source_done(struct source *s)
{
    for (size_t i = 0; i < s->nmembers; i++) {
        kfree(s->members[i].name);
        kfree(s->members[i].link);
    }
    kfree(s->members);
    for (size_t i = 0; i < s->nopened; i++)
        fd_close(s->opened[i]);
    kfree(s->opened);
    s->members = NULL;
    s->opened = NULL;
    s->nmembers = s->nopened = 0;
}

/* --- a tar's table of contents -------------------------------------------------------------------
 */

/* The steps of path behind the first *used bytes of ret. */
static bool plain_steps(const char *path, char *ret, size_t cap, size_t *used)
{
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            if (*used == 0)
                return false;
            while (*used > 0 && ret[*used - 1] != '/')
                (*used)--;
            *used -= *used > 0;
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            if (*used + n + 2 > cap)
                return false;
            if (*used > 0)
                ret[(*used)++] = '/';
            memcpy(ret + *used, path, n);
            *used += n;
        }
        path += n + (path[n] == '/');
    }
    return true;
}

/* A name made plain, ".." taken back; from is the directory it is relative to, "" for the top.
 * False when it leads out. */
static bool plain_name(const char *from, const char *name, char *ret, size_t cap)
{
    size_t used = 0;
    if (cap == 0 || !plain_steps(from, ret, cap, &used) || !plain_steps(name, ret, cap, &used))
        return false;
    ret[used] = '\0';
    return true;
}

static int add_member(struct source *s, const char *name, const char *link, uint64_t off,
                      uint64_t size)
{
    struct source_member *v;
    if ((s->nmembers & (s->nmembers - 1)) == 0) {
        size_t cap = s->nmembers == 0 ? 1 : 2 * s->nmembers;
        v = krealloc(s->members, cap * sizeof(*v));
        if (v == NULL)
            return -ENOMEM;
        s->members = v;
    }
    v = &s->members[s->nmembers];
    *v = (struct source_member){.name = kstrdup(name), .off = off, .size = size};
    if (link != NULL)
        v->link = kstrdup(link);
    s->nmembers++;
    return v->name != NULL && (link == NULL || v->link != NULL) ? 0 : -ENOMEM;
}

/* The directory part of a name, in place. */
static void cut_last(char *name)
{
    char *slash = strrchr(name, '/');
    *(slash != NULL ? slash : name) = '\0';
}

static int read_member(struct source *s, const struct stream *st, struct archive *tar,
                       struct archive_entry *e, struct error *err)
{
    char name[NAME_MAX_BYTES], link[NAME_MAX_BYTES], dir[NAME_MAX_BYTES];
    const char *given = archive_entry_pathname(e);
    const char *hard = archive_entry_hardlink(e);
    const char *soft = archive_entry_symlink(e);
    int r = 0;

    if (given == NULL || !plain_name("", given, name, sizeof(name)))
        return 0; /* nothing that could be named */
    if (hard != NULL || (archive_entry_filetype(e) == AE_IFLNK && soft != NULL)) {
        memcpy(dir, name, strlen(name) + 1);
        cut_last(dir);
        if (plain_name(hard != NULL ? "" : dir, hard != NULL ? hard : soft, link, sizeof(link)))
            r = add_member(s, name, link, 0, 0);
    } else if (archive_entry_filetype(e) == AE_IFREG) {
        int64_t size = archive_entry_size(e), off = archive_filter_bytes(tar, 0);
        if (size < 0 || off < 0 || (uint64_t)off > st->blob.size ||
            (uint64_t)size > st->blob.size - (uint64_t)off)
            return error_set(err, EINVAL, "member %s: longer than the archive",
                             log_guest(name, strlen(name)));
        if (archive_entry_sparse_count(e) == 0)
            r = add_member(s, name, NULL, (uint64_t)off, (uint64_t)size);
    }
    return r < 0 ? error_errno(err, -r, "the archive's contents") : 0;
}

int source_init_tar(struct source *s, int fd, const struct image_limits *limits, struct error *err)
{
    struct image_limits all = *limits;
    struct archive_entry *entry;
    struct stream st;
    struct archive *tar;
    struct stat info;
    uint64_t total = 0;

    *s = (struct source){.fd = fd, .blobs = -1};
    if (fstat(fd, &info) < 0)
        return error_errno(err, errno, "the archive");
    all.bytes = UINT64_MAX; /* nothing is kept */
    struct blob whole = {.fd = fd, .off = 0, .size = (uint64_t)info.st_size};
    int r = stream_open(&st, &whole, &all, &total, err);
    if (r < 0)
        return r;
    r = stream_tar(&st, &tar);
    if (r < 0) {
        stream_done(&st);
        return error_prefix(err, "not an image");
    }
    for (size_t n = 0; r == 0; n++) {
        int a = archive_read_next_header(tar, &entry);
        if (a == ARCHIVE_EOF)
            break;
        if (n >= limits->outer_members)
            r = error_set(err, E2BIG, "more than %u members", limits->outer_members);
        else if (a != ARCHIVE_OK && a != ARCHIVE_WARN)
            r = err->code != 0 ? -err->code
                               : error_set(err, EINVAL, "not an image: damaged or no tar (%.160s)",
                                           archive_error_string(tar));
        else
            r = read_member(s, &st, tar, entry, err);
    }
    (void)archive_read_free(tar);
    stream_done(&st);
    if (r < 0)
        source_done(s);
    return r;
}

/* --- looking up
 * ------------------------------------------------------------------------------------ */

/* The last one of a name counts, as when a tar is unpacked. */
static const struct source_member *member(const struct source *s, const char *name)
{
    for (int hops = 0; hops < LINKS_MAX; hops++) {
        const struct source_member *found = NULL;
        for (size_t i = s->nmembers; i-- > 0 && found == NULL;) {
            if (strcmp(s->members[i].name, name) == 0)
                found = &s->members[i];
        }
        if (found == NULL || found->link == NULL)
            return found;
        name = found->link;
    }
    return NULL;
}

static int open_file(struct source *s, const char *name)
{
    static const char in_blobs[] = "blobs/";
    int dir = s->fd;
    if (s->blobs >= 0 && strncmp(name, in_blobs, sizeof(in_blobs) - 1) == 0) {
        dir = s->blobs;
        name += sizeof(in_blobs) - 1;
    }
    return tree_open_at(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

bool source_has(struct source *s, const char *name)
{
    if (!s->is_dir)
        return member(s, name) != NULL;
    auto_fd int fd = open_file(s, name);
    return fd >= 0;
}

int source_find(struct source *s, const char *name, struct blob *ret_b, struct error *err)
{
    struct stat st;
    const char *shown = log_guest(name, strlen(name));
    if (!s->is_dir) {
        const struct source_member *m = member(s, name);
        if (m == NULL)
            return error_set(err, ENOENT, "member %s is missing", shown);
        *ret_b = (struct blob){.fd = s->fd, .off = m->off, .size = m->size};
        return 0;
    }
    auto_fd int fd = open_file(s, name);
    if (fd < 0)
        return error_errno(err, -fd, "%s", shown);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return error_set(err, EINVAL, "%s is not a regular file", shown);
    int *v = krealloc(s->opened, (s->nopened + 1) * sizeof(*v));
    if (v == NULL)
        return error_set(err, ENOMEM, "no memory");
    s->opened = v;
    *ret_b = (struct blob){.fd = fd, .off = 0, .size = (uint64_t)st.st_size};
    v[s->nopened++] = take_fd(fd);
    return 0;
}

int source_find_digest(struct source *s, const struct digest *d, struct blob *ret_b,
                       struct error *err)
{
    char name[sizeof("blobs/sha256/") + DIGEST_HEX], hex[DIGEST_HEX + 1];
    digest_hex(d, hex);
    (void)snprintf(name, sizeof(name), "blobs/sha256/%s", hex);
    return source_find(s, name, ret_b, err);
}

int source_decompress(int in, int out, const struct image_limits *limits, bool *ret_done,
                      struct error *err)
{
    struct stream st;
    struct stat info;
    uint64_t total = 0;
    const void *data;
    int64_t n;

    *ret_done = false;
    if (fstat(in, &info) < 0)
        return error_errno(err, errno, "the archive");
    struct blob whole = {.fd = in, .off = 0, .size = (uint64_t)info.st_size};
    int r = stream_open(&st, &whole, limits, &total, err);
    if (r < 0)
        return r;
    *ret_done = stream_compressed(&st);
    while (r == 0 && *ret_done && (n = stream_next(&st, &data)) != 0) {
        r = n < 0 ? (int)n : fd_write_full(out, data, (size_t)n);
        if (n > 0 && r < 0)
            r = error_errno(err, -r, "decompressing the archive");
    }
    stream_done(&st);
    return r;
}
