/*
 * cmd_list.c: `sentry list`: the caller's running sandboxes.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/entry.h"
#include "sentry/cli/state.h"

enum {
    EXIT_START = 125
};

struct list {
    const char *root;
    bool json;
    unsigned n; /* shown so far */
};

/* Bytes of the caller's own command line, but this is a terminal. */
static void print_clean(const char *s)
{
    for (; s != NULL && *s != '\0'; s++)
        (void)putchar(*s >= 0x20 && *s < 0x7f ? *s : '?');
}

static void show(struct list *l, const struct state *s)
{
    if (l->json) {
        json_t *o = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s}", "id", s->id, "status",
                              state_status_name(s->status), "pid", (json_int_t)s->monitor,
                              "created", s->created, "image", s->image != NULL ? s->image : "",
                              "command", s->command != NULL ? s->command : "");
        (void)printf("%s\n", l->n++ == 0 ? "" : ",");
        if (o == NULL || json_dumpf(o, stdout, JSON_COMPACT) < 0)
            (void)printf("{}");
        json_decref(o);
        return;
    }
    (void)printf("%-20s %-8s %7d %.19s  ", s->id, state_status_name(s->status), (int)s->monitor,
                 s->created);
    print_clean(s->image);
    (void)printf("  ");
    print_clean(s->command);
    (void)printf("\n");
}

/* Entries come and go while we look: what cannot be read any more is not there. */
static int look(void *ctx, const char *id)
{
    struct list *l = ctx;
    struct state s;
    int dir;

    if (state_open(l->root, id, &dir, NULL) < 0)
        return 0;
    state_init(&s);
    if (state_claim(dir, false) == 0)
        (void)!state_remove(l->root, id, NULL); /* its monitor has died */
    else if (state_read(dir, &s, NULL) == 0 && state_alive(&s))
        show(l, &s);
    state_done(&s);
    (void)close(dir);
    return 0;
}

int cmd_list(int argc, char **argv)
{
    char root[STATE_PATH_MAX];
    struct list l = {.root = root};
    struct error err;

    error_init(&err);
    int r = 0;
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json") != 0))
        r = error_set(&err, EINVAL, "usage: sentry list [--json]");
    if (r == 0)
        r = state_default_root(root, sizeof(root), &err);
    l.json = argc == 2;
    if (r == 0 && l.json)
        (void)printf("[");
    if (r == 0 && !l.json)
        (void)printf("%-20s %-8s %7s %-19s  %s\n", "ID", "STATUS", "PID", "CREATED",
                     "IMAGE  COMMAND");
    if (r == 0)
        r = state_each(root, look, &l, &err);
    if (r < 0) {
        (void)fprintf(stderr, "sentry: %s\n", err.text);
        return EXIT_START;
    }
    if (l.json)
        (void)printf("\n]\n");
    return 0;
}
