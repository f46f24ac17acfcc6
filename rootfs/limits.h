#pragma once
/*
 * What an image may cost at most. An image that crosses one of these is refused as a whole.
 */
#include "lib/compiler.h"

struct image_limits {
    uint64_t bytes;      /* all layers together, unpacked: of tars; and of files with their holes */
    uint64_t entries;    /* members of all layers together; the image server knows 1 M nodes */
    uint64_t ratio;      /* unpacked : packed of a layer, ... */
    uint64_t ratio_free; /* ... once it has grown to this */
    uint32_t layers;     /* of one image */
    uint32_t xattrs;     /* of one member */
    uint32_t xattr_bytes;   /* one value */
    uint32_t depth;         /* directories in a name */
    uint32_t json_bytes;    /* index, manifest, configuration: each */
    uint32_t outer_members; /* of an archive that holds an image */
};

#define IMAGE_LIMITS_DEFAULT                          \
    ((struct image_limits){.bytes = 64ull << 30,      \
                           .entries = 1000000,        \
                           .ratio = 200,              \
                           .ratio_free = 64ull << 20, \
                           .layers = 256,             \
                           .xattrs = 64,              \
                           .xattr_bytes = 65536,      \
                           .depth = 256,              \
                           .json_bytes = 4u << 20,    \
                           .outer_members = 10000})
