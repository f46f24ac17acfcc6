/*
 * plan_config.c: an image's configuration document.
 */
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/jsonx.h"
#include "rootfs/plan.h"

enum {
    DEPTH = 32,
    WORD = 256
};

struct reader {
    struct image_plan *p;
    size_t ndiffs;
};

int plan_verify(const char *name, const struct digest *want, const char *text, size_t len,
                struct error *err)
{
    struct digest_state s;
    struct digest got;
    digest_begin(&s);
    digest_update(&s, text, len);
    digest_end(&s, &got);
    if (!digest_equal(&got, want))
        return error_set(err, EBADMSG, "%s: its content does not match its digest", name);
    return 0;
}

static int read_env(const struct jsonx *at, void *arg, struct error *err)
{
    struct reader *r = arg;
    const char *s;
    int rc = jsonx_string(at, IMAGE_STRING_MAX, &s, err);
    if (rc < 0 || strchr(s, '=') == NULL || s[0] == '=')
        return rc; /* without a value there is nothing to set */
    rc = string_list_add(&r->p->config.env, s, IMAGE_ENV_MAX, err);
    return rc < 0 ? error_prefix(err, "Env") : 0;
}

static int read_envs(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_is_null(at) ? 0 : jsonx_each_element(at, IMAGE_ENV_MAX, read_env, arg, err);
}

static int read_arg(const struct jsonx *at, struct string_list *l, struct error *err)
{
    const char *s;
    int rc = jsonx_string(at, IMAGE_STRING_MAX, &s, err);
    return rc < 0 ? rc : string_list_add(l, s, IMAGE_ARGS_MAX, err);
}

static int read_entrypoint_arg(const struct jsonx *at, void *arg, struct error *err)
{
    return read_arg(at, &((struct reader *)arg)->p->config.entrypoint, err);
}

static int read_entrypoint(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_is_null(at)
               ? 0
               : jsonx_each_element(at, IMAGE_ARGS_MAX, read_entrypoint_arg, arg, err);
}

static int read_cmd_arg(const struct jsonx *at, void *arg, struct error *err)
{
    return read_arg(at, &((struct reader *)arg)->p->config.cmd, err);
}

static int read_cmd(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_is_null(at) ? 0 : jsonx_each_element(at, IMAGE_ARGS_MAX, read_cmd_arg, arg, err);
}

static int read_text(const struct jsonx *at, char **slot, size_t max, struct error *err)
{
    const char *s;
    if (jsonx_is_null(at))
        return 0;
    int rc = jsonx_string(at, max, &s, err);
    if (rc < 0 || s[0] == '\0')
        return rc;
    *slot = kstrdup(s);
    return *slot != NULL ? 0 : error_set(err, ENOMEM, "no memory");
}

static int read_workdir(const struct jsonx *at, void *arg, struct error *err)
{
    struct image_config *c = &((struct reader *)arg)->p->config;
    int rc = read_text(at, &c->workdir, 4000, err);
    if (rc == 0 && c->workdir != NULL && c->workdir[0] != '/')
        return jsonx_refuse(at, err, EINVAL, "not an absolute path");
    return rc;
}

static int read_user(const struct jsonx *at, void *arg, struct error *err)
{
    return read_text(at, &((struct reader *)arg)->p->config.user, WORD, err);
}

static int read_created(const struct jsonx *at, void *arg, struct error *err)
{
    return read_text(at, &((struct reader *)arg)->p->config.created, 64, err);
}

static int read_run(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"Env", read_envs, false},  {"Entrypoint", read_entrypoint, false},
        {"Cmd", read_cmd, false},   {"WorkingDir", read_workdir, false},
        {"User", read_user, false},
    };
    if (jsonx_is_null(at))
        return 0;
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, arg, err);
}

static int expect_word(const struct jsonx *at, const char *want, struct error *err)
{
    const char *s;
    int rc = jsonx_string(at, WORD, &s, err);
    if (rc == 0 && strcmp(s, want) != 0)
        return jsonx_refuse(at, err, ENOTSUP, "'%.64s': only linux/amd64 images can run here", s);
    return rc;
}

static int read_os(const struct jsonx *at, void *arg, struct error *err)
{
    (void)arg;
    return expect_word(at, "linux", err);
}

static int read_architecture(const struct jsonx *at, void *arg, struct error *err)
{
    (void)arg;
    return expect_word(at, "amd64", err);
}

static int read_diff(const struct jsonx *at, void *arg, struct error *err)
{
    struct reader *r = arg;
    const char *s;
    int rc = jsonx_string(at, WORD, &s, err);
    if (rc < 0)
        return rc;
    if (r->ndiffs >= r->p->nlayers)
        return jsonx_refuse(at, err, EINVAL, "the manifest has only %u layers", r->p->nlayers);
    rc = digest_parse(s, &r->p->layers[r->ndiffs++].diff_id, err);
    return rc < 0 ? jsonx_refuse(at, err, -rc, "not a sha256 digest") : 0;
}

static int read_diffs(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, IMAGE_LAYERS_MAX, read_diff, arg, err);
}

static int read_rootfs(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {{"diff_ids", read_diffs, true}};
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, arg, err);
}

int plan_config(struct image_plan *p, const char *name, const char *text, size_t len,
                struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"os", read_os, true},
        {"architecture", read_architecture, true},
        {"created", read_created, false},
        {"config", read_run, false},
        {"rootfs", read_rootfs, true},
    };
    struct reader r = {.p = p};
    struct jsonx_doc doc;

    int rc = jsonx_parse(&doc, name, text, len, DEPTH, err);
    if (rc < 0)
        return rc;
    struct jsonx root = jsonx_root(&doc);
    rc = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, &r, err);
    if (rc == 0 && r.ndiffs != p->nlayers)
        rc = error_set(err, EINVAL, "%s: rootfs.diff_ids: %zu, but the image has %u layers", name,
                       r.ndiffs, p->nlayers);
    jsonx_done(&doc);
    return rc;
}
