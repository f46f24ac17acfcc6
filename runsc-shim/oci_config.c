/*
 * oci_config.c: the whole of config.json. The process object is in oci_process.c, the section
 * `linux` in oci_linux.c, the seccomp profile in oci_seccomp.c.
 */
#include "runsc-shim/oci_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/oci_read.h"

enum {
    MAX_MOUNTS = 1024,
    MAX_HOOKS = 256,
    MAX_WARNINGS = 8192
};

/* -- parts ----------------------------------------------------------------------------------------
 */

static int read_root(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_REQUIRED("path", OCI_STRING, struct oci_config, root_path),
        OCI_FIELD("readonly", OCI_BOOL, struct oci_config, root_readonly),
    };
    struct oci_config *c = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), c, err);

    if (rc == 0 && (c->root_path[0] == '\0' || strlen(c->root_path) >= PATH_MAX))
        return jsonx_refuse(at, err, EINVAL, "path: must be a path");
    return rc;
}

static int read_mount(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_OBJECT("destination", struct oci_mount, destination, oci_read_path),
        OCI_FIELD("type", OCI_STRING, struct oci_mount, type),
        OCI_FIELD("source", OCI_STRING, struct oci_mount, source),
        OCI_FIELD("options", OCI_STRINGS, struct oci_mount, options),
        OCI_IGNORED("uidMappings"),
        OCI_IGNORED("gidMappings"),
    };
    struct oci_mount *m = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), m, err);

    if (rc < 0)
        return rc;
    if (m->destination == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"destination\"");
    if (m->type == NULL)
        m->type = "";
    if (m->source == NULL)
        m->source = "";
    if (strlen(m->source) >= PATH_MAX)
        return jsonx_refuse(at, err, ENAMETOOLONG, "the source is too long");
    return 0;
}

static int read_mounts(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_config *c = to;
    void *array = c->mounts;
    const struct oci_elements kind = {MAX_MOUNTS, sizeof(*c->mounts), read_mount};
    int rc = oci_array(r, at, &kind, &array, &c->nmounts, err);

    c->mounts = array;
    return rc;
}

static int read_hook(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_OBJECT("path", struct oci_hook, path, oci_read_path),
        OCI_FIELD("args", OCI_STRINGS, struct oci_hook, args),
        OCI_FIELD("env", OCI_STRINGS, struct oci_hook, env),
        OCI_FIELD("timeout", OCI_I64, struct oci_hook, timeout),
    };
    struct oci_hook *h = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), h, err);

    if (rc < 0)
        return rc;
    if (h->path == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"path\"");
    if (h->timeout < 0 || h->timeout > 86400)
        return jsonx_refuse(at, err, ERANGE, "timeout: must be between 1 and 86400 seconds");
    return 0;
}

static int read_hook_list(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_hooks *h = to;
    void *array = h->v;
    const struct oci_elements kind = {MAX_HOOKS, sizeof(*h->v), read_hook};
    int rc = oci_array(r, at, &kind, &array, &h->n, err);

    h->v = array;
    return rc;
}

static const char *const hook_names[] = {"prestart",       "createRuntime", "createContainer",
                                         "startContainer", "poststart",     "poststop"};

const char *oci_hook_name(enum oci_hook_kind kind)
{
    return hook_names[kind];
}

int oci_read_hooks(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_config *c = to;
    struct oci_field fields[OCI_HOOK_KINDS];

    for (size_t i = 0; i < OCI_HOOK_KINDS; i++)
        fields[i] = (struct oci_field){.key = hook_names[i],
                                       .kind = OCI_READ,
                                       .read = read_hook_list,
                                       .offset = offsetof(struct oci_config, hooks) +
                                                 i * sizeof(struct oci_hooks)};
    return oci_object(r, at, fields, ARRAY_LEN(fields), c, err);
}

static int read_version(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_config *c = to;
    int rc = jsonx_string(at, 64, &c->version, err);

    (void)r;
    if (rc == 0 && strncmp(c->version, "1.", 2) != 0)
        return jsonx_refuse(at, err, EINVAL, "version '%s' is not supported (1.0 to 1.2 are)",
                            c->version);
    return rc;
}

static int read_name(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    (void)r;
    return jsonx_string(at, 64, to, err);
}

static int read_config(struct oci_reader *r, const struct jsonx *at, struct oci_config *c,
                       struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_WHOLE("ociVersion", read_version),
        OCI_OBJECT("process", struct oci_config, process, oci_read_process),
        OCI_WHOLE("root", read_root),
        OCI_OBJECT("hostname", struct oci_config, hostname, read_name),
        OCI_OBJECT("domainname", struct oci_config, domainname, read_name),
        OCI_WHOLE("mounts", read_mounts),
        OCI_WHOLE("hooks", oci_read_hooks),
        OCI_FIELD("annotations", OCI_PAIRS, struct oci_config, annotations),
        OCI_WHOLE("linux", oci_read_linux),
        OCI_IGNORED("solaris"),
        OCI_IGNORED("windows"),
        OCI_IGNORED("vm"),
        OCI_IGNORED("zos"),
    };
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), c, err);

    if (rc < 0)
        return rc;
    if (c->version == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"ociVersion\"");
    if (c->root_path == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"root\"");
    return 0;
}

/* -- the document ---------------------------------------------------------------------------------
 */

static void hooks_done(struct oci_hooks *h)
{
    for (size_t i = 0; i < h->n; i++) {
        oci_strings_done(&h->v[i].args);
        oci_strings_done(&h->v[i].env);
    }
    kfree(h->v);
}

static void seccomp_done(struct oci_seccomp *s)
{
    for (size_t i = 0; i < s->nrules; i++) {
        oci_strings_done(&s->rules[i].names);
        kfree(s->rules[i].args);
    }
    kfree(s->rules);
    oci_strings_done(&s->architectures);
    oci_strings_done(&s->flags);
}

void oci_config_done(struct oci_config *c)
{
    oci_strings_done(&c->process.args);
    oci_strings_done(&c->process.env);
    for (size_t i = 0; i < c->nmounts; i++)
        oci_strings_done(&c->mounts[i].options);
    kfree(c->mounts);
    for (size_t i = 0; i < OCI_HOOK_KINDS; i++)
        hooks_done(&c->hooks[i]);
    kfree(c->annotations.v);
    kfree(c->resources.unified.v);
    kfree(c->sysctl.v);
    kfree(c->devices);
    oci_strings_done(&c->masked_paths);
    oci_strings_done(&c->readonly_paths);
    seccomp_done(&c->seccomp);
    buf_done(&c->warnings);
    jsonx_done(&c->doc);
    kfree(c->text);
    *c = (struct oci_config){0};
}

typedef int part_fn(struct oci_reader *r, const struct jsonx *at, struct oci_config *c,
                    struct error *err);

static int parse_part(struct oci_config *c, const char *name, char *text, size_t len, part_fn *read,
                      struct error *err)
{
    *c = (struct oci_config){.text = text};
    buf_init(&c->warnings, MAX_WARNINGS);
    int rc = jsonx_parse_lenient(&c->doc, name, text, len, OCI_MAX_DEPTH, err);
    if (rc == 0) {
        struct oci_reader r = {&c->warnings};
        struct jsonx root = jsonx_root(&c->doc);
        rc = read(&r, &root, c, err);
    }
    if (rc < 0)
        oci_config_done(c);
    else
        c->doc.name = ""; /* borrowed for messages only */
    return rc;
}

static int process_part(struct oci_reader *r, const struct jsonx *at, struct oci_config *c,
                        struct error *err)
{
    return oci_read_process(r, at, &c->process, err);
}

static int resources_part(struct oci_reader *r, const struct jsonx *at, struct oci_config *c,
                          struct error *err)
{
    return oci_read_resources(r, at, &c->resources, err);
}

int oci_config_parse(struct oci_config *c, const char *name, char *text, size_t len,
                     struct error *err)
{
    return parse_part(c, name, text, len, read_config, err);
}

int oci_process_parse(struct oci_config *c, const char *name, char *text, size_t len,
                      struct error *err)
{
    return parse_part(c, name, text, len, process_part, err);
}

int oci_resources_parse(struct oci_config *c, const char *name, char *text, size_t len,
                        struct error *err)
{
    return parse_part(c, name, text, len, resources_part, err);
}

int oci_file_read(struct oci_config *c, int dir_fd, const char *path, oci_parse_fn *parse,
                  struct error *err)
{
    struct stat st;
    char *text;
    size_t len;

    /* A FIFO in the place of the file must not hold us. */
    int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_errno(err, errno, "%s", path);
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (r == 0)
        r = fd_read_all(fd, OCI_MAX_BYTES, &text, &len);
    (void)close(fd);
    if (r != 0)
        return error_errno(err, -r, "%s", path);
    return parse(c, path, text, len, err);
}
