/*
 * console.c: bytes between the caller's terminal (raw) and the master of a guest pty.
 *
 * Input is read when the pty has room; output is written as the host's terminal takes it.
 */
#include "sentry/cli/console.h"

#include "lib/compiler.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "lib/error.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/file.h"

static void console_input(struct console *c)
{
    char buf[512];
    int64_t n = host_read_nowait(c->in.fd, buf, sizeof(buf));
    if (n > 0)
        (void)tty_console_input(c->master, buf, (size_t)n);
    if (n > 0 || n == -EAGAIN)
        (void)host_watch_arm(&c->in, POLLIN);
    else if (c->hung != NULL)
        c->hung(c);
}

static void console_output(struct console *c)
{
    for (;;) {
        if (c->npending == 0)
            c->npending = tty_console_output(c->master, c->pending, sizeof(c->pending));
        if (c->npending == 0)
            break;
        int64_t n = host_write_nowait(c->out.fd, c->pending, c->npending);
        if (n == -EAGAIN) {
            (void)host_watch_arm(&c->out, POLLOUT);
            return;
        }
        if (n < 0)
            n = (int64_t)c->npending; /* the terminal is gone */
        memmove(c->pending, c->pending + n, c->npending - (size_t)n);
        c->npending -= (size_t)n;
    }
    if (c->finishing && c->written != NULL)
        c->written(c);
}

static void in_ready(struct host_watch *w, uint32_t events)
{
    (void)events;
    console_input(container_of(w, struct console, in));
}

static void out_ready(struct host_watch *w, uint32_t events)
{
    (void)events;
    console_output(container_of(w, struct console, out));
}

static void master_changed(void *ctx)
{
    console_output(ctx);
}

int console_begin(struct console *c, int in_fd, int out_fd, struct error *err)
{
    *c = (struct console){.in.fd = in_fd, .out.fd = out_fd};
    int r = tty_new_console(&c->slave, &c->master);
    if (r < 0)
        return error_errno(err, -r, "terminal");
    r = host_watch_init(&c->in, in_fd, in_ready);
    if (r == 0)
        r = host_watch_init(&c->out, out_fd, out_ready);
    if (r < 0)
        return error_errno(err, -r, "watching the terminal");
    tty_console_notify(c->master, master_changed, c);
    (void)host_watch_arm(&c->in, POLLIN);
    return 0;
}

void console_flush(struct console *c)
{
    console_output(c);
}

void console_finish(struct console *c)
{
    c->finishing = true;
    console_output(c);
}

void console_end(struct console *c)
{
    for (int i = 0; i < 100; i++) {
        console_output(c);
        if (c->npending == 0)
            return;
        struct pollfd p = {.fd = c->out.fd, .events = POLLOUT};
        (void)poll(&p, 1, 20);
    }
}

void console_free(struct console *c)
{
    host_watch_done(&c->in);
    host_watch_done(&c->out);
    host_close(c->in.fd);
    host_close(c->out.fd);
    if (c->slave != NULL)
        file_put(c->slave);
    tty_console_free(c->master);
    *c = (struct console){.in.fd = -1, .out.fd = -1};
}
