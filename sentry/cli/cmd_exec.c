/*
 * cmd_exec.c: `sentry exec`: one more process in a running sandbox.
 *
 * The process gets our standard streams themselves. Two things stay with us: a terminal on standard
 * input, which only a process of its own session may read, is passed on through a pipe; and with
 * --tty the sandbox gets a pty of the host, between which and our terminal we carry the bytes.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/control.h"
#include "sentry/cli/entry.h"
#include "sentry/cli/terminal.h"

enum {
    EXIT_START = 125,
    MAX_ENV = BOOT_MAX_ENV,
    CHUNK = 4096
};

struct exec {
    const char *id;
    struct control_exec ex;
    const char *env[MAX_ENV + 2];
    size_t nenv;
    char term_env[96];
    int sock, signals;
    int stdio[3];
    int in_to;  /* where our standard input goes: pty master or pipe; -1: nowhere */
    int master; /* of the pty; -1: none */
    struct terminal term;
};

/* -- options -------------------------------------------------------------------------------------
 */

static int set_option(struct exec *e, const char *name, const char *value, struct error *err)
{
    if (strcmp(name, "--env") == 0) {
        if (strchr(value, '=') == NULL || value[0] == '=')
            return error_set(err, EINVAL, "--env: '%s' is not KEY=VALUE", value);
        if (e->nenv >= MAX_ENV)
            return error_set(err, E2BIG, "--env: more than %d variables", MAX_ENV);
        e->env[e->nenv++] = value;
    } else if (strcmp(name, "--workdir") == 0) {
        if (value[0] != '/')
            return error_set(err, EINVAL, "--workdir: '%s' is not an absolute path", value);
        e->ex.cwd = value;
    } else {
        if (value[0] == '\0')
            return error_set(err, EINVAL, "--user: empty user");
        e->ex.user = value;
    }
    return 0;
}

/* One option at argv[*i]; *i moves behind it. */
static int parse_option(struct exec *e, int argc, char **argv, int *i, struct error *err)
{
    static const char *const names[] = {"--env", "--workdir", "--user"};
    const char *arg = argv[*i];
    size_t n = strcspn(arg, "=");

    if (strcmp(arg, "--tty") == 0) {
        e->ex.terminal = true;
        (*i)++;
        return 0;
    }
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        if (strlen(names[k]) != n || strncmp(arg, names[k], n) != 0)
            continue;
        const char *value = arg[n] == '=' ? arg + n + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (value == NULL)
            return error_set(err, EINVAL, "%s needs a value", names[k]);
        (*i)++;
        return set_option(e, names[k], value, err);
    }
    return error_set(err, EINVAL, "unknown option %.64s (see 'sentry help exec')", arg);
}

static int parse(struct exec *e, int argc, char **argv, struct error *err)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0) {
        int r = parse_option(e, argc, argv, &i, err);
        if (r < 0)
            return r;
    }
    if (i >= argc || strcmp(argv[i], "--") == 0)
        return error_set(err, EINVAL,
                         "no sandbox given: sentry exec [OPTIONS] ID [--] PROG [ARGS...]");
    e->id = argv[i++];
    if (i < argc && strcmp(argv[i], "--") == 0)
        i++;
    if (i >= argc || argv[i][0] == '\0')
        return error_set(err, EINVAL,
                         "no program given: sentry exec [OPTIONS] ID [--] PROG [ARGS...]");
    e->ex.argv = (const char *const *)argv + i;
    const char *term = getenv("TERM");
    if (e->ex.terminal && term != NULL && strlen(term) < 80) {
        (void)snprintf(e->term_env, sizeof(e->term_env), "TERM=%s", term);
        /* In front, so that --env wins. */
        memmove(e->env + 1, e->env, e->nenv * sizeof(e->env[0]));
        e->env[0] = e->term_env;
        e->nenv++;
    }
    e->ex.env = e->env;
    e->ex.inherit = true;
    return 0;
}

/* -- streams -------------------------------------------------------------------------------------
 */

static int open_pty(int *ret_master, int *ret_slave)
{
    char name[64];
    struct termios tio;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0)
        return -errno;
    int slave = -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof(name)) == 0)
        slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    /* The guest's terminal does all the work of a terminal; this one is a pair of pipes. */
    if (slave < 0 || tcgetattr(slave, &tio) < 0 ||
        (cfmakeraw(&tio), tcsetattr(slave, TCSANOW, &tio)) < 0) {
        int e = errno;
        fd_close(slave);
        (void)close(master);
        return -e;
    }
    *ret_master = master;
    *ret_slave = slave;
    return 0;
}

static int begin_streams(struct exec *e, struct error *err)
{
    struct winsize ws;
    int p[2];
    int r = terminal_begin(&e->term, e->ex.terminal, err);
    if (r < 0)
        return r;
    for (int i = 0; i < 3; i++)
        e->stdio[i] = i;
    if (e->ex.terminal) {
        int slave = -1;
        r = open_pty(&e->master, &slave);
        if (r < 0)
            return error_errno(err, -r, "--tty: a terminal for the sandbox");
        e->in_to = e->master;
        for (int i = 0; i < 3; i++)
            e->stdio[i] = slave;
        if (ioctl(0, TIOCGWINSZ, &ws) == 0) {
            e->ex.rows = ws.ws_row;
            e->ex.cols = ws.ws_col;
        }
    } else if (isatty(0)) {
        if (pipe2(p, O_CLOEXEC) < 0)
            return error_errno(err, errno, "pipe");
        e->stdio[0] = p[0];
        e->in_to = p[1];
    }
    return 0;
}

/* What the sandbox got is not ours any more. */
static void drop_given(struct exec *e)
{
    if (e->stdio[0] > 2)
        (void)close(e->stdio[0]);
}

static bool carry(int from, int to)
{
    char buf[CHUNK];
    ssize_t n = read(from, buf, sizeof(buf));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    return n > 0 && fd_write_full(to, buf, (size_t)n) == 0;
}

/* What the process wrote before it ended is in the pty already. */
static void drain(struct exec *e)
{
    if (e->master < 0 || fd_set_nonblock(e->master, true) < 0)
        return;
    for (;;) {
        char buf[CHUNK];
        ssize_t n = read(e->master, buf, sizeof(buf));
        if (n <= 0 || fd_write_full(1, buf, (size_t)n) < 0)
            return;
    }
}

/* -- signals -------------------------------------------------------------------------------------
 */

static int watch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaddset(&set, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void forward_signal(const struct exec *e)
{
    struct signalfd_siginfo si;
    struct winsize ws;
    if (read(e->signals, &si, sizeof(si)) != (ssize_t)sizeof(si))
        return;
    if (si.ssi_signo != SIGWINCH)
        control_signal_own(e->sock, (int)si.ssi_signo);
    else if (e->ex.terminal && ioctl(0, TIOCGWINSZ, &ws) == 0)
        control_resize_own(e->sock, ws.ws_row, ws.ws_col);
}

/* -- the whole -----------------------------------------------------------------------------------
 */

/* Until the sandbox has something to say about the end; answers to signals come in between. */
static int carry_until_exit(struct exec *e, int *ret_status, struct error *err)
{
    for (;;) {
        struct pollfd p[4] = {{.fd = e->sock, .events = POLLIN},
                              {.fd = e->signals, .events = POLLIN},
                              {.fd = e->in_to >= 0 ? 0 : -1, .events = POLLIN},
                              {.fd = e->master, .events = POLLIN}};
        if (poll(p, 4, -1) < 0 && errno != EINTR)
            return error_errno(err, errno, "poll");
        if (p[1].revents != 0)
            forward_signal(e);
        if ((p[3].revents & POLLIN) != 0)
            (void)carry(e->master, 1);
        if (p[2].revents != 0 && !carry(0, e->in_to)) {
            if (e->in_to != e->master)
                (void)close(e->in_to);
            e->in_to = -1;
        }
        bool exited = false;
        int r = 0;
        if (p[0].revents != 0)
            r = control_read_exit(e->sock, &exited, ret_status, err);
        if (r < 0 || exited)
            return r;
    }
}

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(struct exec *e, struct error *err)
{
    int32_t pid;
    int status = 0, code;

    if (entry_connect(e->id, &e->sock, err) < 0 || begin_streams(e, err) < 0)
        return EXIT_START;
    e->signals = watch_signals();
    if (control_exec(e->sock, &e->ex, e->stdio, &pid, &code, err) < 0)
        return code == 126 || code == 127 ? code : EXIT_START;
    drop_given(e);
    if (carry_until_exit(e, &status, err) < 0)
        return EXIT_START;
    drain(e);
    return exit_code(status);
}

int cmd_exec(int argc, char **argv)
{
    struct error err;
    struct exec e = {
        .sock = -1, .signals = -1, .in_to = -1, .master = -1, .term = {.fd = -1, .signal_fd = -1}};
    error_init(&err);
    int status = EXIT_START;
    if (parse(&e, argc, argv, &err) == 0)
        status = run(&e, &err);
    terminal_end(&e.term);
    if (err.code != 0)
        (void)fprintf(stderr, "sentry: %s\n", err.text);
    return status;
}
