#pragma once
/*
 * Shared by the files of the harness.
 */
#include "lib/compiler.h"

enum {
    BENCH_MAX_RUNS = 64
};

/* Nanoseconds of one getppid through a bare user-notify loop; < 0: not possible here. */
double bare_notify_ns(int n);
/* Runs argv with output to buf (NUL-terminated); exit status, or -1. *ret_ns: wall time. */
int run_command(const char *const argv[], char *buf, size_t cap, double *ret_ns);
double median(double *v, size_t n);
bool bench_installed(const char *name);
void life_run(const char *sentry, const char *busybox, int rounds);
/* The whole of a program that does nothing, beside bubblewrap. */
void start_run(const char *sentry, const char *busybox, int rounds);
void macro_run(const char *sentry, const char *busybox, const char *debian, int rounds);
