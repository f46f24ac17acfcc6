/*
 * hooks.c: runs hooks.
 *
 * All kinds but startContainer (guest_hooks.c) run in the runtime's own namespaces: a guest's
 * namespaces hold nothing that a program of the host could work in. A hook is a process group of
 * its own; when its time is over the whole group is killed.
 */
#include "runsc-shim/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/error.h"
#include "lib/fdio.h"

enum {
    OUTPUT_KEPT = 300
};

struct hook_run {
    pid_t pid;
    int in, out; /* its standard input; its output and errors */
    char text[OUTPUT_KEPT + 1];
    size_t len;
};

NORETURN static void hook_child(const struct oci_hook *h, int bundle_fd, int in, int out)
{
    static char *const no_env[] = {NULL};
    static const char *no_args[2];
    char *const *argv, *const *envp;
    sigset_t none;

    no_args[0] = h->path;
    /* execve's prototype is older than const. */
    memcpy(&argv, &(const char **){h->args.n != 0 ? h->args.v : no_args}, sizeof(argv));
    memcpy(&envp, &(const char **){h->env.v}, sizeof(envp));
    (void)setpgid(0, 0);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (fchdir(bundle_fd) < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    (void)syscall(SYS_close_range, 3u, ~0u, 0);
    (void)execve(h->path, argv, h->env.n != 0 ? envp : no_env);
    (void)dprintf(2, "%s: %s", h->path, strerror(errno));
    _exit(127);
}

static int hook_start(const struct oci_hook *h, int bundle_fd, struct hook_run *run,
                      struct error *err)
{
    int in[2], out[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0)
        return error_errno(err, errno, "socketpair");
    if (pipe2(out, O_CLOEXEC) < 0) {
        int e = errno;
        (void)close(in[0]);
        (void)close(in[1]);
        return error_errno(err, e, "pipe");
    }
    run->pid = fork();
    if (run->pid == 0)
        hook_child(h, bundle_fd, in[0], out[1]);
    int e = errno;
    (void)close(in[0]);
    (void)close(out[1]);
    run->in = in[1];
    run->out = out[0];
    if (run->pid < 0) {
        (void)close(in[1]);
        (void)close(out[0]);
        return error_errno(err, e, "fork");
    }
    return 0;
}

static uint64_t now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* What it wrote, the beginning of it kept; false when nothing more can come. */
static bool take_output(struct hook_run *run)
{
    char chunk[512];
    ssize_t n = read(run->out, chunk, sizeof(chunk));

    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t keep = MIN((size_t)n, OUTPUT_KEPT - run->len);
    memcpy(run->text + run->len, chunk, keep);
    run->len += keep;
    return n > 0;
}

/* True when it has ended; false: its time is over. A program that it left in the background may
 * hold the pipe, so the end of the process counts, not that of its output. */
static bool wait_hook(struct hook_run *run, uint64_t timeout_s, int *ret_status)
{
    uint64_t deadline = timeout_s != 0 ? now_ms() + timeout_s * 1000 : 0;
    int pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    bool open = true;

    for (;;) {
        struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
                              {.fd = open ? run->out : -1, .events = POLLIN}};
        int ms = -1;
        if (deadline != 0) {
            uint64_t now = now_ms();
            if (now >= deadline)
                break;
            ms = (int)(deadline - now);
        }
        if (poll(p, 2, ms) < 0 && errno != EINTR)
            break;
        if (p[1].revents != 0)
            open = take_output(run);
        if (p[0].revents != 0) {
            while (waitpid(run->pid, ret_status, 0) < 0 && errno == EINTR)
                continue;
            (void)fcntl(run->out, F_SETFL, O_NONBLOCK);
            if (open)
                (void)take_output(run);
            fd_close(pidfd);
            return true;
        }
    }
    fd_close(pidfd);
    return false;
}

static int hook_run(const struct oci_hook *h, const char *state, int bundle_fd, struct error *err)
{
    struct hook_run run = {0};
    int status = 0;
    int r = hook_start(h, bundle_fd, &run, err);

    if (r < 0)
        return r;
    /* A hook that does not read its input must not hold us, nor kill us with SIGPIPE. */
    (void)!fd_set_nonblock(run.in, true);
    (void)!send(run.in, state, strlen(state), MSG_NOSIGNAL);
    (void)close(run.in);
    bool ended = wait_hook(&run, (uint64_t)h->timeout, &status);
    if (!ended) {
        (void)kill(-run.pid, SIGKILL);
        (void)kill(run.pid, SIGKILL);
        while (waitpid(run.pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)close(run.out);
    while (run.len > 0 && run.text[run.len - 1] == '\n')
        run.len--;
    run.text[run.len] = '\0';
    if (!ended)
        return error_set(err, ETIMEDOUT, "%s: not ready after %lld s", h->path,
                         (long long)h->timeout);
    if (WIFSIGNALED(status))
        return error_set(err, EIO, "%s: ended by signal %d: %s", h->path, WTERMSIG(status),
                         run.text);
    if (WEXITSTATUS(status) != 0)
        return error_set(err, EIO, "%s: exit status %d: %s", h->path, WEXITSTATUS(status),
                         run.text);
    return 0;
}

int hooks_run(const struct oci_hooks *hooks, enum oci_hook_kind kind, const char *state,
              int bundle_fd, struct error *err)
{
    for (size_t i = 0; i < hooks->n; i++) {
        int r = hook_run(&hooks->v[i], state, bundle_fd, err);
        if (r < 0)
            return error_prefix(err, "%s hook %zu", oci_hook_name(kind), i);
    }
    return 0;
}
