#pragma once
/*
 * The report of a run (`--report FILE|-`), written by the monitor.
 */
#include "lib/compiler.h"

#include "sentry/kernel/verdict.h"

struct boot;
struct error;

struct report {
    enum verdict verdict;
    const char *message; /* one sentence */
    int exit_code;       /* of `sentry run` */
    int signal;          /* 0: none */
    double wall_ms, startup_ms;
    uint64_t cpu_ns, cpu_system_ns, memory_peak, disk_peak, syscalls;
    const char *memory_metric, *memory_enforcer;
    const char *cpus_enforcer; /* NULL: no share of the CPUs was asked for */
    uint32_t pids_peak;
    const uint32_t *unsupported; /* 512 counts by number, or NULL */
};

/* "ok", "wall-limit", ... */
const char *verdict_name(enum verdict v);
/* Can a report be written there? Checked before anything starts. */
int report_check(const char *path, struct error *err) MUST_CHECK;
/* "sentry: TEXT" on standard error; given up when nobody reads for a second. */
int report_say(const char *text);
/* Complete or absent: written to a temporary file beside and renamed. "-": one line on standard
 * error. */
int report_write(const struct report *r, const struct boot *b, struct error *err) MUST_CHECK;
