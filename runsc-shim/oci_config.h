#pragma once
/*
 * oci_config.h: config.json of a bundle (OCI runtime specification 1.0 to 1.2) as one validated
 * structure, and the process object alone, as `exec --process` takes it.
 *
 * Strings are borrowed from the document, which the structure owns. What the specification does not
 * know is noted in `warnings`, one line each, and ignored; a wrong type or an impossible value is
 * an error that names the JSON path. Nothing here opens a file.
 */
#include "lib/compiler.h"

#include "lib/buf.h"
#include "lib/jsonx.h"

struct error;

enum {
    OCI_MAX_BYTES = 4 << 20,
    OCI_MAX_DEPTH = 32,
    OCI_MAX_GROUPS = 64,
    OCI_MAX_STRING = 131072, /* as the kernel's limit of one argument */
};

struct oci_strings {
    const char **v; /* NULL-terminated; NULL when empty */
    size_t n;
};

struct oci_pair {
    const char *key, *value;
};

struct oci_pairs {
    struct oci_pair *v;
    size_t n;
};

enum oci_cap_set {
    OCI_CAP_BOUNDING,
    OCI_CAP_EFFECTIVE,
    OCI_CAP_PERMITTED,
    OCI_CAP_INHERITABLE,
    OCI_CAP_AMBIENT,
    OCI_CAP_SETS
};

enum {
    OCI_RLIMITS = 16
};

struct oci_rlimit {
    bool set;
    uint64_t soft, hard; /* UINT64_MAX: unlimited */
};

struct oci_process {
    bool present;
    bool terminal, no_new_privileges;
    uint16_t rows, cols; /* consoleSize, 0: not given */
    uint32_t uid, gid;
    bool has_umask;
    uint32_t umask;
    uint32_t ngroups;
    uint32_t groups[OCI_MAX_GROUPS];
    struct oci_strings args, env;
    const char *cwd;
    bool has_capabilities;
    uint64_t caps[OCI_CAP_SETS];
    struct oci_rlimit rlimits[OCI_RLIMITS]; /* by number of the resource */
    bool has_oom_score_adj;
    int32_t oom_score_adj;
};

struct oci_mount {
    const char *destination, *type, *source;
    struct oci_strings options;
};

enum oci_namespace_type {
    OCI_NS_PID,
    OCI_NS_NETWORK,
    OCI_NS_MOUNT,
    OCI_NS_IPC,
    OCI_NS_UTS,
    OCI_NS_USER,
    OCI_NS_CGROUP,
    OCI_NS_TIME,
    OCI_NS_TYPES
};

struct oci_namespace {
    bool named;
    const char *path; /* or NULL: a new one */
};

struct oci_device {
    const char *path, *type;
    int64_t major, minor;
    uint32_t mode; /* 0: not given */
};

/* What the cgroup can be told; has_ says which. -1 means unlimited where it is allowed. */
struct oci_resources {
    bool has_memory_limit, has_memory_reservation, has_memory_swap, has_pids;
    bool has_cpu_shares, has_cpu_quota, has_cpu_period;
    int64_t memory_limit, memory_reservation, memory_swap, pids, cpu_quota;
    uint64_t cpu_shares, cpu_period;
    const char *cpuset_cpus, *cpuset_mems;
    struct oci_pairs unified; /* files of cgroup v2 */
};

struct oci_seccomp_arg {
    uint32_t index;
    uint64_t value, value_two;
    uint32_t op; /* enum scmp_compare */
};

struct oci_seccomp_rule {
    struct oci_strings names;
    uint32_t action; /* SCMP_ACT_*, the errno included */
    struct oci_seccomp_arg *args;
    size_t nargs;
};

struct oci_seccomp {
    bool present;
    uint32_t default_action;
    struct oci_strings architectures, flags;
    struct oci_seccomp_rule *rules;
    size_t nrules;
};

enum oci_hook_kind {
    OCI_HOOK_PRESTART,
    OCI_HOOK_CREATE_RUNTIME,
    OCI_HOOK_CREATE_CONTAINER,
    OCI_HOOK_START_CONTAINER,
    OCI_HOOK_POSTSTART,
    OCI_HOOK_POSTSTOP,
    OCI_HOOK_KINDS
};

struct oci_hook {
    const char *path;
    struct oci_strings args, env;
    int64_t timeout; /* seconds, 0: none */
};

struct oci_hooks {
    struct oci_hook *v;
    size_t n;
};

struct oci_config {
    const char *version;
    struct oci_process process;
    const char *root_path;
    bool root_readonly;
    const char *hostname, *domainname;
    struct oci_mount *mounts;
    size_t nmounts;
    struct oci_hooks hooks[OCI_HOOK_KINDS];
    struct oci_pairs annotations;
    struct oci_namespace namespaces[OCI_NS_TYPES];
    bool has_id_mappings;
    struct oci_resources resources;
    const char *cgroups_path;
    struct oci_pairs sysctl;
    struct oci_device *devices;
    size_t ndevices;
    struct oci_strings masked_paths, readonly_paths;
    struct oci_seccomp seccomp;

    struct buf warnings;
    struct jsonx_doc doc;
    char *text;
};

/* text (kalloc'd) is owned by the structure whatever happens; name is for messages. On failure *c
 * is empty and must not be released. */
int oci_config_parse(struct oci_config *c, const char *name, CONSUMES char *text, size_t len,
                     struct error *err) MUST_CHECK;
/* The process object alone: only c->process, warnings and the document are filled. */
int oci_process_parse(struct oci_config *c, const char *name, CONSUMES char *text, size_t len,
                      struct error *err) MUST_CHECK;
/* The resources object alone, as `update --resources` takes it. */
int oci_resources_parse(struct oci_config *c, const char *name, CONSUMES char *text, size_t len,
                        struct error *err) MUST_CHECK;
void oci_config_done(struct oci_config *c);

/* The file, read and parsed. dir_fd as for openat. */
typedef int oci_parse_fn(struct oci_config *c, const char *name, CONSUMES char *text, size_t len,
                         struct error *err);
int oci_file_read(struct oci_config *c, int dir_fd, const char *path, oci_parse_fn *parse,
                  struct error *err) MUST_CHECK;

const char *oci_hook_name(enum oci_hook_kind kind);
