/*
 * host_state.c: a picture of the host as keys and values, and the difference of two.
 */
#include "escape-suite/harness/host_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "escape-suite/harness/text.h"
#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

enum {
    CGROUP_DEPTH = 8,
    CLOCK_JUMP_MS = 2000
};

static char *read_file(const char *path, size_t *ret_len)
{
    char *text = NULL;
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fd_read_all(fd, 4 << 20, &text, ret_len) < 0)
        return NULL;
    return text;
}

static void put(struct host_state *s, const char *kind, const char *name, const char *value)
{
    char key[1200];
    (void)snprintf(key, sizeof(key), "%s %s", kind, name);
    json_t *k = text_json(key, strlen(key)), *v = text_json(value, strlen(value));
    if (k != NULL)
        (void)json_object_set(s->items, json_string_value(k), v);
    json_decref(k);
    json_decref(v);
}

static void put_lines(struct host_state *s, const char *kind, const char *path, size_t fields)
{
    char *save = NULL;
    size_t len = 0;
    auto_free char *text = read_file(path, &len);
    for (char *l = strtok_r(text, "\n", &save); text && l != NULL;
         l = strtok_r(NULL, "\n", &save)) {
        char *end = l;
        /* Only the first fields: times and counts change by themselves. */
        for (size_t i = 0; i < fields && *end != '\0'; i++) {
            end += strspn(end, " ");
            end += strcspn(end, " ");
        }
        if (fields > 0)
            *end = '\0';
        put(s, kind, l, "");
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the caller says */
static void put_cgroups(struct host_state *s, const char *path, int depth)
{
    DIR *d = depth > 0 ? opendir(path) : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char below[1100];
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        (void)snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        put(s, "cgroup", below, "");
        put_cgroups(s, below, depth - 1);
    }
    if (d != NULL)
        (void)closedir(d);
}

static void put_devices(struct host_state *s)
{
    DIR *d = opendir("/dev");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat st;
        char value[96];
        if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        (void)snprintf(value, sizeof(value), "%o %u %u %u:%u", (unsigned)st.st_mode & ~0222u,
                       (unsigned)st.st_uid, (unsigned)st.st_gid, major(st.st_rdev),
                       minor(st.st_rdev));
        put(s, "device /dev", e->d_name, value);
    }
    if (d != NULL)
        (void)closedir(d);
}

static void put_settings(struct host_state *s)
{
    static const char *const settings[] = {
        "/proc/sys/kernel/core_pattern",   "/proc/sys/kernel/modprobe",
        "/proc/sys/kernel/hostname",       "/proc/sys/kernel/domainname",
        "/proc/sys/kernel/poweroff_cmd",   "/proc/sys/kernel/randomize_va_space",
        "/proc/sys/kernel/sysrq",          "/proc/sys/kernel/panic",
        "/proc/sys/kernel/pid_max",        "/proc/sys/kernel/threads-max",
        "/proc/sys/kernel/shmmax",         "/proc/sys/kernel/shm_rmid_forced",
        "/proc/sys/kernel/msgmax",         "/proc/sys/kernel/sem",
        "/proc/sys/fs/suid_dumpable",      "/proc/sys/fs/file-max",
        "/proc/sys/fs/binfmt_misc/status", "/proc/sys/vm/overcommit_memory",
        "/proc/sys/vm/drop_caches",        "/proc/sys/vm/swappiness",
        "/proc/sys/fs/pipe-max-size",      "/proc/sys/fs/inotify/max_user_watches",
        "/proc/sys/net/ipv4/ip_forward",   "/proc/sys/net/ipv4/ping_group_range",
        "/sys/kernel/uevent_helper",
    };
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        size_t len = 0;
        auto_free char *text = read_file(settings[i], &len);
        if (text != NULL)
            put(s, "setting", settings[i], text);
    }
}

static void put_files(struct host_state *s, const char *runtime_path)
{
    const char *files[] = {
        "/etc/passwd",      "/etc/shadow",        "/etc/group",   "/etc/hosts",
        "/etc/resolv.conf", "/etc/ld.so.preload", "/etc/crontab", "/root/.ssh/authorized_keys",
        runtime_path};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct stat st;
        char value[160];
        if (files[i][0] == '\0')
            continue;
        if (lstat(files[i], &st) < 0)
            (void)snprintf(value, sizeof(value), "none");
        else
            /* No write leaves the time of change alone. */
            (void)snprintf(value, sizeof(value), "%o %u %u %llu %lld.%09ld %llu",
                           (unsigned)st.st_mode, (unsigned)st.st_uid, (unsigned)st.st_gid,
                           (unsigned long long)st.st_size, (long long)st.st_ctim.tv_sec,
                           st.st_ctim.tv_nsec, (unsigned long long)st.st_ino);
        put(s, "file", files[i], value);
    }
}

static void put_queues(struct host_state *s)
{
    DIR *d = opendir("/dev/mqueue");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        put(s, "message queue", e->d_name, "");
    if (d != NULL)
        (void)closedir(d);
}

/* Keys that an attack made say so in their description. Container runtimes name a session's keyring
 * after the container, which may be somebody else's. */
static void put_keys(struct host_state *s)
{
    char *save = NULL;
    size_t len = 0;
    auto_free char *text = read_file("/proc/keys", &len);
    for (char *l = strtok_r(text, "\n", &save); text && l != NULL; l = strtok_r(NULL, "\n", &save))
        if (strstr(l, "escape") != NULL && strstr(l, "_ses.") == NULL)
            put(s, "key", strstr(l, "escape"), "");
}

/* How far the time of day is from the time since boot (which goes on while a machine is suspended).
 * Of ten looks the shortest one: between the two clocks somebody else may have had the processor.
 */
static int64_t clock_distance_ms(void)
{
    int64_t best = INT64_MAX, distance = 0;
    for (int i = 0; i < 10; i++) {
        struct timespec a, real, b;
        (void)clock_gettime(CLOCK_BOOTTIME, &a);
        (void)clock_gettime(CLOCK_REALTIME, &real);
        (void)clock_gettime(CLOCK_BOOTTIME, &b);
        int64_t took = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
        if (took < best) {
            best = took;
            distance = (real.tv_sec - a.tv_sec) * 1000 + (real.tv_nsec - a.tv_nsec) / 1000000;
        }
    }
    return distance;
}

int host_state_take(struct host_state *s, const char *runtime_path)
{
    s->items = json_object();
    if (s->items == NULL)
        return -ENOMEM;
    s->clock_ms = clock_distance_ms();
    put_lines(s, "mount", "/proc/self/mountinfo", 0);
    put_lines(s, "shared memory", "/proc/sysvipc/shm", 3);
    put_lines(s, "semaphores", "/proc/sysvipc/sem", 3);
    put_lines(s, "message queue", "/proc/sysvipc/msg", 3);
    put_cgroups(s, "/sys/fs/cgroup", CGROUP_DEPTH);
    put_devices(s);
    put_settings(s);
    put_files(s, runtime_path);
    put_queues(s);
    put_keys(s);
    return 0;
}

void host_state_done(struct host_state *s)
{
    json_decref(s->items);
    s->items = NULL;
}

/* A word of the key as a whole, not as the beginning of a longer number or word. */
static bool has_word(const char *key, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = key; (p = strstr(p, word)) != NULL; p += n)
        if (p[n] == '\0' || strchr("-/.:", p[n]) != NULL)
            return true;
    return false;
}

static bool has_pid(const char *key, long pid)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "-%ld", pid);
    return has_word(key, text);
}

/* A new cgroup that this run did not leave: it has not our name, or somebody lives in it. */
static bool not_ours(const char *key, const struct host_marks *marks)
{
    char path[1200];
    size_t len = 0;
    if (strncmp(key, "cgroup ", 7) != 0)
        return false;
    if (!has_pid(key, marks->pid) && !has_word(key, marks->id) && !has_word(key, marks->scratch))
        return true;
    if (access(key + 7, F_OK) < 0)
        return true; /* gone by now */
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", key + 7);
    auto_free char *text = read_file(path, &len);
    return text != NULL && len > 0;
}

/* Something may go by itself: another run's cgroup or key; a mount whose place somebody has
 * removed. */
static bool may_go(const char *key)
{
    char place[1024];
    if (strncmp(key, "cgroup ", 7) == 0 || strncmp(key, "key ", 4) == 0)
        return true;
    return sscanf(key, "mount %*s %*s %*s %*s %1023s", place) == 1 && access(place, F_OK) < 0;
}

size_t host_state_diff(const struct host_state *before, const struct host_state *after,
                       const struct host_marks *marks, struct findings *f)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    int64_t jump = after->clock_ms - before->clock_ms;
    json_object_foreach (after->items, key, value) {
        json_t *old = json_object_get(before->items, key);
        if ((old != NULL && json_equal(old, value)) || not_ours(key, marks))
            continue;
        n++;
        if (f != NULL)
            findings_add(f, "host: %s %.200s", old == NULL ? "new:" : "changed:", key);
    }
    json_object_foreach (before->items, key, value) {
        if (json_object_get(after->items, key) != NULL || may_go(key))
            continue;
        n++;
        if (f != NULL)
            findings_add(f, "host: gone: %.200s", key);
    }
    if (jump > CLOCK_JUMP_MS || jump < -CLOCK_JUMP_MS) {
        n++;
        if (f != NULL)
            findings_add(f, "host: the clock was moved by %lld ms", (long long)jump);
    }
    return n;
}

void host_state_sweep(const struct host_state *before, struct host_state *after,
                      const struct host_marks *marks)
{
    const char *key;
    json_t *value;
    void *tmp;
    bool removed = true;
    while (removed) { /* what is below goes first, wherever it is listed */
        removed = false;
        json_object_foreach_safe(after->items, tmp, key, value)
        {
            if (strncmp(key, "cgroup ", 7) != 0 || json_object_get(before->items, key) != NULL ||
                not_ours(key, marks) || rmdir(key + 7) < 0)
                continue;
            (void)json_object_del(after->items, key);
            removed = true;
        }
    }
}
