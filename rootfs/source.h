#pragma once
/*
 * Where the parts of an image come from: a directory (OCI layout) or an uncompressed tar (OCI
 * layout or docker archive), by name. Names are those of the archive or layout, without "./" in
 * front.
 */
#include "lib/compiler.h"

#include "rootfs/blob.h"
#include "rootfs/limits.h"

struct error;

struct source_member {
    char *name;
    char *link; /* another member's name; NULL: a file */
    uint64_t off, size;
};

struct source {
    bool is_dir;
    int fd;    /* borrowed: the directory or the tar */
    int blobs; /* borrowed: directory that holds sha256/ instead of fd's blobs/; -1 */
    struct source_member *members;
    size_t nmembers;
    int *opened; /* files of a directory, closed by source_done */
    size_t nopened;
};

void source_init_dir(struct source *s, int fd, int blobs);
/* Reads the tar's table of contents. */
int source_init_tar(struct source *s, int fd, const struct image_limits *limits, struct error *err)
    MUST_CHECK;
void source_done(struct source *s);

bool source_has(struct source *s, const char *name);
/* The blob's fd stays open until source_done. -ENOENT etc.; the error names the member. */
int source_find(struct source *s, const char *name, struct blob *ret_b, struct error *err)
    MUST_CHECK;
/* blobs/sha256/HEX */
int source_find_digest(struct source *s, const struct digest *d, struct blob *ret_b,
                       struct error *err) MUST_CHECK;

/* Decompresses an archive as a whole: from the file `in` to the empty file `out`. *ret_done is
 * false when it was not compressed (nothing is written). */
int source_decompress(int in, int out, const struct image_limits *limits, bool *ret_done,
                      struct error *err) MUST_CHECK;
