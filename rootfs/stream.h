#pragma once
/*
 * The bytes of a blob, decompressed when they are gzip or zstd. Every byte that comes out is
 * counted (total and ratio limits) and, when asked for, hashed. libarchive decompresses; a second
 * libarchive reader can be put on top to read the members of a tar.
 */
#include "lib/compiler.h"

#include "lib/error.h"
#include "rootfs/blob.h"
#include "rootfs/limits.h"

struct ahead;
struct archive;

struct stream {
    struct blob blob;
    const struct image_limits *limits;
    uint64_t *total; /* counts against limits->bytes; shared by the layers of an image */
    uint64_t pos, out;
    struct archive *raw; /* NULL: not compressed */
    struct ahead *ahead; /* reads raw, from the first stream_next of a large blob on; else NULL */
    bool hashing;
    struct digest_state hash;
    uint8_t *buffer;
    struct error *err; /* why reading failed, when one of the limits or the host says no */
};

/* total is borrowed until stream_done. */
int stream_open(struct stream *s, const struct blob *b, const struct image_limits *limits,
                uint64_t *total, struct error *err) MUST_CHECK;
void stream_done(struct stream *s);
/* Whether the blob starts as something compressed does. */
bool stream_is_packed(const struct blob *b);
bool stream_compressed(const struct stream *s);
/* From now on the bytes are hashed; before the first read. */
void stream_hash(struct stream *s);
/* The next piece, valid until the next call: its length, 0 at the end, -errno with err filled. */
int64_t stream_next(struct stream *s, const void **ret_data) MUST_CHECK;
/* Reads what is left (a tar's end lies before the end of the stream) and gives the hash. */
int stream_finish(struct stream *s, struct digest *ret_d) MUST_CHECK;

/* A tar reader over the stream; archive_read_free it before stream_done. With skipping, members
 * that nobody reads are not read from the file (uncompressed streams without hash only). */
int stream_tar(struct stream *s, struct archive **ret_tar) MUST_CHECK;
