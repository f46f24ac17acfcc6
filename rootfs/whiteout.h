#pragma once
/*
 * Names of the current layer, and removal of what older layers left below a directory. A whiteout
 * hides only older layers, wherever in its own layer's tar it stands.
 */
#include "lib/compiler.h"

#include "lib/hash.h"
#include "rootfs/tree.h"

/* Names that the current layer made or went through, as hashes. */
struct seen {
    struct hash_table table;
};
void seen_init(struct seen *s);
void seen_done(struct seen *s);
/* The plain name and all its directories. -ENOMEM. */
int seen_add(struct seen *s, const char *name) MUST_CHECK;
bool seen_has(const struct seen *s, const char *name);

enum whiteout_kind {
    WHITEOUT_NONE,
    WHITEOUT_NAME,   /* .wh.NAME: NAME is gone */
    WHITEOUT_OPAQUE, /* .wh..wh..opq: what older layers have in this directory is gone */
    WHITEOUT_IGNORED /* .wh..wh.*: bookkeeping of a union file system */
};
/* What the last component says; *ret_victim points into it for WHITEOUT_NAME. */
enum whiteout_kind whiteout_parse(const char *last, const char **ret_victim);

/* Removes the plain name, or what older layers left in it if the current layer went there too. */
int whiteout_name(struct tree *t, const struct seen *s, const char *name) MUST_CHECK;
/* The same for everything in directory `name` ("" is the root). */
int whiteout_opaque(struct tree *t, const struct seen *s, const char *name) MUST_CHECK;
