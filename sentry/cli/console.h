#pragma once
/*
 * --tty: joins the caller's terminal to a guest pty, on the worker.
 */
#include "lib/compiler.h"

#include "sentry/host/host.h"

struct error;
struct file;
struct tty_master;

struct console {
    struct tty_master *master;
    struct file *slave; /* counted */
    struct host_watch in, out;
    char pending[4096]; /* output that the host's terminal did not take yet */
    size_t npending;
};

int console_begin(struct console *c, int in_fd, int out_fd, struct error *err) MUST_CHECK;
/* Writes what is left. */
void console_end(struct console *c);
