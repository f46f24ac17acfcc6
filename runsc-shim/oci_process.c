/*
 * oci_process.c: the object `process`: what to run, as whom, with what. The same object is the file
 * that `exec --process` names.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include <sys/capability.h>

#include "abi/rlimit.h"

#include "lib/error.h"
#include "runsc-shim/oci_read.h"

enum {
    MAX_RLIMITS = 64
};

static const char *const rlimit_names[OCI_RLIMITS] = {
    [LX_RLIMIT_CPU] = "RLIMIT_CPU",           [LX_RLIMIT_FSIZE] = "RLIMIT_FSIZE",
    [LX_RLIMIT_DATA] = "RLIMIT_DATA",         [LX_RLIMIT_STACK] = "RLIMIT_STACK",
    [LX_RLIMIT_CORE] = "RLIMIT_CORE",         [LX_RLIMIT_RSS] = "RLIMIT_RSS",
    [LX_RLIMIT_NPROC] = "RLIMIT_NPROC",       [LX_RLIMIT_NOFILE] = "RLIMIT_NOFILE",
    [LX_RLIMIT_MEMLOCK] = "RLIMIT_MEMLOCK",   [LX_RLIMIT_AS] = "RLIMIT_AS",
    [LX_RLIMIT_LOCKS] = "RLIMIT_LOCKS",       [LX_RLIMIT_SIGPENDING] = "RLIMIT_SIGPENDING",
    [LX_RLIMIT_MSGQUEUE] = "RLIMIT_MSGQUEUE", [LX_RLIMIT_NICE] = "RLIMIT_NICE",
    [LX_RLIMIT_RTPRIO] = "RLIMIT_RTPRIO",     [LX_RLIMIT_RTTIME] = "RLIMIT_RTTIME",
};

struct rlimit_entry {
    const char *type;
    uint64_t soft, hard;
};

static int read_rlimit(const struct jsonx *at, struct oci_process *p, const struct rlimit_entry *e,
                       struct error *err)
{
    for (size_t i = 0; i < OCI_RLIMITS; i++) {
        if (strcmp(rlimit_names[i], e->type) != 0)
            continue;
        if (p->rlimits[i].set)
            return jsonx_refuse(at, err, EINVAL, "%s is there twice", e->type);
        struct oci_rlimit l = {true, e->soft, e->hard};
        if (l.soft >= INT64_MAX)
            l.soft = UINT64_MAX;
        if (l.hard >= INT64_MAX)
            l.hard = UINT64_MAX;
        if (l.soft > l.hard)
            return jsonx_refuse(at, err, EINVAL, "%s: soft is above hard", e->type);
        p->rlimits[i] = l;
        return 0;
    }
    return jsonx_refuse(at, err, EINVAL, "type: '%s' is not a resource", e->type);
}

struct element {
    struct oci_reader *r;
    struct oci_process *p;
    enum oci_cap_set set;
};

static int rlimit_element(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_REQUIRED("type", OCI_STRING, struct rlimit_entry, type),
        OCI_REQUIRED("soft", OCI_U64, struct rlimit_entry, soft),
        OCI_REQUIRED("hard", OCI_U64, struct rlimit_entry, hard),
    };
    struct element *e = arg;
    struct rlimit_entry entry = {0};
    int rc = oci_object(e->r, at, fields, ARRAY_LEN(fields), &entry, err);

    return rc < 0 ? rc : read_rlimit(at, e->p, &entry, err);
}

static int read_rlimits(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct element e = {.r = r, .p = to};

    return jsonx_each_element(at, MAX_RLIMITS, rlimit_element, &e, err);
}

static int group_element(const struct jsonx *at, void *arg, struct error *err)
{
    struct oci_process *p = arg;
    uint64_t gid;
    int r = jsonx_u64(at, 0, UINT32_MAX - 1, &gid, err);

    if (r == 0)
        p->groups[p->ngroups++] = (uint32_t)gid;
    return r;
}

static int read_groups(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    (void)r;
    ((struct oci_process *)to)->ngroups = 0;
    return jsonx_each_element(at, OCI_MAX_GROUPS, group_element, to, err);
}

static int read_user(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_FIELD("uid", OCI_U32, struct oci_process, uid),
        OCI_FIELD("gid", OCI_U32, struct oci_process, gid),
        OCI_OPTIONAL("umask", OCI_U32, struct oci_process, umask, has_umask),
        OCI_WHOLE("additionalGids", read_groups),
        OCI_IGNORED("username"),
    };
    struct oci_process *p = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), p, err);

    if (rc == 0 && (p->uid == UINT32_MAX || p->gid == UINT32_MAX))
        return jsonx_refuse(at, err, ERANGE, "-1 is not an id");
    if (rc == 0 && p->umask > 0777)
        return jsonx_refuse(at, err, ERANGE, "umask: must be between 0 and 0777");
    return rc;
}

static int capability_element(const struct jsonx *at, void *arg, struct error *err)
{
    struct element *e = arg;
    cap_value_t v;
    const char *s;
    int r = jsonx_string(at, 64, &s, err);

    if (r < 0)
        return r;
    /* cap_from_name also takes numbers. */
    if (strncasecmp(s, "CAP_", 4) != 0 || cap_from_name(s, &v) < 0 || v < 0 || v > 63) {
        oci_warn(e->r, at, "unknown capability, ignored");
        return 0;
    }
    e->p->caps[e->set] |= 1ull << v;
    return 0;
}

#define CAP_SET_READER(name, which)                                                \
    static int read_##name(struct oci_reader *r, const struct jsonx *at, void *to, \
                           struct error *err)                                      \
    {                                                                              \
        struct element e = {r, to, which};                                         \
        e.p->caps[which] = 0;                                                      \
        return jsonx_each_element(at, 256, capability_element, &e, err);           \
    }
CAP_SET_READER(bounding, OCI_CAP_BOUNDING)
CAP_SET_READER(effective, OCI_CAP_EFFECTIVE)
CAP_SET_READER(permitted, OCI_CAP_PERMITTED)
CAP_SET_READER(inheritable, OCI_CAP_INHERITABLE)
CAP_SET_READER(ambient, OCI_CAP_AMBIENT)

static int read_capabilities(struct oci_reader *r, const struct jsonx *at, void *to,
                             struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_WHOLE("bounding", read_bounding),   OCI_WHOLE("effective", read_effective),
        OCI_WHOLE("permitted", read_permitted), OCI_WHOLE("inheritable", read_inheritable),
        OCI_WHOLE("ambient", read_ambient),
    };

    ((struct oci_process *)to)->has_capabilities = true;
    return oci_object(r, at, fields, ARRAY_LEN(fields), to, err);
}

static int read_console_size(struct oci_reader *r, const struct jsonx *at, void *to,
                             struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_REQUIRED("height", OCI_U16, struct oci_process, rows),
        OCI_REQUIRED("width", OCI_U16, struct oci_process, cols),
    };

    return oci_object(r, at, fields, ARRAY_LEN(fields), to, err);
}

static int read_oom_score(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_process *p = to;
    int64_t v;
    int rc = jsonx_i64(at, -1000, 1000, &v, err);

    (void)r;
    if (rc == 0) {
        p->has_oom_score_adj = true;
        p->oom_score_adj = (int32_t)v;
    }
    return rc;
}

static int check_process(const struct jsonx *at, const struct oci_process *p, struct error *err)
{
    if (p->args.n == 0)
        return jsonx_refuse(at, err, EINVAL, "args: must not be empty");
    if (p->args.v[0][0] == '\0')
        return jsonx_refuse(at, err, EINVAL, "args: the first must not be empty");
    if (p->cwd == NULL)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"cwd\"");
    return 0;
}

int oci_read_process(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_FIELD("terminal", OCI_BOOL, struct oci_process, terminal),
        OCI_WHOLE("consoleSize", read_console_size),
        OCI_WHOLE("user", read_user),
        OCI_FIELD("args", OCI_STRINGS, struct oci_process, args),
        OCI_FIELD("env", OCI_STRINGS, struct oci_process, env),
        OCI_OBJECT("cwd", struct oci_process, cwd, oci_read_path),
        OCI_WHOLE("capabilities", read_capabilities),
        OCI_WHOLE("rlimits", read_rlimits),
        OCI_FIELD("noNewPrivileges", OCI_BOOL, struct oci_process, no_new_privileges),
        OCI_WHOLE("oomScoreAdj", read_oom_score),
        OCI_IGNORED("commandLine"),
        OCI_IGNORED("apparmorProfile"),
        OCI_IGNORED("selinuxLabel"),
        OCI_IGNORED("scheduler"),
        OCI_IGNORED("ioPriority"),
        OCI_IGNORED("execCPUAffinity"),
    };
    struct oci_process *p = to;

    p->present = true;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), p, err);
    return rc < 0 ? rc : check_process(at, p, err);
}
