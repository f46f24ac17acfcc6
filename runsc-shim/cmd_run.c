/*
 * cmd_run.c: `run`: create and start; in the foreground wait for the end, hand signals on and clean
 * up.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"

static int catch_signals(sigset_t *old, struct error *err)
{
    static const int caught[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        (void)sigaddset(&set, caught[i]);
    (void)sigprocmask(SIG_BLOCK, &set, old);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? error_errno(err, errno, "signalfd") : fd;
}

static void forward(const char *id, int signals)
{
    struct signalfd_siginfo si;

    while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        struct container c;
        struct error err;
        error_init(&err);
        if (container_open(&c, id, false, &err) < 0)
            continue;
        if (container_signal(&c, (int)si.ssi_signo, false, &err) < 0)
            shim_note(SHIM_DEBUG, "%s", err.text);
        container_close(&c);
    }
}

static int wait_monitor(const char *id, pid_t monitor, int signals, int *ret_status,
                        struct error *err)
{
    int pidfd = (int)syscall(SYS_pidfd_open, monitor, 0);

    if (pidfd < 0)
        return error_errno(err, errno, "pidfd_open");
    for (;;) {
        struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            break;
        if (p[1].revents != 0)
            forward(id, signals);
        if (p[0].revents != 0)
            break;
    }
    (void)close(pidfd);
    while (waitpid(monitor, ret_status, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}

static int run(const char *id, const struct create_options *o, bool keep, struct error *err)
{
    struct error ignored;
    pid_t monitor;
    sigset_t old;
    int status = 0, signals = -1;

    int r = container_create(id, o, &monitor, err);
    if (r < 0)
        return r;
    if (o->foreground) {
        signals = catch_signals(&old, err);
        r = signals < 0 ? signals : 0;
    }
    if (r == 0)
        r = container_start(id, err);
    error_init(&ignored);
    if (r < 0 || !o->foreground) {
        if (r < 0)
            (void)!container_delete(id, true, &ignored);
        fd_close(signals);
        return r;
    }
    shim_notes_flush();
    r = wait_monitor(id, monitor, signals, &status, err);
    (void)close(signals);
    if (!keep)
        (void)!container_delete(id, true, &ignored);
    if (r < 0)
        return r;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cmd_run(int argc, char **argv, struct error *err)
{
    struct create_options o = {0};
    bool detach = false, keep = false, ignored = false;
    const char *preserve = NULL, *id;
    const struct shim_option options[] = {
        {"bundle", "b", OPT_STRING, &o.bundle},
        {"console-socket", NULL, OPT_STRING, &o.console_socket},
        {"pid-file", NULL, OPT_STRING, &o.pid_file},
        {"detach", "d", OPT_FLAG, &detach},
        {"keep", NULL, OPT_FLAG, &keep},
        {"preserve-fds", NULL, OPT_STRING, &preserve},
        {"no-pivot", NULL, OPT_FLAG, &ignored},
        {"no-new-keyring", NULL, OPT_FLAG, &ignored},
        {"no-subreaper", NULL, OPT_FLAG, &ignored},
    };

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0)
        r = shim_preserve_fds(preserve, &o.preserve_fds, err);
    if (r != 0)
        return r;
    o.foreground = !detach;
    return run(id, &o, keep, err);
}
