#pragma once
/*
 * What an image says about how it wants to be run, and how the store remembers it. In the store it
 * is a list of records, each a letter, text, NUL; it is read back as strictly as if a stranger had
 * written it, since the process that unpacks hostile images did.
 */
#include "lib/compiler.h"

#include "rootfs/digest.h"

struct buf;
struct error;

enum {
    IMAGE_ENV_MAX = 1000,
    IMAGE_ARGS_MAX = 4096,
    IMAGE_LAYERS_MAX = 1024,
    IMAGE_STRING_MAX = 128 * 1024,
    IMAGE_CONFIG_BYTES = 1 << 20
};

struct string_list {
    char **v; /* NULL-terminated when n > 0 */
    size_t n, cap;
};

struct image_config {
    struct string_list env, entrypoint, cmd;
    char *workdir, *user;  /* NULL: not said */
    char *created;         /* RFC 3339, as the image has it; NULL */
    struct digest *layers; /* as the manifest names them */
    size_t nlayers;
    uint64_t bytes, members; /* of the unpacked tree */
};

void image_config_init(struct image_config *c);
void image_config_done(struct image_config *c);

int string_list_add(struct string_list *l, const char *s, size_t max, struct error *err) MUST_CHECK;
int image_config_add_layer(struct image_config *c, const struct digest *d) MUST_CHECK;

/* Appends the records; look at buf_error. */
void image_config_write(const struct image_config *c, struct buf *b);
/* c was initialised; -EINVAL for anything that image_config_write does not write. */
int image_config_read(struct image_config *c, const char *data, size_t len, struct error *err)
    MUST_CHECK;
