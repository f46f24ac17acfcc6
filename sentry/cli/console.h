#pragma once
/*
 * Joins a terminal of the host to a guest pty, on the worker: for --tty, and for an exec with a
 * terminal.
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
    bool finishing;
    /* Both may be NULL, and run inside of other code: they may do no more than note it. */
    void (*written)(struct console *c); /* after console_finish: nothing is left to write */
    void (*hung)(struct console *c);    /* the host's terminal is gone */
};

/* The descriptors are the console's from here on, on failure too. */
int console_begin(struct console *c, int in_fd, int out_fd, struct error *err) MUST_CHECK;
/* Output goes on until everything is written, then `written` is called. */
void console_finish(struct console *c);
/* Writes what the host's terminal takes now. */
void console_flush(struct console *c);
/* Writes what is left, waiting for the terminal a bounded time. */
void console_end(struct console *c);
/* Hangs up and closes; outside of the callbacks. */
void console_free(struct console *c);
