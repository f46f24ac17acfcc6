/*
 * unpack_child.c: the process that reads the image. Everything from the first byte of the image on
 * happens inside the box.
 */
#include "rootfs/unpack_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/confine.h"
#include "rootfs/plan.h"
#include "rootfs/source.h"
#include "rootfs/stream.h"

struct child {
    const struct unpack_request *q;
    int sock;
    struct source source;
    struct image_plan plan;
    struct layers layers;
    uint32_t layer;
    bool scratch;
    struct unpack_message m;
};

static void tell(struct child *c, enum unpack_kind kind)
{
    c->m.kind = kind;
    /* The parent is gone: so are we. */
    if (write(c->sock, &c->m, sizeof(c->m)) != (ssize_t)sizeof(c->m))
        _exit(1);
    memset(&c->m, 0, sizeof(c->m));
}

NORETURN static void fail(struct child *c, const struct error *err)
{
    c->m.n = (uint32_t)err->code;
    (void)snprintf(c->m.text, sizeof(c->m.text), "%s", err->text);
    tell(c, UNPACK_FAILED);
    _exit(1);
}

static void progress(void *arg, const struct layers *l)
{
    struct child *c = arg;
    c->m.n = c->layer;
    c->m.total = c->plan.nlayers;
    c->m.size = l->data;
    tell(c, UNPACK_PROGRESS);
}

static int open_source(struct child *c, struct error *err)
{
    const struct unpack_request *q = c->q;
    if (q->is_dir) {
        source_init_dir(&c->source, q->image, q->blobs);
        return 0;
    }
    int r = source_decompress(q->image, q->scratch, q->limits, &c->scratch, err);
    return r < 0 ? r
                 : source_init_tar(&c->source, c->scratch ? q->scratch : q->image, q->limits, err);
}

static void tell_layers(struct child *c)
{
    for (uint32_t i = 0; i < c->plan.nlayers; i++) {
        const struct plan_layer *l = &c->plan.layers[i];
        /* A compressed layer without a digest of its own is checked while it is unpacked. */
        if (!l->has_packed && stream_is_packed(&l->blob))
            continue;
        c->m.where = c->q->is_dir ? UNPACK_IN_BLOBS
                     : c->scratch ? UNPACK_IN_SCRATCH
                                  : UNPACK_IN_IMAGE;
        c->m.n = i;
        c->m.digest = l->has_packed ? l->packed : l->diff_id;
        c->m.off = l->blob.off;
        c->m.size = l->blob.size;
        tell(c, UNPACK_LAYER);
    }
}

/* The directories that every run needs: engines make them too. Best effort. */
static void make_places(struct child *c)
{
    static const char *const places[] = {"proc/.", "sys/.", "dev/.", "tmp/."};
    const char *last;
    char name[PATH_MAX];
    struct error ignored;
    int dir;
    error_init(&ignored);
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        (void)!tree_parent(&c->layers.tree, places[i], true, &dir, &last);
    const char *workdir = c->plan.config.workdir;
    if (workdir != NULL && tree_name(&c->layers.tree, workdir, name, &ignored) == 0 &&
        name[0] != '\0' && strlen(name) + 3 < sizeof(name)) {
        memcpy(name + strlen(name), "/.", 3);
        (void)!tree_parent(&c->layers.tree, name, true, &dir, &last);
    }
    tree_forget(&c->layers.tree);
}

static int apply_layers(struct child *c, struct error *err)
{
    char hex[13];
    for (uint32_t i = 0; i < c->plan.nlayers; i++) {
        const struct plan_layer *l = &c->plan.layers[i];
        c->layer = i;
        progress(c, &c->layers);
        int r = layer_apply(&c->layers, &l->blob, i == 0, &l->diff_id,
                            l->has_packed ? &l->packed : NULL, err);
        if (r < 0) {
            digest_short(l->has_packed ? &l->packed : &l->diff_id, hex);
            return error_prefix(err, "layer %u (%s)", i + 1, hex);
        }
    }
    return 0;
}

static int tell_config(struct child *c, struct error *err)
{
    struct buf b;
    c->plan.config.bytes = c->layers.data;
    c->plan.config.members = c->layers.entries;
    buf_init(&b, IMAGE_CONFIG_BYTES);
    image_config_write(&c->plan.config, &b);
    int r = buf_error(&b);
    for (size_t at = 0; at < b.len && r == 0; at += sizeof(c->m.text)) {
        size_t n = MIN(b.len - at, sizeof(c->m.text));
        memcpy(c->m.text, b.data + at, n);
        c->m.n = (uint32_t)n;
        tell(c, UNPACK_CONFIG);
    }
    buf_done(&b);
    return r < 0 ? error_errno(err, -r, "the image's configuration") : 0;
}

static int work(struct child *c, struct unpack_box *box, struct error *err)
{
    int r = unpack_box_enter(box, err);
    if (r == 0)
        r = open_source(c, err);
    if (r == 0)
        r = plan_read(&c->source, c->q->want, c->q->limits, &c->plan, err);
    if (r < 0)
        return r;
    c->m.digest = c->plan.id;
    c->m.n = c->plan.nlayers;
    (void)snprintf(c->m.text, sizeof(c->m.text), "%s", c->plan.name);
    tell(c, UNPACK_PLAN);
    tell_layers(c);
    layers_init(&c->layers, c->q->target, c->q->limits);
    c->layers.keep_owner = box->all_ids;
    c->layers.progress = progress;
    c->layers.progress_arg = c;
    r = apply_layers(c, err);
    if (r < 0)
        return r;
    make_places(c);
    return tell_config(c, err);
}

void unpack_child(const struct unpack_request *q, struct unpack_box *box, int sock)
{
    static struct child c;
    struct error err;
    error_init(&err);
    c.q = q;
    c.sock = sock;
    if (work(&c, box, &err) < 0)
        fail(&c, &err);
    c.m.notes = c.layers.notes;
    tell(&c, UNPACK_DONE);
    _exit(0);
}
