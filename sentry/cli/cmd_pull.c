/*
 * cmd_pull.c: `sentry pull REF`: skopeo fetches, the rest is an import.
 *
 * skopeo writes an OCI layout into the store's tmp, with the layers in the store's own blobs/, so
 * that layers which are there already are not fetched again. Everything it wrote is verified when
 * the layout is unpacked.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/limits.h"
#include "rootfs/store.h"
#include "rootfs/tree.h"
#include "sentry/cli/cli.h"

extern char **environ;

enum {
    EXIT_FAILED = 125,
    SPAWN_NOT_FOUND = 127
};

/* REF as skopeo wants it: its own words ("oci:...", "docker-archive:...") are left alone. */
static void transport(const char *ref, char *buf, size_t cap)
{
    static const char *const known[] = {
        "docker://",       "oci:",           "oci-archive:",       "dir:",
        "docker-archive:", "docker-daemon:", "containers-storage:"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strncmp(ref, known[i], strlen(known[i])) == 0) {
            (void)snprintf(buf, cap, "%s", ref);
            return;
        }
    }
    (void)snprintf(buf, cap, "docker://%s", ref);
}

/* The name in the store: REF without docker://, other transports whole. */
static const char *plain_name(const char *ref)
{
    return strncmp(ref, "docker://", 9) == 0 ? ref + 9 : ref;
}

static int run_skopeo(const char *ref, const char *blobs, const char *layout, struct error *err)
{
    char from[1024], to[PATH_MAX + 64], shared[PATH_MAX];
    int status;
    pid_t pid;

    transport(ref, from, sizeof(from));
    (void)snprintf(to, sizeof(to), "oci:%s:pulled", layout);
    (void)snprintf(shared, sizeof(shared), "%s", blobs);
    const char *const args[] = {"skopeo",
                                "--override-os",
                                "linux",
                                "--override-arch",
                                "amd64",
                                "copy",
                                "--dest-shared-blob-dir",
                                shared,
                                from,
                                to,
                                NULL};
    char *argv[ARRAY_LEN(args)];
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        memcpy(&argv[i], &args[i], sizeof(argv[i]));
    posix_spawn_file_actions_t fa;
    if (posix_spawn_file_actions_init(&fa) != 0 || posix_spawn_file_actions_adddup2(&fa, 2, 1) != 0)
        return error_set(err, ENOMEM, "no memory");
    int r = posix_spawnp(&pid, "skopeo", &fa, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&fa);
    if (r == ENOENT)
        return error_set(err, ENOENT,
                         "pull needs skopeo, which is not installed (Debian: apt-get install "
                         "skopeo); or fetch the image elsewhere and use sentry import");
    if (r != 0)
        return error_errno(err, r, "starting skopeo");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_set(err, EIO, "skopeo could not copy %.300s", from);
    return 0;
}

static int unpack(struct store *s, int layout, int blobs, struct store_added *ret,
                  struct error *err)
{
    struct image_limits limits = IMAGE_LIMITS_DEFAULT;
    struct store_add a = {
        .image = layout,
        .blobs = blobs,
        .is_dir = true,
        .progress = isatty(2),
        .durable = true,
        .limits = &limits,
    };
    return store_add(s, &a, ret, err);
}

static int pull_into(struct store *s, const char *ref, const char *tmp, int dir,
                     struct store_added *ret, struct error *err)
{
    char blobs[PATH_MAX + 16], layout[PATH_MAX + 64];

    if ((mkdirat(s->fd, "blobs", 0700) < 0 && errno != EEXIST) || mkdirat(dir, "l", 0700) < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    (void)snprintf(blobs, sizeof(blobs), "%s/blobs", s->path);
    (void)snprintf(layout, sizeof(layout), "%s/tmp/%s/l", s->path, tmp);
    int r = run_skopeo(ref, blobs, layout, err);
    if (r < 0)
        return r;
    auto_fd int layout_fd = openat(dir, "l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_fd int blobs_fd = openat(s->fd, "blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (layout_fd < 0 || blobs_fd < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    r = unpack(s, layout_fd, blobs_fd, ret, err);
    return r < 0 ? error_prefix(err, "image %.200s", ref) : 0;
}

static int pull(const char *ref, struct error *err)
{
    struct store s;
    struct store_added added;
    char tmp[STORE_TMP_NAME], hex[13];
    int dir;

    int r = store_ref_check(plain_name(ref), err);
    if (r == 0)
        r = store_open(&s, true, err);
    if (r < 0)
        return r;
    r = store_lock(&s, err);
    if (r == 0)
        r = store_tmp_dir(&s, tmp, &dir, err);
    if (r == 0) {
        r = pull_into(&s, ref, tmp, dir, &added, err);
        fd_close(dir);
        (void)!tree_remove(s.tmp, tmp);
    }
    if (r == 0)
        r = store_ref_set(&s, plain_name(ref), &added.id, err);
    if (r == 0) {
        digest_short(&added.id, hex);
        (void)printf("%s %s\n", hex, plain_name(ref));
    }
    store_close(&s);
    return r;
}

int cmd_pull(int argc, char **argv)
{
    struct error err;
    error_init(&err);
    if (argc != 2 || argv[1][0] == '-') {
        (void)fprintf(stderr, "sentry: usage: sentry pull REF\n");
        return EXIT_FAILED;
    }
    if (pull(argv[1], &err) == 0)
        return 0;
    (void)fprintf(stderr, "sentry: %s\n", err.text);
    return EXIT_FAILED;
}
