/*
 * run.c: `sentry run`, the monitor: outside of the box, it holds the wall deadline and turns the end of the
 * run into an exit status.
 *
 * It waits for three things: a message of the sentry (the program ended, or could not be started), the
 * sentry's end (its socket closes), and the deadline. Whatever comes first, every process of the
 * sandbox is killed before the monitor returns.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/options.h"
#include "sentry/cli/spawn.h"
#include "sentry/cli/terminal.h"

enum { EXIT_LIMIT = 124, EXIT_START = 125 };

static uint64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What the monitor saw. */
struct outcome {
    bool started, ended, wall_limit;
    struct boot_message last;
};

static int poll_timeout_ms(const struct outcome *o, uint64_t deadline)
{
    if (!o->started || deadline == 0)
        return -1;
    uint64_t now = now_ns();
    if (now >= deadline)
        return 0;
    uint64_t ms = (deadline - now + 999999) / 1000000;
    return ms > 1000000000 ? 1000000000 : (int)ms;
}

/* False when the sentry is gone. */
static bool receive(int control, struct outcome *o)
{
    struct boot_message m;
    ssize_t n = recv(control, &m, sizeof(m), 0);
    if (n < 0 && errno == EINTR)
        return true;
    if (n != (ssize_t)sizeof(m))
        return false;
    m.text[sizeof(m.text) - 1] = '\0';
    if (m.kind == BOOT_STARTED) {
        o->started = true;
        return true;
    }
    o->last = m;
    o->ended = true;
    return false;
}

static void monitor_loop(const struct boot *b, const struct sandbox *sb, struct terminal *term,
                         struct outcome *o)
{
    uint64_t deadline = 0;
    for (;;) {
        struct pollfd p[2] = {{.fd = sb->control, .events = POLLIN},
                              {.fd = terminal_signal_fd(term), .events = POLLIN}};
        int r = poll(p, 2, poll_timeout_ms(o, deadline));
        if (r < 0 && errno != EINTR)
            return;
        if (r > 0 && p[1].revents != 0)
            terminal_forward_size(term, sb->control);
        if (r > 0 && p[0].revents != 0) {
            bool was = o->started;
            if (!receive(sb->control, o))
                return;
            if (!was && o->started && b->limits.wall_ns != 0)
                deadline = now_ns() + b->limits.wall_ns;
        }
        if (o->started && deadline != 0 && now_ns() >= deadline) {
            o->wall_limit = true;
            return;
        }
    }
}

static int exit_status(const struct boot *b, const struct outcome *o, int sentry_status)
{
    if (o->wall_limit) {
        (void)fprintf(stderr, "sentry: the run was ended: wall limit of %g s\n",
                      (double)b->limits.wall_ns / 1e9);
        return EXIT_LIMIT;
    }
    if (!o->ended) {
        if (WIFSIGNALED(sentry_status))
            (void)fprintf(stderr, "sentry: internal error: the sentry was killed by signal %d\n",
                          WTERMSIG(sentry_status));
        else
            (void)fprintf(stderr, "sentry: internal error: the sentry ended with status %d\n",
                          WEXITSTATUS(sentry_status));
        return EXIT_START;
    }
    if (o->last.kind == BOOT_FAILED) {
        (void)fprintf(stderr, "sentry: %s\n", o->last.text);
        return o->last.status;
    }
    if (o->last.text[0] != '\0') {
        (void)fprintf(stderr, "sentry: internal error: %s\n", o->last.text);
        return EXIT_START;
    }
    int st = o->last.status;
    return (st & 0x7f) != 0 ? 128 + (st & 0x7f) : (st >> 8) & 0xff;
}

static int run_boot(struct boot *b)
{
    struct error err;
    struct sandbox sb = {.control = -1};
    struct outcome o = {0};
    struct terminal term;
    int sentry_status = 0;

    error_init(&err);
    if (terminal_begin(&term, b->tty, &err) < 0 || sandbox_start(b, &sb, &err) < 0) {
        terminal_end(&term);
        (void)fprintf(stderr, "sentry: %s\n", err.text);
        return EXIT_START;
    }
    terminal_forward_size(&term, sb.control);
    monitor_loop(b, &sb, &term, &o);
    if (!o.ended && !o.wall_limit) {
        /* The socket closed first: the sentry is ending by itself. */
        while (waitpid(sb.sentry, &sentry_status, 0) < 0 && errno == EINTR)
            continue;
        sb.sentry = 0;
        int ignored;
        sandbox_end(&sb, &ignored);
    } else {
        sandbox_end(&sb, &sentry_status);
    }
    terminal_end(&term);
    return exit_status(b, &o, sentry_status);
}

int cmd_run(int argc, char **argv)
{
    struct boot b;
    struct error err;

    boot_init(&b);
    error_init(&err);
    int status = EXIT_START;
    if (options_parse_run(argc, argv, &b, &err) < 0)
        (void)fprintf(stderr, "sentry: %s\n", err.text);
    else
        status = run_boot(&b);
    boot_done(&b);
    return status;
}
