/*
 * plan_docker.c: the manifest.json of `docker save`, and the choice between it and an OCI layout.
 *
 * Its layers have no digest but the diff_id in the configuration, whose own digest is its name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/jsonx.h"
#include "rootfs/plan.h"

enum {
    DEPTH = 32,
    IMAGES = 1000,
    NAME = 1000,
    TAGS = 64
};

/* One element of the list. */
struct entry {
    char config[NAME + 1], tag[NAME + 1];
    bool wanted;
};

struct docker {
    struct source *s;
    const char *want;
    const struct image_limits *limits;
    struct image_plan *p;
    struct entry now, best;
    size_t index, best_index, nbest;
    char others[200];
};

static int read_config(const struct jsonx *at, void *arg, struct error *err)
{
    struct docker *d = arg;
    const char *s;
    int rc = jsonx_string(at, NAME, &s, err);
    if (rc == 0)
        memcpy(d->now.config, s, strlen(s) + 1);
    return rc;
}

static int read_tag(const struct jsonx *at, void *arg, struct error *err)
{
    struct docker *d = arg;
    const char *s;
    int rc = jsonx_string(at, NAME, &s, err);
    if (rc < 0)
        return rc;
    size_t n = strlen(d->others);
    if (n + strlen(s) + 3 < sizeof(d->others))
        (void)snprintf(d->others + n, sizeof(d->others) - n, "%s%s", n > 0 ? ", " : "", s);
    if (d->want != NULL && strcmp(s, d->want) == 0)
        d->now.wanted = true;
    if (d->now.tag[0] == '\0' || d->now.wanted)
        memcpy(d->now.tag, s, strlen(s) + 1);
    return 0;
}

static int read_tags(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_is_null(at) ? 0 : jsonx_each_element(at, TAGS, read_tag, arg, err);
}

static int read_entry(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {{"Config", read_config, true},
                                                {"RepoTags", read_tags, false}};
    struct docker *d = arg;
    d->now = (struct entry){.wanted = d->want == NULL};
    int rc = jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, d, err);
    if (rc == 0 && d->now.wanted && d->nbest++ == 0) {
        d->best = d->now;
        d->best_index = at->index;
    }
    return rc;
}

static int read_layer(const struct jsonx *at, void *arg, struct error *err)
{
    struct docker *d = arg;
    struct image_plan *p = d->p;
    const char *s;
    int rc = jsonx_string(at, NAME, &s, err);
    if (rc < 0)
        return rc;
    if (p->nlayers >= d->limits->layers)
        return jsonx_refuse(at, err, E2BIG, "more than %u layers", d->limits->layers);
    struct plan_layer *v = krealloc(p->layers, (p->nlayers + 1) * sizeof(*v));
    if (v == NULL)
        return error_set(err, ENOMEM, "no memory");
    p->layers = v;
    v += p->nlayers++;
    *v = (struct plan_layer){0};
    rc = source_find(d->s, s, &v->blob, err);
    return rc < 0 ? jsonx_refuse(at, err, -rc, "member %.200s is missing", s) : 0;
}

static int read_layers(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, (size_t)IMAGE_LAYERS_MAX * 16, read_layer, arg, err);
}

/* Second pass: the layers of the chosen one only. */
static int read_chosen(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {{"Layers", read_layers, true}};
    struct docker *d = arg;
    if (at->index != d->best_index)
        return 0;
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, d, err);
}

static int read_manifest(struct docker *d, const char *text, size_t len, struct error *err)
{
    struct jsonx_doc doc;
    int rc = jsonx_parse(&doc, "manifest.json", text, len, DEPTH, err);
    if (rc < 0)
        return rc;
    struct jsonx root = jsonx_root(&doc);
    rc = jsonx_each_element(&root, IMAGES, read_entry, d, err);
    if (rc == 0 && d->nbest == 0)
        rc = d->want != NULL
                 ? error_set(err, ENOENT, "manifest.json: no image '%.100s' (there are: %s)",
                             d->want, d->others)
                 : error_set(err, ENOENT, "manifest.json: no image");
    if (rc == 0 && d->nbest > 1)
        rc = error_set(err, EINVAL,
                       "manifest.json: several images, choose one with IMAGE:NAME (%s)", d->others);
    if (rc == 0)
        rc = jsonx_each_element(&root, IMAGES, read_chosen, d, err);
    jsonx_done(&doc);
    return rc;
}

/* The configuration's file is named after its digest: HEX.json, or blobs/sha256/HEX. */
static bool named_digest(const char *name, struct digest *ret_d)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    size_t n = strcspn(last, ".");
    return (last[n] == '\0' || strcmp(last + n, ".json") == 0) && digest_parse_hex(last, n, ret_d);
}

static int read_config_file(struct docker *d, struct error *err)
{
    struct digest named;
    struct digest_state s;
    struct blob b;
    char name[32] = "config ";
    char *text = NULL;
    size_t len = 0;

    int rc = source_find(d->s, d->best.config, &b, err);
    if (rc == 0)
        rc = blob_read_all(&b, d->limits->json_bytes, &text, &len, err);
    if (rc < 0)
        return error_prefix(err, "manifest.json: [%zu].Config", d->best_index);
    digest_begin(&s);
    digest_update(&s, text, len);
    digest_end(&s, &d->p->id);
    digest_short(&d->p->id, name + strlen(name));
    if (named_digest(d->best.config, &named) && !digest_equal(&named, &d->p->id))
        rc = error_set(err, EBADMSG,
                       "manifest.json: [%zu].Config: the file's content does not match its name",
                       d->best_index);
    if (rc == 0)
        rc = plan_config(d->p, name, text, len, err);
    kfree(text);
    for (uint32_t i = 0; i < d->p->nlayers && rc == 0; i++) {
        if (image_config_add_layer(&d->p->config, &d->p->layers[i].diff_id) < 0)
            rc = error_set(err, ENOMEM, "no memory");
    }
    return rc;
}

int plan_docker(struct source *s, const char *want, const struct image_limits *limits,
                struct image_plan *p, struct error *err)
{
    struct docker *d = kalloc(sizeof(*d));
    struct blob b;
    char *text = NULL;
    size_t len = 0;

    if (d == NULL)
        return error_set(err, ENOMEM, "no memory");
    d->s = s;
    d->want = want;
    d->limits = limits;
    d->p = p;
    int rc = source_find(s, "manifest.json", &b, err);
    if (rc == 0)
        rc = blob_read_all(&b, limits->json_bytes, &text, &len, err);
    if (rc < 0)
        rc = error_prefix(err, "manifest.json");
    if (rc == 0)
        rc = read_manifest(d, text, len, err);
    kfree(text);
    if (rc == 0) {
        (void)snprintf(p->name, sizeof(p->name), "%.500s", d->best.tag);
        rc = read_config_file(d, err);
    }
    kfree(d);
    return rc;
}

void plan_done(struct image_plan *p)
{
    image_config_done(&p->config);
    kfree(p->layers);
    *p = (struct image_plan){0};
}

int plan_read(struct source *s, const char *want, const struct image_limits *limits,
              struct image_plan *ret_plan, struct error *err)
{
    int rc;
    *ret_plan = (struct image_plan){0};
    if (source_has(s, "index.json") && source_has(s, "oci-layout"))
        rc = plan_oci(s, want, limits, ret_plan, err);
    else if (source_has(s, "manifest.json"))
        rc = plan_docker(s, want, limits, ret_plan, err);
    else
        rc = error_set(err, EINVAL,
                       "not an image: neither oci-layout and index.json nor manifest.json in it");
    if (rc < 0)
        plan_done(ret_plan);
    return rc;
}
