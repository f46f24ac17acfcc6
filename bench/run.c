/*
 * sentry-bench [--rounds N] [--only OP|life|commands|start] [--sentry PATH] BUSYBOX-IMAGE
 * [DEBIAN-IMAGE]
 *
 * Runs every operation of bench-guest natively and in the sandbox, interleaved, and prints the
 * medians and their ratio; then whole commands (macro.c). See README.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include "bench/bench.h"

enum {
    MANY_SOCKETS = 4000
};

static double now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int run_command(const char *const argv[], char *buf, size_t cap, double *ret_ns)
{
    int p[2], status = -1;
    size_t len = 0;
    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    double start = now_ns();
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(p[1], 1);
        (void)execvp(argv[0], (char *const *)unconst(argv));
        _exit(127);
    }
    (void)close(p[1]);
    for (;;) {
        char scrap[512];
        char *to = len + 1 < cap ? buf + len : scrap;
        size_t room = len + 1 < cap ? cap - 1 - len : sizeof(scrap);
        ssize_t n = read(p[0], to, room);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        if (n > 0 && to != scrap)
            len += (size_t)n;
    }
    (void)close(p[0]);
    if (cap > 0)
        buf[len] = '\0';
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    *ret_ns = now_ns() - start;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median(double *v, size_t n)
{
    if (n == 0)
        return -1;
    qsort(v, n, sizeof(*v), compare);
    return n % 2 != 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct paths {
    char sentry[PATH_MAX], guest[PATH_MAX], image_file[PATH_MAX];
    char image[64]; /* a copy of the busybox image with the guest program in it */
    const char *busybox;
};

/* "NAME NS" from the guest program. */
static double parse_ns(const char *out)
{
    const char *sp = strchr(out, ' ');
    return sp != NULL ? strtod(sp + 1, NULL) : -1;
}

static double measure(const struct paths *p, const char *op, bool inside)
{
    char out[256];
    double ns;
    const char *native[] = {p->guest, op, NULL};
    const char *sandbox[] = {p->sentry,          "run", "--timeout", "60s", p->image, "--",
                             "/bin/bench-guest", op,    NULL};
    int st = run_command(inside ? sandbox : native, out, sizeof(out), &ns);
    return st == 0 ? parse_ns(out) : -1;
}

/* The gate is compared with a bare loop too, in the same interleaved rounds: which CPU the host
 * lets the two sides meet on varies from one run to the next. */
static void row(const struct paths *p, const char *op, int rounds)
{
    double n[BENCH_MAX_RUNS], s[BENCH_MAX_RUNS], bare[BENCH_MAX_RUNS];
    size_t count = 0;
    bool gate = strcmp(op, "getppid") == 0;
    for (int i = 0; i < rounds && count < BENCH_MAX_RUNS; i++) {
        n[count] = measure(p, op, false);
        s[count] = measure(p, op, true);
        bare[count] = gate ? bare_notify_ns(20000) : 1;
        if (n[count] <= 0 || s[count] <= 0 || bare[count] <= 0) {
            (void)printf("%-14s failed\n", op);
            return;
        }
        count++;
    }
    double mn = median(n, count), ms = median(s, count);
    (void)printf("%-14s %12.0f %12.0f %8.2f", op, mn, ms, ms / mn);
    if (gate) {
        double mb = median(bare, count);
        (void)printf("   (bare notify %.0f, gate / bare %.2f)", mb, ms / mb);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

static int find_paths(struct paths *p, const char *sentry)
{
    ssize_t n = readlink("/proc/self/exe", p->guest, sizeof(p->guest) - 32);
    if (n < 0)
        return -1;
    p->guest[n] = '\0';
    char *slash = strrchr(p->guest, '/');
    if (slash == NULL)
        return -1;
    *slash = '\0';
    if (sentry != NULL)
        (void)snprintf(p->sentry, sizeof(p->sentry), "%s", sentry);
    else
        (void)snprintf(p->sentry, sizeof(p->sentry), "%.4000s/sentry", p->guest);
    (void)snprintf(slash, sizeof(p->guest) - (size_t)(slash - p->guest), "/bench-guest");
    return 0;
}

static int quietly(const char *const argv[])
{
    char out[1];
    double ns;
    return run_command(argv, out, sizeof(out), &ns);
}

static int image_make(struct paths *p)
{
    char from[PATH_MAX], bin[sizeof(p->image) + 4];
    (void)snprintf(p->image, sizeof(p->image), "/tmp/sentry-bench-XXXXXX");
    if (mkdtemp(p->image) == NULL)
        return -1;
    (void)snprintf(from, sizeof(from), "%.4000s/.", p->busybox);
    (void)snprintf(bin, sizeof(bin), "%s/bin", p->image);
    const char *image[] = {"cp", "-a", from, p->image, NULL};
    const char *guest[] = {"cp", p->guest, bin, NULL};
    return quietly(image) == 0 && quietly(guest) == 0 ? 0 : -1;
}

static void image_remove(const struct paths *p)
{
    const char *remove[] = {"rm", "-rf", p->image, NULL};
    (void)quietly(remove);
}

/* Linux collects AF_UNIX sockets in flight at every message of anybody when there are too many. */
static void note_sockets(void)
{
    char line[256];
    FILE *f = fopen("/proc/net/protocols", "re");
    long sockets = 0;
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "UNIX %*d %ld", &sockets) == 1 && sockets > MANY_SOCKETS)
            (void)printf(
                "note: %ld AF_UNIX sockets are open here. If many are in flight, the host's kernel "
                "looks through\nall of them at every message, and whatever asks the "
                "gofer is slow: docs/performance.md\n",
                sockets);
    }
    if (f != NULL)
        (void)fclose(f);
}

/* The image is made for those who measure something in it. */
static int operations(struct paths *p, const char *only, int rounds)
{
    static const char *const ops[] = {"getppid",   "anon-fault",  "file-fault", "fork",
                                      "fork-exec", "thread",      "open-close", "stat",
                                      "pread64k",  "mmap-munmap", "pipe",       "signal"};
    (void)printf("%-14s %12s %12s %8s\n", "operation", "native ns", "sandbox ns", "ratio");
    int r = 0;
    for (size_t o = 0; o < ARRAY_LEN(ops) && r == 0; o++) {
        if (only != NULL && strcmp(only, ops[o]) != 0)
            continue;
        r = p->image[0] == '\0' ? image_make(p) : 0;
        if (r == 0)
            row(p, ops[o], rounds);
    }
    if (p->image[0] != '\0')
        image_remove(p);
    return r;
}

int main(int argc, char **argv)
{
    static struct paths p;
    const char *only = NULL, *sentry = NULL;
    int rounds = 9, i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = MAX(1, MIN(BENCH_MAX_RUNS, (int)strtol(argv[i + 1], NULL, 10)));
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--sentry") == 0)
            sentry = argv[i + 1];
        else
            break;
    }
    if (i >= argc || find_paths(&p, sentry) < 0) {
        (void)fprintf(
            stderr,
            "usage: sentry-bench [--rounds N] [--only OP|life|commands|start] [--sentry PATH] "
            "BUSYBOX [DEBIAN]\n");
        return 2;
    }
    /* Absolute, since a bundle names it too. */
    p.busybox = realpath(argv[i], NULL);
    if (p.busybox == NULL) {
        (void)fprintf(stderr, "sentry-bench: %s: %s\n", argv[i], strerror(errno));
        return 2;
    }
    note_sockets();
    (void)snprintf(p.image_file, sizeof(p.image_file), "%.4000s/bin/busybox", p.busybox);
    (void)setenv("BENCH_FILE", p.image_file, 1);
    if (operations(&p, only, rounds) < 0) {
        (void)fprintf(stderr, "sentry-bench: no copy of %s in /tmp\n", p.busybox);
        return 1;
    }
    if (only != NULL && strcmp(only, "life") == 0)
        life_run(p.sentry, p.busybox, rounds);
    if (only != NULL && strcmp(only, "start") == 0)
        start_run(p.sentry, p.busybox, rounds);
    if (only == NULL || strcmp(only, "commands") == 0)
        macro_run(p.sentry, p.busybox, i + 1 < argc ? argv[i + 1] : NULL, rounds * 2);
    return 0;
}
