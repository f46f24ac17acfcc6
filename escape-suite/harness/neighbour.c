/*
 * neighbour.c: starts the neighbour, asks it after each attack whether all is as it left it.
 */
#include "escape-suite/harness/neighbour.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "escape-suite/harness/run.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    /* An end is seen at once; a machine with fifty others to serve may be slow. */
    START_MS = 120000,
    ANSWER_MS = 60000
};

/* One line from the neighbour, without its end; false when none comes in time. */
static bool read_line(int fd, char *buf, size_t cap, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t end = now_ms() + (uint64_t)ms;
    size_t n = 0;
    for (;;) {
        uint64_t now = now_ms();
        if (now >= end || n + 1 >= cap || poll(&p, 1, (int)(end - now)) <= 0)
            return false;
        ssize_t r = read(fd, buf + n, 1);
        if (r <= 0)
            return false;
        if (buf[n] == '\n') {
            buf[n] = '\0';
            return true;
        }
        n++;
    }
}

static NORETURN void child(char *const *argv, int in, int out, int errors)
{
    (void)setsid();
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(errors, 2) == 2 && chdir("/") == 0)
        (void)execvp(argv[0], argv);
    _exit(127);
}

/* The last thing that it said before it gave up. */
static int refused(int errors, const char *program, struct error *err)
{
    char text[400] = "", *end;
    off_t size = lseek(errors, 0, SEEK_END);
    off_t from = size > (off_t)sizeof(text) - 1 ? size - (off_t)sizeof(text) + 1 : 0;
    ssize_t n = pread(errors, text, sizeof(text) - 1, from);
    text[n > 0 ? n : 0] = '\0';
    while ((end = strrchr(text, '\n')) != NULL && end[1] == '\0')
        *end = '\0';
    return error_set(err, ENOENT, "the neighbour, a plain run of %s, does not start: %s", program,
                     end != NULL ? end + 1 : text);
}

int neighbour_start(struct neighbour *n, char *const *argv, struct error *err)
{
    int in[2], out[2];
    char line[128];
    auto_fd int errors = memfd_create("errors", MFD_CLOEXEC);
    *n = (struct neighbour){.ask = -1, .answer = -1};
    if (canary_secret(n->secret) < 0 || pipe2(in, O_CLOEXEC) < 0)
        return error_errno(err, errno, "neighbour");
    if (pipe2(out, O_CLOEXEC) < 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return error_errno(err, errno, "neighbour");
    }
    n->pid = fork();
    if (n->pid == 0)
        child(argv, in[0], out[1], errors);
    (void)close(in[0]);
    (void)close(out[1]);
    n->ask = in[1];
    n->answer = out[0];
    (void)snprintf(line, sizeof(line), "%s\n", n->secret);
    if (n->pid < 0 || fd_write_full(n->ask, line, strlen(line)) < 0 ||
        !read_line(n->answer, line, sizeof(line), START_MS) || strcmp(line, "ready") != 0)
        return refused(errors, argv[0], err);
    return 0;
}

void neighbour_check(struct neighbour *n, struct findings *f)
{
    char line[256];
    if (n->pid <= 0 || n->lost)
        return;
    if (fd_write_full(n->ask, "?\n", 2) < 0 ||
        !read_line(n->answer, line, sizeof(line), ANSWER_MS)) {
        findings_add(f, "the neighbouring run was ended or does not answer");
        n->lost = true;
    } else if (strcmp(line, "intact") != 0) {
        findings_add(f, "the neighbouring run says: %.200s", line);
    }
}

void neighbour_stop(struct neighbour *n, char *const *cleanup)
{
    if (n->pid > 0) {
        if (cleanup[0] != NULL)
            run_simple(cleanup);
        (void)kill(n->pid, SIGKILL);
        (void)waitpid(n->pid, NULL, 0);
    }
    fd_close(n->ask);
    fd_close(n->answer);
    *n = (struct neighbour){.ask = -1, .answer = -1};
}
