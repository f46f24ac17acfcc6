/*
 * cmd_kill.c: `sentry kill`, `sentry pause` and `sentry resume`.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/parse.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/control.h"
#include "sentry/cli/entry.h"

enum {
    EXIT_START = 125,
    SIGNALS = 64
};

static int fail(const struct error *err)
{
    (void)fprintf(stderr, "sentry: %s\n", err->text);
    return EXIT_START;
}

/* "9", "KILL", "SIGKILL", in either case. */
static int parse_signal(const char *s, int *ret_signo, struct error *err)
{
    uint64_t v;
    if (parse_u64(s, 0, SIGNALS, &v, NULL) == 0) {
        *ret_signo = (int)v;
        return 0;
    }
    if (strncasecmp(s, "SIG", 3) == 0)
        s += 3;
    for (int i = 1; i < SIGRTMIN; i++) {
        const char *name = sigabbrev_np(i);
        if (name != NULL && strcasecmp(name, s) == 0) {
            *ret_signo = i;
            return 0;
        }
    }
    return error_set(err, EINVAL, "'%.32s' is no signal", s);
}

struct request {
    const char *id;
    int32_t pid;
    int signo;
    bool all, has_pid;
};

static int parse_word(struct request *rq, const char *word, struct error *err)
{
    uint64_t pid;
    if (rq->id == NULL) {
        rq->id = word;
        return 0;
    }
    if (rq->has_pid)
        return error_set(err, EINVAL, "one process at a time");
    if (parse_u64(word, 1, INT32_MAX, &pid, NULL) < 0)
        return error_set(err, EINVAL, "'%.32s' is no process id", word);
    rq->has_pid = true;
    rq->pid = (int32_t)pid;
    return 0;
}

static int parse(struct request *rq, int argc, char **argv, struct error *err)
{
    int r = 0;
    for (int i = 1; i < argc && r == 0; i++) {
        if (strcmp(argv[i], "-s") == 0 || strcmp(argv[i], "--signal") == 0)
            r = i + 1 < argc ? parse_signal(argv[++i], &rq->signo, err)
                             : error_set(err, EINVAL, "-s needs a signal");
        else if (strcmp(argv[i], "--all") == 0 || strcmp(argv[i], "-a") == 0)
            rq->all = true;
        else if (argv[i][0] == '-')
            r = error_set(err, EINVAL, "unknown option %.64s", argv[i]);
        else
            r = parse_word(rq, argv[i], err);
    }
    if (r < 0)
        return r;
    if (rq->id == NULL)
        return error_set(err, EINVAL, "no sandbox given: sentry kill [-s SIGNAL] [--all] ID [PID]");
    if (rq->all && rq->has_pid)
        return error_set(err, EINVAL, "--all and a process exclude each other");
    return 0;
}

int cmd_kill(int argc, char **argv)
{
    struct request rq = {.signo = SIGTERM};
    struct error err;
    int sock;

    error_init(&err);
    if (parse(&rq, argc, argv, &err) < 0 || entry_connect(rq.id, &sock, &err) < 0)
        return fail(&err);
    int r = control_signal(sock, rq.all ? -1 : rq.pid, rq.signo, &err);
    (void)close(sock);
    return r < 0 ? fail(&err) : 0;
}

int cmd_pause(int argc, char **argv)
{
    struct error err;
    int sock;

    error_init(&err);
    if (argc != 2)
        return error_set(&err, EINVAL, "one sandbox: sentry %s ID", argv[0]), fail(&err);
    if (entry_connect(argv[1], &sock, &err) < 0)
        return fail(&err);
    int r = control_pause(sock, strcmp(argv[0], "pause") == 0, &err);
    (void)close(sock);
    return r < 0 ? fail(&err) : 0;
}
