/*
 * cgroup.c: one cgroup a run, beside (v2) or below (v1) the caller's own.
 *
 * Under v2 a group with processes cannot give controllers to its children, so the run's group is a
 * sibling of the caller's: whatever controllers the caller's own group has, a sibling has too.
 * Names carry the monitor's pid and a counter, and only directories made here are removed.
 */
#include "sentry/cli/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/parse.h"

enum {
    PERIOD_US = 100000,
    REMOVE_TRIES = 200
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

/* Our own path in the hierarchy of a v1 controller ("memory"), or of v2 (""); false: none. */
static bool own_path(const char *controller, char *buf, size_t cap)
{
    char line[512];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
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

static bool make_dir(const char *base, char *ret_dir, size_t cap)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    int n = snprintf(ret_dir, cap, "%s/sentry-%d-%lx", base, (int)getpid(), (long)ts.tv_nsec);
    if (n < 0 || (size_t)n >= cap || mkdir(ret_dir, 0755) < 0) {
        ret_dir[0] = '\0';
        return false;
    }
    return true;
}

/* -- v2
 * ---------------------------------------------------------------------------------------------------
 */

static bool v2_base(char *buf, size_t cap)
{
    char own[256], dir[512];
    if (!own_path("", own, sizeof(own)))
        return false;
    (void)snprintf(dir, sizeof(dir), "/sys/fs/cgroup%s", own);
    if (access("/sys/fs/cgroup/cgroup.controllers", R_OK) < 0)
        return false;
    char *slash = strrchr(dir, '/');
    if (own[0] != '\0' && slash != NULL)
        *slash = '\0';
    (void)snprintf(buf, cap, "%s", dir);
    return true;
}

static void v2_make(struct cgroup *cg, uint64_t memory, uint32_t cpus_milli)
{
    char base[512], text[64];
    if (!v2_base(base, sizeof(base)) || !make_dir(base, cg->memory_dir, sizeof(cg->memory_dir)))
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64, memory);
    if (memory != 0 && write_file(cg->memory_dir, "memory.max", text) == 0) {
        cg->memory = CGROUP_V2;
        (void)write_file(cg->memory_dir, "memory.swap.max", "0");
        (void)write_file(cg->memory_dir, "memory.oom.group", "1");
    }
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %d", (uint64_t)cpus_milli * PERIOD_US / 1000,
                   PERIOD_US);
    if (cpus_milli != 0 && write_file(cg->memory_dir, "cpu.max", text) == 0)
        cg->cpu = CGROUP_V2;
    if (cg->memory == CGROUP_NONE && cg->cpu == CGROUP_NONE) {
        (void)rmdir(cg->memory_dir);
        cg->memory_dir[0] = '\0';
        return;
    }
    (void)snprintf(cg->cpu_dir, sizeof(cg->cpu_dir), "%s", cg->memory_dir);
}

/* -- v1
 * ---------------------------------------------------------------------------------------------------
 */

static bool v1_dir(const char *controller, char *ret_dir, size_t cap)
{
    char own[256], base[512];
    if (!own_path(controller, own, sizeof(own)))
        return false;
    (void)snprintf(base, sizeof(base), "/sys/fs/cgroup/%s%s", controller, own);
    return make_dir(base, ret_dir, cap);
}

static void v1_make_memory(struct cgroup *cg, uint64_t memory)
{
    char text[64];
    if (memory == 0 || !v1_dir("memory", cg->memory_dir, sizeof(cg->memory_dir)))
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64, memory);
    if (write_file(cg->memory_dir, "memory.limit_in_bytes", text) < 0) {
        (void)rmdir(cg->memory_dir);
        cg->memory_dir[0] = '\0';
        return;
    }
    (void)write_file(cg->memory_dir, "memory.memsw.limit_in_bytes", text);
    cg->memory = CGROUP_V1;
}

static void v1_make_cpu(struct cgroup *cg, uint32_t cpus_milli)
{
    char text[64];
    if (cpus_milli == 0 || !v1_dir("cpu", cg->cpu_dir, sizeof(cg->cpu_dir)))
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)cpus_milli * PERIOD_US / 1000);
    if (write_file(cg->cpu_dir, "cpu.cfs_quota_us", text) < 0) {
        (void)rmdir(cg->cpu_dir);
        cg->cpu_dir[0] = '\0';
        return;
    }
    cg->cpu = CGROUP_V1;
}

/* -- janitor
 * ------------------------------------------------------------------------------------------------
 */

/* A killed process leaves its group a moment after it was reaped. */
static void remove_dir(const char *dir)
{
    for (int i = 0; i < REMOVE_TRIES && rmdir(dir) < 0 && errno == EBUSY; i++) {
        struct timespec ts = {0, 5000000};
        (void)nanosleep(&ts, NULL);
    }
}

static void remove_dirs(const struct cgroup *cg)
{
    if (cg->cpu_dir[0] != '\0' && strcmp(cg->cpu_dir, cg->memory_dir) != 0)
        remove_dir(cg->cpu_dir);
    if (cg->memory_dir[0] != '\0')
        remove_dir(cg->memory_dir);
}

/* Sleeps until the monitor has ended, in whatever way, and removes the groups if they are still
 * there. */
NORETURN static void janitor(const struct cgroup *cg, int fd)
{
    char byte;
    (void)setsid();
    (void)signal(SIGHUP, SIG_IGN);
    (void)prctl(PR_SET_NAME, "sentry-janitor");
    if (fd != 0)
        (void)dup2(fd, 0);
    (void)syscall(SYS_close_range, 1u, ~0u, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        continue;
    if (access(cg->memory_dir, F_OK) == 0 || access(cg->cpu_dir, F_OK) == 0) {
        cgroup_kill(cg);
        remove_dirs(cg);
    }
    _exit(0);
}

static void start_janitor(struct cgroup *cg)
{
    int p[2];
    if ((cg->memory_dir[0] == '\0' && cg->cpu_dir[0] == '\0') || pipe2(p, O_CLOEXEC) < 0)
        return;
    /* It outlives the monitor, so init reaps it. */
    if (fork() == 0) {
        (void)close(p[1]);
        janitor(cg, p[0]);
    }
    (void)close(p[0]);
    cg->janitor = p[1];
}

/* -- both
 * --------------------------------------------------------------------------------------------------
 */

void cgroup_make(struct cgroup *ret_cg, uint64_t memory, uint32_t cpus_milli)
{
    *ret_cg = (struct cgroup){.memory = CGROUP_NONE, .janitor = -1};
    v2_make(ret_cg, memory, cpus_milli);
    if (ret_cg->memory == CGROUP_NONE)
        v1_make_memory(ret_cg, memory);
    if (ret_cg->cpu == CGROUP_NONE)
        v1_make_cpu(ret_cg, cpus_milli);
    start_janitor(ret_cg);
}

void cgroup_attach(const struct cgroup *cg, pid_t pid)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    if (cg->memory_dir[0] != '\0')
        (void)write_file(cg->memory_dir, "cgroup.procs", text);
    if (cg->cpu_dir[0] != '\0' && strcmp(cg->cpu_dir, cg->memory_dir) != 0)
        (void)write_file(cg->cpu_dir, "cgroup.procs", text);
}

void cgroup_kill(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2 || cg->cpu == CGROUP_V2)
        (void)write_file(cg->cpu_dir, "cgroup.kill", "1");
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
    if (cg->janitor >= 0)
        (void)close(cg->janitor);
    *cg = (struct cgroup){.memory = CGROUP_NONE, .janitor = -1};
}
