/*
 * config.c: image_config as an object and as records.
 */
#include "rootfs/config.h"

#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/parse.h"

void image_config_init(struct image_config *c)
{
    *c = (struct image_config){0};
}

static void list_done(struct string_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        kfree(l->v[i]);
    kfree(l->v);
    *l = (struct string_list){0};
}

void image_config_done(struct image_config *c)
{
    list_done(&c->env);
    list_done(&c->entrypoint);
    list_done(&c->cmd);
    kfree(c->workdir);
    kfree(c->user);
    kfree(c->created);
    kfree(c->layers);
    *c = (struct image_config){0};
}

int string_list_add(struct string_list *l, const char *s, size_t max, struct error *err)
{
    if (l->n >= max)
        return error_set(err, E2BIG, "more than %zu strings", max);
    if (l->n + 1 >= l->cap) {
        size_t cap = l->cap == 0 ? 8 : 2 * l->cap;
        char **v = krealloc(l->v, cap * sizeof(*v));
        if (v == NULL)
            return error_set(err, ENOMEM, "no memory");
        l->v = v;
        l->cap = cap;
    }
    char *copy = kstrdup(s);
    if (copy == NULL)
        return error_set(err, ENOMEM, "no memory");
    l->v[l->n++] = copy;
    l->v[l->n] = NULL;
    return 0;
}

int image_config_add_layer(struct image_config *c, const struct digest *d)
{
    if (c->nlayers >= IMAGE_LAYERS_MAX)
        return -E2BIG;
    struct digest *v = krealloc(c->layers, (c->nlayers + 1) * sizeof(*v));
    if (v == NULL)
        return -ENOMEM;
    v[c->nlayers++] = *d;
    c->layers = v;
    return 0;
}

/* --- records
 * --------------------------------------------------------------------------------------- */

static void put(struct buf *b, char kind, const char *text)
{
    (void)buf_putc(b, kind);
    (void)buf_append(b, text, strlen(text) + 1);
}

static void put_list(struct buf *b, char kind, const struct string_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        put(b, kind, l->v[i]);
}

static void put_number(struct buf *b, char kind, uint64_t v)
{
    (void)buf_printf(b, "%c%llu", kind, (unsigned long long)v);
    (void)buf_putc(b, '\0');
}

void image_config_write(const struct image_config *c, struct buf *b)
{
    char hex[DIGEST_HEX + 1];
    put_number(b, 'v', 1);
    put_list(b, 'e', &c->env);
    put_list(b, 'p', &c->entrypoint);
    put_list(b, 'c', &c->cmd);
    if (c->workdir != NULL)
        put(b, 'w', c->workdir);
    if (c->user != NULL)
        put(b, 'u', c->user);
    if (c->created != NULL)
        put(b, 't', c->created);
    for (size_t i = 0; i < c->nlayers; i++) {
        digest_hex(&c->layers[i], hex);
        put(b, 'l', hex);
    }
    put_number(b, 'b', c->bytes);
    put_number(b, 'm', c->members);
}

static int set_once(char **slot, const char *text, struct error *err)
{
    if (*slot != NULL)
        return error_set(err, EINVAL, "a record twice");
    *slot = kstrdup(text);
    return *slot != NULL ? 0 : error_set(err, ENOMEM, "no memory");
}

static int read_layer(struct image_config *c, const char *text, struct error *err)
{
    struct digest d;
    if (!digest_parse_hex(text, strlen(text), &d))
        return error_set(err, EINVAL, "a bad digest");
    int r = image_config_add_layer(c, &d);
    return r < 0 ? error_errno(err, -r, "layers") : 0;
}

static int read_record(struct image_config *c, char kind, const char *text, struct error *err)
{
    uint64_t version;
    switch (kind) {
    case 'v':
        return parse_u64(text, 1, 1, &version, err);
    case 'e':
        return string_list_add(&c->env, text, IMAGE_ENV_MAX, err);
    case 'p':
        return string_list_add(&c->entrypoint, text, IMAGE_ARGS_MAX, err);
    case 'c':
        return string_list_add(&c->cmd, text, IMAGE_ARGS_MAX, err);
    case 'w':
        return set_once(&c->workdir, text, err);
    case 'u':
        return set_once(&c->user, text, err);
    case 't':
        return set_once(&c->created, text, err);
    case 'l':
        return read_layer(c, text, err);
    case 'b':
        return parse_u64(text, 0, UINT64_MAX, &c->bytes, err);
    case 'm':
        return parse_u64(text, 0, UINT64_MAX, &c->members, err);
    default:
        return error_set(err, EINVAL, "an unknown record");
    }
}

int image_config_read(struct image_config *c, const char *data, size_t len, struct error *err)
{
    if (len == 0 || len > IMAGE_CONFIG_BYTES || data[len - 1] != '\0' || data[0] != 'v')
        return error_set(err, EINVAL, "not the configuration of an image");
    const char *end = data + len;
    while (data < end) {
        size_t n = strlen(data);
        if (n == 0)
            return error_set(err, EINVAL, "an empty record");
        int r = read_record(c, data[0], data + 1, err);
        if (r < 0)
            return r;
        data += n + 1;
    }
    return 0;
}
