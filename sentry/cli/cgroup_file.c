/*
 * cgroup_file.c: reading and writing the small files of cgroup directories.
 */
#include "sentry/cli/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/parse.h"

enum {
    REMOVE_TRIES = 6000, /* half a minute: where many others compute, the killed take their time */
    REMOVE_PAUSE_NS = 5000000
};

static int open_file(const char *dir, const char *name, int flags)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

    if (dir[0] == '\0' || n < 0 || (size_t)n >= sizeof(path))
        return -ENOENT;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

int cgroup_file_write(const char *dir, const char *name, const char *text)
{
    int fd = open_file(dir, name, O_WRONLY);

    if (fd < 0)
        return fd;
    ssize_t n = write(fd, text, strlen(text));
    int r = n < 0 ? -errno : 0;
    (void)close(fd);
    return r;
}

bool cgroup_file_read(const char *dir, const char *name, char *buf, size_t cap)
{
    int fd = open_file(dir, name, O_RDONLY);

    if (fd < 0)
        return false;
    ssize_t n = read(fd, buf, cap - 1);
    (void)close(fd);
    if (n < 0)
        return false;
    if (n > 0 && buf[n - 1] == '\n')
        n--;
    buf[n] = '\0';
    return true;
}

uint64_t cgroup_file_number(const char *dir, const char *name)
{
    char text[64];
    uint64_t v = 0;

    if (!cgroup_file_read(dir, name, text, sizeof(text)))
        return 0;
    if (strcmp(text, "max") == 0)
        return UINT64_MAX;
    return parse_u64(text, 0, UINT64_MAX, &v, NULL) == 0 ? v : 0;
}

uint64_t cgroup_file_key(const char *dir, const char *name, const char *key)
{
    char text[4096];
    size_t n = strlen(key);

    if (!cgroup_file_read(dir, name, text, sizeof(text)))
        return 0;
    for (const char *l = text; l != NULL && *l != '\0';) {
        if (strncmp(l, key, n) == 0 && l[n] == ' ')
            return strtoull(l + n + 1, NULL, 10);
        l = strchr(l, '\n');
        l = l != NULL ? l + 1 : NULL;
    }
    return 0;
}

bool cgroup_dir_name(const char *base, char *ret_dir, size_t cap)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    int n = snprintf(ret_dir, cap, "%s/sentry-%d-%lx", base, (int)getpid(), (long)ts.tv_nsec);
    return n > 0 && (size_t)n < cap;
}

void cgroup_dir_remove(const char *dir)
{
    struct timespec pause = {0, 50000};
    for (int i = 0; i < REMOVE_TRIES && rmdir(dir) < 0 && errno == EBUSY; i++) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = MIN(2 * pause.tv_nsec, REMOVE_PAUSE_NS);
    }
}

bool cgroup_own_path(const char *self, const char *controller, char *buf, size_t cap)
{
    char line[PATH_MAX + 64];
    bool found = false;
    FILE *f = fopen(self, "re");

    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':');
        char *path = list != NULL ? strchr(list + 1, ':') : NULL;
        char *save = NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        list++;
        if (controller[0] == '\0')
            found = list[0] == '\0';
        for (char *n = strtok_r(list, ",", &save); n != NULL && !found && controller[0] != '\0';
             n = strtok_r(NULL, ",", &save))
            found = strcmp(n, controller) == 0;
        if (found)
            (void)snprintf(buf, cap, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    (void)fclose(f);
    return found;
}
