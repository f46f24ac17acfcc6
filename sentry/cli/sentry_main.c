/*
 * sentry_main.c: the sentry process, from its empty namespaces to the last message.
 *
 *   1. platform: namespaces of the guests, zygote, listener (everything that needs privileges)
 *   2. the rest of the confinement: no capability, seccomp
 *   3. kernel: mounts over the gofer, the first process
 *   4. the worker loop, until the first process has ended
 *   5. one message to the monitor
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/socket.h>

#include "abi/poll.h"

#include "platform/confine/confine.h"

#include "gofer/client.h"
#include "gofer/volume_client.h"
#include "lib/assert.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/log.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/console.h"
#include "sentry/cli/control.h"
#include "sentry/cli/mounts.h"
#include "sentry/cli/process.h"
#include "sentry/cli/terminal.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/host/host.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/kernel/task.h"

enum {
    EXIT_START = 125,
    EXIT_NOEXEC = 126,
    EXIT_NOTFOUND = 127,
    THREAD_MARGIN = 16
};

static int control_fd = -1;

static void tell(struct boot_message *m)
{
    m->cpu_ns = kernel.init != NULL ? kernel_cputime() : 0;
    m->cpu_system_ns = kernel.init != NULL ? kernel_systime() : 0;
    m->verdict = kernel.verdict;
    for (size_t i = 0; i < ARRAY_LEN(m->unsupported); i++)
        m->unsupported[i] = kernel.unsupported[i];
    m->syscalls = kernel.nsyscalls;
    m->pids_peak = (uint32_t)limit_peak(LIMIT_TASKS);
    m->disk_peak = limit_peak(LIMIT_DISK_BYTES);
    /* The monitor waits for a word or for the end. */
    if (send(control_fd, m, sizeof(*m), MSG_NOSIGNAL) < 0)
        _exit(EXIT_START);
}

NORETURN static void fail(int status, const struct error *err)
{
    struct boot_message m = {.kind = BOOT_FAILED, .status = status};
    (void)snprintf(m.text, sizeof(m.text), "%.399s", err->text);
    tell(&m);
    _exit(status);
}

/* A broken promise of our own code (KASSERT). */
static void assertion_failed(const char *text)
{
    struct boot_message m = {.kind = BOOT_ENDED};
    (void)snprintf(m.text, sizeof(m.text), "assertion failed: %.350s", text);
    tell(&m);
    _exit(EXIT_START);
}

static void raise_file_limit(void)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < rl.rlim_max) {
        rl.rlim_cur = rl.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &rl);
    }
}

/* What the limit of tasks can be raised to (CONTROL_LIMIT). */
static uint64_t max_tasks(const struct boot *b)
{
    return b->oci ? MAX(b->limits.pids, (uint64_t)BOOT_OCI_TASKS) : b->limits.pids;
}

static void set_limits(const struct boot *b)
{
    const struct boot_limits *l = &b->limits;
    kernel.tasks_max = max_tasks(b);
    limit_set(LIMIT_TASKS, l->pids);
    limit_set(LIMIT_DISK_BYTES, l->disk);
    kernel.end_on_pids = !b->oci;
    kernel.cpu_limit = l->cpu_ns;
    kernel.start_files = l->files;
    kernel.start_file_size = l->file_size;
    kernel.memory_limit = l->memory;
    kernel.cpu_milli = l->cpus_milli;
}

/* -- standard streams and the control socket --------------------------------------------------- */

static struct console console;
static struct host_watch control_watch;
static int later_listener = -1; /* boot.listen_fd until BOOT_LISTEN */

static void prepare_outputs(const struct boot *b)
{
    for (int i = 0; i < 2; i++) {
        b->shared->output[i] = (struct host_output){.limit = b->limits.output};
        if (b->capture)
            b->shared->output[i].capture =
                (uint8_t *)(b->shared + 1) + (size_t)i * b->limits.output;
    }
}

static void control_ready(struct host_watch *w, uint32_t events)
{
    struct terminal_size m;
    size_t nfds;
    (void)events;
    int64_t n = fd_recv(w->fd, &m, sizeof(m), NULL, 0, &nfds, MSG_DONTWAIT);
    /* The monitor has gone, and there was no signal to say so. */
    if (n == 0)
        _exit(EXIT_START);
    if (n == (ssize_t)strlen(BOOT_END))
        kernel_end(VERDICT_WALL_LIMIT);
    else if (n == (ssize_t)strlen(BOOT_LISTEN) && later_listener >= 0)
        (void)!control_server_listen(take_fd(later_listener));
    else if (n == (ssize_t)sizeof(m) && console.master != NULL)
        tty_console_resize(console.master, m.rows, m.cols);
    if (n > 0 || n == -EAGAIN)
        (void)host_watch_arm(w, LX_POLLIN);
}

static void watch_control(void)
{
    if (host_watch_init(&control_watch, control_fd, control_ready) == 0)
        (void)host_watch_arm(&control_watch, LX_POLLIN);
}

/* The container's terminal has gone on the host: the guests' is hung up, outside of the callback.
 */
static struct timer hangup;

static void hang_up(struct timer *tm)
{
    (void)tm;
    control_server_console_gone();
    console_free(&console);
}

static void console_hung(struct console *c)
{
    (void)c;
    timer_arm(&hangup, clock_monotonic());
}

static void start_stdio(const struct boot *b, struct kernel_start *start, struct error *err)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0 && errno != EBADF) {
            (void)error_errno(err, errno, "%s", names[i]);
            fail(EXIT_START, err);
        }
    }
    if (b->tty) {
        if (console_begin(&console, fds[0], fds[1], err) < 0)
            fail(EXIT_START, err);
        tty_console_system(console.master);
        timer_init(&hangup, hang_up);
        if (b->oci)
            console.hung = console_hung;
        for (int i = 0; i < 3; i++)
            start->stdio_files[i] = console.slave;
        start->console = console.master;
        return;
    }
    for (int i = 0; i < 3; i++) {
        start->stdio[i] = -1;
        if (fds[i] < 0)
            continue;
        int r = host_file_new(fds[i], i == 0 ? LX_O_RDONLY : LX_O_WRONLY, names[i],
                              &start->stdio_files[i]);
        if (r < 0) {
            (void)error_errno(err, -r, "%s", names[i]);
            fail(EXIT_START, err);
        }
        if (i > 0)
            host_file_set_output(start->stdio_files[i], &b->shared->output[i - 1]);
    }
}

static struct user_ids init_ids;

/* A container's directory that is missing is made, as other runtimes do; if that fails, the start
 * will say so. */
static void make_cwd(const char *cwd)
{
    struct path p;
    if (cwd != NULL && mountpoint_make(cwd, true, &p) == 0)
        path_put(&p);
}

static void start_program(const struct boot *b)
{
    struct error err;
    struct process p;
    bool exec_failed;
    struct process_words w = {
        .argv = (const char *const *)b->argv,
        .env = (const char *const *)b->env,
        .cwd = b->cwd,
        .user = b->user,
        .process = &b->process,
    };

    error_init(&err);
    if (b->oci)
        make_cwd(b->cwd);
    if (process_describe(&w, &p, &err) < 0)
        fail(EXIT_START, &err);
    init_ids = p.ids;
    p.start.hold = b->wait_start;
    start_stdio(b, &p.start, &err);
    int passed[BOOT_MAX_PRESERVED];
    for (size_t i = 0; i < b->npreserved; i++)
        passed[i] = fcntl(b->preserved[i], F_DUPFD_CLOEXEC, 3);
    if (process_add_files(&p, passed, b->npreserved, &err) < 0)
        fail(EXIT_START, &err);
    int r = kernel_start_init(&p.start, &exec_failed, &err);
    if (r < 0)
        fail(!exec_failed ? EXIT_START : r == -ENOENT ? EXIT_NOTFOUND : EXIT_NOEXEC, &err);
    process_done(&p);
}

static void tell_started(void)
{
    struct boot_message m = {.kind = BOOT_STARTED};
    tell(&m);
    kernel_watch_cpu();
}

static bool release_program(void)
{
    if (!kernel_release_init())
        return false;
    tell_started();
    return true;
}

static void serve_control(const struct boot *b)
{
    struct control_server config = {
        .boot = b, .ids = &init_ids, .console = console.master, .start = release_program};
    struct error err;
    error_init(&err);
    control_server_begin(&config);
    if (b->listen_later) {
        later_listener = b->listen_fd;
        return;
    }
    int r = b->listen_fd >= 0 ? control_server_listen(b->listen_fd) : 0;
    if (r < 0) {
        (void)error_errno(&err, -r, "the control socket");
        fail(EXIT_START, &err);
    }
}

static void setup_log(const struct boot *b)
{
    int fd = fcntl(b->log_fd >= 0 ? b->log_fd : 2, F_DUPFD_CLOEXEC, 3);
    log_set_fd(fd);
    if (b->log_spec != NULL)
        (void)!log_parse_spec(b->log_spec, NULL);
    if (b->strace)
        host_strace_set_fd(b->strace_fd >= 0 ? b->strace_fd : fd);
}

/* Everything that needs a privilege; when it returns there is none left. */
static void start_platform(const struct boot *b, int proc_fd, uint64_t now, struct plat **ret_plat)
{
    struct error err;
    struct plat_config cfg = {
        .max_threads = (uint32_t)max_tasks(b) + THREAD_MARGIN,
        .monotonic_offset = -(int64_t)now,
        .proc_fd = proc_fd,
    };
    error_init(&err);
    if (confine_landlock(proc_fd, &err) < 0 || plat_unotify_start(&cfg, ret_plat, &err) < 0)
        fail(EXIT_START, &err);
    (void)close(proc_fd);
    if (host_timer_init(timer_run_expired) < 0) {
        (void)error_set(&err, ENOMEM, "no timer");
        fail(EXIT_START, &err);
    }
    if (confine_sentry(&err) < 0)
        fail(EXIT_START, &err);
}

/* The servers of the image and of the volumes, as far as there are such, answer. */
static void greet_servers(const struct boot *b, int gofer_sock, int volume_sock,
                          struct servers *ret)
{
    struct error err;
    error_init(&err);
    *ret = (struct servers){.image = NULL};
    if (gofer_sock >= 0 && gofer_client_new(gofer_sock, 1, &ret->image, &err) < 0)
        fail(EXIT_START, &err);
    if (volume_sock >= 0 &&
        volume_client_new(volume_sock, (uint32_t)boot_volumes(b), &ret->volumes, &err) < 0)
        fail(EXIT_START, &err);
}

/* The address space of the first program, while the gofer is asked about its files. */
static void prepare_program(void *plat, int sock)
{
    plat_ops->prepare(plat, sock);
}

void sentry_main(struct boot *b, int proc_fd, int control, int gofer_sock, int volume_sock)
{
    struct error err;
    struct plat *plat;
    struct servers servers;

    control_fd = control;
    error_init(&err);
    kassert_set_handler(assertion_failed);
    setup_log(b);
    prepare_outputs(b);
    usage_share(&b->shared->usage, control);
    raise_file_limit();
    uint64_t now = host_clock_monotonic();
    start_platform(b, proc_fd, now, &plat);
    if (kernel_init(plat, &err) < 0)
        fail(EXIT_START, &err);
    greet_servers(b, gofer_sock, volume_sock, &servers);
    if (servers.image != NULL)
        gofer_client_meanwhile(servers.image, prepare_program, plat);
    kernel.boot_monotonic = now;
    kernel.strace = b->strace;
    if (b->seccomp != NULL) {
        int r = seccomp_filter_new(b->seccomp, b->nseccomp, NULL, &kernel.seccomp_profile);
        if (r < 0) {
            (void)error_errno(&err, -r, "the seccomp profile");
            fail(EXIT_START, &err);
        }
    }
    kernel.chaos = SENTRY_DEBUG && getenv("SENTRY_CHAOS") != NULL;
    if (b->hostname != NULL)
        (void)snprintf(kernel.hostname, sizeof(kernel.hostname), "%s", b->hostname);
    if (b->domainname != NULL)
        (void)snprintf(kernel.domainname, sizeof(kernel.domainname), "%s", b->domainname);
    set_limits(b);
    if (mounts_make(b, &servers, &err) < 0)
        fail(EXIT_START, &err);
    kernel.init_protected = b->oci;
    start_program(b);
    if (servers.image != NULL)
        gofer_client_meanwhile(servers.image, NULL, NULL);
    watch_control();
    serve_control(b);
    if (b->wait_start) {
        struct boot_message m = {.kind = BOOT_CREATED};
        tell(&m);
    } else {
        tell_started();
    }
    kernel_run();
    /* Beside our own end, which would be what ends them. The host forgets their time with them. */
    (void)kernel_cputime();
    plat_ops->stop(plat);
    control_server_end();
    if (console.master != NULL)
        console_end(&console);
    struct boot_message m = {.kind = BOOT_ENDED, .status = kernel.exit_status};
    if (kernel.fatal != NULL)
        (void)snprintf(m.text, sizeof(m.text), "%.399s", kernel.fatal);
    tell(&m);
    /* They end beside us; before the last word the end of one would be a failure. */
    gofer_client_free(servers.image);
    volume_client_free(servers.volumes);
    _exit(0);
}
