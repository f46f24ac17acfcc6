#pragma once
/*
 * A connection to the control socket, in the sentry: what control_server.c (connections, answers,
 * short requests) and control_server_exec.c (processes) share.
 */
#include "lib/compiler.h"

#include "lib/list.h"
#include "sentry/cli/control.h"
#include "sentry/host/host.h"
#include "sentry/kernel/timer.h"
#include "sentry/kernel/waitqueue.h"

struct console;
struct error;
struct thread_group;

enum {
    EXIT_OTHER = 1
};

struct conn {
    struct list_head link;
    struct host_watch watch; /* fd -1: the client has gone */
    struct thread_group *tg; /* counted: its end is told */
    struct wait_entry exit;
    struct timer later;
    struct console *console; /* of an exec with a terminal */
    bool hung;               /* the console's terminal on the host has gone */
    bool exited;
    int wait_status;
};

extern struct control_server control_config;
extern struct list_head control_conns;

void conn_answer(struct conn *c, struct control_reply *rp);
void conn_fail(struct conn *c, int code, const char *text);
void conn_fail_with(struct conn *c, int exit_code, const struct error *err);
/* The end of tg will be told, and with it the connection ends. */
void conn_watch(struct conn *c, struct thread_group *tg CONSUMES);
/* Frees what has ended, outside of every callback. */
void conn_later(struct conn *c);
void conn_drop_console(struct conn *c);
/* CONTROL_EXEC: fds is the memfd, the streams, and what is passed on; -1 once they are used. */
void conn_exec(struct conn *c, int *fds, size_t nfds);
