#pragma once
/*
 * An image's documents, read: which layers to unpack, in which order, and what the image says about
 * being run. Documents with a digest are verified before they are parsed. Layers are not: the one
 * who unpacks does that (plan_layer.packed, or plan_layer.diff_id of an uncompressed one).
 */
#include "lib/compiler.h"

#include "rootfs/config.h"
#include "rootfs/limits.h"
#include "rootfs/source.h"

struct error;

struct plan_layer {
    struct blob blob;
    struct digest packed;  /* of the blob, when has_packed */
    struct digest diff_id; /* of the uncompressed tar */
    bool has_packed;
};

struct image_plan {
    struct digest id; /* of the configuration */
    struct image_config config;
    struct plan_layer *layers;
    uint32_t nlayers;
    char name[512]; /* what the image calls itself, "" if it does not */
};

/* want: which of several images, by name; NULL: the only one. The source is a layout or an archive,
 * whichever documents it has. The error names the document, line and key. */
int plan_read(struct source *s, const char *want, const struct image_limits *limits,
              struct image_plan *ret_plan, struct error *err) MUST_CHECK;
void plan_done(struct image_plan *p);

/* -- between the files of the reader ------------------------------------------------------------
 */

/* plan_oci.c: from index.json; plan_docker.c: from manifest.json. p is initialised. */
int plan_oci(struct source *s, const char *want, const struct image_limits *limits,
             struct image_plan *p, struct error *err) MUST_CHECK;
int plan_docker(struct source *s, const char *want, const struct image_limits *limits,
                struct image_plan *p, struct error *err) MUST_CHECK;
/* plan_config.c: the configuration's text, verified by the caller; needs p->layers to give each its
 * diff_id. name is for messages. */
int plan_config(struct image_plan *p, const char *name, const char *text, size_t len,
                struct error *err) MUST_CHECK;
/* Checks text against the digest that it was asked for by. */
int plan_verify(const char *name, const struct digest *want, const char *text, size_t len,
                struct error *err) MUST_CHECK;
