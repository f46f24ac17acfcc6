/*
 * report.c: the report as JSON (jansson). Captured bytes are base64, so any byte keeps the JSON
 * valid.
 *
 * A file gets its report whole or not at all: it is written beside and renamed, so a link in its
 * place is replaced, not followed. What cannot be replaced (a pipe, a device, /dev/fd/N) is written
 * to.
 */
#include "sentry/cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "abi/syscalls.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/boot.h"

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {
        [VERDICT_NONE] = "internal-error",
        [VERDICT_OK] = "ok",
        [VERDICT_EXIT] = "exit",
        [VERDICT_SIGNAL] = "signal",
        [VERDICT_WALL_LIMIT] = "wall-limit",
        [VERDICT_CPU_LIMIT] = "cpu-limit",
        [VERDICT_MEMORY_LIMIT] = "memory-limit",
        [VERDICT_PIDS_LIMIT] = "pids-limit",
        [VERDICT_OUTPUT_LIMIT] = "output-limit",
        [VERDICT_START_FAILED] = "start-failed",
        [VERDICT_INTERNAL_ERROR] = "internal-error",
    };
    return (size_t)v < ARRAY_LEN(names) ? names[v] : "internal-error";
}

static int temporary_name(const char *path, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s.XXXXXX", path);
    return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

/* A file in the directory of path, without a name where the file system can do that (ret_name is
 * empty then), so that not even a killed monitor leaves one behind. */
static int open_temporary(const char *path, char *ret_name, size_t cap)
{
    int r = temporary_name(path, ret_name, cap);
    if (r < 0)
        return r;
    char *slash = strrchr(ret_name, '/');
    size_t dir = slash != NULL ? (size_t)(slash - ret_name) + 1 : 0;
    char saved = ret_name[dir];
    ret_name[dir] = '\0';
    int fd = open(dir > 0 ? ret_name : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    ret_name[dir] = saved;
    if (fd >= 0)
        ret_name[0] = '\0';
    else if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
        fd = mkostemp(ret_name, O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Gives it its name at last. */
static int name_temporary(int fd, char *name, size_t cap, const char *path)
{
    char self[32];
    if (name[0] != '\0')
        return rename(name, path) < 0 ? -errno : 0;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    /* Something is there already: only a rename takes its place. */
    int r = errno == EEXIST ? temporary_name(path, name, cap) : -errno;
    int taken = r == 0 ? mkostemp(name, O_CLOEXEC) : -1;
    if (r == 0 && taken < 0)
        r = -errno;
    if (taken >= 0)
        (void)close(taken);
    if (r == 0 && unlink(name) < 0)
        r = -errno;
    if (r == 0 && linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0)
        r = -errno;
    return r == 0 && rename(name, path) < 0 ? -errno : r;
}

/* Something that a rename could not or should not take the place of. */
static bool is_stream(const char *path)
{
    struct stat st;
    if (strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0 ||
        strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0)
        return true;
    return lstat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

static int open_stream(const char *path)
{
    /* Not waiting for the reader of a named pipe: there has to be one. */
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_APPEND);
    int r = fd < 0 ? -errno : fd_set_nonblock(fd, false);
    if (r < 0 && fd >= 0)
        (void)close(fd);
    return r < 0 ? r : fd;
}

int report_check(const char *path, struct error *err)
{
    char name[4096];
    struct stat st;
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return error_errno(err, EISDIR, "%s", path);
    if (is_stream(path)) {
        int stream = open_stream(path);
        if (stream < 0)
            return error_errno(err, -stream, "%s", path);
        (void)close(stream);
        return 0;
    }
    int fd = open_temporary(path, name, sizeof(name));
    if (fd < 0)
        return error_errno(err, -fd, "%s", path);
    (void)close(fd);
    if (name[0] != '\0')
        (void)unlink(name);
    return 0;
}

static char *base64(const uint8_t *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = kalloc((n + 2) / 3 * 4 + 1);
    char *o = out;
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16;
        v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        v |= i + 2 < n ? p[i + 2] : 0;
        *o++ = digits[v >> 18];
        *o++ = digits[(v >> 12) & 63];
        *o++ = (char)(i + 1 < n ? digits[(v >> 6) & 63] : '=');
        *o++ = (char)(i + 2 < n ? digits[v & 63] : '=');
    }
    *o = '\0';
    return out;
}

/* The shared counts were written by the sentry: cut at what the mapping can hold. */
static json_t *output_json(const struct boot *b, int which)
{
    const struct boot_shared *sh = b->shared;
    uint64_t bytes = sh != NULL ? MIN(sh->output[which].bytes, b->limits.output) : 0;
    bool over = sh != NULL && sh->output[which].exceeded;
    uint64_t written = bytes + (over ? 1 : 0);
    json_t *o = json_pack("{s:I, s:I, s:b}", "bytes", (json_int_t)written, "kept",
                          (json_int_t)bytes, "truncated", over);
    if (o == NULL || !b->capture || sh == NULL)
        return o;
    uint64_t off = which == 0 ? sizeof(*sh) : sizeof(*sh) + b->limits.output;
    char *text = base64((const uint8_t *)sh + off, (size_t)bytes);
    if (text != NULL)
        (void)json_object_set_new(o, "base64", json_string(text));
    kfree(text);
    return o;
}

static json_t *unsupported_json(const struct report *r)
{
    json_t *o = json_object();
    for (uint32_t nr = 0; r->unsupported != NULL && nr < 512; nr++) {
        const struct syscall_desc *d = syscall_find(nr);
        char name[24];
        if (r->unsupported[nr] == 0)
            continue;
        (void)snprintf(name, sizeof(name), "%u", nr);
        (void)json_object_set_new(o, d != NULL ? d->name : name, json_integer(r->unsupported[nr]));
    }
    return o;
}

static double round_ms(double ms)
{
    return (double)(int64_t)(ms * 1000 + 0.5) / 1000;
}

/* Bytes that are no UTF-8 would make the JSON invalid. */
static json_t *text_json(const char *text)
{
    json_t *s = json_string(text);
    char *copy = s == NULL ? kstrdup(text) : NULL;
    if (copy == NULL)
        return s;
    for (char *c = copy; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    s = json_string(copy);
    kfree(copy);
    return s;
}

static json_t *report_json(const struct report *r, const struct boot *b)
{
    json_t *o = json_object();
    (void)json_object_set_new(o, "version", json_integer(1));
    (void)json_object_set_new(o, "verdict", json_string(verdict_name(r->verdict)));
    (void)json_object_set_new(o, "message", text_json(r->message));
    (void)json_object_set_new(o, "exit_code", json_integer(r->exit_code));
    (void)json_object_set_new(o, "signal", r->signal != 0 ? json_integer(r->signal) : json_null());
    (void)json_object_set_new(o, "wall_ms", json_real(round_ms(r->wall_ms)));
    (void)json_object_set_new(o, "startup_ms", json_real(round_ms(r->startup_ms)));
    (void)json_object_set_new(o, "cpu_user_ms", json_real(round_ms((double)r->cpu_ns / 1e6)));
    (void)json_object_set_new(o, "cpu_system_ms",
                              json_real(round_ms((double)r->cpu_system_ns / 1e6)));
    (void)json_object_set_new(o, "memory_peak_bytes", json_integer((json_int_t)r->memory_peak));
    (void)json_object_set_new(o, "memory_metric", json_string(r->memory_metric));
    (void)json_object_set_new(o, "pids_peak", json_integer(r->pids_peak));
    (void)json_object_set_new(o, "disk_peak_bytes", json_integer((json_int_t)r->disk_peak));
    (void)json_object_set_new(o, "syscalls", json_integer((json_int_t)r->syscalls));
    (void)json_object_set_new(o, "unsupported", unsupported_json(r));
    (void)json_object_set_new(o, "stdout", output_json(b, 0));
    (void)json_object_set_new(o, "stderr", output_json(b, 1));
    (void)json_object_set_new(o, "enforced_by",
                              json_pack("{s:s, s:s, s:s, s:s*}", "memory", r->memory_enforcer,
                                        "cpu", "sentry", "wall", "monitor", "cpus",
                                        r->cpus_enforcer));
    return o;
}

/* Somebody who does not read delays the caller for so long at most. */
enum {
    PATIENCE_MS = 1000
};

static int write_patiently(int fd, const char *text, size_t n)
{
    while (n > 0) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int ready = poll(&p, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return -EAGAIN;
        /* A pipe that is ready takes this much without waiting. */
        ssize_t done = write(fd, text, MIN(n, (size_t)PIPE_BUF));
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        text += MAX(done, 0);
        n -= (size_t)MAX(done, 0);
    }
    return 0;
}

int report_say(const char *text)
{
    (void)signal(SIGPIPE, SIG_IGN);
    int r = write_patiently(STDERR_FILENO, "sentry: ", 8);
    if (r == 0)
        r = write_patiently(STDERR_FILENO, text, strlen(text));
    return r < 0 ? r : write_patiently(STDERR_FILENO, "\n", 1);
}

static int write_stream(const char *path, const char *text, struct error *err)
{
    int fd = open_stream(path);
    int r = fd < 0 ? fd : write_patiently(fd, text, strlen(text));
    if (fd >= 0 && r == 0)
        r = write_patiently(fd, "\n", 1);
    if (fd >= 0)
        (void)close(fd);
    return r < 0 ? error_errno(err, -r, "report %s", path) : 0;
}

static int write_file(const char *path, const char *text, struct error *err)
{
    char name[4096];
    if (is_stream(path))
        return write_stream(path, text, err);
    int fd = open_temporary(path, name, sizeof(name));
    if (fd < 0)
        return error_errno(err, -fd, "report %s", path);
    int r = fchmod(fd, 0644) < 0 ? -errno : 0;
    if (r == 0)
        r = fd_write_full(fd, text, strlen(text));
    if (r == 0)
        r = fd_write_full(fd, "\n", 1);
    if (r == 0)
        r = name_temporary(fd, name, sizeof(name), path);
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r < 0) {
        if (name[0] != '\0')
            (void)unlink(name);
        return error_errno(err, -r, "report %s", path);
    }
    return 0;
}

int report_write(const struct report *r, const struct boot *b, struct error *err)
{
    json_t *o = report_json(r, b);
    bool line = strcmp(b->report_path, "-") == 0;
    char *text = json_dumps(o, (line ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(12));
    int rc = 0;

    json_decref(o);
    if (text == NULL)
        return error_set(err, ENOMEM, "no memory for the report");
    (void)signal(SIGPIPE, SIG_IGN);
    if (line)
        rc = write_patiently(STDERR_FILENO, text, strlen(text));
    if (line && rc == 0)
        rc = write_patiently(STDERR_FILENO, "\n", 1);
    if (line && rc < 0)
        rc = error_errno(err, -rc, "report");
    else if (!line)
        rc = write_file(b->report_path, text, err);
    free(text);
    return rc;
}
