/*
 * cgroup.c: one cgroup a run, beside (v2) or below (v1) the caller's own.
 *
 * Under v2 a group with processes cannot give controllers to its children, so the run's group is a
 * sibling of the caller's: whatever controllers the caller's own group has, a sibling has too.
 * Names carry the monitor's pid and the time, and only directories made here are removed.
 *
 * Every run has groups of its own, so a peak is never somebody else's.
 */
#include "sentry/cli/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/cgroup_file.h"
#include "sentry/cli/janitor.h"

enum {
    PERIOD_US = 100000
};

static const char *mount_of(const struct cgroup_want *w)
{
    return w->mount != NULL ? w->mount : "/sys/fs/cgroup";
}

static bool own_path(const struct cgroup_want *w, const char *controller, char *buf, size_t cap)
{
    return cgroup_own_path(w->self != NULL ? w->self : "/proc/self/cgroup", controller, buf, cap);
}

/* -- directories ------------------------------------------------------------------------------- */

static bool make_dir(struct cgroup *cg, const char *base, char *ret_dir, size_t cap)
{
    if (!cgroup_dir_name(base, ret_dir, cap)) {
        ret_dir[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    janitor_tell_group(ret_dir);
    cg->told++;
    if (mkdir(ret_dir, 0755) < 0) {
        ret_dir[0] = '\0';
        return false;
    }
    return true;
}

static void drop_dir(char *dir)
{
    (void)rmdir(dir);
    dir[0] = '\0';
}

__attribute__((format(printf, 2, 3))) static void missing(struct cgroup *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(cg->missing, sizeof(cg->missing), fmt, ap);
    va_end(ap);
}

/* -- v2 ---------------------------------------------------------------------------------------- */

static bool v2_base(struct cgroup *cg, const struct cgroup_want *w, char *buf, size_t cap)
{
    char own[256], probe[640];
    (void)snprintf(probe, sizeof(probe), "%s/cgroup.controllers", mount_of(w));
    if (access(probe, R_OK) < 0 || !own_path(w, "", own, sizeof(own))) {
        missing(cg, "cgroup v2 is not mounted at %s", mount_of(w));
        return false;
    }
    char *slash = strrchr(own, '/');
    if (slash != NULL)
        *slash = '\0';
    (void)snprintf(buf, cap, "%s%s", mount_of(w), own);
    return true;
}

static bool has_file(const char *dir, const char *name)
{
    char path[640];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static bool v2_set_memory(struct cgroup *cg, const char *base, uint64_t memory)
{
    char text[64];
    int r;
    if (!has_file(cg->memory_dir, "memory.max"))
        (void)!cgroup_file_write(base, "cgroup.subtree_control", "+memory");
    (void)snprintf(text, sizeof(text), "%" PRIu64, memory);
    r = cgroup_file_write(cg->memory_dir, "memory.max", text);
    if (r < 0) {
        missing(cg, "cgroup v2 group %s has no memory controller (%s)", base, strerror(-r));
        return false;
    }
    (void)!cgroup_file_write(cg->memory_dir, "memory.swap.max", "0");
    (void)!cgroup_file_write(cg->memory_dir, "memory.oom.group", "1");
    cg->memory = CGROUP_V2;
    return true;
}

static void v2_set_cpu(struct cgroup *cg, const char *base, uint32_t cpus_milli)
{
    char text[64];
    if (!has_file(cg->memory_dir, "cpu.max"))
        (void)!cgroup_file_write(base, "cgroup.subtree_control", "+cpu");
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %d", (uint64_t)cpus_milli * PERIOD_US / 1000,
                   PERIOD_US);
    if (cgroup_file_write(cg->memory_dir, "cpu.max", text) == 0)
        cg->cpu = CGROUP_V2;
}

static void v2_make(struct cgroup *cg, const struct cgroup_want *w)
{
    char base[512];
    if (!v2_base(cg, w, base, sizeof(base)))
        return;
    if (!make_dir(cg, base, cg->memory_dir, sizeof(cg->memory_dir))) {
        missing(cg, "no group can be made in %s (%s)", base, strerror(errno));
        return;
    }
    if (w->memory != 0)
        (void)v2_set_memory(cg, base, w->memory);
    if (w->cpus_milli != 0)
        v2_set_cpu(cg, base, w->cpus_milli);
    if (cg->memory == CGROUP_NONE && cg->cpu == CGROUP_NONE)
        drop_dir(cg->memory_dir);
    else
        memcpy(cg->cpu_dir, cg->memory_dir, sizeof(cg->cpu_dir));
}

/* -- v1 ---------------------------------------------------------------------------------------- */

static bool v1_base(const struct cgroup_want *w, const char *controller, char *buf, size_t cap)
{
    char own[256];
    if (!own_path(w, controller, own, sizeof(own)))
        return false;
    int n = snprintf(buf, cap, "%s/%s%s", mount_of(w), controller, own);
    return n > 0 && (size_t)n < cap;
}

static bool v1_dir(struct cgroup *cg, const struct cgroup_want *w, const char *controller,
                   char *ret_dir, size_t cap)
{
    char base[400];
    if (!v1_base(w, controller, base, sizeof(base))) {
        if (cg->missing[0] == '\0' || w->choice == CGROUP_ONLY_V1)
            missing(cg, "there is no cgroup v1 controller '%s'", controller);
        return false;
    }
    if (!make_dir(cg, base, ret_dir, cap)) {
        missing(cg, "no group can be made in %s (%s)", base, strerror(errno));
        return false;
    }
    return true;
}

/* The kernel says through an eventfd when memory has run out. */
static int v1_oom_event(const char *dir)
{
    char path[640], text[48];
    (void)snprintf(path, sizeof(path), "%s/memory.oom_control", dir);
    int control = open(path, O_RDONLY | O_CLOEXEC);
    int fd = control >= 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    (void)snprintf(text, sizeof(text), "%d %d", fd, control);
    if (fd >= 0 && cgroup_file_write(dir, "cgroup.event_control", text) < 0) {
        (void)close(fd);
        fd = -1;
    }
    if (control >= 0)
        (void)close(control);
    return fd;
}

static void v1_make_memory(struct cgroup *cg, const struct cgroup_want *w)
{
    char text[64];
    if (!v1_dir(cg, w, "memory", cg->memory_dir, sizeof(cg->memory_dir)))
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64, w->memory);
    int r = cgroup_file_write(cg->memory_dir, "memory.limit_in_bytes", text);
    if (r < 0) {
        missing(cg, "%s takes no memory limit (%s)", cg->memory_dir, strerror(-r));
        drop_dir(cg->memory_dir);
        return;
    }
    (void)!cgroup_file_write(cg->memory_dir, "memory.memsw.limit_in_bytes", text);
    cg->memory = CGROUP_V1;
}

static void v1_make_cpu(struct cgroup *cg, const struct cgroup_want *w)
{
    char text[64], said[sizeof(cg->missing)];
    memcpy(said, cg->missing, sizeof(said));
    bool made = v1_dir(cg, w, "cpu", cg->cpu_dir, sizeof(cg->cpu_dir));
    memcpy(cg->missing, said, sizeof(said));
    if (!made)
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)w->cpus_milli * PERIOD_US / 1000);
    if (cgroup_file_write(cg->cpu_dir, "cpu.cfs_quota_us", text) < 0) {
        drop_dir(cg->cpu_dir);
        return;
    }
    cg->cpu = CGROUP_V1;
}

static void remove_dirs(const struct cgroup *cg)
{
    if (cg->cpu_dir[0] != '\0' && strcmp(cg->cpu_dir, cg->memory_dir) != 0)
        cgroup_dir_remove(cg->cpu_dir);
    if (cg->memory_dir[0] != '\0')
        cgroup_dir_remove(cg->memory_dir);
}

/* -- both -------------------------------------------------------------------------------------- */

int cgroup_make(struct cgroup *ret_cg, const struct cgroup_want *want, struct error *err)
{
    enum cgroup_choice choice = want->choice;
    *ret_cg = (struct cgroup){.want = *want, .memory = CGROUP_NONE, .oom_fd = -1};
    if (choice == CGROUP_OFF || (want->memory == 0 && want->cpus_milli == 0))
        return 0;
    if (choice != CGROUP_ONLY_V1)
        v2_make(ret_cg, want);
    if (choice != CGROUP_ONLY_V2 && ret_cg->memory == CGROUP_NONE && want->memory != 0)
        v1_make_memory(ret_cg, want);
    if (choice != CGROUP_ONLY_V2 && ret_cg->cpu == CGROUP_NONE && want->cpus_milli != 0)
        v1_make_cpu(ret_cg, want);
    if (ret_cg->memory != CGROUP_NONE || want->memory == 0)
        ret_cg->missing[0] = '\0';
    else if (choice != CGROUP_AUTO) {
        char why[sizeof(ret_cg->missing)];
        memcpy(why, ret_cg->missing, sizeof(why));
        cgroup_remove(ret_cg);
        return error_set(err, ENOENT, "--cgroup: %s", why);
    }
    return 0;
}

void cgroup_watch(struct cgroup *cg)
{
    if (cg->memory != CGROUP_V1)
        return;
    cg->oom_fd = v1_oom_event(cg->memory_dir);
    if (!v1_base(&cg->want, "freezer", cg->freezer, sizeof(cg->freezer)))
        cg->freezer[0] = '\0';
}

/* -- getting in -------------------------------------------------------------------------------- */

int cgroup_birthplace(const struct cgroup *cg)
{
    if (cg->memory != CGROUP_V2 && cg->cpu != CGROUP_V2)
        return -1;
    return open(cg->memory == CGROUP_V2 ? cg->memory_dir : cg->cpu_dir,
                O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* v1 has a file for single threads, which does not lock every fork and exit of the host. */
void cgroup_entry_add(struct cgroup_entry *e, const char *dir)
{
    static const char *const names[] = {"tasks", "cgroup.procs"};
    char path[640];
    int fd = -1;
    if (e->n == CGROUP_ENTRIES)
        return;
    for (size_t i = 0; i < ARRAY_LEN(names) && fd < 0; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        fd = open(path, O_WRONLY | O_CLOEXEC);
    }
    e->errors[e->n] = fd < 0 ? errno : 0;
    e->fds[e->n++] = fd;
}

static bool one_group(const struct cgroup *cg)
{
    return strcmp(cg->cpu_dir, cg->memory_dir) == 0;
}

/* Which of the two groups have an entry, in the order of their entries. */
static bool memory_entry(const struct cgroup *cg, bool born)
{
    return cg->memory_dir[0] != '\0' && !(born && cg->memory == CGROUP_V2);
}

static bool cpu_entry(const struct cgroup *cg, bool born)
{
    return cg->cpu_dir[0] != '\0' && !one_group(cg) && !(born && cg->cpu == CGROUP_V2);
}

void cgroup_entry_open(const struct cgroup *cg, bool born, struct cgroup_entry *ret_e)
{
    ret_e->n = 0;
    if (memory_entry(cg, born))
        cgroup_entry_add(ret_e, cg->memory_dir);
    if (cpu_entry(cg, born))
        cgroup_entry_add(ret_e, cg->cpu_dir);
}

void cgroup_enter(struct cgroup_entry *e)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->fds[i] >= 0)
            e->errors[i] = write(e->fds[i], "0", 1) == 1 ? 0 : errno;
    }
}

void cgroup_entered(struct cgroup *cg, bool born, const struct cgroup_entry *e)
{
    size_t i = 0;
    bool has_memory = memory_entry(cg, born), has_cpu = cpu_entry(cg, born);
    if (has_memory && e->errors[i++] != 0) {
        missing(cg, "%s cannot be joined (%s)", cg->memory_dir, strerror(e->errors[0]));
        cg->memory = CGROUP_NONE;
        if (one_group(cg))
            cg->cpu = CGROUP_NONE;
    }
    if (has_cpu && e->errors[i] != 0)
        cg->cpu = CGROUP_NONE;
}

void cgroup_entry_done(struct cgroup_entry *e)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->fds[i] >= 0)
            (void)close(e->fds[i]);
    }
    e->n = 0;
}

bool cgroup_oom(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2)
        return cgroup_file_key(cg->memory_dir, "memory.events", "oom_kill") > 0;
    if (cg->memory == CGROUP_V1)
        return cgroup_file_key(cg->memory_dir, "memory.oom_control", "oom_kill") > 0;
    return false;
}

uint64_t cgroup_memory_peak(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2)
        return cgroup_file_number(cg->memory_dir, "memory.peak");
    if (cg->memory == CGROUP_V1)
        return cgroup_file_number(cg->memory_dir, "memory.max_usage_in_bytes");
    return 0;
}

void cgroup_remove(struct cgroup *cg)
{
    remove_dirs(cg);
    while (cg->told > 0) {
        janitor_release();
        cg->told--;
    }
    if (cg->oom_fd >= 0)
        (void)close(cg->oom_fd);
    *cg = (struct cgroup){.memory = CGROUP_NONE, .oom_fd = -1};
}
