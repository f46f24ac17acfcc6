/*
 * run.c: `sentry run`: options, the monitor (monitor.c), the entry in the state directory, the
 * report and the exit status.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include <sys/socket.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/log.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/control.h"
#include "sentry/cli/entry.h"
#include "sentry/cli/janitor.h"
#include "sentry/cli/monitor.h"
#include "sentry/cli/options.h"
#include "sentry/cli/report.h"

enum {
    EXIT_START = 125
};

static int write_report(const struct boot *b, const struct monitor_result *res)
{
    static const char *const metrics[] = {"sentry.committed", "cgroup1.max_usage", "cgroup2.peak"};
    static const char *const enforcers[] = {"sentry", "cgroup1", "cgroup2"};
    static const char *const shares[] = {"none", "cgroup1", "cgroup2"};
    struct error err;
    struct report rep = {
        .verdict = res->verdict,
        .message = res->text,
        .exit_code = res->exit_code,
        .signal = res->verdict == VERDICT_SIGNAL ? res->wait_status & 0x7f : 0,
        .wall_ms = res->started ? (double)(res->end_ns - res->start_ns) / 1e6 : 0,
        .startup_ms = res->started ? (double)(res->start_ns - res->begin_ns) / 1e6 : 0,
        .cpu_ns = res->last.cpu_ns,
        .cpu_system_ns = res->last.cpu_system_ns,
        .memory_peak = res->memory_peak,
        .memory_metric = metrics[res->memory_kind],
        .memory_enforcer = enforcers[res->memory_kind],
        .cpus_enforcer = b->limits.cpus_milli != 0 ? shares[res->cpu_kind] : NULL,
        .pids_peak = res->last.pids_peak,
        .disk_peak = res->last.disk_peak,
        .syscalls = res->last.syscalls,
        .unsupported = res->last.unsupported,
    };
    error_init(&err);
    if (report_write(&rep, b, &err) < 0) {
        (void)report_say(err.text);
        return EXIT_START;
    }
    return res->exit_code;
}

struct run {
    struct boot *b;
    struct entry entry;
    pid_t sentry;
    int control;
};

static int run_made(void *ctx, const struct sandbox *sb, struct error *err)
{
    struct run *r = ctx;
    (void)err;
    r->sentry = sb->sentry;
    r->control = sb->control;
    return 0;
}

static void run_started(void *ctx)
{
    struct run *r = ctx;
    entry_write(&r->entry, r->b, r->sentry);
}

/* Without --name nobody asked for an entry: it is there for those who look at what runs, so a short
 * run has none, and a failure is a matter for the log. */
static void run_lasting(void *ctx)
{
    struct run *r = ctx;
    struct error err;
    error_init(&err);
    if (entry_begin(&r->entry, r->b, &err) < 0) {
        LOG_I(CH_CLI, "no entry in the state directory: %s", err.text);
        return;
    }
    if (send(r->control, BOOT_LISTEN, strlen(BOOT_LISTEN), MSG_NOSIGNAL) < 0)
        LOG_I(CH_CLI, "no control socket: the sentry has ended");
    fd_close(r->b->listen_fd);
    r->b->listen_fd = -1;
    entry_write(&r->entry, r->b, r->sentry);
}

static void run_ending(void *ctx)
{
    struct run *r = ctx;
    entry_end(&r->entry);
}

static int run_boot(struct boot *b)
{
    struct monitor_result res;
    struct run r = {.b = b};
    struct error err;
    struct monitor_hooks hooks = {
        .ctx = &r, .made = run_made, .started = run_started, .ending = run_ending};

    error_init(&err);
    if (b->name != NULL && entry_begin(&r.entry, b, &err) < 0) {
        (void)fprintf(stderr, "sentry: --name: %s\n", err.text);
        return EXIT_START;
    }
    if (b->name == NULL) {
        b->listen_later = control_socket(&b->listen_fd, &err) == 0;
        if (b->listen_later)
            hooks.lasting = run_lasting;
        else
            LOG_I(CH_CLI, "no entry in the state directory: %s", err.text);
    }
    monitor_run(b, &hooks, &res);
    entry_end(&r.entry);
    if (!res.said && res.verdict != VERDICT_OK && res.verdict != VERDICT_EXIT &&
        res.verdict != VERDICT_SIGNAL)
        (void)report_say(res.text);
    return b->report_path != NULL ? write_report(b, &res) : res.exit_code;
}

int cmd_run(int argc, char **argv)
{
    static struct boot b; /* too large for the stack; one run a process */
    struct error err;

    boot_init(&b);
    error_init(&err);
    int status = EXIT_START;
    if (options_parse_run(argc, argv, &b, &err) < 0)
        (void)fprintf(stderr, "sentry: %s\n", err.text);
    else
        status = run_boot(&b);
    boot_done(&b);
    janitor_reap();
    return status;
}
