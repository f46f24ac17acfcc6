/*
 * exec.c: a further process in a running container.
 *
 * The sentry starts it with our standard streams. Whoever holds the connection hears of its end: in
 * the foreground that is the command itself, else a child in a session of its own, which then ends
 * in the same way, so that the engine can wait for it. Its terminal, if it has one, is the
 * controlling terminal of that process, which thereby hears of changes of its size.
 */
#include "runsc-shim/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/console.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"
#include "runsc-shim/to_boot.h"
#include "sentry/cli/control.h"

enum {
    EXIT_EXEC_FAILED = 255
};

/* What the waiting child says to the command. */
struct said {
    int32_t exit_code; /* of a failure */
    uint32_t failed;
    char text[512];
};

struct waiter {
    int sock, signals;
    bool terminal, raw;
    struct termios saved;
};

/* -- terminal and signals -------------------------------------------------------------------------
 */

static void window_size(uint16_t *rows, uint16_t *cols)
{
    struct winsize ws;

    if (ioctl(0, TIOCGWINSZ, &ws) == 0) {
        *rows = ws.ws_row;
        *cols = ws.ws_col;
    }
}

static int terminal_raw(struct waiter *w, struct error *err)
{
    struct termios raw;

    if (tcgetattr(0, &w->saved) < 0)
        return error_set(err, ENOTTY, "standard input is not a terminal");
    raw = w->saved;
    cfmakeraw(&raw);
    if (tcsetattr(0, TCSADRAIN, &raw) < 0)
        return error_errno(err, errno, "raw mode");
    w->raw = true;
    return 0;
}

static void terminal_restore(struct waiter *w)
{
    if (w->raw)
        (void)tcsetattr(0, TCSADRAIN, &w->saved);
    w->raw = false;
}

/* Those that a user or an engine sends to the one who waits, meaning the process. */
static int catch_signals(struct waiter *w, struct error *err)
{
    static const int caught[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        (void)sigaddset(&set, caught[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return w->signals < 0 ? error_errno(err, errno, "signalfd") : 0;
}

static void forward(struct waiter *w)
{
    struct signalfd_siginfo si;

    while (read(w->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        if (si.ssi_signo == SIGWINCH) {
            uint16_t rows = 0, cols = 0;
            window_size(&rows, &cols);
            if (w->terminal && rows != 0)
                control_resize_own(w->sock, rows, cols);
        } else if (si.ssi_signo != SIGHUP || !w->terminal) {
            /* The end of a terminal reaches the guest through the terminal. */
            control_signal_own(w->sock, (int)si.ssi_signo);
        }
    }
}

static int wait_end(struct waiter *w, int *ret_status, struct error *err)
{
    for (;;) {
        struct pollfd p[2] = {{.fd = w->sock, .events = POLLIN},
                              {.fd = w->signals, .events = POLLIN}};
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return error_errno(err, errno, "poll");
        if (p[1].revents != 0)
            forward(w);
        if (p[0].revents != 0)
            return control_wait_exit(w->sock, ret_status, err);
    }
}

/* -- the process ----------------------------------------------------------------------------------
 */

static int begin(struct container *c, const struct oci_process *p, const struct exec_options *o,
                 struct waiter *w, int *ret_exit_code, struct error *err)
{
    int preserved[BOOT_MAX_PRESERVED];
    struct control_exec ex = {
        .argv = (const char *const *)p->args.v,
        .env = (const char *const *)p->env.v,
        .cwd = p->cwd,
        .terminal = p->terminal,
        .rows = p->rows,
        .cols = p->cols,
        .preserved = preserved,
        .npreserved = (size_t)o->preserve_fds,
    };
    const int stdio[3] = {0, 1, 2};
    int32_t pid;

    *ret_exit_code = EXIT_EXEC_FAILED;
    for (int i = 0; i < o->preserve_fds; i++)
        preserved[i] = 3 + i;
    boot_process_from(&ex.process, p);
    if (p->terminal)
        window_size(&ex.rows, &ex.cols);
    int r = control_connect(c->dir, &w->sock, err);
    if (r < 0)
        return r;
    w->terminal = p->terminal;
    r = catch_signals(w, err);
    if (r == 0 && p->terminal)
        r = terminal_raw(w, err);
    if (r == 0)
        r = control_exec(w->sock, &ex, stdio, &pid, ret_exit_code, err);
    if (r < 0)
        terminal_restore(w);
    return r;
}

static void waiter_done(struct waiter *w)
{
    terminal_restore(w);
    fd_close(w->sock);
    fd_close(w->signals);
}

static int foreground(struct container *c, const struct oci_process *p,
                      const struct exec_options *o, struct error *err)
{
    struct waiter w = {.sock = -1, .signals = -1};
    int status = 0, exit_code;

    int r = begin(c, p, o, &w, &exit_code, err);
    if (r < 0)
        shim.fail_status = exit_code;
    if (r == 0 && o->pid_file != NULL)
        r = write_pid_file(o->pid_file, getpid(), err);
    if (r == 0) {
        shim_notes_flush();
        r = wait_end(&w, &status, err);
    }
    waiter_done(&w);
    if (r < 0)
        return r;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* -- detached -------------------------------------------------------------------------------------
 */

NORETURN static void child_main(struct container *c, const struct oci_process *p,
                                const struct exec_options *o, int console, int said)
{
    struct waiter w = {.sock = -1, .signals = -1};
    struct said s = {0};
    struct error err;
    int status = 0, r = 0;

    error_init(&err);
    (void)prctl(PR_SET_NAME, "sentry-exec");
    if (console >= 0)
        r = console_adopt(console, &err);
    else
        (void)setsid();
    if (r == 0)
        r = begin(c, p, o, &w, &s.exit_code, &err);
    if (r < 0) {
        s.failed = 1;
        (void)snprintf(s.text, sizeof(s.text), "%s", err.text);
    }
    (void)!fd_write_full(said, &s, sizeof(s));
    if (r < 0)
        _exit(1);
    /* Only the standard streams and the connection: nobody waits for the others to close. */
    int keep_sock = fcntl(w.sock, F_DUPFD_CLOEXEC, 64);
    int keep_signals = fcntl(w.signals, F_DUPFD_CLOEXEC, 64);
    if (keep_sock >= 64 && keep_signals >= 64) {
        w.sock = keep_sock;
        w.signals = keep_signals;
        (void)syscall(SYS_close_range, 3u, 63u, 0);
    }
    (void)!chdir("/");
    if (wait_end(&w, &status, &err) < 0)
        status = SIGKILL;
    terminal_restore(&w);
    exit_like(status);
}

static int read_said(int fd, struct error *err)
{
    struct said s;

    if (fd_read_full(fd, &s, sizeof(s)) != (int64_t)sizeof(s))
        return error_set(err, EIO, "the waiting process has ended");
    if (s.failed == 0)
        return 0;
    s.text[sizeof(s.text) - 1] = '\0';
    shim.fail_status = s.exit_code;
    return error_set(err, EINVAL, "%s", s.text);
}

static int detached(struct container *c, const struct oci_process *p, int console,
                    const struct exec_options *o, struct error *err)
{
    int said[2];

    if (pipe2(said, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    pid_t pid = fork();
    if (pid == 0)
        child_main(c, p, o, console, said[1]);
    int e = errno;
    (void)close(said[1]);
    int r = pid < 0 ? error_errno(err, e, "fork") : read_said(said[0], err);
    (void)close(said[0]);
    if (r == 0 && o->pid_file != NULL) {
        r = write_pid_file(o->pid_file, pid, err);
        if (r < 0)
            (void)kill(pid, SIGKILL);
    }
    if (r < 0 && pid > 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    return r;
}

int exec_run(struct container *c, const struct oci_process *p, const struct exec_options *o,
             struct error *err)
{
    int master, slave = -1;

    shim.fail_status = EXIT_EXEC_FAILED;
    if (o->console_socket != NULL && (!o->detach || !p->terminal))
        return error_set(err, EINVAL, "--console-socket goes with --detach and a terminal");
    if (p->terminal && o->detach && o->console_socket == NULL)
        return error_set(err, EINVAL,
                         "cannot allocate a terminal without a console socket (--console-socket)");
    if (!o->detach)
        return foreground(c, p, o, err);
    if (o->console_socket != NULL) {
        int r = console_open(p->rows, p->cols, &master, &slave, err);
        if (r < 0)
            return r;
        r = console_send(o->console_socket, master, err);
        (void)close(master);
        if (r < 0) {
            (void)close(slave);
            return r;
        }
    }
    int r = detached(c, p, slave, o, err);
    fd_close(slave);
    return r;
}
