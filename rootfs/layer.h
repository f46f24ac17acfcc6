#pragma once
/*
 * Applying layers, one after the other, to one tree. What a member may do ends at the tree's root;
 * device nodes become empty files; a member that cannot be understood refuses the image.
 */
#include "lib/compiler.h"

#include "rootfs/blob.h"
#include "rootfs/limits.h"
#include "rootfs/tree.h"

struct error;

/* What was left out, for one line of warning at the end. */
struct layer_notes {
    uint64_t devices, owners, xattrs;
};

struct layers {
    struct tree tree;
    const struct image_limits *limits;
    uint64_t bytes, entries; /* so far, of all layers */
    uint64_t data;           /* bytes of files written */
    uint64_t sizes;          /* of files, holes counted */
    bool keep_owner;         /* this process may give files away */
    struct layer_notes notes;
    /* Called now and then; may be NULL. */
    void (*progress)(void *arg, const struct layers *l);
    void *progress_arg;
};

void layers_init(struct layers *l, int root, const struct image_limits *limits);
void layers_done(struct layers *l);

/* Unpacks one layer over what is there; first: nothing is there yet. diff_id, if not NULL, is what
 * the uncompressed bytes must hash to: checked here when the layer is compressed; when it is not,
 * packed (the digest of the blob, which the caller verifies) must be the same. The error names the
 * member.
 */
int layer_apply(struct layers *l, const struct blob *b, bool first, const struct digest *diff_id,
                const struct digest *packed, struct error *err) MUST_CHECK;
