#pragma once
/*
 * A blob: a part of an open file, one of an image's layers or documents. Either a file of its own
 * (OCI layout directory) or a member of an uncompressed tar.
 */
#include "lib/compiler.h"

#include "rootfs/digest.h"

struct error;

struct blob {
    int fd; /* borrowed */
    uint64_t off, size;
};

/* At most n bytes at position pos of the blob; 0 at its end. -EIO when the file is shorter than the
 * blob. */
int64_t blob_read(const struct blob *b, uint64_t pos, void *buf, size_t n) MUST_CHECK;
/* The whole blob, at most max bytes (-EFBIG), NUL behind it, for the caller to kfree. */
int blob_read_all(const struct blob *b, size_t max, char **ret_data, size_t *ret_len,
                  struct error *err) MUST_CHECK;

/* Hashes a blob piece by piece. */
struct blob_hash {
    struct blob blob;
    struct digest_state state;
    uint64_t pos;
};
void blob_hash_begin(struct blob_hash *h, const struct blob *b);
/* The next piece: 1 when there is more, 0 at the end (then *ret_d is set), or -errno. */
int blob_hash_step(struct blob_hash *h, struct digest *ret_d) MUST_CHECK;
