/*
 * run.c: starts a command in a session of its own, reads what it prints, and waits for its end with
 * a deadline. The end is the end of the process that was started, not of its output: a child that
 * keeps the pipe open delays nothing. What is left one second later is named and killed.
 */
#include "escape-suite/harness/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "escape-suite/harness/family.h"
#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

enum {
    LEFT_MS = 1000,
    DYING_MS = 60000, /* what has been killed, where the machine has no time for it to end */
    CLEANUP_MS = 120000
};

uint64_t now_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static volatile sig_atomic_t interrupted;

static void on_term(int sig)
{
    interrupted = sig;
}

bool run_interrupted(void)
{
    return interrupted != 0;
}

int run_prepare(void)
{
    struct sigaction sa = {.sa_handler = on_term};
    if (sigaction(SIGTERM, &sa, NULL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
        return -errno;
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

static void stream_init(struct stream *s)
{
    *s = (struct stream){.fd = -1};
    buf_init(&s->head, STREAM_HEAD);
    buf_init(&s->tail, 4 * (size_t)STREAM_TAIL);
}

void observation_init(struct observation *o)
{
    (void)memset(o, 0, sizeof(*o));
    o->kept[0] = o->kept[1] = -1;
    stream_init(&o->out);
    stream_init(&o->err);
}

void observation_done(struct observation *o)
{
    struct stream *both[2] = {&o->out, &o->err};
    for (int i = 0; i < 2; i++) {
        fd_close(both[i]->fd);
        buf_done(&both[i]->head);
        buf_done(&both[i]->tail);
    }
}

static void stream_add(struct stream *s, const char *p, size_t n)
{
    size_t room = STREAM_HEAD - s->head.len;
    s->bytes += n;
    scan_feed(&s->scan, p, n);
    (void)buf_append(&s->head, p, MIN(n, room));
    if (n > STREAM_TAIL) {
        p += n - STREAM_TAIL;
        n = STREAM_TAIL;
    }
    if (s->tail.len + n > 3 * (size_t)STREAM_TAIL)
        buf_consume(&s->tail, s->tail.len - STREAM_TAIL);
    (void)buf_append(&s->tail, p, n);
}

const char *stream_tail(const struct stream *s, size_t *ret_len)
{
    *ret_len = s->tail.len;
    return buf_cstr(&s->tail);
}

/* Reads what is there; closes at the end. False when there was nothing. */
static bool stream_read(struct stream *s)
{
    static char piece[64 * 1024];
    ssize_t n = s->fd >= 0 ? read(s->fd, piece, sizeof(piece)) : -1;
    if (n > 0) {
        stream_add(s, piece, (size_t)n);
        return true;
    }
    if (s->fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
        (void)close(s->fd);
        s->fd = -1;
    }
    return false;
}

/* -- the child ----------------------------------------------------------------------------------
 */

struct child_ends {
    int in, out, err;
    bool tty;
};

static NORETURN void child(const struct run_spec *spec, const struct child_ends *ends, int report)
{
    struct rlimit no_core = {0, 0};
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (ends->tty)
        (void)ioctl(ends->in, TIOCSCTTY, 0);
    bool ok = dup2(ends->in, 0) >= 0 && dup2(ends->out, 1) >= 0 && dup2(ends->err, 2) >= 0;
    for (int i = 0; spec->leak != NULL && spec->leak[i] >= 0; i++)
        ok = ok && dup2(spec->leak[i], spec->leak_at + i) >= 0;
    ok = ok && chdir(spec->cwd != NULL ? spec->cwd : "/") == 0;
    for (size_t i = 0; spec->env != NULL && spec->env[i] != NULL; i++)
        ok = ok && putenv(spec->env[i]) == 0;
    if (ok)
        (void)execvp(spec->argv[0], spec->argv);
    int code = errno;
    (void)!write(report, &code, sizeof(code));
    _exit(127);
}

static int input_fd(const char *text)
{
    if (text == NULL)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && (fd_write_full(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Our ends go into o, the child's into ends. */
static int make_streams(const struct run_spec *spec, struct observation *o, struct child_ends *ends)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    *ends = (struct child_ends){-1, -1, -1, spec->tty};
    if (spec->tty) {
        struct winsize ws = {.ws_row = 24, .ws_col = 80};
        int master, slave;
        if (openpty(&master, &slave, NULL, NULL, &ws) < 0)
            return -errno;
        (void)fcntl(master, F_SETFD, FD_CLOEXEC);
        (void)fcntl(slave, F_SETFD, FD_CLOEXEC);
        o->out.fd = master;
        *ends = (struct child_ends){slave, slave, slave, true};
        return fd_set_nonblock(master, true);
    }
    ends->in = input_fd(spec->input);
    if (ends->in < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        return -errno;
    o->out.fd = out[0];
    o->err.fd = err[0];
    ends->out = out[1];
    ends->err = err[1];
    int r = fd_set_nonblock(out[0], true);
    return r < 0 ? r : fd_set_nonblock(err[0], true);
}

/* What is the caller's own stays open: whether it was tampered with is looked at later. */
static void close_ends(const struct child_ends *ends, struct observation *o)
{
    fd_close(ends->in);
    if (!ends->tty) {
        o->kept[0] = ends->out;
        o->kept[1] = ends->err;
    }
}

static void check_ends(struct observation *o)
{
    for (int i = 0; i < 2; i++) {
        int fd = o->kept[i];
        o->kept[i] = -1;
        if (fd < 0)
            continue;
        int flags = fcntl(fd, F_GETFL);
        /* An ordinary user's pipes may start smaller. */
        int size = fcntl(fd, F_GETPIPE_SZ);
        struct f_owner_ex owner = {.pid = 0};
        (void)fcntl(fd, F_GETOWN_EX, &owner);
        if ((flags & ~O_LARGEFILE) != O_WRONLY || size > 65536 || owner.pid != 0)
            o->flags_changed = true;
        (void)close(fd);
    }
}

/* The pid of the started command, or -errno. */
static pid_t start(const struct run_spec *spec, struct observation *o)
{
    struct child_ends ends;
    int report[2], code = 0;
    int r = make_streams(spec, o, &ends);
    if (r < 0 || pipe2(report, O_CLOEXEC) < 0) {
        close_ends(&ends, o);
        return r < 0 ? r : -errno;
    }
    pid_t pid = fork();
    if (pid == 0)
        child(spec, &ends, report[1]);
    r = pid < 0 ? -errno : 0;
    close_ends(&ends, o);
    (void)close(report[1]);
    if (pid > 0 && fd_read_full(report[0], &code, sizeof(code)) == (int64_t)sizeof(code)) {
        (void)waitpid(pid, NULL, 0);
        r = -code;
    }
    (void)close(report[0]);
    return r < 0 ? r : pid;
}

/* -- the watch ----------------------------------------------------------------------------------
 */

/* True when the process has ended, false at the deadline or the flood. */
static bool pump(const struct run_spec *spec, struct observation *o, int pidfd, uint64_t deadline)
{
    for (;;) {
        struct pollfd p[3] = {{.fd = pidfd, .events = POLLIN},
                              {.fd = o->out.fd, .events = POLLIN},
                              {.fd = o->err.fd, .events = POLLIN}};
        uint64_t now = now_ms();
        if (now >= deadline || interrupted)
            return false;
        if (poll(p, 3, (int)MIN(deadline - now, (uint64_t)1000)) < 0 && errno != EINTR)
            return false;
        if (p[1].revents != 0)
            (void)stream_read(&o->out);
        if (p[2].revents != 0)
            (void)stream_read(&o->err);
        if (o->out.bytes + o->err.bytes > spec->flood_bytes) {
            o->flooded = true;
            return false;
        }
        if (p[0].revents != 0)
            return true;
    }
}

static void drain(const struct run_spec *spec, struct observation *o)
{
    while (o->out.bytes + o->err.bytes <= spec->flood_bytes)
        if (!stream_read(&o->out) && !stream_read(&o->err))
            return;
}

void run_simple(char *const *argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGTERM, SIG_DFL);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, 0);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0)
        return;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    if (pidfd < 0 || poll(&p, 1, CLEANUP_MS) <= 0)
        (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    fd_close(pidfd);
}

/* Reaps children that were adopted; -1 and its status are of no interest. */
static void reap(const struct family *before)
{
    siginfo_t si;
    for (;;) {
        si.si_pid = 0;
        if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0 ||
            family_has(before, si.si_pid) || si.si_pid == before->except)
            return;
        (void)waitpid(si.si_pid, NULL, 0);
    }
}

/* Is each of them on its way out: killed, and only waiting for a processor to end on? */
static bool all_dying(const struct family *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!family_dying(f->pids[i]))
            return false;
    return true;
}

/* Waits a second for what was left to go, longer for what is dying, then names and kills it. */
static void settle(const struct family *before, const char *marker, struct observation *o)
{
    auto_free struct family *left = kalloc(sizeof(*left));
    uint64_t begin = now_ms();
    unsigned alive = 0; /* looks in a row that found somebody who is not dying */
    if (left == NULL)
        return;
    for (useconds_t pause = 500;; pause = MIN(pause * 2, (useconds_t)50000)) {
        reap(before);
        family_new(before, marker, left);
        if (left->n == 0)
            return;
        alive = all_dying(left) ? 0 : alive + 1;
        if (now_ms() - begin >= (alive > 1 ? LEFT_MS : DYING_MS))
            break;
        (void)usleep(pause);
    }
    o->survivors = (unsigned)left->n;
    family_name(left->pids[0], o->survivor, sizeof(o->survivor));
    for (int round = 0; round < 100 && left->n > 0; round++) {
        for (size_t i = 0; i < left->n; i++)
            (void)kill(left->pids[i], SIGKILL);
        (void)usleep(5000);
        reap(before);
        family_new(before, marker, left);
    }
}

static void finish(struct observation *o, pid_t pid, bool ended)
{
    int status = 0;
    if (!ended)
        (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    o->end = !ended ? RUN_GIVEN_UP : WIFSIGNALED(status) ? RUN_SIGNAL : RUN_EXIT;
    o->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void run_command(const struct run_spec *spec, struct observation *o)
{
    auto_free struct family *before = kalloc(sizeof(*before));
    if (before == NULL)
        return;
    scan_init(&o->out.scan, spec->secrets);
    scan_init(&o->err.scan, spec->secrets);
    before->except = spec->bystander;
    family_take(before);
    uint64_t begin = now_ms();
    pid_t pid = start(spec, o);
    if (pid < 0) {
        check_ends(o);
        o->end = RUN_NOT_STARTED;
        o->status = -pid;
        return;
    }
    o->pid = pid;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool ended = pump(spec, o, pidfd, begin + spec->deadline_ms);
    o->ms = (double)(now_ms() - begin);
    if (ended)
        drain(spec, o);
    else if (spec->cleanup != NULL)
        run_simple(spec->cleanup);
    finish(o, pid, ended);
    fd_close(pidfd);
    settle(before, spec->marker, o);
    if (spec->cleanup != NULL)
        run_simple(spec->cleanup);
    check_ends(o);
    fd_close(o->out.fd);
    fd_close(o->err.fd);
    o->out.fd = o->err.fd = -1;
}
