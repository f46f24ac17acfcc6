/*
 * janitor.c: how this works: the janitor reads a pipe whose other end only the monitor has. What
 * it reads are records of strings that end with a zero, "g" DIRECTORY or "e" ROOT ID. When the pipe
 * is closed it goes through them. What the monitor removed itself is not there any more; an entry
 * that somebody has made anew under the same id is claimed by its maker and left alone.
 */
#include "sentry/cli/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/cleanup.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/state.h"

enum {
    TOLD_MAX = 2 * PIPE_BUF,
    CLAIM_TRIES = 1000 /* five seconds: until whoever inherited the claim has ended */
};

/* One run a process, hence one janitor. */
static struct {
    int fd;
    pid_t pid;
    unsigned users;
} pipe_end = {.fd = -1};

static char told[TOLD_MAX];
static size_t told_len;

static ssize_t read_told(void)
{
    char more[256];
    /* What does not fit is left to others; only the end of the pipe is the monitor's. */
    if (told_len == TOLD_MAX)
        return read(0, more, sizeof(more));
    ssize_t r = read(0, told + told_len, TOLD_MAX - told_len);
    told_len += (size_t)MAX(r, (ssize_t)0);
    return r;
}

/* -- the process ------------------------------------------------------------------------------- */

static const char *next_string(size_t *at)
{
    const char *s = told + *at;
    const char *end = memchr(s, '\0', told_len - *at);
    if (end == NULL)
        return NULL;
    *at += (size_t)(end - s) + 1;
    return s;
}

static void remove_entry(const char *root, const char *id, int tries)
{
    auto_fd int dir = -1;
    if (state_open(root, id, &dir, NULL) < 0)
        return;
    int r = state_claim(dir, false);
    while (r == -EWOULDBLOCK && --tries > 0) {
        struct timespec ts = {0, 5000000};
        (void)nanosleep(&ts, NULL);
        r = state_claim(dir, false);
    }
    if (r == 0)
        (void)!state_remove(root, id, NULL);
}

static void remove_all(bool groups, int tries)
{
    const char *kind, *name, *id;
    for (size_t at = 0; (kind = next_string(&at)) != NULL && (name = next_string(&at)) != NULL;) {
        if (kind[0] == 'g' && groups)
            cgroup_clear(name);
        if (kind[0] == 'g')
            continue;
        id = next_string(&at);
        if (id != NULL)
            remove_entry(name, id, tries);
    }
}

NORETURN static void janitor(int fd)
{
    (void)setsid();
    (void)signal(SIGHUP, SIG_IGN);
    (void)prctl(PR_SET_NAME, "sentry-janitor");
    /* So that waking it does not take the processor from the monitor, which is about to end. */
    (void)sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0});
    if (fd != 0)
        (void)dup2(fd, 0);
    (void)syscall(SYS_close_range, 1u, ~0u, 0);
    for (;;) {
        ssize_t r = read_told();
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
    }
    /* Entries are gone at once; a group takes as long as what it holds takes to end. */
    remove_all(false, 1);
    remove_all(true, CLAIM_TRIES);
    _exit(0);
}

/* -- the monitor's side ------------------------------------------------------------------------ */

static void start(void)
{
    int p[2];
    if (pipe_end.fd >= 0 || pipe2(p, O_CLOEXEC) < 0)
        return;
    janitor_reap();
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(p[1]);
        janitor(p[0]);
    }
    (void)close(p[0]);
    if (pid < 0)
        (void)close(p[1]);
    else
        pipe_end.fd = p[1];
    pipe_end.pid = MAX(pid, 0);
}

/* A janitor that somebody has killed is no reason for the monitor to die. */
static void send_told(const char *text, size_t len)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    if (sigaction(SIGPIPE, &ignore, &old) < 0)
        return;
    (void)!write(pipe_end.fd, text, len);
    (void)sigaction(SIGPIPE, &old, NULL);
}

/* Longer names than a pipe takes at once are nothing that a monitor makes. */
static void tell(const char *const *strings, size_t n)
{
    char text[PIPE_BUF];
    size_t len = 0;
    pipe_end.users++;
    for (size_t i = 0; i < n; i++) {
        size_t k = strlen(strings[i]) + 1;
        if (k > sizeof(text) - len)
            return;
        memcpy(text + len, strings[i], k);
        len += k;
    }
    start();
    if (pipe_end.fd >= 0)
        send_told(text, len);
}

void janitor_tell_group(const char *dir)
{
    tell((const char *const[]){"g", dir}, 2);
}

void janitor_tell_entry(const char *root, const char *id)
{
    tell((const char *const[]){"e", root, id}, 3);
}

void janitor_release(void)
{
    if (pipe_end.users == 0 || --pipe_end.users > 0 || pipe_end.fd < 0)
        return;
    (void)close(pipe_end.fd);
    pipe_end.fd = -1;
    if (pipe_end.pid > 0)
        (void)kill(pipe_end.pid, SIGKILL);
}

void janitor_reap(void)
{
    if (pipe_end.fd >= 0 || pipe_end.pid == 0)
        return;
    while (waitpid(pipe_end.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    pipe_end.pid = 0;
}
