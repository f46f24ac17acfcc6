/*
 * cmd_ps.c: `sentry ps` and `sentry stats`.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/control.h"
#include "sentry/cli/entry.h"

enum {
    EXIT_START = 125
};

struct query {
    const char *id;
    bool json;
};

static int parse(struct query *q, int argc, char **argv, struct error *err)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            q->json = true;
        else if (argv[i][0] == '-')
            return error_set(err, EINVAL, "unknown option %.64s", argv[i]);
        else if (q->id == NULL)
            q->id = argv[i];
        else
            return error_set(err, EINVAL, "one sandbox at a time");
    }
    return q->id == NULL
               ? error_set(err, EINVAL, "no sandbox given: sentry %s [--json] ID", argv[0])
               : 0;
}

static int fail(const struct error *err)
{
    (void)fprintf(stderr, "sentry: %s\n", err->text);
    return EXIT_START;
}

/* Names come from the guest: printable ASCII only. */
static void clean(char *s)
{
    for (; *s != '\0'; s++) {
        if (*s < 0x20 || *s > 0x7e)
            *s = '?';
    }
}

static void print_table(const struct control_process *list, size_t n)
{
    (void)printf("%7s %7s %6s %4s %4s %9s %10s  %s\n", "PID", "PPID", "UID", "STAT", "THR", "TIME",
                 "MEMORY", "COMMAND");
    for (size_t i = 0; i < n; i++) {
        const struct control_process *p = &list[i];
        uint64_t cs = p->cpu_ns / 10000000;
        (void)printf("%7" PRIu32 " %7" PRIu32 " %6" PRIu32 " %4c %4" PRIu32 " %3" PRIu64
                     ":%02" PRIu64 ".%02" PRIu64 " %9" PRIu64 "K  %s\n",
                     p->pid, p->ppid, p->uid, p->state, p->threads, cs / 6000, cs / 100 % 60,
                     cs % 100, p->rss / 1024, p->command[0] != '\0' ? p->command : p->comm);
    }
}

static void print_json(const struct control_process *list, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct control_process *p = &list[i];
        char state[2] = {p->state, '\0'};
        json_t *o =
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:f, s:I, s:s, s:s}", "pid",
                      (json_int_t)p->pid, "ppid", (json_int_t)p->ppid, "pgid", (json_int_t)p->pgid,
                      "sid", (json_int_t)p->sid, "uid", (json_int_t)p->uid, "threads",
                      (json_int_t)p->threads, "state", state, "cpu_ms", (double)p->cpu_ns / 1e6,
                      "memory", (json_int_t)p->rss, "name", p->comm, "command", p->command);
        if (o != NULL)
            (void)json_array_append_new(array, o);
    }
    (void)json_dumpf(array, stdout, JSON_INDENT(2));
    (void)printf("\n");
    json_decref(array);
}

int cmd_ps(int argc, char **argv)
{
    struct query q = {0};
    struct error err;
    struct control_process *list;
    size_t n;
    int sock;

    error_init(&err);
    if (parse(&q, argc, argv, &err) < 0 || entry_connect(q.id, &sock, &err) < 0)
        return fail(&err);
    int r = control_ps(sock, &list, &n, &err);
    (void)close(sock);
    if (r < 0)
        return fail(&err);
    for (size_t i = 0; i < n; i++) {
        clean(list[i].comm);
        clean(list[i].command);
        if (list[i].state < 'A' || list[i].state > 'Z')
            list[i].state = '?';
    }
    if (q.json)
        print_json(list, n);
    else
        print_table(list, n);
    kfree(list);
    return 0;
}

int cmd_stats(int argc, char **argv)
{
    struct query q = {0};
    struct error err;
    struct control_stats s;
    int sock;

    error_init(&err);
    if (parse(&q, argc, argv, &err) < 0 || entry_connect(q.id, &sock, &err) < 0)
        return fail(&err);
    int r = control_stats(sock, &s, &err);
    (void)close(sock);
    if (r < 0)
        return fail(&err);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"cpu_ns", s.cpu_ns},
        {"memory", s.memory},
        {"memory_limit", s.memory_limit},
        {"tasks", s.tasks},
        {"tasks_peak", s.tasks_peak},
        {"tasks_limit", s.tasks_limit},
        {"processes", s.processes},
        {"disk", s.disk},
        {"disk_peak", s.disk_peak},
        {"syscalls", s.syscalls},
        {"uptime_ns", s.uptime_ns},
        {"paused", s.paused},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (q.json)
            (void)printf("%s\"%s\": %" PRIu64 "%s", i == 0 ? "{" : " ", rows[i].name, rows[i].value,
                         i + 1 < ARRAY_LEN(rows) ? "," : "}\n");
        else
            (void)printf("%-12s %" PRIu64 "\n", rows[i].name, rows[i].value);
    }
    return 0;
}
