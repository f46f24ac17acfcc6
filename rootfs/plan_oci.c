/*
 * plan_oci.c: index.json to manifest to configuration and layers.
 *
 * An index lists manifests, or further indexes, each perhaps for a platform. Ours is linux/amd64.
 * An entry without a platform may be ours: its configuration will say.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/jsonx.h"
#include "rootfs/plan.h"

enum {
    DEPTH = 32,
    NESTING = 4,
    ENTRIES = 1000,
    WORD = 256
};

struct descriptor {
    char type[WORD], digest_text[WORD], os[64], arch[64], name[WORD], full_name[WORD];
    struct digest digest;
    uint64_t size;
    bool has_platform;
};

/* --- a descriptor
 * ---------------------------------------------------------------------------------- */

static int read_word(const struct jsonx *at, char *buf, size_t cap, struct error *err)
{
    const char *s;
    int rc = jsonx_string(at, cap - 1, &s, err);
    if (rc == 0)
        memcpy(buf, s, strlen(s) + 1);
    return rc;
}

static int read_type(const struct jsonx *at, void *arg, struct error *err)
{
    struct descriptor *d = arg;
    return read_word(at, d->type, sizeof(d->type), err);
}

static int read_digest(const struct jsonx *at, void *arg, struct error *err)
{
    struct descriptor *d = arg;
    int rc = read_word(at, d->digest_text, sizeof(d->digest_text), err);
    if (rc < 0)
        return rc;
    rc = digest_parse(d->digest_text, &d->digest, err);
    return rc < 0 ? jsonx_refuse(at, err, -rc, "not a sha256 digest") : 0;
}

static int read_size(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_u64(at, 0, INT64_MAX, &((struct descriptor *)arg)->size, err);
}

static int read_os(const struct jsonx *at, void *arg, struct error *err)
{
    struct descriptor *d = arg;
    return read_word(at, d->os, sizeof(d->os), err);
}

static int read_arch(const struct jsonx *at, void *arg, struct error *err)
{
    struct descriptor *d = arg;
    return read_word(at, d->arch, sizeof(d->arch), err);
}

static int read_platform(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {{"os", read_os, true},
                                                {"architecture", read_arch, true}};
    if (jsonx_is_null(at))
        return 0;
    ((struct descriptor *)arg)->has_platform = true;
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, arg, err);
}

static int read_annotation(const struct jsonx *at, void *arg, struct error *err)
{
    struct descriptor *d = arg;
    if (strcmp(at->key, "org.opencontainers.image.ref.name") == 0)
        return read_word(at, d->name, sizeof(d->name), err);
    if (strcmp(at->key, "io.containerd.image.name") == 0)
        return read_word(at, d->full_name, sizeof(d->full_name), err);
    return 0;
}

static int read_annotations(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_is_null(at) ? 0 : jsonx_each_member(at, ENTRIES, read_annotation, arg, err);
}

static int read_descriptor(const struct jsonx *at, struct descriptor *d, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"mediaType", read_type, false},
        {"digest", read_digest, true},
        {"size", read_size, true},
        {"platform", read_platform, false},
        {"annotations", read_annotations, false},
    };
    *d = (struct descriptor){0};
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, d, err);
}

static bool is_index(const struct descriptor *d)
{
    return strcmp(d->type, "application/vnd.oci.image.index.v1+json") == 0 ||
           strcmp(d->type, "application/vnd.docker.distribution.manifest.list.v2+json") == 0;
}

static bool is_manifest(const struct descriptor *d)
{
    return strcmp(d->type, "application/vnd.oci.image.manifest.v1+json") == 0 ||
           strcmp(d->type, "application/vnd.docker.distribution.manifest.v2+json") == 0;
}

/* --- an index
 * --------------------------------------------------------------------------------------- */

/* What was found so far in an index. */
struct choice {
    const char *want;
    struct descriptor best;
    size_t nbest;
    bool exact;       /* best has our platform */
    char others[200]; /* platforms or names, for the refusal */
};

static void note(struct choice *c, const char *text)
{
    size_t n = strlen(c->others);
    if (text[0] != '\0' && n + strlen(text) + 3 < sizeof(c->others))
        (void)snprintf(c->others + n, sizeof(c->others) - n, "%s%s", n > 0 ? ", " : "", text);
}

static const char *shown_name(const struct descriptor *d)
{
    return d->full_name[0] != '\0' ? d->full_name : d->name;
}

static int consider(const struct jsonx *at, void *arg, struct error *err)
{
    struct choice *c = arg;
    struct descriptor d;
    char platform[140];
    int rc = read_descriptor(at, &d, err);
    if (rc < 0)
        return rc;
    if (!is_index(&d) && !is_manifest(&d))
        return 0;
    if (c->want != NULL && strcmp(c->want, d.name) != 0 && strcmp(c->want, d.full_name) != 0) {
        note(c, shown_name(&d));
        return 0;
    }
    bool exact = d.has_platform && strcmp(d.os, "linux") == 0 && strcmp(d.arch, "amd64") == 0;
    if (d.has_platform && !exact) {
        (void)snprintf(platform, sizeof(platform), "%s/%s", d.os, d.arch);
        note(c, platform);
        return 0;
    }
    if (c->exact && !exact)
        return 0;
    if (exact && !c->exact) {
        c->exact = true;
        c->nbest = 0;
    }
    if (c->nbest++ == 0)
        c->best = d;
    else if (c->nbest == 2)
        note(c, shown_name(&c->best));
    if (c->nbest > 1)
        note(c, shown_name(&d));
    return 0;
}

static int read_manifests(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, ENTRIES, consider, arg, err);
}

static int choose(const char *name, const char *text, size_t len, const char *want, bool top,
                  struct descriptor *ret_d, struct error *err)
{
    static const struct jsonx_field fields[] = {{"manifests", read_manifests, true}};
    struct choice c = {.want = want};
    struct jsonx_doc doc;

    int rc = jsonx_parse(&doc, name, text, len, DEPTH, err);
    if (rc < 0)
        return rc;
    struct jsonx root = jsonx_root(&doc);
    rc = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, &c, err);
    jsonx_done(&doc);
    if (rc < 0)
        return rc;
    if (c.nbest == 0 && want != NULL)
        return error_set(err, ENOENT, "%s: no image '%.100s' (there are: %s)", name, want,
                         c.others[0] != '\0' ? c.others : "none with a name");
    if (c.nbest == 0)
        return error_set(err, ENOTSUP, "%s: manifests: no image for linux/amd64 (there are: %s)",
                         name, c.others[0] != '\0' ? c.others : "none");
    if (c.nbest > 1 && top)
        return error_set(err, EINVAL, "%s: several images, choose one with IMAGE:NAME (%s)", name,
                         c.others);
    *ret_d = c.best;
    return 0;
}

/* --- a manifest
 * ------------------------------------------------------------------------------------- */

struct manifest {
    struct source *s;
    const struct image_limits *limits;
    struct image_plan *p;
    struct descriptor config;
};

/* A blob by descriptor: there, and as long as it should be. */
static int find(struct source *s, const struct descriptor *d, struct blob *ret_b, struct error *err)
{
    int rc = source_find_digest(s, &d->digest, ret_b, err);
    if (rc == 0 && ret_b->size != d->size)
        return error_set(err, EBADMSG, "blob %s has %llu bytes, not %llu as its size says",
                         d->digest_text, (unsigned long long)ret_b->size,
                         (unsigned long long)d->size);
    return rc;
}

/* A document by descriptor, verified. */
static int load(struct source *s, const struct descriptor *d, const struct image_limits *limits,
                const char *name, char **ret_text, size_t *ret_len, struct error *err)
{
    struct blob b;
    int rc = find(s, d, &b, err);
    if (rc < 0)
        return error_prefix(err, "%s", name);
    rc = blob_read_all(&b, limits->json_bytes, ret_text, ret_len, err);
    if (rc < 0)
        return error_prefix(err, "%s", name);
    rc = plan_verify(name, &d->digest, *ret_text, *ret_len, err);
    if (rc < 0) {
        kfree(*ret_text);
        *ret_text = NULL;
    }
    return rc;
}

static int read_config(const struct jsonx *at, void *arg, struct error *err)
{
    return read_descriptor(at, &((struct manifest *)arg)->config, err);
}

static bool is_layer(const struct descriptor *d)
{
    const char *t = strstr(d->type, ".tar");
    return t != NULL &&
           (t[4] == '\0' || strcmp(t, ".tar+gzip") == 0 || strcmp(t, ".tar+zstd") == 0 ||
            strcmp(t, ".tar.gzip") == 0 || strcmp(t, ".tar.zstd") == 0);
}

static int read_layer(const struct jsonx *at, void *arg, struct error *err)
{
    struct manifest *m = arg;
    struct image_plan *p = m->p;
    struct descriptor d;
    int rc = read_descriptor(at, &d, err);
    if (rc < 0)
        return rc;
    if (!is_layer(&d))
        return jsonx_refuse(at, err, ENOTSUP, "'%.100s' is no kind of layer that is known", d.type);
    if (p->nlayers >= m->limits->layers)
        return jsonx_refuse(at, err, E2BIG, "more than %u layers", m->limits->layers);
    struct plan_layer *v = krealloc(p->layers, (p->nlayers + 1) * sizeof(*v));
    if (v == NULL)
        return error_set(err, ENOMEM, "no memory");
    p->layers = v;
    v += p->nlayers++;
    *v = (struct plan_layer){.packed = d.digest, .has_packed = true};
    rc = find(m->s, &d, &v->blob, err);
    if (rc == 0 && image_config_add_layer(&p->config, &d.digest) < 0)
        rc = error_set(err, ENOMEM, "no memory");
    return rc;
}

static int read_layers(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, (size_t)IMAGE_LAYERS_MAX * 16, read_layer, arg, err);
}

static int read_manifest(struct manifest *m, const char *name, const char *text, size_t len,
                         struct error *err)
{
    static const struct jsonx_field fields[] = {{"config", read_config, true},
                                                {"layers", read_layers, true}};
    struct jsonx_doc doc;
    int rc = jsonx_parse(&doc, name, text, len, DEPTH, err);
    if (rc < 0)
        return rc;
    struct jsonx root = jsonx_root(&doc);
    rc = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, m, err);
    jsonx_done(&doc);
    return rc;
}

static int follow(struct manifest *m, const struct descriptor *d, struct error *err)
{
    char name[32] = "manifest ";
    auto_free char *text = NULL;
    size_t len = 0;
    digest_short(&d->digest, name + strlen(name));
    int rc = load(m->s, d, m->limits, name, &text, &len, err);
    if (rc == 0)
        rc = read_manifest(m, name, text, len, err);
    if (rc < 0)
        return rc;
    (void)snprintf(name, sizeof(name), "config ");
    digest_short(&m->config.digest, name + strlen(name));
    auto_free char *config = NULL;
    rc = load(m->s, &m->config, m->limits, name, &config, &len, err);
    if (rc < 0)
        return rc;
    m->p->id = m->config.digest;
    return plan_config(m->p, name, config, len, err);
}

int plan_oci(struct source *s, const char *want, const struct image_limits *limits,
             struct image_plan *p, struct error *err)
{
    struct manifest m = {.s = s, .limits = limits, .p = p};
    struct descriptor d;
    struct blob b;
    char name[32] = "index.json";
    char *text = NULL;
    size_t len = 0;

    int rc = source_find(s, "index.json", &b, err);
    if (rc == 0)
        rc = blob_read_all(&b, limits->json_bytes, &text, &len, err);
    if (rc < 0)
        return error_prefix(err, "index.json");
    rc = choose(name, text, len, want, true, &d, err);
    kfree(text);
    if (rc == 0)
        (void)snprintf(p->name, sizeof(p->name), "%s", shown_name(&d));
    for (int level = 0; rc == 0 && is_index(&d); level++) {
        if (level == NESTING)
            return error_set(err, ELOOP, "index.json: indexes within indexes");
        (void)snprintf(name, sizeof(name), "index ");
        digest_short(&d.digest, name + strlen(name));
        rc = load(s, &d, limits, name, &text, &len, err);
        if (rc < 0)
            return rc;
        rc = choose(name, text, len, NULL, false, &d, err);
        kfree(text);
    }
    return rc < 0 ? rc : follow(&m, &d, err);
}
