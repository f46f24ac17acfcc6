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
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/parse.h"
#include "sentry/cli/janitor.h"

enum {
    PERIOD_US = 100000,
    REMOVE_TRIES = 6000, /* half a minute: where many others compute, the killed take their time */
    REMOVE_PAUSE_NS = 5000000,
    KILL_TRIES = 1000,
    KILL_PAUSE_MS = 2,
    KILLED_MAX = 64, /* whose end is waited for at once */
    FREEZE_AFTER = 5,
    PATH_CAP = 512
};

static int write_file(const char *dir, const char *name, const char *text)
{
    char path[640];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, text, strlen(text));
    int r = n < 0 ? -errno : 0;
    (void)close(fd);
    return r;
}

static bool read_file(const char *dir, const char *name, char *buf, size_t cap)
{
    char path[640];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, buf, cap - 1);
    (void)close(fd);
    if (n < 0)
        return false;
    buf[n] = '\0';
    return true;
}

static uint64_t read_number(const char *dir, const char *name)
{
    char text[64];
    uint64_t v = 0;
    if (!read_file(dir, name, text, sizeof(text)))
        return 0;
    text[strcspn(text, "\n")] = '\0';
    return parse_u64(text, 0, UINT64_MAX, &v, NULL) == 0 ? v : 0;
}

/* "key N" in a file of such lines. */
static uint64_t read_key(const char *dir, const char *name, const char *key)
{
    char text[1024];
    size_t n = strlen(key);
    if (!read_file(dir, name, text, sizeof(text)))
        return 0;
    for (char *l = text; l != NULL && *l != '\0';
         l = strchr(l, '\n') != NULL ? strchr(l, '\n') + 1 : NULL) {
        if (strncmp(l, key, n) == 0 && l[n] == ' ')
            return strtoull(l + n + 1, NULL, 10);
    }
    return 0;
}

static const char *mount_of(const struct cgroup_want *w)
{
    return w->mount != NULL ? w->mount : "/sys/fs/cgroup";
}

/* Our own path in the hierarchy of a v1 controller ("memory"), or of v2 (""); false: none. */
static bool own_path(const struct cgroup_want *w, const char *controller, char *buf, size_t cap)
{
    char line[512];
    bool found = false;
    FILE *f = fopen(w->self != NULL ? w->self : "/proc/self/cgroup", "re");
    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *path = names != NULL ? strchr(names + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        names++;
        char *save = NULL;
        if (controller[0] == '\0')
            found = names[0] == '\0';
        for (char *n = strtok_r(names, ",", &save); n != NULL && !found;
             n = strtok_r(NULL, ",", &save))
            found = controller[0] != '\0' && strcmp(n, controller) == 0;
        if (found)
            (void)snprintf(buf, cap, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    (void)fclose(f);
    return found;
}

/* -- directories ------------------------------------------------------------------------------- */

/* A killed process leaves its group a moment after it was reaped. */
static void remove_dir(const char *dir)
{
    struct timespec pause = {0, 50000};
    for (int i = 0; i < REMOVE_TRIES && rmdir(dir) < 0 && errno == EBUSY; i++) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = MIN(2 * pause.tv_nsec, REMOVE_PAUSE_NS);
    }
}

/* cg: NULL for a group that only its maker cares about. */
static bool make_dir(struct cgroup *cg, const char *base, char *ret_dir, size_t cap)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    int n = snprintf(ret_dir, cap, "%s/sentry-%d-%lx", base, (int)getpid(), (long)ts.tv_nsec);
    if (n < 0 || (size_t)n >= cap) {
        ret_dir[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    if (cg != NULL) {
        janitor_tell_group(ret_dir);
        cg->told++;
    }
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
        (void)write_file(base, "cgroup.subtree_control", "+memory");
    (void)snprintf(text, sizeof(text), "%" PRIu64, memory);
    r = write_file(cg->memory_dir, "memory.max", text);
    if (r < 0) {
        missing(cg, "cgroup v2 group %s has no memory controller (%s)", base, strerror(-r));
        return false;
    }
    (void)write_file(cg->memory_dir, "memory.swap.max", "0");
    (void)write_file(cg->memory_dir, "memory.oom.group", "1");
    cg->memory = CGROUP_V2;
    return true;
}

static void v2_set_cpu(struct cgroup *cg, const char *base, uint32_t cpus_milli)
{
    char text[64];
    if (!has_file(cg->memory_dir, "cpu.max"))
        (void)write_file(base, "cgroup.subtree_control", "+cpu");
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %d", (uint64_t)cpus_milli * PERIOD_US / 1000,
                   PERIOD_US);
    if (write_file(cg->memory_dir, "cpu.max", text) == 0)
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
    if (fd >= 0 && write_file(dir, "cgroup.event_control", text) < 0) {
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
    int r = write_file(cg->memory_dir, "memory.limit_in_bytes", text);
    if (r < 0) {
        missing(cg, "%s takes no memory limit (%s)", cg->memory_dir, strerror(-r));
        drop_dir(cg->memory_dir);
        return;
    }
    (void)write_file(cg->memory_dir, "memory.memsw.limit_in_bytes", text);
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
    if (write_file(cg->cpu_dir, "cpu.cfs_quota_us", text) < 0) {
        drop_dir(cg->cpu_dir);
        return;
    }
    cg->cpu = CGROUP_V1;
}

/* -- the end of every process ------------------------------------------------------------------ */

struct killed {
    struct pollfd p[KILLED_MAX];
    nfds_t n;
};

/* Signals every process listed in dir; the number of them. move: into that group first. */
static int kill_listed(const char *dir, const char *move, struct killed *ret)
{
    char text[8192];
    int n = 0;
    ret->n = 0;
    if (!read_file(dir, "cgroup.procs", text, sizeof(text)))
        return 0;
    char *save = NULL;
    for (char *w = strtok_r(text, "\n", &save); w != NULL; w = strtok_r(NULL, "\n", &save)) {
        long pid = strtol(w, NULL, 10);
        if (pid <= 1 || pid == getpid())
            continue;
        int fd = ret->n < KILLED_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
        if (fd >= 0)
            ret->p[ret->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        if (move != NULL)
            (void)write_file(move, "cgroup.procs", w);
        (void)kill((pid_t)pid, SIGKILL);
        n++;
    }
    return n;
}

/* Until they have ended, or for a moment. */
static void await_killed(struct killed *k)
{
    nfds_t left = k->n;
    if (left == 0)
        (void)poll(NULL, 0, KILL_PAUSE_MS);
    while (left > 0 && poll(k->p, k->n, KILL_PAUSE_MS) > 0) {
        for (nfds_t i = 0; i < k->n; i++) {
            if (k->p[i].revents == 0)
                continue;
            (void)close(k->p[i].fd);
            k->p[i] = (struct pollfd){.fd = -1};
            left--;
        }
    }
    for (nfds_t i = 0; i < k->n; i++)
        fd_close(k->p[i].fd);
}

/*
 * v1 has no kill of a whole group. The sentry is pid 1 of the sandbox's namespace, so with it
 * everything ends and nothing can be made any more; whoever still is there after a few looks is
 * frozen, so that it cannot run away from the list, and killed.
 */
static void v1_kill(const char *dir, const char *freezer)
{
    char frozen[512] = "";
    struct killed killed;
    for (int i = 0; i < KILL_TRIES; i++) {
        if (i == FREEZE_AFTER && freezer[0] != '\0' &&
            make_dir(NULL, freezer, frozen, sizeof(frozen)))
            (void)write_file(frozen, "freezer.state", "FROZEN");
        int n = kill_listed(dir, frozen[0] != '\0' ? frozen : NULL, &killed);
        if (frozen[0] != '\0' && i > FREEZE_AFTER)
            (void)write_file(frozen, "freezer.state", "THAWED");
        if (n == 0)
            break;
        await_killed(&killed);
    }
    if (frozen[0] != '\0') {
        (void)write_file(frozen, "freezer.state", "THAWED");
        remove_dir(frozen);
    }
}

void cgroup_clear(const char *dir)
{
    if (access(dir, F_OK) < 0)
        return;
    if (write_file(dir, "cgroup.kill", "1") < 0)
        v1_kill(dir, "");
    remove_dir(dir);
}

void cgroup_kill(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2 || cg->cpu == CGROUP_V2)
        (void)write_file(cg->cpu_dir, "cgroup.kill", "1");
}

void cgroup_sweep(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V1)
        v1_kill(cg->memory_dir, cg->freezer);
    else if (cg->cpu == CGROUP_V1)
        v1_kill(cg->cpu_dir, cg->freezer);
}

static void remove_dirs(const struct cgroup *cg)
{
    if (cg->cpu_dir[0] != '\0' && strcmp(cg->cpu_dir, cg->memory_dir) != 0)
        remove_dir(cg->cpu_dir);
    if (cg->memory_dir[0] != '\0')
        remove_dir(cg->memory_dir);
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
        return read_key(cg->memory_dir, "memory.events", "oom_kill") > 0;
    if (cg->memory == CGROUP_V1)
        return read_key(cg->memory_dir, "memory.oom_control", "oom_kill") > 0;
    return false;
}

uint64_t cgroup_memory_peak(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2)
        return read_number(cg->memory_dir, "memory.peak");
    if (cg->memory == CGROUP_V1)
        return read_number(cg->memory_dir, "memory.max_usage_in_bytes");
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
