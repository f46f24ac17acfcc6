/*
 * macro.c: whole commands: start of a sandbox against bubblewrap, runc and runsc where they are
 * installed; python's start against a chroot; memory of an idle sandbox.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include "bench/bench.h"

bool bench_installed(const char *name)
{
    static const char *const dirs[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin",
                                       "/usr/local/sbin"};
    char path[PATH_MAX];
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dirs[i], name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* What the last command left to end beside us ends first: bubblewrap returns before its sandbox has
 * gone. */
static int run_alone(const char *const argv[], char *buf, size_t cap, double *ret_ns)
{
    (void)usleep(5000);
    return run_command(argv, buf, cap, ret_ns);
}

/* Two commands interleaved; prints both medians in ms and the ratio first / second. */
static void compare_commands(const char *what, const char *const a[], const char *const b[],
                             int rounds)
{
    double x[BENCH_MAX_RUNS], y[BENCH_MAX_RUNS];
    char out[64];
    size_t n = 0;
    for (int i = 0; i < rounds && n < BENCH_MAX_RUNS; i++, n++) {
        if (run_alone(a, out, sizeof(out), &x[n]) != 0 ||
            run_alone(b, out, sizeof(out), &y[n]) != 0) {
            (void)printf("%-34s failed\n", what);
            return;
        }
    }
    double mx = median(x, n), my = median(y, n);
    (void)printf("%-34s %8.2f ms %8.2f ms %8.2f\n", what, mx / 1e6, my / 1e6, mx / my);
    (void)fflush(stdout);
}

/* Kilobytes of proportional set size of a process, from /proc/PID/smaps_rollup. */
static long pss_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0)
            kib = strtol(line + 4, NULL, 10);
    }
    (void)fclose(f);
    return kib;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    pid_t ppid = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    if (fgets(line, sizeof(line), f) != NULL) {
        const char *close = strrchr(line, ')');
        if (close != NULL && strlen(close) > 4)
            ppid = (pid_t)strtol(close + 4, NULL, 10);
    }
    (void)fclose(f);
    return ppid;
}

/* PSS of pid and everything below it. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the sandbox's processes, which are four */
static long tree_pss(pid_t root)
{
    long sum = pss_kib(root);
    DIR *d = opendir("/proc");
    struct dirent *e;
    if (d == NULL)
        return sum;
    while ((e = readdir(d)) != NULL) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && parent_of(pid) == root)
            sum += tree_pss(pid);
    }
    (void)closedir(d);
    return sum;
}

static void idle_memory(const char *sentry, const char *busybox)
{
    int p[2];
    char byte;
    if (pipe2(p, O_CLOEXEC) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(p[1], 1);
        (void)execl(sentry, "sentry", "run", busybox, "--", "sh", "-c", "echo x; exec sleep 100",
                    (char *)NULL);
        _exit(127);
    }
    (void)close(p[1]);
    if (pid > 0 && read(p[0], &byte, 1) == 1) {
        struct timespec ts = {0, 200000000};
        (void)nanosleep(&ts, NULL);
        (void)printf("%-34s %8ld KiB\n", "idle sandbox, whole tree, PSS", tree_pss(pid));
    }
    (void)close(p[0]);
    if (pid > 0) {
        (void)kill(pid, SIGTERM);
        (void)waitpid(pid, NULL, 0);
    }
}

/* A bundle of `true`, and the script that takes a runtime through a container's whole life. */
static bool make_bundle(const char *busybox, char *dir)
{
    char path[PATH_MAX];
    FILE *f;

    if (mkdtemp(dir) == NULL)
        return false;
    (void)snprintf(path, sizeof(path), "%s/config.json", dir);
    f = fopen(path, "we");
    if (f == NULL)
        return false;
    (void)fprintf(
        f,
        "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"%s\", \"readonly\": true},\n"
        " \"process\": {\"args\": [\"true\"], \"cwd\": \"/\", \"user\": {\"uid\": 0, \"gid\": 0},\n"
        "  \"env\": [\"PATH=/bin:/usr/bin\"]},\n"
        " \"mounts\": [{\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\"},\n"
        "  {\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\"}],\n"
        " \"linux\": {\"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"network\"},"
        " {\"type\": \"ipc\"}, {\"type\": \"uts\"}, {\"type\": \"mount\"}]}}\n",
        busybox);
    return fclose(f) == 0;
}

/* create + start + delete of the runtime beside ours, against runc. */
static void oci_life(const char *sentry, const char *busybox, int rounds)
{
    static const char life[] =
        "r() { \"$0\" --root \"$1/state\" \"$2\" \"$3\"; }; cd \"$1\" &&"
        " r \"$1\" create b </dev/null >/dev/null && r \"$1\" start b || exit 1; n=0;"
        " until r \"$1\" delete b 2>/dev/null; do n=$((n + 1)); [ $n -lt 500 ] || exit 1; done";
    char shim[PATH_MAX], dir[] = "/tmp/sentry-bench-XXXXXX", path[PATH_MAX];
    const char *slash = strrchr(sentry, '/');

    (void)snprintf(shim, sizeof(shim), "%.*srunsc-shim",
                   slash != NULL ? (int)(slash + 1 - sentry) : 0, sentry);
    if (!bench_installed("runc") || access(shim, X_OK) < 0 || !make_bundle(busybox, dir))
        return;
    const char *ours[] = {"/bin/sh", "-c", life, shim, dir, NULL};
    const char *runc[] = {"/bin/sh", "-c", life, "runc", dir, NULL};
    compare_commands("create, start, delete, against runc", ours, runc, rounds / 2);
    (void)snprintf(path, sizeof(path), "%s/config.json", dir);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/state", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
}

void start_run(const char *sentry, const char *busybox, int rounds)
{
    const char *ours[] = {sentry, "run", busybox, "--", "/bin/true", NULL};
    const char *bwrap[] = {"bwrap",
                           "--unshare-all",
                           "--die-with-parent",
                           "--ro-bind",
                           busybox,
                           "/",
                           "--proc",
                           "/proc",
                           "--dev",
                           "/dev",
                           "--tmpfs",
                           "/tmp",
                           "/bin/true",
                           NULL};
    if (bench_installed("bwrap"))
        compare_commands("true, against bubblewrap", ours, bwrap, rounds);
}

void macro_run(const char *sentry, const char *busybox, const char *debian, int rounds)
{
    (void)printf("\n%-34s %11s %11s %8s\n", "command", "sandbox", "other", "ratio");
    start_run(sentry, busybox, rounds);
    if (debian != NULL) {
        static const char code[] = "import json,re,subprocess";
        const char *py[] = {sentry, "run", debian, "--", "python3", "-c", code, NULL};
        const char *native[] = {"chroot", debian, "python3", "-c", code, NULL};
        compare_commands("python3 import, against chroot", py, native, rounds / 2);
    }
    oci_life(sentry, busybox, rounds);
    idle_memory(sentry, busybox);
    life_run(sentry, busybox, rounds);
}
