/*
 * life.c: whole sandboxes: how fast they start, how many a second with 1, 2 and 8 side by side, and
 * how long one of 1000 processes takes to be gone. Against bubblewrap, runc and runsc where they
 * are installed; every row is measured in turns with the others.
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

#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/bench.h"

enum {
    MAX_ARGS = 24,
    PARALLEL_RUNS = 48,
    KILL_ROUNDS = 5
};

/* How a runtime runs the program `true` in an image. */
struct runtime {
    const char *name;
    const char *argv[MAX_ARGS];
    int id_at; /* index of an argument that must be new for every run, 0: none */
};

static char bundle[PATH_MAX];

static double now(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* A bundle for OCI runtimes, whose root is the image itself. */
/* With a /dev of its own: runc would make its devices in the image. */
static bool make_bundle(const char *image)
{
    char path[PATH_MAX + 16], root[PATH_MAX];
    (void)snprintf(bundle, sizeof(bundle), "/tmp/sentry-bench.XXXXXX");
    if (realpath(image, root) == NULL || mkdtemp(bundle) == NULL)
        return false;
    (void)snprintf(path, sizeof(path), "%.4000s/config.json", bundle);
    FILE *f = fopen(path, "we");
    if (f == NULL)
        return false;
    (void)fprintf(
        f,
        "{\"ociVersion\":\"1.0.2\",\"process\":{\"args\":[\"/bin/true\"],\"cwd\":\"/\","
        "\"env\":[\"PATH=/bin\"],\"user\":{\"uid\":0,\"gid\":0},\"noNewPrivileges\":true},"
        "\"root\":{\"path\":\"%s\",\"readonly\":true},\"mounts\":[{\"destination\":\"/proc\","
        "\"type\":\"proc\",\"source\":\"proc\"},{\"destination\":\"/dev\",\"type\":\"tmpfs\","
        "\"source\":\"tmpfs\"}],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},"
        "{\"type\":\"mount\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{\"type\":\"network\"}]}}\n",
        root);
    (void)fclose(f);
    return true;
}

static void remove_bundle(void)
{
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof(path), "%.4000s/config.json", bundle);
    (void)unlink(path);
    (void)rmdir(bundle);
}

static pid_t launch(const struct runtime *r)
{
    static unsigned serial;
    const char *argv[MAX_ARGS];
    char id[64];
    (void)snprintf(id, sizeof(id), "bench-%d-%u", (int)getpid(), serial++);
    memcpy(argv, r->argv, sizeof(argv));
    if (r->id_at != 0)
        argv[r->id_at] = id;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
            _exit(126);
        (void)execvp(argv[0], (char *const *)unconst(argv));
        _exit(127);
    }
    return pid;
}

/* Runs a second, or < 0 when one failed. */
static double rate(const struct runtime *r, int parallel, int runs)
{
    int started = 0, running = 0, status, failed = 0;
    double begin = now();
    while (started < runs || running > 0) {
        if (started < runs && running < parallel) {
            failed |= launch(r) < 0;
            started++;
            running++;
            continue;
        }
        if (wait(&status) < 0)
            return -1;
        running--;
        failed |= status;
    }
    return failed ? -1 : runs / ((now() - begin) / 1e9);
}

static void rates(const struct runtime *rts, size_t n, int rounds)
{
    static const int parallel[] = {1, 2, 8};
    (void)printf("\n%-34s", "runs a second");
    for (size_t p = 0; p < ARRAY_LEN(parallel); p++)
        (void)printf(" %9d |", parallel[p]);
    (void)printf("\n");
    double v[4][3][BENCH_MAX_RUNS];
    for (int i = 0; i < rounds && i < BENCH_MAX_RUNS; i++) {
        for (size_t p = 0; p < ARRAY_LEN(parallel); p++) {
            for (size_t r = 0; r < n; r++)
                v[r][p][i] = rate(&rts[r], parallel[p], PARALLEL_RUNS);
        }
    }
    for (size_t r = 0; r < n; r++) {
        (void)printf("%-34s", rts[r].name);
        for (size_t p = 0; p < ARRAY_LEN(parallel); p++)
            (void)printf(" %9.1f |", median(v[r][p], (size_t)MIN(rounds, BENCH_MAX_RUNS)));
        (void)printf("\n");
    }
    (void)fflush(stdout);
}

/* -- the end of many ----------------------------------------------------------------------------
 */

static bool in_group(const char *name, pid_t group)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof(path), "/proc/%.16s/stat", name);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *close = strrchr(text, ')');
    if (close == NULL || strlen(close) < 4)
        return false;
    char state = close[2], *end;
    (void)strtol(close + 3, &end, 10); /* its parent */
    return strtol(end, NULL, 10) == (long)group && state != 'Z' && state != 'X';
}

static bool anybody(pid_t group)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    bool found = false;
    if (d == NULL)
        return false;
    while (!found && (e = readdir(d)) != NULL)
        found = e->d_name[0] >= '0' && e->d_name[0] <= '9' && in_group(e->d_name, group);
    (void)closedir(d);
    return found;
}

/* ns from the kill of its outermost process until no process of the sandbox is left. */
static double kill_many(const char *const argv[])
{
    int p[2];
    char byte;
    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)dup2(p[1], 1);
        (void)close(p[0]);
        (void)execvp(argv[0], (char *const *)unconst(argv));
        _exit(127);
    }
    (void)close(p[1]);
    bool up = pid > 0 && read(p[0], &byte, 1) == 1;
    (void)close(p[0]);
    double begin = now();
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    while (up && anybody(pid))
        ;
    return up ? now() - begin : -1;
}

static void kills(const char *sentry, const char *busybox, bool bwrap)
{
    static const char script[] =
        "i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i + 1)); done; echo up; wait";
    const char *ours[] = {sentry,  "run", "--pids", "1100", "--timeout", "100s",
                          busybox, "--",  "sh",     "-c",   script,      NULL};
    const char *other[] = {"bwrap",     "--unshare-all", "--die-with-parent",
                           "--ro-bind", busybox,         "/",
                           "--dev",     "/dev",          "sh",
                           "-c",        script,          NULL};
    double a[KILL_ROUNDS], b[KILL_ROUNDS];
    for (int i = 0; i < KILL_ROUNDS; i++) {
        a[i] = kill_many(ours);
        b[i] = bwrap ? kill_many(other) : -1;
    }
    double ma = median(a, KILL_ROUNDS), mb = median(b, KILL_ROUNDS);
    (void)printf("%-34s %8.2f ms", "kill of 1000 processes", ma / 1e6);
    if (mb > 0)
        (void)printf(" %8.2f ms %8.2f (bubblewrap)", mb / 1e6, ma / mb);
    (void)printf("\n");
    (void)fflush(stdout);
}

void life_run(const char *sentry, const char *busybox, int rounds)
{
    struct runtime rts[4] = {
        {"sentry", {sentry, "run", busybox, "--", "/bin/true", NULL}, 0},
    };
    size_t n = 1;
    if (bench_installed("bwrap"))
        rts[n++] = (struct runtime){"bubblewrap",
                                    {"bwrap", "--unshare-all", "--die-with-parent", "--ro-bind",
                                     busybox, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
                                     "/tmp", "/bin/true", NULL},
                                    0};
    bool oci = make_bundle(busybox);
    if (oci && bench_installed("runc"))
        rts[n++] = (struct runtime){"runc", {"runc", "run", "--bundle", bundle, "ID", NULL}, 4};
    if (oci && bench_installed("runsc"))
        rts[n++] = (struct runtime){
            "runsc", {"runsc", "--network=none", "run", "--bundle", bundle, "ID", NULL}, 5};
    rates(rts, n, MAX(1, rounds / 3));
    kills(sentry, busybox, bench_installed("bwrap"));
    if (oci)
        remove_bundle();
}
