/*
 * idmap.c: a map is lines of three numbers: the first id inside, the first id outside, how many.
 */
#include "lib/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/fdio.h"

enum {
    HIGH_FIRST = 0x70000000,
    HIGH_COUNT = 0x0ffffff,
    SPARE_MIN = 4096 /* a smaller range is somebody's, all of it */
};

struct range {
    uint64_t inside, outside, count;
};

/* False at the end, and at what is no map. */
static bool next_range(const char **at, struct range *ret_r)
{
    uint64_t v[3];
    for (size_t i = 0; i < 3; i++) {
        char *end;
        v[i] = strtoull(*at, &end, 10);
        if (end == *at || v[i] > UINT32_MAX)
            return false;
        *at = end;
    }
    *ret_r = (struct range){v[0], v[1], v[2]};
    return true;
}

void idmap_read(const char *file, char ret_text[IDMAP_TEXT])
{
    char path[64];
    ret_text[0] = '\0';
    (void)snprintf(path, sizeof(path), "/proc/self/%s", file);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = fd < 0 ? -errno : fd_read_full(fd, ret_text, IDMAP_TEXT - 1);
    ret_text[MAX(n, (int64_t)0)] = '\0';
}

bool idmap_is_whole(const char *text)
{
    struct range r;
    return next_range(&text, &r) && r.inside == 0 && r.outside == 0 && r.count == UINT32_MAX;
}

bool idmap_is_single(const char *text)
{
    struct range r;
    return next_range(&text, &r) && r.count == 1 && !next_range(&text, &r);
}

bool idmap_spare(const char *text, uint32_t n, uint32_t *ret_id)
{
    struct range r, top = {0};
    while (next_range(&text, &r)) {
        if (r.inside <= HIGH_FIRST && r.inside + r.count >= (uint64_t)HIGH_FIRST + HIGH_COUNT) {
            *ret_id = HIGH_FIRST + n % HIGH_COUNT;
            return true;
        }
        if (r.count >= SPARE_MIN && r.inside >= top.inside)
            top = r;
    }
    if (top.count == 0)
        return false;
    *ret_id = (uint32_t)(top.inside + top.count / 2 + n % (top.count / 4));
    return true;
}

int idmap_identity(const char *text, char ret_text[IDMAP_TEXT])
{
    struct range r;
    size_t used = 0;
    ret_text[0] = '\0';
    while (next_range(&text, &r)) {
        int n = snprintf(ret_text + used, IDMAP_TEXT - used, "%u %u %u\n", (uint32_t)r.inside,
                         (uint32_t)r.inside, (uint32_t)r.count);
        if (n < 0 || (size_t)n >= IDMAP_TEXT - used)
            return -E2BIG;
        used += (size_t)n;
    }
    return 0;
}

int idmap_own_identity(const char *file, char ret_text[IDMAP_TEXT])
{
    char own[IDMAP_TEXT];
    idmap_read(file, own);
    return own[0] != '\0' ? idmap_identity(own, ret_text) : -ENOENT;
}

static int open_process(int dir, const char *process)
{
    int fd = openat(dir, process, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int idmap_write_identity(int dir, const char *process)
{
    static const char *const files[] = {"uid_map", "gid_map"};
    char text[IDMAP_TEXT];
    auto_fd int fd = open_process(dir, process);
    int r = MIN(fd, 0);
    for (size_t i = 0; i < ARRAY_LEN(files) && r == 0; i++) {
        r = idmap_own_identity(files[i], text);
        if (r == 0)
            r = fd_put_text(fd, files[i], text);
    }
    return r;
}

/* A process may set its groups in its namespace no more before a user without privilege may map
 * one: user_namespaces(7). */
int idmap_write_single(int dir, const char *process, uint32_t inside, uid_t uid, gid_t gid)
{
    char text[64];
    auto_fd int fd = open_process(dir, process);
    if (fd < 0)
        return fd;
    (void)snprintf(text, sizeof(text), "%u %u 1\n", inside, uid);
    int r = fd_put_text(fd, "uid_map", text);
    if (r == 0)
        r = fd_put_text(fd, "setgroups", "deny");
    (void)snprintf(text, sizeof(text), "%u %u 1\n", inside, gid);
    return r == 0 ? fd_put_text(fd, "gid_map", text) : r;
}

/* In a container of an engine that began as the host's root, root is that container's root, and its
 * places are root's: USER says so there, as for runc. */
bool idmap_rootless(void)
{
    char text[IDMAP_TEXT];
    const char *user = getenv("USER");
    if (geteuid() != 0)
        return true;
    idmap_read("uid_map", text);
    return text[0] != '\0' && !idmap_is_whole(text) && (user == NULL || strcmp(user, "root") != 0);
}
