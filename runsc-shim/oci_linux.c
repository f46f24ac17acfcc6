/*
 * oci_linux.c: the section `linux`: namespaces, resources, devices, paths to hide, sysctl.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lib/error.h"
#include "runsc-shim/oci_read.h"

enum {
    MAX_NAMESPACES = 16,
    MAX_DEVICES = 1024,
    MAX_PATHS = 4096
};

/* -- namespaces -----------------------------------------------------------------------------------
 */

struct namespace_entry {
    size_t type;
    const char *path;
};

static int read_namespace_type(struct oci_reader *r, const struct jsonx *at, void *to,
                               struct error *err)
{
    static const char *const names[] = {
        [OCI_NS_PID] = "pid",       [OCI_NS_NETWORK] = "network", [OCI_NS_MOUNT] = "mount",
        [OCI_NS_IPC] = "ipc",       [OCI_NS_UTS] = "uts",         [OCI_NS_USER] = "user",
        [OCI_NS_CGROUP] = "cgroup", [OCI_NS_TIME] = "time",
    };

    (void)r;
    return jsonx_choice(at, names, ARRAY_LEN(names), to, err);
}

struct walk {
    struct oci_reader *r;
    struct oci_config *c;
};

static int namespace_element(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct oci_field fields[] = {
        {"type", OCI_READ, true, offsetof(struct namespace_entry, type), 0, read_namespace_type},
        OCI_FIELD("path", OCI_STRING, struct namespace_entry, path),
    };
    struct walk *w = arg;
    struct namespace_entry e = {0};
    int rc = oci_object(w->r, at, fields, ARRAY_LEN(fields), &e, err);

    if (rc < 0)
        return rc;
    struct oci_namespace *ns = &w->c->namespaces[e.type];
    if (ns->named)
        return jsonx_refuse(at, err, EINVAL, "this namespace is there twice");
    *ns = (struct oci_namespace){true, e.path != NULL && e.path[0] != '\0' ? e.path : NULL};
    return 0;
}

static int read_namespaces(struct oci_reader *r, const struct jsonx *at, void *to,
                           struct error *err)
{
    struct walk w = {r, to};

    memset(w.c->namespaces, 0, sizeof(w.c->namespaces));
    return jsonx_each_element(at, MAX_NAMESPACES, namespace_element, &w, err);
}

static int read_mappings(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    (void)r;
    (void)at;
    (void)err;
    ((struct oci_config *)to)->has_id_mappings = true;
    return 0;
}

/* -- resources ------------------------------------------------------------------------------------
 */

static int read_memory(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    typedef struct oci_resources res;
    static const struct oci_field fields[] = {
        OCI_OPTIONAL("limit", OCI_I64, res, memory_limit, has_memory_limit),
        OCI_OPTIONAL("reservation", OCI_I64, res, memory_reservation, has_memory_reservation),
        OCI_OPTIONAL("swap", OCI_I64, res, memory_swap, has_memory_swap),
        OCI_IGNORED("kernel"),
        OCI_IGNORED("kernelTCP"),
        OCI_IGNORED("swappiness"),
        OCI_IGNORED("disableOOMKiller"),
        OCI_IGNORED("useHierarchy"),
        OCI_IGNORED("checkBeforeUpdate"),
    };
    res *m = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), m, err);

    if (rc == 0 && (m->memory_limit < -1 || m->memory_reservation < -1 || m->memory_swap < -1))
        return jsonx_refuse(at, err, ERANGE, "a size must not be below -1");
    return rc;
}

static int read_cpu(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    typedef struct oci_resources res;
    static const struct oci_field fields[] = {
        OCI_OPTIONAL("shares", OCI_U64, res, cpu_shares, has_cpu_shares),
        OCI_OPTIONAL("quota", OCI_I64, res, cpu_quota, has_cpu_quota),
        OCI_OPTIONAL("period", OCI_U64, res, cpu_period, has_cpu_period),
        OCI_FIELD("cpus", OCI_STRING, res, cpuset_cpus),
        OCI_FIELD("mems", OCI_STRING, res, cpuset_mems),
        OCI_IGNORED("burst"),
        OCI_IGNORED("realtimeRuntime"),
        OCI_IGNORED("realtimePeriod"),
        OCI_IGNORED("idle"),
    };

    return oci_object(r, at, fields, ARRAY_LEN(fields), to, err);
}

static int read_pids(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_OPTIONAL("limit", OCI_I64, struct oci_resources, pids, has_pids),
    };

    return oci_object(r, at, fields, ARRAY_LEN(fields), to, err);
}

/* A file of the cgroup's own directory, nothing else. */
static int check_unified(const struct jsonx *at, const struct oci_pairs *p, struct error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strchr(p->v[i].key, '/') != NULL || strchr(p->v[i].key, '.') == NULL ||
            p->v[i].key[0] == '.' || strlen(p->v[i].key) > 64)
            return jsonx_refuse(at, err, EINVAL, "unified: '%.64s' is not a cgroup file",
                                p->v[i].key);
    }
    return 0;
}

int oci_read_resources(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_WHOLE("memory", read_memory),
        OCI_WHOLE("cpu", read_cpu),
        OCI_WHOLE("pids", read_pids),
        OCI_FIELD("unified", OCI_PAIRS, struct oci_resources, unified),
        OCI_IGNORED("devices"),
        OCI_IGNORED("blockIO"),
        OCI_IGNORED("hugepageLimits"),
        OCI_IGNORED("network"),
        OCI_IGNORED("rdma"),
    };
    struct oci_resources *res = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), res, err);

    return rc < 0 ? rc : check_unified(at, &res->unified, err);
}

/* -- devices --------------------------------------------------------------------------------------
 */

static int read_device(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_OBJECT("path", struct oci_device, path, oci_read_path),
        OCI_REQUIRED("type", OCI_STRING, struct oci_device, type),
        OCI_FIELD("major", OCI_I64, struct oci_device, major),
        OCI_FIELD("minor", OCI_I64, struct oci_device, minor),
        OCI_FIELD("fileMode", OCI_U32, struct oci_device, mode),
        OCI_IGNORED("uid"),
        OCI_IGNORED("gid"),
    };
    struct oci_device *d = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), d, err);

    if (rc == 0 && d->path == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"path\"");
    return rc;
}

static int read_devices(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_config *c = to;
    void *array = c->devices;
    const struct oci_elements kind = {MAX_DEVICES, sizeof(*c->devices), read_device};
    int rc = oci_array(r, at, &kind, &array, &c->ndevices, err);

    c->devices = array;
    return rc;
}

/* -- the section ----------------------------------------------------------------------------------
 */

static int read_paths(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_strings *s = to;
    int rc = oci_read_strings(r, at, s, err);

    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        if (s->v[i][0] != '/' || strlen(s->v[i]) >= PATH_MAX)
            return jsonx_refuse(at, err, EINVAL, "'%.64s' is not an absolute path", s->v[i]);
    }
    return rc;
}

static int read_cgroups_path(struct oci_reader *r, const struct jsonx *at, void *to,
                             struct error *err)
{
    (void)r;
    return jsonx_string(at, PATH_MAX - 1, to, err);
}

int oci_read_linux(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    typedef struct oci_config cfg;
    static const struct oci_field fields[] = {
        OCI_WHOLE("namespaces", read_namespaces),
        OCI_WHOLE("uidMappings", read_mappings),
        OCI_WHOLE("gidMappings", read_mappings),
        OCI_OBJECT("resources", cfg, resources, oci_read_resources),
        OCI_OBJECT("cgroupsPath", cfg, cgroups_path, read_cgroups_path),
        OCI_FIELD("sysctl", OCI_PAIRS, cfg, sysctl),
        OCI_WHOLE("devices", read_devices),
        OCI_OBJECT("maskedPaths", cfg, masked_paths, read_paths),
        OCI_OBJECT("readonlyPaths", cfg, readonly_paths, read_paths),
        OCI_OBJECT("seccomp", cfg, seccomp, oci_read_seccomp),
        OCI_IGNORED("rootfsPropagation"),
        OCI_IGNORED("mountLabel"),
        OCI_IGNORED("intelRdt"),
        OCI_IGNORED("personality"),
        OCI_IGNORED("timeOffsets"),
        OCI_IGNORED("netDevices"),
        OCI_IGNORED("memoryPolicy"),
    };

    return oci_object(r, at, fields, ARRAY_LEN(fields), to, err);
}
