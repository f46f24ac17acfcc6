/*
 * tree.c: one number for a tree of files. Links are read, never followed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "escape-suite/harness/canary.h"
#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3u;
    return h;
}

static uint64_t mix_number(uint64_t h, uint64_t v)
{
    return mix(h, &v, sizeof(v));
}

static uint64_t hash_content(uint64_t h, int dir, const char *name, const struct stat *st)
{
    char link[4096];
    if (S_ISLNK(st->st_mode)) {
        ssize_t n = readlinkat(dir, name, link, sizeof(link));
        return mix(h, link, n > 0 ? (size_t)n : 0);
    }
    if (!S_ISREG(st->st_mode))
        return h;
    auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    for (int64_t n; fd >= 0 && (n = fd_read_full(fd, link, sizeof(link))) > 0;)
        h = mix(h, link, (size_t)n);
    return h;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as what the suite itself made */
static uint64_t hash_below(int dir);

static uint64_t hash_entry(int dir, const char *name)
{
    struct stat st;
    uint64_t h = mix(0xcbf29ce484222325u, name, strlen(name));
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return h;
    h = mix_number(h, st.st_mode);
    h = mix_number(h, (uint64_t)st.st_uid << 32 | st.st_gid);
    h = mix_number(h, st.st_nlink);
    h = mix_number(h, S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size);
    h = mix_number(h, (uint64_t)st.st_mtim.tv_sec);
    h = mix_number(h, (uint64_t)st.st_mtim.tv_nsec);
    h = hash_content(h, dir, name, &st);
    if (S_ISDIR(st.st_mode))
        h = mix_number(h, hash_below(openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    return h;
}

/* A sum, so the order of entries does not matter. Closes dir. */
static uint64_t hash_below(int dir)
{
    uint64_t sum = 0;
    DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
    if (d == NULL) {
        fd_close(dir);
        return 1;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            sum += hash_entry(dir, e->d_name);
    (void)closedir(d);
    return sum;
}
/* NOLINTEND(misc-no-recursion) */

uint64_t tree_hash(const char *path)
{
    return hash_entry(AT_FDCWD, path) + hash_below(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
