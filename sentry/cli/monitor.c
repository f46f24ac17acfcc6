/*
 * monitor.c: outside of the box, the monitor holds the wall deadline and the cgroup, and turns the
 * end of the run into a verdict, a sentence and an exit status.
 *
 * It waits for three things: a message of the sentry (the program ended, or could not be started),
 * the sentry's end (its socket closes), and the deadline. At the deadline the sentry is asked to
 * end the run, so that the report has its counts; if it does not answer at once it is killed.
 * Whatever comes first, every process of the sandbox is gone before the monitor returns.
 */
#include "sentry/cli/monitor.h"

#include "lib/compiler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/probe.h"

#include "lib/error.h"
#include "sentry/cli/account.h"
#include "sentry/cli/terminal.h"

enum {
    EXIT_LIMIT = 124,
    EXIT_START = 125,
    EXIT_NO_EXEC = 126,
    GRACE_MS = 50
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* One run, as the monitor sees it. */
struct run {
    struct boot *b;
    const struct monitor_hooks *hooks;
    struct monitor_result *res;
    struct sandbox sb;
    struct cgroup cg;
    struct account acct; /* memory, where no cgroup holds it */
    struct terminal term;
    int gofer_fd, volumes_fd; /* pidfds: the end of a server ends the run */
    bool started, ended, wall_limit, gofer_dead, oom;
    bool hung_up; /* the sentry's end of the socket is closed: it is ending by itself */
    bool lasting; /* told, or nobody wants to know */
    uint64_t deadline;
    struct boot_message last;
    int sentry_status;
};

static uint64_t lasting_at(const struct run *r)
{
    return r->res->start_ns + MONITOR_LASTING_MS * 1000000ull;
}

/* Milliseconds until `at`; -1 stands for never. */
static int sooner(int ms, uint64_t at, uint64_t now)
{
    int until = at > now ? (int)MIN((at - now + 999999) / 1000000, 1000000000ull) : 0;
    return ms < 0 ? until : MIN(ms, until);
}

static int timeout_ms(const struct run *r)
{
    int ms = account_timeout_ms(&r->acct);
    if (!r->started || (r->deadline == 0 && r->lasting))
        return ms;
    uint64_t now = now_ns();
    if (r->deadline != 0)
        ms = sooner(ms, r->deadline, now);
    return r->lasting ? ms : sooner(ms, lasting_at(r), now);
}

static void note_created(struct run *r)
{
    if (r->res->created)
        return;
    r->res->created = true;
    cgroup_watch(&r->cg);
    if (r->hooks->created != NULL)
        r->hooks->created(r->hooks->ctx);
}

static void note_started(struct run *r)
{
    note_created(r);
    r->started = true;
    r->res->start_ns = now_ns();
    if (r->b->limits.wall_ns != 0)
        r->deadline = r->res->start_ns + r->b->limits.wall_ns;
    if (r->hooks->started != NULL)
        r->hooks->started(r->hooks->ctx);
}

static void note_lasting(struct run *r)
{
    if (r->lasting || !r->started || now_ns() < lasting_at(r))
        return;
    r->lasting = true;
    r->hooks->lasting(r->hooks->ctx);
}

/* False when there is nothing more to wait for. */
static bool receive(struct run *r)
{
    struct boot_message m;
    ssize_t n;
    /* A sentry that ended with unread words of ours in its queue: once an error, then its last
     * message. */
    do {
        n = recv(r->sb.control, &m, sizeof(m), 0);
    } while (n < 0 && errno == ECONNRESET);
    /* One byte: memory wants to be looked at. */
    if ((n < 0 && errno == EINTR) || n == 1)
        return true;
    if (n != (ssize_t)sizeof(m)) {
        r->hung_up = n == 0;
        return false;
    }
    m.text[sizeof(m.text) - 1] = '\0';
    if (m.kind == BOOT_CREATED) {
        note_created(r);
        return true;
    }
    if (m.kind == BOOT_STARTED) {
        if (!r->started)
            note_started(r);
        return true;
    }
    r->last = m;
    r->ended = true;
    return false;
}

/* A limit is crossed: the sentry may still say its counts, briefly. */
static void ask_to_end(struct run *r)
{
    struct pollfd p = {.fd = r->sb.control, .events = POLLIN};
    (void)send(r->sb.control, BOOT_END, strlen(BOOT_END), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (poll(&p, 1, GRACE_MS) > 0)
        (void)receive(r);
}

/* Servers end right behind the sentry's last word: it may have come between the looks of one poll.
 */
static bool word_waits(const struct run *r)
{
    struct pollfd p = {.fd = r->sb.control, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void monitor_loop(struct run *r)
{
    for (;;) {
        struct pollfd p[5] = {{.fd = r->sb.control, .events = POLLIN},
                              {.fd = terminal_signal_fd(&r->term), .events = POLLIN},
                              {.fd = r->gofer_fd, .events = POLLIN},
                              {.fd = r->cg.oom_fd, .events = POLLIN},
                              {.fd = r->volumes_fd, .events = POLLIN}};
        int n = poll(p, 5, timeout_ms(r));
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0 && p[1].revents != 0)
            terminal_forward_size(&r->term, r->sb.control);
        if (n > 0 && p[0].revents != 0) {
            if (!receive(r))
                return;
        } else if (n > 0 && (p[2].revents != 0 || p[4].revents != 0) && !word_waits(r)) {
            r->gofer_dead = true;
            return;
        }
        if (n > 0 && p[3].revents != 0)
            r->oom = true;
        if (account_look(&r->acct, n > 0 && p[0].revents != 0))
            r->oom = true;
        note_lasting(r);
        if (r->started && r->deadline != 0 && now_ns() >= r->deadline)
            r->wall_limit = true;
        if (r->oom || r->wall_limit) {
            ask_to_end(r);
            return;
        }
    }
}

/* -- the answer in words ----------------------------------------------------------------------- */

static enum verdict decide(const struct run *r)
{
    if (r->oom)
        return r->started ? VERDICT_MEMORY_LIMIT : VERDICT_START_FAILED;
    if (r->wall_limit)
        return VERDICT_WALL_LIMIT;
    if (!r->ended)
        return VERDICT_INTERNAL_ERROR;
    if (r->last.kind == BOOT_FAILED)
        return VERDICT_START_FAILED;
    if (r->last.text[0] != '\0')
        return VERDICT_INTERNAL_ERROR;
    if (r->last.verdict != VERDICT_NONE)
        return (enum verdict)r->last.verdict;
    if ((r->last.status & 0x7f) != 0)
        return VERDICT_SIGNAL;
    return r->last.status == 0 ? VERDICT_OK : VERDICT_EXIT;
}

static int exit_code(const struct run *r, enum verdict v)
{
    switch (v) {
    case VERDICT_OK:
        return 0;
    case VERDICT_EXIT:
        return (r->last.status >> 8) & 0xff;
    case VERDICT_SIGNAL:
        return 128 + (r->last.status & 0x7f);
    case VERDICT_START_FAILED:
        return !r->oom && r->last.status >= 125 && r->last.status <= 127 ? r->last.status
                                                                         : EXIT_START;
    case VERDICT_NONE:
    case VERDICT_INTERNAL_ERROR:
        return EXIT_START;
    case VERDICT_WALL_LIMIT:
    case VERDICT_CPU_LIMIT:
    case VERDICT_MEMORY_LIMIT:
    case VERDICT_PIDS_LIMIT:
    case VERDICT_OUTPUT_LIMIT:
    default:
        return EXIT_LIMIT;
    }
}

static void internal_text(const struct run *r, char *buf, size_t cap)
{
    if (r->ended && r->last.text[0] != '\0')
        (void)snprintf(buf, cap, "internal error: %s", r->last.text);
    else if (r->gofer_dead)
        (void)snprintf(buf, cap, "internal error: the server of image or volumes ended");
    else if (WIFSIGNALED(r->sentry_status))
        (void)snprintf(buf, cap, "internal error: the sentry was killed by signal %d",
                       WTERMSIG(r->sentry_status));
    else
        (void)snprintf(buf, cap, "internal error: the sentry ended with status %d",
                       WEXITSTATUS(r->sentry_status));
}

static void describe(const struct run *r, enum verdict v)
{
    const struct boot_limits *l = &r->b->limits;
    char *t = r->res->text;
    size_t cap = sizeof(r->res->text);
    switch (v) {
    case VERDICT_OK:
        (void)snprintf(t, cap, "the program ended with status 0");
        break;
    case VERDICT_EXIT:
        (void)snprintf(t, cap, "the program ended with status %d", exit_code(r, v));
        break;
    case VERDICT_SIGNAL:
        (void)snprintf(t, cap, "the program was ended by signal %d", r->last.status & 0x7f);
        break;
    case VERDICT_WALL_LIMIT:
        (void)snprintf(t, cap, "the run was ended: wall limit of %g s", (double)l->wall_ns / 1e9);
        break;
    case VERDICT_CPU_LIMIT:
        (void)snprintf(t, cap, "the run was ended: CPU limit of %g s", (double)l->cpu_ns / 1e9);
        break;
    case VERDICT_MEMORY_LIMIT:
        (void)snprintf(t, cap, "the run was ended: memory limit of %llu bytes",
                       (unsigned long long)l->memory);
        break;
    case VERDICT_PIDS_LIMIT:
        (void)snprintf(t, cap, "the run was ended: limit of %llu tasks",
                       (unsigned long long)l->pids);
        break;
    case VERDICT_OUTPUT_LIMIT:
        (void)snprintf(t, cap, "the run was ended: output limit of %llu bytes",
                       (unsigned long long)l->output);
        break;
    case VERDICT_START_FAILED:
        if (r->oom)
            (void)snprintf(t, cap, "--memory: %llu bytes are too few to start (the least is %llu)",
                           (unsigned long long)l->memory, (unsigned long long)BOOT_MEMORY_MIN);
        else
            (void)snprintf(t, cap, "%s", r->last.text);
        break;
    case VERDICT_NONE:
    case VERDICT_INTERNAL_ERROR:
    default:
        internal_text(r, t, cap);
        break;
    }
}

static void finish(struct run *r)
{
    struct monitor_result *res = r->res;
    enum verdict v = decide(r);
    describe(r, v);
    res->verdict = v;
    res->exit_code = exit_code(r, v);
    if (v == VERDICT_OK || v == VERDICT_EXIT || v == VERDICT_SIGNAL)
        res->wait_status = r->last.status;
    res->started = r->started;
    res->last = r->last;
    res->memory_kind = r->cg.memory;
    res->cpu_kind = r->cg.cpu;
}

/* A start that failed for want of a mechanism has failed in whatever way comes of it: then the
 * mechanism is what the caller should hear of. */
static void name_missing(const struct run *r)
{
    char text[sizeof(r->res->text)];
    bool failed =
        r->res->verdict == VERDICT_START_FAILED || r->res->verdict == VERDICT_INTERNAL_ERROR;
    if (!failed || r->started || r->oom || r->res->exit_code > EXIT_NO_EXEC ||
        !probe_missing(text, sizeof(text)))
        return;
    memcpy(r->res->text, text, sizeof(text));
    r->res->verdict = VERDICT_START_FAILED;
    r->res->exit_code = EXIT_START;
    r->res->said = false;
}

/* -- the run ----------------------------------------------------------------------------------- */

static int share_memory(struct boot *b, struct error *err)
{
    b->shared_size = sizeof(struct boot_shared) + (b->capture ? 2 * b->limits.output : 0);
    void *p = mmap(NULL, b->shared_size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return error_errno(err, errno, "shared memory for the output");
    b->shared = p;
    /* Nobody looks but account.c, which begins when the sandbox is made. */
    b->shared->usage.wake_at = UINT64_MAX;
    return 0;
}

static void start_failed(struct run *r, const struct error *err)
{
    r->ended = true;
    r->last = (struct boot_message){.kind = BOOT_FAILED, .status = EXIT_START};
    (void)snprintf(r->last.text, sizeof(r->last.text), "%.399s", err->text);
    finish(r);
}

/* The sentry could not say its last counts: those that it shared. */
static void last_counts(struct run *r)
{
    const struct usage *u = &r->b->shared->usage;
    r->last.cpu_ns = u->cpu_ns;
    r->last.cpu_system_ns = u->cpu_system_ns;
    r->last.syscalls = u->syscalls;
    r->last.pids_peak = (uint32_t)u->pids_peak;
    r->last.disk_peak = u->disk_peak;
}

/* Whatever the sentry says of a failure comes of the server's. */
static void blame_server(struct run *r)
{
    if (r->oom || r->wall_limit || (r->ended && r->last.text[0] == '\0'))
        return;
    r->ended = false;
    r->gofer_dead = true;
    r->res->said = true;
}

static void end_sandbox(struct run *r)
{
    bool waits = r->hung_up && !r->ended && !r->wall_limit && !r->oom && !r->gofer_dead;
    cgroup_kill(&r->cg);
    if (waits) {
        while (waitpid(r->sb.sentry, &r->sentry_status, 0) < 0 && errno == EINTR)
            continue;
        r->sb.sentry = 0;
    }
    int ignored;
    bool said;
    sandbox_kill(&r->sb);
    if (r->hooks->ending != NULL)
        r->hooks->ending(r->hooks->ctx);
    sandbox_end(&r->sb, waits ? &ignored : &r->sentry_status, &said);
    if (said)
        blame_server(r);
    cgroup_sweep(&r->cg);
    r->res->end_ns = now_ns();
    if (!r->ended)
        last_counts(r);
    r->oom |= cgroup_oom(&r->cg);
    if (r->b->report_path != NULL)
        r->res->memory_peak = r->acct.u != NULL ? r->acct.peak : cgroup_memory_peak(&r->cg);
}

static int start(struct run *r, struct error *err)
{
    struct boot *b = r->b;
    int status;
    bool said;

    int rc = terminal_begin(&r->term, b->tty, err);
    if (rc == 0)
        rc = share_memory(b, err);
    if (rc < 0)
        return rc;
    rc = sandbox_start(b, &r->cg, &r->sb, err);
    if (rc < 0)
        return rc;
    if (r->hooks->made != NULL)
        rc = r->hooks->made(r->hooks->ctx, &r->sb, err);
    if (rc < 0)
        sandbox_end(&r->sb, &status, &said);
    return rc;
}

static void stop(struct run *r)
{
    terminal_end(&r->term);
    account_end(&r->acct);
    cgroup_remove(&r->cg);
    if (r->b->shared != NULL && r->b->report_path == NULL) {
        (void)munmap(r->b->shared, r->b->shared_size);
        r->b->shared = NULL;
    }
}

void monitor_run(struct boot *b, const struct monitor_hooks *hooks, struct monitor_result *ret)
{
    static const struct monitor_hooks no_hooks;
    struct run r = {.b = b,
                    .hooks = hooks != NULL ? hooks : &no_hooks,
                    .res = ret,
                    .sb = {.control = -1},
                    .cg = {.oom_fd = -1},
                    .term = {.fd = -1, .signal_fd = -1},
                    .gofer_fd = -1,
                    .volumes_fd = -1};
    struct error err;

    error_init(&err);
    r.lasting = r.hooks->lasting == NULL;
    *ret = (struct monitor_result){.begin_ns = now_ns()};
    if (start(&r, &err) < 0) {
        stop(&r);
        start_failed(&r, &err);
        name_missing(&r);
        return;
    }
    terminal_forward_size(&r.term, r.sb.control);
    if (r.cg.memory == CGROUP_NONE && b->ncgroups == 0)
        account_begin(&r.acct, &b->shared->usage, b->limits.memory,
                      (const pid_t[3]){r.sb.sentry, r.sb.gofer, r.sb.volumes});
    if (r.sb.gofer > 0)
        r.gofer_fd = (int)syscall(SYS_pidfd_open, r.sb.gofer, 0);
    if (r.sb.volumes > 0)
        r.volumes_fd = (int)syscall(SYS_pidfd_open, r.sb.volumes, 0);
    monitor_loop(&r);
    if (r.gofer_fd >= 0)
        (void)close(r.gofer_fd);
    if (r.volumes_fd >= 0)
        (void)close(r.volumes_fd);
    end_sandbox(&r);
    finish(&r);
    stop(&r);
    name_missing(&r);
}
