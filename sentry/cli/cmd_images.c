/*
 * cmd_images.c: `sentry images [--json]`: what is in the store.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "rootfs/store.h"
#include "sentry/cli/cli.h"

enum {
    EXIT_FAILED = 125
};

struct listing {
    const struct store *s;
    json_t *list;
    const struct digest *id; /* whose names are collected */
    json_t *names;
};

static int add_name(void *arg, const char *name, const struct digest *id)
{
    struct listing *l = arg;
    if (digest_equal(id, l->id))
        (void)json_array_append_new(l->names, json_string(name));
    return 0;
}

static json_t *digest_json(const struct digest *d)
{
    char text[DIGEST_TEXT] = "sha256:";
    digest_hex(d, text + 7);
    return json_string(text);
}

static json_t *strings_json(const struct string_list *l)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->n; i++)
        (void)json_array_append_new(a, json_string(l->v[i]));
    return a;
}

static int add_image(void *arg, const struct digest *id)
{
    struct listing *l = arg;
    struct store_image i;
    if (store_get(l->s, id, &i, NULL) < 0)
        return 0;
    l->id = id;
    l->names = json_array();
    json_t *layers = json_array();
    for (size_t n = 0; n < i.config.nlayers; n++)
        (void)json_array_append_new(layers, digest_json(&i.config.layers[n]));
    int r = store_each_ref(l->s, add_name, l);
    json_t *o = json_pack("{s:o, s:o, s:I, s:I, s:s?, s:o, s:o, s:o, s:o, s:s?, s:s?}", "id",
                          digest_json(id), "names", l->names, "bytes", (json_int_t)i.config.bytes,
                          "members", (json_int_t)i.config.members, "created", i.config.created,
                          "layers", layers, "entrypoint", strings_json(&i.config.entrypoint), "cmd",
                          strings_json(&i.config.cmd), "env", strings_json(&i.config.env),
                          "workdir", i.config.workdir, "user", i.config.user);
    store_image_done(&i);
    if (o == NULL || json_array_append_new(l->list, o) < 0)
        return -ENOMEM;
    return r;
}

static void print_size(uint64_t bytes)
{
    static const char units[] = "BKMGT";
    double v = (double)bytes;
    size_t u = 0;
    while (v >= 1024 && u + 2 < sizeof(units)) {
        v /= 1024;
        u++;
    }
    (void)printf(u == 0 ? "%6.0f%c" : "%6.1f%c", v, units[u]);
}

static void print_table(const json_t *list)
{
    size_t i, j;
    json_t *o, *name;
    (void)printf("ID              SIZE  NAMES\n");
    json_array_foreach(list, i, o)
    {
        (void)printf("%.12s ", json_string_value(json_object_get(o, "id")) + 7);
        print_size((uint64_t)json_integer_value(json_object_get(o, "bytes")));
        (void)printf("  ");
        const json_t *names = json_object_get(o, "names");
        json_array_foreach(names, j, name)
        {
            (void)printf("%s%s", j > 0 ? " " : "", json_string_value(name));
        }
        (void)printf("%s\n", json_array_size(names) == 0 ? "-" : "");
    }
}

static int list_images(bool json, struct error *err)
{
    struct store s;
    struct listing l = {.s = &s, .list = json_array()};
    int r = l.list != NULL ? store_open(&s, false, err) : error_set(err, ENOMEM, "no memory");
    if (r == 0) {
        r = store_each_image(&s, add_image, &l);
        if (r < 0)
            (void)error_errno(err, -r, "image store %.300s", s.path);
        store_close(&s);
    } else if (r == -ENOENT) {
        r = 0; /* no store, no images */
    }
    if (r == 0 && json) {
        (void)json_dumpf(l.list, stdout, JSON_INDENT(2));
        (void)putchar('\n');
    } else if (r == 0) {
        print_table(l.list);
    }
    json_decref(l.list);
    return r;
}

int cmd_images(int argc, char **argv)
{
    struct error err;
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    error_init(&err);
    if (argc > 2 || (argc == 2 && !json)) {
        (void)fprintf(stderr, "sentry: usage: sentry images [--json]\n");
        return EXIT_FAILED;
    }
    if (list_images(json, &err) == 0)
        return 0;
    (void)fprintf(stderr, "sentry: %s\n", err.text);
    return EXIT_FAILED;
}
