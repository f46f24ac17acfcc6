#pragma once
/*
 * What the unpacking process says to the one that started it: messages of one size over a
 * SOCK_SEQPACKET socket. The reader believes none of it: offsets are checked, text is cut, the
 * configuration is parsed again.
 */
#include "lib/compiler.h"

#include "rootfs/unpack.h"

enum unpack_kind {
    UNPACK_PLAN,     /* digest: of the configuration; n: layers; text: the image's name */
    UNPACK_LAYER,    /* verify: n: which; digest; off, size: where */
    UNPACK_PROGRESS, /* n: layer; size: bytes so far */
    UNPACK_CONFIG,   /* text: n bytes more of the configuration's records */
    UNPACK_DONE,     /* notes */
    UNPACK_FAILED    /* n: errno; text */
};

enum unpack_where {
    UNPACK_IN_IMAGE,
    UNPACK_IN_SCRATCH,
    UNPACK_IN_BLOBS /* a file of its own, named by the digest */
};

struct unpack_message {
    uint32_t kind, where, n, total;
    uint64_t off, size;
    struct digest digest;
    struct layer_notes notes;
    char text[4096];
};

struct unpack_box;

/* The child: sock is its end. */
NORETURN void unpack_child(const struct unpack_request *q, struct unpack_box *box, int sock);
