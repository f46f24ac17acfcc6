/*
 * oci_seccomp.c: the seccomp profile as it stands in config.json. Actions and comparisons become
 * libseccomp's numbers; seccomp_filter.c makes the program of it.
 */
#include <errno.h>
#include <seccomp.h>
#include <string.h>

#include "lib/error.h"
#include "runsc-shim/oci_read.h"

enum {
    MAX_RULES = 4096,
    MAX_ARGS = 64
};

static const struct action {
    const char *name;
    uint32_t value;
} actions[] = {
    {"SCMP_ACT_KILL", SCMP_ACT_KILL_THREAD},
    {"SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD},
    {"SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS},
    {"SCMP_ACT_TRAP", SCMP_ACT_TRAP},
    {"SCMP_ACT_ERRNO", SCMP_ACT_ERRNO(0)},
    {"SCMP_ACT_TRACE", SCMP_ACT_TRACE(0)},
    {"SCMP_ACT_ALLOW", SCMP_ACT_ALLOW},
    {"SCMP_ACT_LOG", SCMP_ACT_LOG},
    {"SCMP_ACT_NOTIFY", SCMP_ACT_NOTIFY},
};

static int read_action(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    const char *s;
    int rc = jsonx_string(at, 64, &s, err);

    (void)r;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i].name, s) != 0)
            continue;
        if (actions[i].value == SCMP_ACT_NOTIFY)
            return jsonx_refuse(at, err, EINVAL, "SCMP_ACT_NOTIFY is not supported");
        *(uint32_t *)to = actions[i].value;
        return 0;
    }
    return jsonx_refuse(at, err, EINVAL, "'%s' is not an action", s);
}

/* The action with its number: EPERM unless the profile says another. */
static uint32_t with_errno(uint32_t action, bool has, uint32_t number)
{
    if (action == SCMP_ACT_ERRNO(0))
        return SCMP_ACT_ERRNO((has ? number : (uint32_t)EPERM) & 0xffff);
    if (action == SCMP_ACT_TRACE(0))
        return SCMP_ACT_TRACE((has ? number : (uint32_t)EPERM) & 0xffff);
    return action;
}

static int read_op(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const char *const names[] = {"SCMP_CMP_NE",       "SCMP_CMP_LT", "SCMP_CMP_LE",
                                        "SCMP_CMP_EQ",       "SCMP_CMP_GE", "SCMP_CMP_GT",
                                        "SCMP_CMP_MASKED_EQ"};
    size_t i;
    int rc = jsonx_choice(at, names, ARRAY_LEN(names), &i, err);

    (void)r;
    if (rc == 0)
        *(uint32_t *)to = (uint32_t)i + SCMP_CMP_NE;
    return rc;
}

static int read_arg(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_REQUIRED("index", OCI_U32, struct oci_seccomp_arg, index),
        OCI_REQUIRED("value", OCI_U64, struct oci_seccomp_arg, value),
        OCI_FIELD("valueTwo", OCI_U64, struct oci_seccomp_arg, value_two),
        {"op", OCI_READ, true, offsetof(struct oci_seccomp_arg, op), 0, read_op},
    };
    struct oci_seccomp_arg *a = to;
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), a, err);

    if (rc == 0 && a->index > 5)
        return jsonx_refuse(at, err, ERANGE, "index: must be between 0 and 5");
    /* The JSON library's largest number may stand for a larger one: a rule that means something
     * else would be worse than none. */
    if (rc == 0 && (a->value >= INT64_MAX || a->value_two >= INT64_MAX))
        return jsonx_refuse(at, err, ERANGE, "a value must be below 2^63");
    return rc;
}

struct rule_entry {
    struct oci_seccomp_rule *rule;
    const char *name; /* the form of the first drafts */
    bool has_errno;
    uint32_t number;
};

static int read_args(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_seccomp_rule *rule = ((struct rule_entry *)to)->rule;
    void *array = rule->args;
    const struct oci_elements kind = {MAX_ARGS, sizeof(*rule->args), read_arg};
    int rc = oci_array(r, at, &kind, &array, &rule->nargs, err);

    rule->args = array;
    return rc;
}

static int read_names(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    return oci_read_strings(r, at, &((struct rule_entry *)to)->rule->names, err);
}

static int read_rule_action(struct oci_reader *r, const struct jsonx *at, void *to,
                            struct error *err)
{
    return read_action(r, at, &((struct rule_entry *)to)->rule->action, err);
}

static int read_rule(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        OCI_WHOLE("names", read_names),
        {"action", OCI_READ, true, 0, 0, read_rule_action},
        OCI_OPTIONAL("errnoRet", OCI_U32, struct rule_entry, number, has_errno),
        OCI_WHOLE("args", read_args),
        OCI_IGNORED("comment"),
        OCI_IGNORED("includes"),
        OCI_IGNORED("excludes"),
    };
    struct rule_entry e = {.rule = to};
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), &e, err);

    if (rc == 0 && e.rule->names.n == 0)
        return jsonx_refuse(at, err, EINVAL, "needs the key \"names\"");
    e.rule->action = with_errno(e.rule->action, e.has_errno, e.number);
    return rc;
}

struct profile {
    struct oci_seccomp *s;
    bool has_errno;
    uint32_t number;
};

static int read_default(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    return read_action(r, at, &((struct profile *)to)->s->default_action, err);
}

static int read_rules(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    struct oci_seccomp *s = ((struct profile *)to)->s;
    void *array = s->rules;
    const struct oci_elements kind = {MAX_RULES, sizeof(*s->rules), read_rule};
    int rc = oci_array(r, at, &kind, &array, &s->nrules, err);

    s->rules = array;
    return rc;
}

static int read_architectures(struct oci_reader *r, const struct jsonx *at, void *to,
                              struct error *err)
{
    return oci_read_strings(r, at, &((struct profile *)to)->s->architectures, err);
}

static int read_flags(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    return oci_read_strings(r, at, &((struct profile *)to)->s->flags, err);
}

int oci_read_seccomp(struct oci_reader *r, const struct jsonx *at, void *to, struct error *err)
{
    static const struct oci_field fields[] = {
        {"defaultAction", OCI_READ, true, 0, 0, read_default},
        OCI_OPTIONAL("defaultErrnoRet", OCI_U32, struct profile, number, has_errno),
        OCI_WHOLE("architectures", read_architectures),
        OCI_WHOLE("flags", read_flags),
        OCI_IGNORED("listenerPath"),
        OCI_IGNORED("listenerMetadata"),
        OCI_WHOLE("syscalls", read_rules),
    };
    struct oci_seccomp *s = to;
    struct profile p = {.s = s};
    int rc = oci_object(r, at, fields, ARRAY_LEN(fields), &p, err);

    if (rc == 0)
        s->default_action = with_errno(s->default_action, p.has_errno, p.number);
    s->present = rc == 0;
    return rc;
}
