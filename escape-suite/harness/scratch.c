/*
 * scratch.c: makes and removes the scratch directory. Nothing in it was made by a guest, and still
 * nothing is followed while it is removed.
 */
#include "escape-suite/harness/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "escape-suite/harness/suite.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

/* NOLINTBEGIN(misc-no-recursion): as deep as an image that the caller gave */
static void remove_at(int dir, const char *name);

/* Closes dir. */
static void remove_below(int dir)
{
    DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_at(dirfd(d), e->d_name);
    if (d != NULL)
        (void)closedir(d);
}

static void remove_at(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return;
    remove_below(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    (void)unlinkat(dir, name, AT_REMOVEDIR);
}
/* NOLINTEND(misc-no-recursion) */

void scratch_remove(const char *dir)
{
    if (dir[0] != '\0')
        remove_at(AT_FDCWD, dir);
}

static int run_cp(const char *from, const char *to)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("cp", "cp", "-a", "--", from, to, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -errno;
    return status == 0 ? 0 : -EIO;
}

/* A second name for the program; a copy where the file systems differ. */
static int bring(const char *from, const char *to)
{
    if (link(from, to) == 0 || errno == EEXIST)
        return 0;
    return run_cp(from, to);
}

static int bring_attacks(const struct settings *s, struct error *err)
{
    char to[400], from[PATH_MAX], at[PATH_MAX];
    DIR *d = opendir(s->attacks);
    if (d == NULL)
        return error_errno(err, errno, "built attacks in %s", s->attacks);
    (void)snprintf(to, sizeof(to), "%s/attack", s->busybox);
    int r = mkdir(to, 0755) < 0 ? -errno : 0;
    for (struct dirent *e; r == 0 && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(from, sizeof(from), "%s/%s", s->attacks, e->d_name);
        (void)snprintf(at, sizeof(at), "%s/%s", to, e->d_name);
        r = bring(from, at);
    }
    (void)closedir(d);
    return r < 0 ? error_errno(err, -r, "attacks in %s", to) : 0;
}

int scratch_make(struct settings *s, struct error *err)
{
    char image[600], content[sizeof(image) + 2];
    const char *base = getenv("TMPDIR");
    (void)snprintf(s->scratch, sizeof(s->scratch), "%.200s/escape-suite.XXXXXX",
                   base != NULL && base[0] == '/' ? base : "/tmp");
    if (mkdtemp(s->scratch) == NULL) {
        int code = errno;
        s->scratch[0] = '\0';
        return error_errno(err, code, "scratch directory");
    }
    /* Searchable for the uids that runtimes use. */
    if (chmod(s->scratch, 0755) < 0)
        return error_errno(err, errno, "%s", s->scratch);
    (void)snprintf(image, sizeof(image), "%s/busybox", s->images);
    (void)snprintf(s->busybox, sizeof(s->busybox), "%s/image", s->scratch);
    (void)snprintf(s->debian, sizeof(s->debian), "%s/debian", s->images);
    if (access(s->debian, F_OK) < 0)
        s->debian[0] = '\0';
    if (access(image, F_OK) < 0)
        return error_set(err, ENOENT, "no image %s (./dev image busybox makes it)", image);
    /* The last "." copies what a symbolic link at the image's place leads to. */
    (void)snprintf(content, sizeof(content), "%s/.", image);
    if (mkdir(s->busybox, 0755) < 0 || run_cp(content, s->busybox) < 0)
        return error_set(err, EIO, "%s could not be copied", image);
    return bring_attacks(s, err);
}
