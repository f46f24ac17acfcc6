#pragma once
/*
 * The IMAGE of `sentry run`: what it is, and how it comes to be a directory.
 */
#include "lib/compiler.h"

#include "rootfs/limits.h"

struct boot;
struct error;
struct image_config;
struct layer_notes;

/*
 * A directory with a root file system is opened. An OCI layout (directory or tar) or docker archive
 * is unpacked into the store unless it is there; PATH:NAME chooses one of several images in it.
 * Anything else is looked up in the store. Sets b->image_fd and b->image_use_fd; *ret_config, for
 * the caller to image_config_done, is empty for a plain directory. The error names the image.
 */
int image_open(struct boot *b, const char *image, struct image_config *ret_config,
               struct error *err) MUST_CHECK;
/* What the image says fills in what the options left open; argc: arguments after IMAGE. */
int image_apply(struct boot *b, const struct image_config *c, int argc, char **argv,
                struct error *err) MUST_CHECK;

struct store;
struct store_added;
/* A file or layout directory into the open, locked store; synced. */
int image_import(struct store *s, const char *path, const struct image_limits *limits,
                 struct store_added *ret, struct error *err) MUST_CHECK;

/* The options of import and pull, which stand before the arguments. */
struct image_options {
    struct image_limits limits;
    bool plain_http; /* pull: --tls-verify=false */
};
/* Moves *argc and *argv on to the first argument. */
int image_options_read(struct image_options *o, bool pull, int *argc, char ***argv,
                       struct error *err) MUST_CHECK;
/* What unpacking left out, a line each on standard error. */
void image_warn(const char *path, const struct layer_notes *n);
