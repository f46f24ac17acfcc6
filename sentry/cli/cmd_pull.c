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
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/limits.h"
#include "rootfs/store.h"
#include "rootfs/tree.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/image.h"

enum {
    EXIT_FAILED = 125
};

struct request {
    const char *ref;
    struct image_options options;
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

/* --- skopeo --------------------------------------------------------------------------------------
 */

/* What skopeo says on standard error: its end is kept. */
struct said {
    char text[2048];
    size_t len;
};

static void hear(struct said *s, const char *data, size_t n)
{
    if (n > sizeof(s->text) - 1)
        n = sizeof(s->text) - 1;
    if (s->len + n > sizeof(s->text) - 1) {
        size_t drop = s->len + n - (sizeof(s->text) - 1);
        memmove(s->text, s->text + drop, s->len - drop);
        s->len -= drop;
    }
    memcpy(s->text + s->len, data, n);
    s->len += n;
    s->text[s->len] = '\0';
}

static void listen_to(int fd, struct said *s)
{
    char data[512];
    for (;;) {
        ssize_t n = read(fd, data, sizeof(data));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        hear(s, data, (size_t)n);
    }
}

/* The last line, without the frame that its logger gives it: ... level=fatal msg="TEXT". */
static const char *reason(struct said *s)
{
    while (s->len > 0 && s->text[s->len - 1] == '\n')
        s->text[--s->len] = '\0';
    char *line = strrchr(s->text, '\n');
    line = line != NULL ? line + 1 : s->text;
    char *msg = strstr(line, " msg=\"");
    size_t n = 0;
    bool quoted = msg != NULL;
    for (const char *p = quoted ? msg + 6 : line; *p != '\0' && !(quoted && *p == '"'); p++) {
        if (quoted && *p == '\\' && p[1] != '\0')
            p++;
        line[n++] = (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p;
    }
    line[n] = '\0';
    return n > 0 ? line : "it does not say why";
}

/* In the child: it dies with the one that waits for it. Progress goes to our standard error. */
NORETURN static void become_skopeo(char *const argv[], pid_t parent, int said, int failed)
{
    int code = 0;
    if (dup2(2, 1) < 0 || dup2(said, 2) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        code = errno;
    if (getppid() != parent)
        _exit(1);
    if (code == 0) {
        (void)execvp(argv[0], argv);
        code = errno;
    }
    (void)!write(failed, &code, sizeof(code));
    _exit(1);
}

static int start_skopeo(char *const argv[], pid_t *ret_pid, int *ret_said)
{
    int said[2], failed[2], code = 0;
    pid_t parent = getpid();
    if (pipe2(said, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(failed, O_CLOEXEC) < 0) {
        code = errno;
        fd_close(said[0]);
        fd_close(said[1]);
        return -code;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_skopeo(argv, parent, said[1], failed[1]);
    code = pid < 0 ? errno : 0;
    fd_close(said[1]);
    fd_close(failed[1]);
    if (pid > 0 && fd_read_full(failed[0], &code, sizeof(code)) == (int64_t)sizeof(code))
        (void)waitpid(pid, NULL, 0);
    fd_close(failed[0]);
    if (code != 0) {
        fd_close(said[0]);
        return -code;
    }
    *ret_pid = pid;
    *ret_said = said[0];
    return 0;
}

static int skopeo_failed(const char *from, struct said *said, struct error *err)
{
    const char *why = reason(said);
    const char *hint = strstr(why, "HTTP response to HTTPS client") != NULL
                           ? " (--tls-verify=false allows a registry without TLS)"
                           : "";
    return error_set(err, EIO, "skopeo could not copy %.200s: %.600s%s", from, why, hint);
}

static int run_skopeo(const struct request *q, char *blobs, const char *layout, struct error *err)
{
    char from[1024], to[PATH_MAX + 64];
    struct said said = {.len = 0};
    int status, fd;
    size_t n = 0;
    pid_t pid;

    transport(q->ref, from, sizeof(from));
    (void)snprintf(to, sizeof(to), "oci:%s:pulled", layout);
    char *argv[16];
    static char words[][24] = {
        "skopeo", "--override-os",          "linux",   "--override-arch",       "amd64",
        "copy",   "--dest-shared-blob-dir", "--quiet", "--src-tls-verify=false"};
    for (size_t i = 0; i < 7; i++)
        argv[n++] = words[i];
    argv[n++] = blobs;
    if (!isatty(2))
        argv[n++] = words[7];
    if (q->options.plain_http)
        argv[n++] = words[8];
    argv[n++] = from;
    argv[n++] = to;
    argv[n] = NULL;
    int r = start_skopeo(argv, &pid, &fd);
    if (r == -ENOENT)
        return error_set(err, ENOENT,
                         "pull needs skopeo, which is not installed (Debian: apt-get install "
                         "skopeo); or fetch the image elsewhere and use sentry import");
    if (r < 0)
        return error_errno(err, -r, "starting skopeo");
    listen_to(fd, &said);
    fd_close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : skopeo_failed(from, &said, err);
}

/* --- the store
 * ------------------------------------------------------------------------------------- */

static int unpack(struct store *s, const struct request *q, int layout, int blobs,
                  struct store_added *ret, struct error *err)
{
    struct store_add a = {
        .image = layout,
        .blobs = blobs,
        .is_dir = true,
        .progress = isatty(2),
        .durable = true,
        .limits = &q->options.limits,
    };
    int r = store_add(s, &a, ret, err);
    if (r == 0)
        image_warn(q->ref, &ret->notes);
    return r;
}

static int pull_into(struct store *s, const struct request *q, const char *tmp, int dir,
                     struct store_added *ret, struct error *err)
{
    char blobs[PATH_MAX + 16], layout[PATH_MAX + 64];

    if ((mkdirat(s->fd, "blobs", 0700) < 0 && errno != EEXIST) || mkdirat(dir, "l", 0700) < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    (void)snprintf(blobs, sizeof(blobs), "%s/blobs", s->path);
    (void)snprintf(layout, sizeof(layout), "%s/tmp/%s/l", s->path, tmp);
    int r = run_skopeo(q, blobs, layout, err);
    if (r < 0)
        return r;
    auto_fd int layout_fd = openat(dir, "l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_fd int blobs_fd = openat(s->fd, "blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (layout_fd < 0 || blobs_fd < 0)
        return error_errno(err, errno, "image store %.300s", s->path);
    r = unpack(s, q, layout_fd, blobs_fd, ret, err);
    return r < 0 ? error_prefix(err, "image %.200s", q->ref) : 0;
}

static int pull(const struct request *q, struct error *err)
{
    const char *name = plain_name(q->ref);
    struct store s;
    struct store_added added;
    char tmp[STORE_TMP_NAME], hex[13];
    int dir;

    int r = store_ref_check(name, err);
    if (r == 0)
        r = store_open(&s, true, err);
    if (r < 0)
        return r;
    r = store_lock(&s, err);
    if (r == 0)
        r = store_tmp_dir(&s, tmp, &dir, err);
    if (r == 0) {
        r = pull_into(&s, q, tmp, dir, &added, err);
        fd_close(dir);
        (void)!tree_remove(s.tmp, tmp);
    }
    if (r == 0)
        r = store_ref_set(&s, name, &added.id, err);
    if (r == 0) {
        digest_short(&added.id, hex);
        (void)printf("%s %s\n", hex, name);
    }
    store_close(&s);
    return r;
}

int cmd_pull(int argc, char **argv)
{
    struct request q;
    struct error err;
    error_init(&err);
    argc--;
    argv++;
    int r = image_options_read(&q.options, true, &argc, &argv, &err);
    if (r == 0 && argc != 1)
        r = error_set(&err, EINVAL,
                      "usage: sentry pull [--max-size SIZE] [--tls-verify=false] REF");
    if (r == 0) {
        q.ref = argv[0];
        r = pull(&q, &err);
    }
    if (r == 0)
        return 0;
    (void)fprintf(stderr, "sentry: %s\n", err.text);
    return EXIT_FAILED;
}
