/*
 * cmd_state.c: `state`, `list` and `ps`.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/control.h"

enum {
    MAX_OUTPUT = 16 << 20
};

int cmd_state(int argc, char **argv, struct error *err)
{
    struct container c;
    struct buf out;
    const char *id;
    int r = shim_options(&argc, argv, NULL, 0, false, err);

    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0)
        r = container_open(&c, id, false, err);
    if (r != 0)
        return r;
    buf_init(&out, MAX_OUTPUT);
    container_print(&c, state_status_name(c.status), &out);
    r = print_out(&out, err);
    buf_done(&out);
    container_close(&c);
    return r;
}

/* -- list -----------------------------------------------------------------------------------------
 */

struct listing {
    struct buf out;
    bool json, quiet, first;
};

static int list_one(void *ctx, const char *id)
{
    struct listing *l = ctx;
    struct container c;
    struct error err;

    error_init(&err);
    /* One that is deleted meanwhile, or is broken, is no reason to fail. */
    if (container_open(&c, id, false, &err) < 0)
        return 0;
    if (l->quiet) {
        (void)buf_printf(&l->out, "%s\n", id);
    } else if (l->json) {
        (void)buf_puts(&l->out, l->first ? "" : ",");
        container_print(&c, state_status_name(c.status), &l->out);
        /* Its last newline. */
        if (l->out.len > 0)
            l->out.data[--l->out.len] = '\0';
    } else {
        bool lives = c.status != STATE_STOPPED;
        (void)buf_printf(&l->out, "%-12s %-11d %-11s %-20s %-31s #%u\n", id,
                         lives ? (int)c.s.monitor : 0, state_status_name(c.status),
                         c.s.bundle != NULL ? c.s.bundle : "", c.s.created, c.s.uid);
    }
    l->first = false;
    container_close(&c);
    return 0;
}

static int format_is_json(const char *format, bool *ret, struct error *err)
{
    if (format == NULL || strcmp(format, "table") == 0)
        *ret = false;
    else if (strcmp(format, "json") == 0)
        *ret = true;
    else
        return error_set(err, EINVAL, "--format: '%s' is neither table nor json", format);
    return 0;
}

int cmd_list(int argc, char **argv, struct error *err)
{
    struct listing l = {.first = true};
    const char *format = NULL;
    const struct shim_option options[] = {
        {"format", "f", OPT_STRING, &format},
        {"quiet", "q", OPT_FLAG, &l.quiet},
    };

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = format_is_json(format, &l.json, err);
    if (r < 0)
        return r;
    buf_init(&l.out, MAX_OUTPUT);
    if (l.json && !l.quiet)
        (void)buf_putc(&l.out, '[');
    else if (!l.quiet)
        (void)buf_printf(&l.out, "%-12s %-11s %-11s %-20s %-31s %s\n", "ID", "PID", "STATUS",
                         "BUNDLE", "CREATED", "OWNER");
    r = state_each(shim.root, list_one, &l, err);
    if (r == -ENOENT) {
        error_init(err);
        r = 0;
    }
    if (l.json && !l.quiet)
        (void)buf_puts(&l.out, "]\n");
    if (r == 0)
        r = print_out(&l.out, err);
    buf_done(&l.out);
    return r;
}

/* -- ps -------------------------------------------------------------------------------------------
 */

static void print_process(struct buf *out, const struct control_process *p)
{
    uint64_t s = p->cpu_ns / 1000000000;

    (void)buf_printf(out, "%-8u %7u %7u %c %02llu:%02llu:%02llu ", p->uid, p->pid, p->ppid,
                     p->state >= 'A' && p->state <= 'Z' ? p->state : '?',
                     (unsigned long long)(s / 3600), (unsigned long long)(s / 60 % 60),
                     (unsigned long long)(s % 60));
    /* The guest chose these bytes; the reader may be a terminal. */
    const char *text = p->command[0] != '\0' ? p->command : p->comm;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        (void)buf_putc(out, (char)(*c < 0x20 || *c == 0x7f ? '?' : *c));
    (void)buf_putc(out, '\n');
}

int cmd_ps(int argc, char **argv, struct error *err)
{
    const char *format = NULL, *id;
    const struct shim_option options[] = {{"format", "f", OPT_STRING, &format}};
    struct control_process *list = NULL;
    struct container c;
    struct buf out;
    bool json = false;
    size_t n = 0;
    int sock;

    /* What follows the id are words for ps(1), which has no part in it. */
    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), true, err);
    if (r == 0)
        r = format_is_json(format, &json, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 0, &id, err);
    if (r == 0)
        r = container_open(&c, id, false, err);
    if (r != 0)
        return r;
    if (c.status != STATE_RUNNING && c.status != STATE_CREATED)
        r = error_set(err, ESRCH, "container is %s", state_status_name(c.status));
    if (r == 0)
        r = control_connect(c.dir, &sock, err);
    if (r == 0) {
        r = control_ps(sock, &list, &n, err);
        (void)close(sock);
    }
    buf_init(&out, MAX_OUTPUT);
    (void)buf_puts(&out, json ? "[" : "UID          PID    PPID S TIME     CMD\n");
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (json)
            (void)buf_printf(&out, "%s%u", i == 0 ? "" : ",", list[i].pid);
        else
            print_process(&out, &list[i]);
    }
    if (json)
        (void)buf_puts(&out, "]\n");
    if (r == 0)
        r = print_out(&out, err);
    buf_done(&out);
    kfree(list);
    container_close(&c);
    return r;
}
