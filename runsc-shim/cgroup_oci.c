/*
 * cgroup_oci.c: the cgroup of a container.
 *
 * An absolute cgroupsPath is below the mount of each hierarchy, a relative one below the caller's
 * own group, or beside it under v2, as with runc. The path is cleaned first, so ".." ends at the
 * top, and the top itself is refused. A group that exists and holds processes or other groups
 * belongs to somebody else and is refused too: everything in a group is killed when its container
 * is deleted.
 */
#include "runsc-shim/cgroup_oci.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "lib/jsonx.h"
#include "runsc-shim/oci_config.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/cgroup_file.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

static const char *const names[CG_CONTROLLERS] = {"memory", "cpu", "cpuacct", "pids", "cpuset"};

static void pause_ms(long ms)
{
    struct timespec ts = {0, ms * 1000000};

    (void)nanosleep(&ts, NULL);
}

/* -- where ----------------------------------------------------------------------------------------
 */

/* "/a/../b//c" is "/b/c"; false: the top, or too long. */
static bool clean_path(const char *path, char *out, size_t cap)
{
    size_t len = 0;

    for (const char *s = path; *s != '\0';) {
        size_t n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.') {
            while (len > 0 && out[--len] != '/')
                continue;
        } else if (n > 0 && !(n == 1 && s[0] == '.')) {
            if (len + n + 2 > cap)
                return false;
            out[len++] = '/';
            memcpy(out + len, s, n);
            len += n;
        }
        s += n + (s[n] == '/');
    }
    out[len] = '\0';
    return len > 0;
}

/* Under v2 a group that has processes, as ours, cannot give controllers to its children, so there
 * "below" is beside. */
static bool below_own(const struct oci_cgroup *cg, const char *self, enum cgroup_controller c,
                      char *own)
{
    if (!cgroup_own_path(self, cg->v2 ? "" : names[c], own, CG_PATH_MAX))
        return false;
    char *last = strrchr(own, '/');
    if (cg->v2 && last != NULL)
        *last = '\0';
    return true;
}

static int plan_one(struct oci_cgroup *cg, const char *self, enum cgroup_controller c,
                    const char *base, const char *clean, bool relative)
{
    char own[CG_PATH_MAX] = "";
    struct stat st;

    if (stat(base, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    if (relative && !below_own(cg, self, c, own))
        return 0;
    int n = snprintf(cg->dir[c], CG_PATH_MAX, "%s%s%s", base, own, clean);
    if (n < 0 || n >= CG_PATH_MAX)
        return -ENAMETOOLONG;
    return 0;
}

int oci_cgroup_plan_in(struct oci_cgroup *cg, const char *mount, const char *self,
                       const char *cgroups_path, const char *id, struct error *err)
{
    char clean[CG_PATH_MAX], base[CG_PATH_MAX];
    bool given = cgroups_path != NULL && cgroups_path[0] != '\0';
    bool relative = !given || cgroups_path[0] != '/';

    *cg = (struct oci_cgroup){.planned = true};
    if (!clean_path(given ? cgroups_path : id, clean, sizeof(clean)))
        return error_set(err, EINVAL, "linux.cgroupsPath: '%.200s' is not below the top",
                         given ? cgroups_path : id);
    (void)snprintf(base, sizeof(base), "%s/cgroup.controllers", mount);
    cg->v2 = access(base, F_OK) == 0;
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        (void)snprintf(base, sizeof(base), "%s%s%s", mount, cg->v2 ? "" : "/",
                       cg->v2 ? "" : names[c]);
        if (plan_one(cg, self, (enum cgroup_controller)c, base, clean, relative) < 0)
            return error_set(err, ENAMETOOLONG, "linux.cgroupsPath is too long");
    }
    return 0;
}

int oci_cgroup_plan(struct oci_cgroup *cg, const char *cgroups_path, const char *id,
                    struct error *err)
{
    return oci_cgroup_plan_in(cg, CGROUP_ROOT, "/proc/self/cgroup", cgroups_path, id, err);
}

/* -- making ---------------------------------------------------------------------------------------
 */

/* Has no process and no group below it. */
static bool is_empty(const char *dir)
{
    char text[32];
    struct dirent *e;
    bool empty = cgroup_file_read(dir, "cgroup.procs", text, sizeof(text)) && text[0] == '\0';
    DIR *d = empty ? opendir(dir) : NULL;

    if (d == NULL)
        return empty;
    while ((e = readdir(d)) != NULL) {
        if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            empty = false;
    }
    (void)closedir(d);
    return empty;
}

/* A v1 cpuset begins without CPUs and memory, and takes no process then. */
static void cpuset_inherit(const char *parent, const char *dir)
{
    static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
    char mine[256], theirs[256];

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (cgroup_file_read(dir, files[i], mine, sizeof(mine)) && mine[0] == '\0' &&
            cgroup_file_read(parent, files[i], theirs, sizeof(theirs)))
            (void)!cgroup_file_write(dir, files[i], theirs);
    }
}

/* Gives the children of dir the controllers that it has itself (v2). */
static void enable_controllers(const char *dir)
{
    static const char *const wanted[] = {"+memory", "+cpu", "+pids", "+cpuset"};

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        (void)!cgroup_file_write(dir, "cgroup.subtree_control", wanted[i]);
}

/* The leaf: new, or nobody's. */
static int make_leaf(const char *dir)
{
    if (mkdir(dir, 0755) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    return is_empty(dir) ? 0 : -EBUSY;
}

static int make_dirs(const struct oci_cgroup *cg, enum cgroup_controller c)
{
    char path[CG_PATH_MAX], parent[CG_PATH_MAX];
    const char *dir = cg->dir[c];
    size_t top = strlen(CGROUP_ROOT) + (cg->v2 ? 0 : 1 + strlen(names[c]));

    (void)snprintf(parent, sizeof(parent), "%.*s", (int)top, dir);
    for (size_t i = top + 1;; i++) {
        if (dir[i] != '/' && dir[i] != '\0')
            continue;
        (void)snprintf(path, sizeof(path), "%.*s", (int)i, dir);
        if (cg->v2)
            enable_controllers(parent);
        int r = 0;
        if (dir[i] == '\0')
            r = make_leaf(path);
        else if (mkdir(path, 0755) < 0 && errno != EEXIST)
            r = -errno;
        if (r < 0)
            return r;
        if (!cg->v2 && c == CG_CPUSET)
            cpuset_inherit(parent, path);
        if (dir[i] == '\0')
            return 0;
        memcpy(parent, path, sizeof(parent));
    }
}

/* A controller that is of no use is forgotten: nothing of it will be touched any more. */
static void drop(struct oci_cgroup *cg, size_t c, const char *why)
{
    shim_note(SHIM_WARNING, "cgroup: no controller %s here (%s): its limits and counts are missing",
              names[c], why);
    cg->dir[c][0] = '\0';
}

static bool is_wanted(size_t c, const struct oci_resources *res)
{
    bool cpuset = (res->cpuset_cpus != NULL && res->cpuset_cpus[0] != '\0') ||
                  (res->cpuset_mems != NULL && res->cpuset_mems[0] != '\0');

    return c != CG_CPUSET || cpuset;
}

static void set_limits(const struct oci_cgroup *cg, const struct oci_resources *res)
{
    struct error err;

    error_init(&err);
    if (oci_cgroup_update(cg, res, &err) < 0)
        shim_note(SHIM_WARNING, "%s", err.text);
}

int oci_cgroup_make(struct oci_cgroup *cg, const struct oci_resources *res, struct error *err)
{
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (!is_wanted(c, res)) {
            cg->dir[c][0] = '\0';
            continue;
        }
        if (cg->dir[c][0] == '\0') {
            drop(cg, c, "not mounted");
            continue;
        }
        if (cg->v2 && c > 0 && cg->dir[0][0] != '\0')
            continue;
        int r = make_dirs(cg, (enum cgroup_controller)c);
        if (r == -EBUSY) {
            /* Not ours to clean up. */
            int code = error_set(err, EBUSY, "cgroup %s is in use", cg->dir[c]);
            for (size_t i = c; i < CG_CONTROLLERS; i++)
                cg->dir[i][0] = '\0';
            oci_cgroup_remove(cg);
            *cg = (struct oci_cgroup){0};
            return code;
        }
        if (r < 0)
            drop(cg, c, strerror(-r));
    }
    cg->planned = false;
    set_limits(cg, res);
    return 0;
}

void oci_cgroup_adopt(struct oci_cgroup *cg, const char *dir, const struct oci_resources *res)
{
    *cg = (struct oci_cgroup){.v2 = true};
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (is_wanted(c, res))
            (void)snprintf(cg->dir[c], CG_PATH_MAX, "%s", dir);
    }
    set_limits(cg, res);
}

bool oci_cgroup_limits_memory(const struct oci_cgroup *cg)
{
    char text[64];

    if (cg->dir[CG_MEMORY][0] == '\0')
        return false;
    return !cg->v2 || cgroup_file_read(cg->dir[CG_MEMORY], "memory.max", text, sizeof(text));
}

/* A process that enters by itself through v1's `tasks` waits for nobody; through `cgroup.procs` it
 * would wait for a grace period of the host, some milliseconds. */
void oci_cgroup_enter(const struct oci_cgroup *cg)
{
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (cg->dir[c][0] != '\0' && !(cg->v2 && c > 0))
            (void)!cgroup_file_write(cg->dir[c], cg->v2 ? "cgroup.procs" : "tasks", "0");
    }
}

bool oci_cgroup_exists(const struct oci_cgroup *cg)
{
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (cg->dir[c][0] != '\0')
            return true;
    }
    return false;
}

/* -- the end --------------------------------------------------------------------------------------
 */

/* False when the group was empty. */
static bool kill_once(const char *dir)
{
    char text[4096];

    if (!cgroup_file_read(dir, "cgroup.procs", text, sizeof(text)) || text[0] == '\0')
        return false;
    for (char *p = text; *p != '\0';) {
        char *end;
        long pid = strtol(p, &end, 10);
        /* The last line may be cut off; the next round sees it whole. */
        if (end == p || *end == '\0') {
            if (pid > 1 && end != p && strlen(text) < sizeof(text) - 1)
                (void)kill((pid_t)pid, SIGKILL);
            break;
        }
        if (pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
        p = end + 1;
    }
    return true;
}

void oci_cgroup_kill(const struct oci_cgroup *cg, int timeout_ms)
{
    if (cg->planned)
        return;
    if (cg->v2)
        (void)!cgroup_file_write(cg->dir[CG_MEMORY], "cgroup.kill", "1");
    for (int i = 0; i < timeout_ms; i++) {
        bool any = false;
        for (size_t c = 0; c < CG_CONTROLLERS; c++) {
            if (cg->dir[c][0] != '\0' && !(cg->v2 && c > 0))
                any = kill_once(cg->dir[c]) || any;
        }
        if (!any)
            return;
        pause_ms(1);
    }
}

void oci_cgroup_remove(const struct oci_cgroup *cg)
{
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (cg->dir[c][0] == '\0')
            continue;
        /* A killed process leaves its group a moment after it was reaped. */
        for (int i = 0; i < (cg->planned ? 1 : 1000) && rmdir(cg->dir[c]) < 0 && errno == EBUSY;
             i++)
            pause_ms(1);
    }
}

/* -- in state.json --------------------------------------------------------------------------------
 */

static void print_string(struct buf *out, const char *s)
{
    (void)buf_putc(out, '"');
    for (const unsigned char *c = (const unsigned char *)s; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)buf_printf(out, "\\%c", *c);
        else if (*c < 0x20)
            (void)buf_printf(out, "\\u%04x", *c);
        else
            (void)buf_putc(out, (char)*c);
    }
    (void)buf_putc(out, '"');
}

void oci_cgroup_print(const struct oci_cgroup *cg, struct buf *out)
{
    (void)buf_printf(out, "{\"v2\":%s,\"planned\":%s", cg->v2 ? "true" : "false",
                     cg->planned ? "true" : "false");
    for (size_t c = 0; c < CG_CONTROLLERS; c++) {
        if (cg->dir[c][0] == '\0')
            continue;
        (void)buf_printf(out, ",\"%s\":", names[c]);
        print_string(out, cg->dir[c]);
    }
    (void)buf_putc(out, '}');
}

static int parse_member(const struct jsonx *at, void *arg, struct error *err)
{
    struct oci_cgroup *cg = arg;
    const char *s;

    if (strcmp(at->key, "v2") == 0)
        return jsonx_bool(at, &cg->v2, err);
    if (strcmp(at->key, "planned") == 0)
        return jsonx_bool(at, &cg->planned, err);
    int r = jsonx_string(at, CG_PATH_MAX - 1, &s, err);
    for (size_t c = 0; r == 0 && c < CG_CONTROLLERS; c++) {
        if (strcmp(names[c], at->key) == 0)
            (void)snprintf(cg->dir[c], CG_PATH_MAX, "%s", s);
    }
    return r;
}

int oci_cgroup_parse(struct oci_cgroup *cg, const char *json, struct error *err)
{
    struct jsonx_doc doc;

    *cg = (struct oci_cgroup){0};
    if (json == NULL)
        return 0;
    int r = jsonx_parse(&doc, "cgroups", json, strlen(json), 4, err);
    if (r < 0)
        return r;
    struct jsonx root = jsonx_root(&doc);
    r = jsonx_each_member(&root, CG_CONTROLLERS + 2, parse_member, cg, err);
    jsonx_done(&doc);
    return r;
}
