#pragma once
/*
 * Unpacking an image: a confined child reads and unpacks it into a directory, while this process
 * hashes its layers. Nothing of the result may be used before unpack_image has returned 0.
 */
#include "lib/compiler.h"

#include "rootfs/config.h"
#include "rootfs/layer.h"
#include "rootfs/limits.h"

struct error;

struct unpack_request {
    int image; /* directory of an OCI layout, or file: layout as a tar, docker archive */
    bool is_dir;
    int blobs;   /* directory with the layout's blobs if they are not in it, else -1 */
    int target;  /* an empty directory, O_PATH is enough */
    int scratch; /* an empty file without a name: where a compressed archive is decompressed to */
    const char *want; /* which of several images; NULL */
    const struct image_limits *limits;
    bool progress; /* on standard error */
    /* Asked once, with the digest of the configuration: true ends the work, the image is there. */
    bool (*known)(void *arg, const struct digest *id);
    void *arg;
};

struct unpack_result {
    struct digest id;
    bool known;     /* nothing was unpacked, config is empty */
    char name[512]; /* what the image calls itself, or "" */
    struct image_config config;
    struct layer_notes notes;
};

/* On success the caller calls unpack_result_done. On failure the target holds whatever was made
 * until then. The error names document, layer and member. */
int unpack_image(const struct unpack_request *q, struct unpack_result *ret_result,
                 struct error *err) MUST_CHECK;
void unpack_result_done(struct unpack_result *r);
