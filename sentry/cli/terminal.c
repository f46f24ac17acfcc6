/*
 * terminal.c: raw mode and window size of the caller's terminal.
 */
#include "sentry/cli/terminal.h"

#include "lib/compiler.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "lib/error.h"

int terminal_begin(struct terminal *t, bool tty, struct error *err)
{
    sigset_t set;
    *t = (struct terminal){.fd = -1, .signal_fd = -1};
    if (!tty)
        return 0;
    if (tcgetattr(0, &t->saved) < 0)
        return error_set(err, ENOTTY, "--tty: standard input is not a terminal");
    t->fd = 0;
    struct termios raw = t->saved;
    cfmakeraw(&raw);
    if (tcsetattr(0, TCSADRAIN, &raw) < 0)
        return error_errno(err, errno, "--tty: raw mode");
    t->raw = true;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGWINCH);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    t->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return 0;
}

void terminal_end(struct terminal *t)
{
    if (t->raw)
        (void)tcsetattr(t->fd, TCSADRAIN, &t->saved);
    t->raw = false;
    if (t->signal_fd >= 0)
        (void)close(t->signal_fd);
    t->signal_fd = -1;
}

int terminal_signal_fd(const struct terminal *t)
{
    return t->signal_fd;
}

void terminal_forward_size(struct terminal *t, int control)
{
    struct signalfd_siginfo si;
    struct winsize ws;
    if (t->fd < 0)
        return;
    while (t->signal_fd >= 0 && read(t->signal_fd, &si, sizeof(si)) > 0)
        continue;
    if (ioctl(t->fd, TIOCGWINSZ, &ws) < 0)
        return;
    struct terminal_size m = {ws.ws_row, ws.ws_col};
    (void)send(control, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}
