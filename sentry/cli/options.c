/*
 * options.c: `sentry run` options (DESIGN: the command-line contract).
 *
 * One table row per option: name, whether it takes a value, and the function that puts it into the
 * boot description. Everything that can be wrong with a value is found here, before any process is
 * made.
 */
#include "sentry/cli/options.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/parse.h"
#include "rootfs/config.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/image.h"
#include "sentry/cli/policy.h"
#include "sentry/cli/report.h"
#include "sentry/cli/state.h"

struct parse_state {
    struct boot *b;
    bool policy_pass, wall_given, cpu_given, workdir_given;
};

typedef int option_fn(struct parse_state *st, const char *value, struct error *err);

static int set_string(char **slot, const char *value, struct error *err)
{
    char *copy = kstrdup(value);
    if (copy == NULL)
        return error_set(err, ENOMEM, "no memory");
    kfree(*slot);
    *slot = copy;
    return 0;
}

static int absolute(const char *path, struct error *err)
{
    if (path[0] != '/')
        return error_set(err, EINVAL, "'%s' is not an absolute path", path);
    if (strlen(path) >= PATH_MAX)
        return error_set(err, ENAMETOOLONG, "the path is too long");
    return 0;
}

/* Where something is to be mounted. What is mounted on the root itself, nobody would see. */
static int mount_point(const char *path, size_t len, struct error *err)
{
    int r = absolute(path, err);
    if (r < 0)
        return r;
    for (size_t i = 0, n; i < len; i += n + 1) {
        n = 0;
        while (i + n < len && path[i + n] != '/')
            n++;
        if (n > 2 || strncmp(path + i, "..", n) != 0)
            return 0;
    }
    return error_set(err, EINVAL, "'%.*s' is the root itself", (int)len, path);
}

static int opt_env(struct parse_state *st, const char *v, struct error *err)
{
    return boot_env_set(st->b, v, err);
}

static int opt_workdir(struct parse_state *st, const char *v, struct error *err)
{
    st->workdir_given = true;
    int r = absolute(v, err);
    return r < 0 ? r : set_string(&st->b->cwd, v, err);
}

static int opt_hostname(struct parse_state *st, const char *v, struct error *err)
{
    if (v[0] == '\0' || strlen(v) > 64)
        return error_set(err, EINVAL, "a host name has 1 to 64 characters");
    return set_string(&st->b->hostname, v, err);
}

static int opt_user(struct parse_state *st, const char *v, struct error *err)
{
    if (v[0] == '\0')
        return error_set(err, EINVAL, "empty user");
    return set_string(&st->b->user, v, err);
}

static int opt_writable(struct parse_state *st, const char *v, struct error *err)
{
    (void)v;
    (void)err;
    st->b->writable = true;
    return 0;
}

static int opt_tmpfs(struct parse_state *st, const char *v, struct error *err)
{
    struct boot *b = st->b;
    const char *colon = strchr(v, ':');
    size_t n = colon != NULL ? (size_t)(colon - v) : strlen(v);
    uint64_t size = 0;

    int r = mount_point(v, n, err);
    if (r == 0 && colon != NULL)
        r = parse_size(colon + 1, &size, err);
    if (r < 0)
        return r;
    if (b->ntmpfs >= BOOT_MAX_TMPFS)
        return error_set(err, E2BIG, "more than %d tmpfs mounts", BOOT_MAX_TMPFS);
    char *path = kstrndup(v, n);
    if (path == NULL)
        return error_set(err, ENOMEM, "no memory");
    b->tmpfs[b->ntmpfs++] = (struct boot_tmpfs){path, size};
    return 0;
}

/* A directory or a regular file of the host: nothing else is served. */
static int volume_open(const char *host, int *ret_fd, struct error *err)
{
    struct stat st;
    int fd = open(host, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "%s", host);
    if (fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
        (void)close(fd);
        return error_set(err, EINVAL, "%s is neither a directory nor a regular file", host);
    }
    *ret_fd = fd;
    return 0;
}

static int opt_volume(struct parse_state *st, const char *v, struct error *err)
{
    struct boot *b = st->b;
    char host[PATH_MAX];
    const char *first = strchr(v, ':');
    const char *second = first != NULL ? strchr(first + 1, ':') : NULL;

    if (second != NULL && strncmp(second, ":rw", 3) == 0)
        return error_set(err, EINVAL,
                         "'%s': volumes are read-only here; a writable one is a bind mount of an "
                         "OCI container (runsc-shim, podman run -v)",
                         v);
    if (second == NULL || strcmp(second, ":ro") != 0)
        return error_set(err, EINVAL, "'%s' is not HOST:GUEST:ro (volumes are read-only)", v);
    if ((size_t)(first - v) >= sizeof(host) || first == v)
        return error_set(err, EINVAL, "bad host path in '%s'", v);
    memcpy(host, v, (size_t)(first - v));
    host[first - v] = '\0';
    int r = mount_point(first + 1, (size_t)(second - first - 1), err);
    if (r < 0)
        return r;
    if (b->nvolumes >= BOOT_MAX_VOLUMES)
        return error_set(err, E2BIG, "more than %d volumes", BOOT_MAX_VOLUMES);
    int fd;
    r = volume_open(host, &fd, err);
    if (r < 0)
        return r;
    char *guest = kstrndup(first + 1, (size_t)(second - first - 1));
    if (guest == NULL) {
        (void)close(fd);
        return error_set(err, ENOMEM, "no memory");
    }
    b->volumes[b->nvolumes++] = (struct boot_volume){fd, guest};
    return 0;
}

static int opt_timeout(struct parse_state *st, const char *v, struct error *err)
{
    st->wall_given = true;
    return parse_duration(v, &st->b->limits.wall_ns, err);
}

static int opt_cpu_time(struct parse_state *st, const char *v, struct error *err)
{
    st->cpu_given = true;
    return parse_duration(v, &st->b->limits.cpu_ns, err);
}

static int opt_memory(struct parse_state *st, const char *v, struct error *err)
{
    int r = parse_size(v, &st->b->limits.memory, err);
    if (r == 0 && st->b->limits.memory != 0 && st->b->limits.memory < BOOT_MEMORY_MIN)
        return error_set(err, ERANGE, "at least %lluM (0: no limit)",
                         (unsigned long long)(BOOT_MEMORY_MIN >> 20));
    return r;
}

static int opt_cgroup(struct parse_state *st, const char *v, struct error *err)
{
    static const char *const words[] = {[CGROUP_AUTO] = "auto",
                                        [CGROUP_ONLY_V1] = "v1",
                                        [CGROUP_ONLY_V2] = "v2",
                                        [CGROUP_OFF] = "none"};
    for (uint32_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(v, words[i]) == 0) {
            st->b->limits.cgroup = i;
            return 0;
        }
    }
    return error_set(err, EINVAL, "'%s': auto, v2, v1 or none", v);
}

static int opt_cpus(struct parse_state *st, const char *v, struct error *err)
{
    uint64_t milli;
    int r = parse_milli(v, &milli, err);
    if (r < 0)
        return r;
    if (milli < 10 || milli > 1024000)
        return error_set(err, ERANGE, "cpus: 0.01 to 1024");
    st->b->limits.cpus_milli = (uint32_t)milli;
    return 0;
}

static int opt_pids(struct parse_state *st, const char *v, struct error *err)
{
    return parse_u64(v, 1, 4096, &st->b->limits.pids, err);
}

static int opt_files(struct parse_state *st, const char *v, struct error *err)
{
    return parse_u64(v, 3, 1048576, &st->b->limits.files, err);
}

static int opt_file_size(struct parse_state *st, const char *v, struct error *err)
{
    return parse_size(v, &st->b->limits.file_size, err);
}

static int opt_disk(struct parse_state *st, const char *v, struct error *err)
{
    return parse_size(v, &st->b->limits.disk, err);
}

static int opt_output(struct parse_state *st, const char *v, struct error *err)
{
    return parse_size(v, &st->b->limits.output, err);
}

static int open_output(const char *path, int *slot, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return error_errno(err, errno, "%s", path);
    if (*slot > 2)
        (void)close(*slot);
    *slot = fd;
    return 0;
}

static int opt_strace(struct parse_state *st, const char *v, struct error *err)
{
    st->b->strace = true;
    if (v != NULL)
        return open_output(v, &st->b->strace_fd, err);
    return 0;
}

static int opt_log(struct parse_state *st, const char *v, struct error *err)
{
    int r = log_parse_spec(v, err);
    return r < 0 ? r : set_string(&st->b->log_spec, v, err);
}

static int opt_name(struct parse_state *st, const char *v, struct error *err)
{
    int r = state_id_check(v, err);
    return r < 0 ? r : set_string(&st->b->name, v, err);
}

static int opt_report(struct parse_state *st, const char *v, struct error *err)
{
    if (st->b->report_path != NULL)
        return error_set(err, EINVAL, "given twice");
    int r = report_check(v, err);
    return r < 0 ? r : set_string(&st->b->report_path, v, err);
}

static int opt_capture(struct parse_state *st, const char *v, struct error *err)
{
    (void)v;
    (void)err;
    st->b->capture = true;
    return 0;
}

static int opt_policy(struct parse_state *st, const char *v, struct error *err)
{
    st->wall_given = st->cpu_given = true;
    return policy_read(v, st->b, err);
}

static int opt_tty(struct parse_state *st, const char *v, struct error *err)
{
    (void)v;
    (void)err;
    st->b->tty = true;
    return 0;
}

static int opt_platform(struct parse_state *st, const char *v, struct error *err)
{
    (void)st;
    if (strcmp(v, "auto") == 0 || strcmp(v, "unotify") == 0)
        return 0;
    if (strcmp(v, "ptrace") == 0)
        return error_set(err, ENOTSUP, "the ptrace platform is not built");
    return error_set(err, EINVAL, "'%s': auto or unotify", v);
}

enum value_use {
    VALUE_NONE,
    VALUE_REQUIRED,
    VALUE_OPTIONAL /* only as --name=value */
};

static const struct option_row {
    const char *name;
    enum value_use value;
    option_fn *fn;
} rows[] = {
    {"env", VALUE_REQUIRED, opt_env},
    {"name", VALUE_REQUIRED, opt_name},
    {"workdir", VALUE_REQUIRED, opt_workdir},
    {"hostname", VALUE_REQUIRED, opt_hostname},
    {"user", VALUE_REQUIRED, opt_user},
    {"writable", VALUE_NONE, opt_writable},
    {"tmpfs", VALUE_REQUIRED, opt_tmpfs},
    {"volume", VALUE_REQUIRED, opt_volume},
    {"timeout", VALUE_REQUIRED, opt_timeout},
    {"cpu-time", VALUE_REQUIRED, opt_cpu_time},
    {"memory", VALUE_REQUIRED, opt_memory},
    {"cgroup", VALUE_REQUIRED, opt_cgroup},
    {"cpus", VALUE_REQUIRED, opt_cpus},
    {"pids", VALUE_REQUIRED, opt_pids},
    {"files", VALUE_REQUIRED, opt_files},
    {"file-size", VALUE_REQUIRED, opt_file_size},
    {"disk", VALUE_REQUIRED, opt_disk},
    {"output", VALUE_REQUIRED, opt_output},
    {"strace", VALUE_OPTIONAL, opt_strace},
    {"log", VALUE_REQUIRED, opt_log},
    {"tty", VALUE_NONE, opt_tty},
    {"report", VALUE_REQUIRED, opt_report},
    {"capture", VALUE_NONE, opt_capture},
    {"policy", VALUE_REQUIRED, opt_policy},
    {"platform", VALUE_REQUIRED, opt_platform},
};

static int apply_option(struct parse_state *st, const char *arg, const char *next, int *ret_used,
                        struct error *err)
{
    const char *name = arg + 2;
    size_t n = strcspn(name, "=");
    const char *value = name[n] == '=' ? name + n + 1 : NULL;

    *ret_used = 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct option_row *row = &rows[i];
        if (strlen(row->name) != n || strncmp(row->name, name, n) != 0)
            continue;
        if (row->value == VALUE_NONE && value != NULL)
            return error_set(err, EINVAL, "--%s takes no value", row->name);
        if (row->value == VALUE_REQUIRED && value == NULL) {
            if (next == NULL)
                return error_set(err, EINVAL, "--%s needs a value", row->name);
            value = next;
            *ret_used = 2;
        }
        if ((row->fn == opt_policy) != st->policy_pass)
            return 0;
        int r = row->fn(st, value, err);
        return r < 0 ? error_prefix(err, "--%s", row->name) : 0;
    }
    return error_set(err, EINVAL, "unknown option --%.*s (see 'sentry help run')", (int)MIN(n, 64u),
                     name);
}

/* Reads the options, up to argv[*ret_end]. Options override the policy wherever they stand, so it
 * is read in a pass of its own. */
static int apply_options(struct parse_state *st, int argc, char **argv, bool policy_pass,
                         int *ret_end, struct error *err)
{
    int i = 1, used;
    st->policy_pass = policy_pass;
    while (i < argc && strncmp(argv[i], "--", 2) == 0 && argv[i][2] != '\0') {
        int r = apply_option(st, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used, err);
        if (r < 0)
            return r;
        i += used;
    }
    *ret_end = i;
    return 0;
}

/* The safe environment: nothing of the caller's but TERM on a terminal. */
static int default_env(struct boot *b, struct error *err)
{
    static const char *const defaults[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp",
        "LANG=C.UTF-8"};
    char term[96];
    const char *t = getenv("TERM");
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(defaults) && r == 0; i++) {
        char key[16] = {0};
        memcpy(key, defaults[i], MIN(strcspn(defaults[i], "="), sizeof(key) - 1));
        if (!boot_env_has(b, key))
            r = boot_env_set(b, defaults[i], err);
    }
    if (r == 0 && t != NULL && strlen(t) < 80 && isatty(1) && !boot_env_has(b, "TERM")) {
        (void)snprintf(term, sizeof(term), "TERM=%s", t);
        r = boot_env_set(b, term, err);
    }
    return r;
}

static int finish(struct parse_state *st, struct error *err)
{
    struct boot *b = st->b;
    int r = default_env(b, err);
    if (r == 0 && b->cwd == NULL)
        r = set_string(&b->cwd, "/tmp", err);
    if (r == 0 && b->hostname == NULL)
        r = set_string(&b->hostname, "sentry", err);
    if (b->tty && !st->wall_given)
        b->limits.wall_ns = 0;
    if (b->tty && !st->cpu_given)
        b->limits.cpu_ns = 0;
    return r;
}

int options_parse_run(int argc, char **argv, struct boot *b, struct error *err)
{
    struct parse_state st = {.b = b};
    int i;

    int r = apply_options(&st, argc, argv, true, &i, err);
    if (r == 0)
        r = apply_options(&st, argc, argv, false, &i, err);
    if (r < 0)
        return r;
    if (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
        return error_set(err, EINVAL, "unknown option %.64s (see 'sentry help run')", argv[i]);
    if (i >= argc || strcmp(argv[i], "--") == 0)
        return error_set(err, EINVAL,
                         "no image given: sentry run [OPTIONS] IMAGE [--] [PROG [ARGS...]]");
    const char *image = argv[i++];
    if (i < argc && strcmp(argv[i], "--") == 0)
        i++;
    struct image_config config;
    r = image_open(b, image, &config, err);
    if (r == 0)
        r = image_apply(b, &config, argc - i, argv + i, err);
    image_config_done(&config);
    return r < 0 ? r : finish(&st, err);
}
