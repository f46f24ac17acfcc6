#pragma once
/*
 * Decompression ahead of the reader: a thread of the unpacking process takes bytes out of a
 * libarchive reader (format raw), another hashes them, while the process makes files of the bytes
 * before. Worth the threads, since each takes about as long as the others.
 *
 * The threads touch their own structure, the reader and the blob behind it, nothing else: in
 * particular no kalloc, which belongs to one thread.
 */
#include "lib/compiler.h"

#include "rootfs/digest.h"

struct ahead;
struct archive;
struct error;

/* Takes over the reading of raw, which stays the caller's to free behind ahead_free. -ENOMEM,
 * -EAGAIN. */
int ahead_new(struct archive *raw, bool hashing, struct ahead **ret, struct error *err) MUST_CHECK;
void ahead_free(struct ahead *a);
/* The next piece, valid until the next call: its length, 0 at the end, -errno with err filled. */
int64_t ahead_next(struct ahead *a, const void **ret_data, struct error *err) MUST_CHECK;
/* Behind the end: the hash of everything. */
void ahead_digest(struct ahead *a, struct digest *ret_d);
