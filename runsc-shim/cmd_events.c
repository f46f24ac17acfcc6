/*
 * cmd_events.c: `events` and `update`.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/parse.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/control.h"

enum {
    MAX_OUTPUT = 1 << 20
};

static int print_stats(const struct container *c, struct error *err)
{
    struct buf out;

    buf_init(&out, MAX_OUTPUT);
    (void)buf_puts(&out, "{\"type\":\"stats\",\"id\":");
    print_json_string(&out, c->s.id);
    (void)buf_puts(&out, ",\"data\":");
    oci_cgroup_stats(&c->cg, &out);
    (void)buf_puts(&out, "}\n");
    int r = print_out(&out, err);
    buf_done(&out);
    return r;
}

int cmd_events(int argc, char **argv, struct error *err)
{
    bool stats = false;
    const char *interval = "5s", *id;
    const struct shim_option options[] = {
        {"stats", NULL, OPT_FLAG, &stats},
        {"interval", NULL, OPT_STRING, &interval},
    };
    struct container c;
    uint64_t ns;

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0 && (parse_duration(interval, &ns, NULL) < 0 || ns == 0))
        r = error_set(err, EINVAL, "--interval: '%s' is not a time above 0", interval);
    if (r == 0)
        r = container_open(&c, id, false, err);
    if (r != 0)
        return r;
    if (c.status == STATE_STOPPED)
        r = error_set(err, ESRCH, "container with id %s is not running", id);
    while (r == 0) {
        struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        r = print_stats(&c, err);
        if (stats || r < 0)
            break;
        (void)nanosleep(&ts, NULL);
        if (!state_alive(&c.s))
            break;
    }
    container_close(&c);
    return r;
}

/* -- update ---------------------------------------------------------------------------------------
 */

static int resources_from(const char *path, struct oci_config *cfg, struct error *err)
{
    char *text;
    size_t len;

    if (strcmp(path, "-") != 0)
        return oci_file_read(cfg, AT_FDCWD, path, oci_resources_parse, err);
    int r = fd_read_all(0, OCI_MAX_BYTES, &text, &len);
    if (r < 0)
        return error_errno(err, -r, "standard input");
    return oci_resources_parse(cfg, "standard input", text, len, err);
}

struct update_flag {
    const char *value;
    bool *has;
    int64_t *to;
    bool size;
};

static int parse_flag(const char *name, const struct update_flag *f, struct error *err)
{
    uint64_t v;

    if (f->value == NULL || f->value[0] == '\0')
        return 0;
    *f->has = true;
    if (strcmp(f->value, "-1") == 0) {
        *f->to = -1;
        return 0;
    }
    int r = f->size ? parse_size(f->value, &v, NULL) : parse_u64(f->value, 0, INT64_MAX, &v, NULL);
    if (r < 0 || v > INT64_MAX)
        return error_set(err, EINVAL, "--%s: '%s' is not a number", name, f->value);
    *f->to = (int64_t)v;
    return 0;
}

/* The guest's own number of tasks, which the sentry counts. */
static int update_tasks(const struct container *c, const struct oci_resources *res,
                        struct error *err)
{
    int sock;

    if (!res->has_pids || res->pids == 0)
        return 0;
    bool none = res->pids < 0 || res->pids > BOOT_OCI_TASKS;
    int r = control_connect(c->dir, &sock, err);
    if (r == 0) {
        r = control_limit_tasks(sock, none ? UINT32_MAX : (uint32_t)res->pids, err);
        (void)close(sock);
    }
    return r;
}

static int update(const struct container *c, const struct oci_resources *res, struct error *err)
{
    if (c->status == STATE_STOPPED)
        return error_set(err, ESRCH, "container is stopped");
    if (!oci_cgroup_exists(&c->cg))
        return error_set(err, ENOTSUP, "the container has no cgroup");
    int r = oci_cgroup_update(&c->cg, res, err);
    return r < 0 ? r : update_tasks(c, res, err);
}

int cmd_update(int argc, char **argv, struct error *err)
{
    enum {
        MEMORY,
        RESERVATION,
        SWAP,
        PIDS,
        QUOTA,
        PERIOD,
        SHARES,
        NFLAGS
    };
    struct oci_config cfg = {0};
    struct oci_resources *res = &cfg.resources;
    int64_t period = 0, shares = 0;
    struct update_flag f[NFLAGS] = {
        [MEMORY] = {NULL, &res->has_memory_limit, &res->memory_limit, true},
        [RESERVATION] = {NULL, &res->has_memory_reservation, &res->memory_reservation, true},
        [SWAP] = {NULL, &res->has_memory_swap, &res->memory_swap, true},
        [PIDS] = {NULL, &res->has_pids, &res->pids, false},
        [QUOTA] = {NULL, &res->has_cpu_quota, &res->cpu_quota, false},
        [PERIOD] = {NULL, &res->has_cpu_period, &period, false},
        [SHARES] = {NULL, &res->has_cpu_shares, &shares, false},
    };
    const char *file = NULL, *cpus = NULL, *mems = NULL, *id;
    const struct shim_option options[] = {
        {"resources", "r", OPT_STRING, &file},
        {"memory", NULL, OPT_STRING, &f[MEMORY].value},
        {"memory-reservation", NULL, OPT_STRING, &f[RESERVATION].value},
        {"memory-swap", NULL, OPT_STRING, &f[SWAP].value},
        {"pids-limit", NULL, OPT_STRING, &f[PIDS].value},
        {"cpu-quota", NULL, OPT_STRING, &f[QUOTA].value},
        {"cpu-period", NULL, OPT_STRING, &f[PERIOD].value},
        {"cpu-share", NULL, OPT_STRING, &f[SHARES].value},
        {"cpuset-cpus", NULL, OPT_STRING, &cpus},
        {"cpuset-mems", NULL, OPT_STRING, &mems},
        {"blkio-weight", NULL, OPT_IGNORED, NULL},
        {"kernel-memory", NULL, OPT_IGNORED, NULL},
        {"kernel-memory-tcp", NULL, OPT_IGNORED, NULL},
        {"cpu-rt-period", NULL, OPT_IGNORED, NULL},
        {"cpu-rt-runtime", NULL, OPT_IGNORED, NULL},
        {"l3-cache-schema", NULL, OPT_IGNORED, NULL},
        {"mem-bw-schema", NULL, OPT_IGNORED, NULL},
    };
    struct container c;

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0 && file != NULL)
        r = resources_from(file, &cfg, err);
    for (size_t i = 0; r == 0 && file == NULL && i < NFLAGS; i++) {
        static const char *const names[] = {"memory",     "memory-reservation", "memory-swap",
                                            "pids-limit", "cpu-quota",          "cpu-period",
                                            "cpu-share"};
        r = parse_flag(names[i], &f[i], err);
    }
    if (r == 0 && file == NULL) {
        res->cpu_period = (uint64_t)MAX(period, (int64_t)0);
        res->cpu_shares = (uint64_t)MAX(shares, (int64_t)0);
        res->cpuset_cpus = cpus;
        res->cpuset_mems = mems;
    }
    if (r == 0) {
        shim_note_lines(SHIM_WARNING, buf_cstr(&cfg.warnings));
        r = container_open(&c, id, true, err);
    }
    if (r == 0) {
        r = update(&c, res, err);
        container_close(&c);
    }
    if (file != NULL)
        oci_config_done(&cfg);
    return r;
}
