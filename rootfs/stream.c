/*
 * stream.c: blobs through libarchive's filters.
 *
 * The kind of compression is taken from the first bytes, not from what the manifest says. Only one
 * filter may be in the chain: gzip inside gzip is nothing that an image has.
 */
#include "rootfs/stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "rootfs/ahead.h"

enum {
    BUFFER = 256 * 1024,
    AHEAD_FROM = 1 << 20 /* a smaller blob is not worth a thread */
};

static la_ssize_t packed_read(struct archive *a, void *arg, const void **ret_data)
{
    struct stream *s = arg;
    int64_t n = blob_read(&s->blob, s->pos, s->buffer, BUFFER);
    if (n < 0) {
        archive_set_error(a, (int)-n, "the file is shorter than it says");
        return -1;
    }
    s->pos += (uint64_t)n;
    *ret_data = s->buffer;
    return (la_ssize_t)n;
}

static int open_raw(struct stream *s, int filter)
{
    struct archive_entry *entry;
    struct archive *a = archive_read_new();
    if (a == NULL)
        return error_set(s->err, ENOMEM, "no memory");
    s->raw = a;
    int r = archive_read_support_format_raw(a);
    if (r == ARCHIVE_OK)
        r = filter == ARCHIVE_FILTER_GZIP ? archive_read_support_filter_gzip(a)
                                          : archive_read_support_filter_zstd(a);
    if (r == ARCHIVE_OK)
        r = archive_read_open(a, s, NULL, packed_read, NULL);
    if (r == ARCHIVE_OK)
        r = archive_read_next_header(a, &entry);
    if (r != ARCHIVE_OK && r != ARCHIVE_EOF)
        return error_set(s->err, EINVAL, "decompressing: %.200s", archive_error_string(a));
    if (archive_filter_count(a) > 2)
        return error_set(s->err, EINVAL, "compressed more than once");
    return 0;
}

static int filter_of(const struct blob *b)
{
    static const uint8_t gzip_magic[] = {0x1f, 0x8b};
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    uint8_t head[4] = {0};
    int64_t n = blob_read(b, 0, head, sizeof(head));
    if (n < 0)
        return (int)n;
    if (memcmp(head, gzip_magic, sizeof(gzip_magic)) == 0)
        return ARCHIVE_FILTER_GZIP;
    return memcmp(head, zstd_magic, sizeof(zstd_magic)) == 0 ? ARCHIVE_FILTER_ZSTD
                                                             : ARCHIVE_FILTER_NONE;
}

bool stream_is_packed(const struct blob *b)
{
    return filter_of(b) > ARCHIVE_FILTER_NONE;
}

int stream_open(struct stream *s, const struct blob *b, const struct image_limits *limits,
                uint64_t *total, struct error *err)
{
    *s = (struct stream){.blob = *b, .limits = limits, .total = total, .err = err};
    s->buffer = kalloc(BUFFER);
    if (s->buffer == NULL)
        return error_set(err, ENOMEM, "no memory");
    int filter = filter_of(b);
    int r = filter < 0 ? error_errno(err, -filter, "reading") : 0;
    if (filter > ARCHIVE_FILTER_NONE)
        r = open_raw(s, filter);
    if (r < 0)
        stream_done(s);
    return r;
}

void stream_done(struct stream *s)
{
    ahead_free(s->ahead);
    s->ahead = NULL;
    if (s->raw != NULL)
        (void)archive_read_free(s->raw);
    s->raw = NULL;
    kfree(s->buffer);
    s->buffer = NULL;
}

bool stream_compressed(const struct stream *s)
{
    return s->raw != NULL;
}

void stream_hash(struct stream *s)
{
    s->hashing = true;
    digest_begin(&s->hash);
}

static int count(struct stream *s, uint64_t n)
{
    s->out += n;
    *s->total += n;
    if (*s->total > s->limits->bytes)
        return error_set(s->err, EFBIG,
                         "the image unpacks to more than %llu bytes "
                         "(--max-size of sentry import and pull allows more)",
                         (unsigned long long)s->limits->bytes);
    if (s->raw != NULL && s->out > s->limits->ratio_free &&
        s->out / s->limits->ratio > s->blob.size)
        return error_set(s->err, EFBIG, "unpacks to more than %llu times its size",
                         (unsigned long long)s->limits->ratio);
    return 0;
}

static int64_t next_plain(struct stream *s, const void **ret_data)
{
    int64_t n = blob_read(&s->blob, s->pos, s->buffer, BUFFER);
    if (n < 0)
        return error_errno(s->err, (int)-n, "reading");
    s->pos += (uint64_t)n;
    *ret_data = s->buffer;
    return n;
}

static int64_t next_block(struct stream *s, const void **ret_data)
{
    size_t size = 0;
    la_int64_t offset;
    int r;
    do {
        r = archive_read_data_block(s->raw, ret_data, &size, &offset);
    } while (r == ARCHIVE_OK && size == 0);
    if (r == ARCHIVE_EOF)
        return 0;
    if (r != ARCHIVE_OK)
        return error_set(s->err, EINVAL, "decompressing: %.200s", archive_error_string(s->raw));
    return (int64_t)size;
}

int64_t stream_next(struct stream *s, const void **ret_data)
{
    int64_t n;
    if (s->raw != NULL && s->ahead == NULL && s->out == 0 && s->blob.size >= AHEAD_FROM) {
        int r = ahead_new(s->raw, s->hashing, &s->ahead, s->err);
        if (r < 0)
            return r;
    }
    if (s->raw == NULL)
        n = next_plain(s, ret_data);
    else if (s->ahead != NULL)
        n = ahead_next(s->ahead, ret_data, s->err);
    else
        n = next_block(s, ret_data);
    if (n <= 0)
        return n;
    int r = count(s, (uint64_t)n);
    if (r < 0)
        return r;
    if (s->hashing && s->ahead == NULL)
        digest_update(&s->hash, *ret_data, (size_t)n);
    return n;
}

int stream_finish(struct stream *s, struct digest *ret_d)
{
    const void *data;
    int64_t n;
    do {
        n = stream_next(s, &data);
    } while (n > 0);
    if (n == 0 && s->hashing && s->ahead != NULL)
        ahead_digest(s->ahead, ret_d);
    else if (n == 0 && s->hashing)
        digest_end(&s->hash, ret_d);
    return (int)n;
}

/* --- a tar on top ------------------------------------------------------------------------------
 */

static la_ssize_t tar_read(struct archive *a, void *arg, const void **ret_data)
{
    struct stream *s = arg;
    int64_t n = stream_next(s, ret_data);
    if (n < 0)
        archive_set_error(a, (int)-n, "%s", s->err->text);
    return (la_ssize_t)(n < 0 ? -1 : n);
}

static la_int64_t tar_skip(struct archive *a, void *arg, la_int64_t request)
{
    struct stream *s = arg;
    (void)a;
    if (s->raw != NULL || s->hashing || request <= 0 || s->pos >= s->blob.size)
        return 0;
    uint64_t n = MIN((uint64_t)request, s->blob.size - s->pos);
    s->pos += n;
    return (la_int64_t)n;
}

int stream_tar(struct stream *s, struct archive **ret_tar)
{
    struct archive *a = archive_read_new();
    if (a == NULL)
        return error_set(s->err, ENOMEM, "no memory");
    int r = archive_read_support_format_tar(a);
    if (r == ARCHIVE_OK)
        r = archive_read_support_format_empty(a);
    if (r == ARCHIVE_OK)
        r = archive_read_open2(a, s, NULL, tar_read, tar_skip, NULL);
    if (r != ARCHIVE_OK) {
        r = s->err->code != 0
                ? -s->err->code
                : error_set(s->err, EINVAL, "not a tar archive: %.200s", archive_error_string(a));
        (void)archive_read_free(a);
        return r;
    }
    *ret_tar = a;
    return 0;
}
