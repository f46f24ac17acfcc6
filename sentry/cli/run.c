/*
 * run.c: `sentry run`: options, the monitor (monitor.c), the entry in the state directory, the
 * report and the exit status.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/cli.h"
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
        .pids_peak = res->last.pids_peak,
        .disk_peak = res->last.disk_peak,
        .syscalls = res->last.syscalls,
        .unsupported = res->last.unsupported,
    };
    error_init(&err);
    if (report_write(&rep, b, &err) < 0) {
        (void)fprintf(stderr, "sentry: %s\n", err.text);
        return EXIT_START;
    }
    return res->exit_code;
}

static int run_boot(struct boot *b)
{
    struct monitor_result res;

    monitor_run(b, NULL, &res);
    if (res.verdict != VERDICT_OK && res.verdict != VERDICT_EXIT && res.verdict != VERDICT_SIGNAL)
        (void)fprintf(stderr, "sentry: %s\n", res.text);
    return b->report_path != NULL ? write_report(b, &res) : res.exit_code;
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
