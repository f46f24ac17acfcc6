/*
 * state_json.c: what state.json holds, and whether the process it names still is the one it meant.
 *
 * The file is written under another name and renamed, so a reader sees the old one or the new one.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/jsonx.h"
#include "lib/parse.h"
#include "sentry/cli/state.h"

enum {
    STATE_FILE_MAX = 4 << 20,
    STATE_DEPTH = 32
};

static const char *const status_names[] = {"creating", "created", "running", "paused", "stopped"};

const char *state_status_name(enum state_status st)
{
    return (size_t)st < ARRAY_LEN(status_names) ? status_names[st] : "unknown";
}

void state_init(struct state *s)
{
    *s = (struct state){.uid = (uint32_t)geteuid()};
}

void state_done(struct state *s)
{
    kfree(s->image);
    kfree(s->command);
    kfree(s->bundle);
    kfree(s->cgroups_json);
    kfree(s->annotations_json);
    kfree(s->config_path);
    *s = (struct state){0};
}

/* -- writing ----------------------------------------------------------------------------------- */

static int set_json(json_t *o, const char *key, const char *text)
{
    if (text == NULL)
        return 0;
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    return v == NULL ? -1 : json_object_set_new(o, key, v);
}

static int set_text(json_t *o, const char *key, const char *text)
{
    /* Words of the caller's command line may be any bytes. */
    if (text == NULL)
        return 0;
    json_t *v = json_string(text);
    if (v == NULL)
        v = json_string("?");
    return json_object_set_new(o, key, v);
}

/* kfree. jansson may have been given another allocator than malloc, so it never hands out memory.
 */
static char *dump(const json_t *v, size_t flags)
{
    size_t n = json_dumpb(v, NULL, 0, flags);
    char *text = n > 0 ? kalloc(n + 1) : NULL;
    if (text != NULL && json_dumpb(v, text, n, flags) != n) {
        kfree(text);
        return NULL;
    }
    return text;
}

static char *state_text(const struct state *s)
{
    json_t *o = json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:s, s:I}", "version", 1, "id", s->id,
                          "status", state_status_name(s->status), "monitor", (json_int_t)s->monitor,
                          "monitor_time", (json_int_t)s->monitor_time, "sentry",
                          (json_int_t)s->sentry, "created", s->created, "uid", (json_int_t)s->uid);
    char *text = NULL;
    if (o != NULL && set_text(o, "image", s->image) == 0 &&
        set_text(o, "command", s->command) == 0 && set_text(o, "bundle", s->bundle) == 0 &&
        set_text(o, "config", s->config_path) == 0 &&
        set_json(o, "cgroups", s->cgroups_json) == 0 &&
        set_json(o, "annotations", s->annotations_json) == 0)
        text = dump(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static int write_file(int dir, const char *name, const char *text, bool durable)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = fd_write_full(fd, text, strlen(text));
    if (r == 0 && durable && fsync(fd) < 0)
        r = -errno;
    (void)close(fd);
    return r;
}

int state_write(int dir, const struct state *s, bool durable, struct error *err)
{
    char temp[64];
    char *text = state_text(s);
    if (text == NULL)
        return error_set(err, ENOMEM, "the state of the sandbox cannot be written");
    (void)snprintf(temp, sizeof(temp), "state.json.%d", (int)getpid());
    int r = write_file(dir, temp, text, durable);
    if (r == 0 && renameat(dir, temp, dir, "state.json") < 0)
        r = -errno;
    if (r == 0 && durable && fsync(dir) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir, temp, 0);
    kfree(text);
    return r < 0 ? error_errno(err, -r, "writing the state of the sandbox") : 0;
}

static int read_copy(const struct jsonx *at, char **slot, struct error *err)
{
    const char *s;
    int r = jsonx_string(at, STATE_FILE_MAX, &s, err);
    if (r < 0)
        return r;
    char *copy = kstrdup(s);
    if (copy == NULL)
        return error_set(err, ENOMEM, "no memory");
    kfree(*slot);
    *slot = copy;
    return 0;
}

static int read_verbatim(const struct jsonx *at, char **slot, struct error *err)
{
    char *copy = dump(at->value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (copy == NULL)
        return error_set(err, ENOMEM, "no memory");
    kfree(*slot);
    *slot = copy;
    return 0;
}

static int read_into(const struct jsonx *at, char *buf, size_t cap, struct error *err)
{
    const char *s;
    int r = jsonx_string(at, cap - 1, &s, err);
    if (r == 0)
        memcpy(buf, s, strlen(s) + 1);
    return r;
}

static int read_pid(const struct jsonx *at, pid_t *ret, struct error *err)
{
    uint64_t v;
    int r = jsonx_u64(at, 0, INT32_MAX, &v, err);
    if (r == 0)
        *ret = (pid_t)v;
    return r;
}

#define READER(name, expr)                                                       \
    static int read_##name(const struct jsonx *at, void *arg, struct error *err) \
    {                                                                            \
        struct state *s = arg;                                                   \
        return expr;                                                             \
    }
READER(id, read_into(at, s->id, sizeof(s->id), err))
READER(monitor, read_pid(at, &s->monitor, err))
READER(sentry, read_pid(at, &s->sentry, err))
READER(monitor_time, jsonx_u64(at, 0, INT64_MAX, &s->monitor_time, err))
READER(created, read_into(at, s->created, sizeof(s->created), err))
READER(image, read_copy(at, &s->image, err))
READER(command, read_copy(at, &s->command, err))
READER(bundle, read_copy(at, &s->bundle, err))
READER(config, read_copy(at, &s->config_path, err))
READER(cgroups, read_verbatim(at, &s->cgroups_json, err))
READER(annotations, read_verbatim(at, &s->annotations_json, err))

static int read_status(const struct jsonx *at, void *arg, struct error *err)
{
    struct state *s = arg;
    size_t i;
    int r = jsonx_choice(at, status_names, ARRAY_LEN(status_names), &i, err);
    if (r == 0)
        s->status = (enum state_status)i;
    return r;
}

static int read_uid(const struct jsonx *at, void *arg, struct error *err)
{
    struct state *s = arg;
    uint64_t v;
    int r = jsonx_u64(at, 0, UINT32_MAX, &v, err);
    if (r == 0)
        s->uid = (uint32_t)v;
    return r;
}

static int read_text(char *text, size_t len, struct state *s, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"id", read_id, true},
        {"status", read_status, true},
        {"monitor", read_monitor, true},
        {"monitor_time", read_monitor_time, true},
        {"sentry", read_sentry, true},
        {"created", read_created, true},
        {"uid", read_uid, true},
        {"image", read_image, false},
        {"command", read_command, false},
        {"bundle", read_bundle, false},
        {"config", read_config, false},
        {"cgroups", read_cgroups, false},
        {"annotations", read_annotations, false},
    };
    struct jsonx_doc doc;
    int r = jsonx_parse(&doc, "state.json", text, len, STATE_DEPTH, err);
    if (r < 0)
        return r;
    struct jsonx root = jsonx_root(&doc);
    r = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_IGNORED, s, err);
    jsonx_done(&doc);
    return r;
}

int state_read(int dir, struct state *s, struct error *err)
{
    char *text;
    size_t len;
    int fd = openat(dir, "state.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "state.json");
    int r = fd_read_all(fd, STATE_FILE_MAX, &text, &len);
    (void)close(fd);
    if (r < 0)
        return error_errno(err, -r, "state.json");
    state_done(s);
    r = read_text(text, len, s, err);
    kfree(text);
    return r;
}

/* -- processes -----------------------------------------------------------------------------------
 */

uint64_t state_process_time(pid_t pid)
{
    char path[64], text[1024];
    uint64_t v = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    /* Field 22; the name before field 3 may hold blanks and parentheses. */
    char *p = strrchr(text, ')');
    if (p == NULL || p[1] == '\0' || p[2] == 'Z' || p[2] == 'X')
        return 0;
    char *save = NULL;
    char *field = strtok_r(p + 1, " ", &save);
    for (int i = 3; i < 22 && field != NULL; i++)
        field = strtok_r(NULL, " ", &save);
    return field != NULL && parse_u64(field, 0, UINT64_MAX, &v, NULL) == 0 ? v : 0;
}

bool state_alive(const struct state *s)
{
    return s->monitor > 0 && s->monitor_time != 0 &&
           state_process_time(s->monitor) == s->monitor_time;
}

void state_set_created_now(struct state *s)
{
    struct timespec ts;
    struct tm tm;
    char base[32];
    (void)clock_gettime(CLOCK_REALTIME, &ts);
    (void)gmtime_r(&ts.tv_sec, &tm);
    (void)strftime(base, sizeof(base), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(s->created, sizeof(s->created), "%s.%09ldZ", base, ts.tv_nsec);
}
