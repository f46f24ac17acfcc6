/*
 * control_server.c: the sentry's side of the control socket.
 *
 * Everything runs on the worker, as callbacks of host descriptors, of a process's end and of
 * timers; nothing ever waits. A connection that asks for an exec or a wait lives until the process
 * has ended. What must not be freed inside of somebody else's callback is freed by the connection's
 * timer, which fires at once, outside of everything.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>

#include "abi/poll.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/console.h"
#include "sentry/cli/control.h"
#include "sentry/cli/control_info.h"
#include "sentry/cli/process.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"

enum {
    EXIT_OTHER = 1,
    EXIT_NOEXEC = 126,
    EXIT_NOTFOUND = 127
};
#define BLOB_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

struct conn {
    struct list_head link;
    struct host_watch watch; /* fd -1: the client has gone */
    struct thread_group *tg; /* counted: its end is told */
    struct wait_entry exit;
    struct timer later;
    struct console *console; /* of an exec with a terminal */
    bool hung;               /* the console's terminal on the host has gone */
    bool exited;
    int wait_status;
};

static struct control_server config;
static struct host_watch listener;
static struct list_head conns = {&conns, &conns};
static unsigned nopen;

/* -- answers -------------------------------------------------------------------------------------
 */

/* A client that does not take its answers has gone as far as we are concerned. */
static void answer_fd(struct conn *c, struct control_reply *rp, int fd)
{
    rp->magic = CONTROL_MAGIC;
    if (c->watch.fd < 0)
        return;
    int64_t n = fd_send(c->watch.fd, rp, sizeof(*rp), &fd, fd >= 0 ? 1 : 0, MSG_DONTWAIT);
    if (n < 0)
        (void)shutdown(c->watch.fd, SHUT_RDWR);
}

static void answer(struct conn *c, enum control_kind kind)
{
    struct control_reply rp = {.kind = kind};
    answer_fd(c, &rp, -1);
}

static void fail_with(struct conn *c, int exit_code, const struct error *err)
{
    struct control_reply rp = {.kind = CONTROL_FAILED, .error = err->code, .exit_code = exit_code};
    (void)snprintf(rp.text, sizeof(rp.text), "%.399s", err->text);
    answer_fd(c, &rp, -1);
}

static void fail(struct conn *c, int code, const char *text)
{
    struct error err;
    error_init(&err);
    (void)error_set(&err, code, "%s", text);
    fail_with(c, EXIT_OTHER, &err);
}

static void answer_exit(struct conn *c, int wait_status)
{
    struct control_reply rp = {.kind = CONTROL_EXITED, .wait_status = wait_status};
    answer_fd(c, &rp, -1);
}

/* -- connections ---------------------------------------------------------------------------------
 */

static void listen_again(void)
{
    if (nopen < CONTROL_MAX_CONNECTIONS)
        (void)host_watch_arm(&listener, LX_POLLIN);
}

static void client_gone(struct conn *c)
{
    if (c->watch.fd < 0)
        return;
    host_watch_done(&c->watch);
    host_close(c->watch.fd);
    c->watch.fd = -1;
    nopen--;
    listen_again();
}

static void console_drop(struct conn *c)
{
    if (c->console == NULL)
        return;
    console_free(c->console);
    kfree(c->console);
    c->console = NULL;
}

static void conn_free(struct conn *c)
{
    client_gone(c);
    wait_entry_remove(&c->exit);
    timer_cancel(&c->later);
    console_drop(c);
    thread_group_put(c->tg);
    list_del_init(&c->link);
    kfree(c);
}

/* The client has gone: an exec with a terminal goes on, for its process writes there. */
static void conn_close(struct conn *c)
{
    if (c->console == NULL || c->exited) {
        conn_free(c);
        return;
    }
    client_gone(c);
}

static void do_later(struct conn *c)
{
    timer_arm(&c->later, clock_monotonic());
}

static void later(struct timer *tm)
{
    struct conn *c = container_of(tm, struct conn, later);
    if (c->hung)
        console_drop(c);
    if (!c->exited)
        return;
    answer_exit(c, c->wait_status);
    conn_free(c);
}

static void process_exited(struct wait_entry *e, uint32_t key)
{
    struct conn *c = container_of(e, struct conn, exit);
    (void)key;
    wait_entry_remove(e);
    c->exited = true;
    c->wait_status = c->tg->exit_code;
    /* First everything that it wrote. */
    if (c->console != NULL && !c->hung)
        console_finish(c->console);
    else
        do_later(c);
}

static void watch_process(struct conn *c, struct thread_group *tg CONSUMES)
{
    c->tg = tg;
    wait_queue_add(&tg->exit_wait, &c->exit);
}

/* -- exec ----------------------------------------------------------------------------------------
 */

static struct conn *console_conn(const struct console *console)
{
    struct conn *c;
    list_for_each_entry (c, &conns, link) {
        if (c->console == console)
            return c;
    }
    return NULL;
}

static void console_written(struct console *console)
{
    struct conn *c = console_conn(console);
    if (c != NULL && c->exited)
        do_later(c);
}

static void console_hung(struct console *console)
{
    struct conn *c = console_conn(console);
    if (c == NULL)
        return;
    c->hung = true;
    do_later(c);
}

/* A private copy; the seals say that the pages are a memfd's, so reading it cannot wait. */
static int read_blob(int fd, void **ret_blob, size_t *ret_len)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & BLOB_SEALS) != BLOB_SEALS || fstat(fd, &st) < 0 || st.st_size <= 0 ||
        st.st_size > CONTROL_MAX_BLOB)
        return -EBADMSG;
    size_t len = (size_t)st.st_size;
    void *blob = kalloc(len);
    if (blob == NULL)
        return -ENOMEM;
    if (host_pread(fd, blob, len, 0) != (int64_t)len) {
        kfree(blob);
        return -EBADMSG;
    }
    *ret_blob = blob;
    *ret_len = len;
    return 0;
}

/* The terminal of an exec, or its three streams; descriptors are used up. */
static int give_stdio(struct conn *c, const struct control_exec *ex, int stdio[3],
                      struct kernel_start *start, struct error *err)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    int r = 0;
    if (ex->terminal) {
        c->console = kalloc(sizeof(*c->console));
        if (c->console == NULL)
            return error_set(err, ENOMEM, "no memory");
        r = console_begin(c->console, stdio[0], stdio[1], err);
        stdio[0] = stdio[1] = -1;
        if (r < 0)
            return r;
        c->console->written = console_written;
        c->console->hung = console_hung;
        for (int i = 0; i < 3; i++)
            start->stdio_files[i] = file_get(c->console->slave);
        start->console = c->console->master;
        if (ex->rows != 0 || ex->cols != 0)
            tty_console_resize(c->console->master, ex->rows, ex->cols);
        return 0;
    }
    for (int i = 0; i < 3 && r == 0; i++) {
        r = host_file_new(stdio[i], i == 0 ? LX_O_RDONLY : LX_O_WRONLY, names[i],
                          &start->stdio_files[i]);
        if (r == 0)
            stdio[i] = -1;
    }
    return r < 0 ? error_errno(err, -r, "standard streams") : 0;
}

static int exec_exit_code(bool exec_failed, int r)
{
    if (!exec_failed)
        return EXIT_OTHER;
    return r == -ENOENT ? EXIT_NOTFOUND : EXIT_NOEXEC;
}

/* fds: the three streams, then nmore to be passed on; -1 once they are used. */
static int exec_process(struct conn *c, const struct control_exec *ex, int *fds, size_t nmore,
                        int *ret_exit_code, struct error *err)
{
    const struct boot *b = config.boot;
    struct thread_group *tg;
    struct process p;
    bool exec_failed = false;
    struct process_words w = {
        .argv = ex->argv,
        .env = ex->env,
        .base_env = ex->inherit_env ? (const char *const *)b->env : NULL,
        .cwd = ex->cwd != NULL ? ex->cwd : b->cwd,
        .user = ex->user,
        .process = &ex->process,
        .default_ids = config.ids,
    };

    *ret_exit_code = EXIT_OTHER;
    int r = process_describe(&w, &p, err);
    if (r == 0)
        r = give_stdio(c, ex, fds, &p.start, err);
    if (r == 0)
        r = process_add_files(&p, fds + 3, nmore, err);
    if (r == 0) {
        r = kernel_exec_process(&p.start, &tg, &exec_failed, err);
        *ret_exit_code = exec_exit_code(exec_failed, r);
    }
    process_done(&p);
    for (int i = 0; i < 3; i++)
        file_put(p.start.stdio_files[i]);
    if (r < 0) {
        console_drop(c);
        return r;
    }
    if (c->console != NULL) {
        /* Only guests hold it open from here on. */
        file_put(c->console->slave);
        c->console->slave = NULL;
    }
    struct control_reply rp = {.kind = CONTROL_STARTED, .pid = (int32_t)tg->pid};
    answer_fd(c, &rp, -1);
    watch_process(c, tg);
    return 0;
}

static void op_exec(struct conn *c, int *fds, size_t nfds)
{
    struct control_exec_parsed parsed = {0};
    struct error err;
    void *blob = NULL;
    size_t len;
    int code = EXIT_OTHER;

    error_init(&err);
    if (c->tg != NULL) {
        fail(c, EBUSY, "this connection has a process already");
        return;
    }
    if (kernel.ended || kernel.init == NULL || kernel.init->zombie) {
        fail(c, ESRCH, "the sandbox has ended");
        return;
    }
    if (kernel.paused) {
        fail(c, EBUSY, "the sandbox is paused");
        return;
    }
    int r = read_blob(fds[0], &blob, &len);
    if (r == 0)
        r = control_exec_parse(blob, len, &parsed);
    if (r < 0)
        (void)error_errno(&err, -r, "the description of the process");
    else
        r = exec_process(c, &parsed.ex, fds + 1, nfds - CONTROL_EXEC_FDS, &code, &err);
    control_exec_parsed_done(&parsed);
    kfree(blob);
    if (r < 0)
        fail_with(c, code, &err);
}

/* -- the other words -----------------------------------------------------------------------------
 */

static void op_start(struct conn *c)
{
    if (kernel.paused)
        fail(c, EBUSY, "the sandbox is paused");
    else if (config.start == NULL || !config.start())
        fail(c, EINVAL, "the first process has been started already");
    else
        answer(c, CONTROL_DONE);
}

static struct thread_group *find_group(const struct conn *c, int32_t pid)
{
    if (pid == 0)
        return kernel.init;
    if (pid == CONTROL_OWN)
        return c->tg;
    return pid > 0 ? thread_group_by_pid((uint32_t)pid) : NULL;
}

static void op_signal(struct conn *c, const struct control_request *rq)
{
    if (rq->signal < 0 || rq->signal > LX_NSIG) {
        if (rq->pid != CONTROL_OWN)
            fail(c, EINVAL, "no such signal");
        return;
    }
    if (rq->pid == -1) {
        struct thread_group *tg;
        for (tg = thread_group_first(); tg != NULL && rq->signal != 0; tg = thread_group_next(tg))
            (void)signal_send_outside(tg, rq->signal);
        answer(c, CONTROL_DONE);
        return;
    }
    struct thread_group *tg = find_group(c, rq->pid);
    if (tg == NULL || tg->zombie) {
        if (rq->pid != CONTROL_OWN)
            fail(c, ESRCH, "no such process");
        return;
    }
    int r = rq->signal == 0 ? 0 : signal_send_outside(tg, rq->signal);
    if (rq->pid == CONTROL_OWN)
        return;
    if (r < 0)
        fail(c, -r, "the signal could not be queued");
    else
        answer(c, CONTROL_DONE);
}

static void op_wait(struct conn *c, const struct control_request *rq)
{
    struct thread_group *tg = find_group(c, rq->pid);
    if (c->tg != NULL) {
        fail(c, EBUSY, "this connection has a process already");
    } else if (tg == NULL) {
        fail(c, ESRCH, "no such process");
    } else if (tg->zombie) {
        answer_exit(c, tg->exit_code);
    } else {
        watch_process(c, thread_group_get(tg));
    }
}

static void op_ps(struct conn *c)
{
    struct control_reply rp = {.kind = CONTROL_PROCESSES};
    int fd = control_info_processes(&rp.count);
    if (fd < 0)
        fail(c, -fd, "the list of processes could not be made");
    else
        answer_fd(c, &rp, fd);
    fd_close(fd);
}

static void op_stats(struct conn *c)
{
    struct control_reply rp = {.kind = CONTROL_STATISTICS};
    control_info_stats(&rp.stats);
    answer_fd(c, &rp, -1);
}

static struct tty_master *find_terminal(const struct conn *c, int32_t pid)
{
    struct conn *other;
    if (pid == 0)
        return config.console;
    if (pid == CONTROL_OWN)
        return c->console != NULL ? c->console->master : NULL;
    list_for_each_entry (other, &conns, link) {
        if (other->console != NULL && other->tg != NULL && (int32_t)other->tg->pid == pid)
            return other->console->master;
    }
    return NULL;
}

static void op_resize(struct conn *c, const struct control_request *rq)
{
    struct tty_master *m = find_terminal(c, rq->pid);
    if (m != NULL)
        tty_console_resize(m, rq->rows, rq->cols);
    if (rq->pid == CONTROL_OWN)
        return;
    if (m != NULL)
        answer(c, CONTROL_DONE);
    else
        fail(c, ENOTTY, "the process has no terminal of its own");
}

static void op_pause(struct conn *c, bool pause)
{
    if (kernel.paused == pause) {
        fail(c, EINVAL, pause ? "the sandbox is paused already" : "the sandbox is not paused");
        return;
    }
    kernel_pause(pause);
    answer(c, CONTROL_DONE);
}

static void perform(struct conn *c, const struct control_request *rq, int *fds, size_t nfds)
{
    switch (rq->op) {
    case CONTROL_START:
        op_start(c);
        break;
    case CONTROL_EXEC:
        op_exec(c, fds, nfds);
        break;
    case CONTROL_SIGNAL:
        op_signal(c, rq);
        break;
    case CONTROL_WAIT:
        op_wait(c, rq);
        break;
    case CONTROL_PS:
        op_ps(c);
        break;
    case CONTROL_STATS:
        op_stats(c);
        break;
    case CONTROL_RESIZE:
        op_resize(c, rq);
        break;
    case CONTROL_PAUSE:
    case CONTROL_RESUME:
        op_pause(c, rq->op == CONTROL_PAUSE);
        break;
    default:
        fail(c, EOPNOTSUPP, "unknown request");
        break;
    }
}

/* -- the socket ----------------------------------------------------------------------------------
 */

static void conn_ready(struct host_watch *w, uint32_t events)
{
    struct conn *c = container_of(w, struct conn, watch);
    struct control_request rq;
    int fds[CONTROL_EXEC_MAX_FDS];
    size_t nfds = 0;

    (void)events;
    int64_t n = fd_recv(w->fd, &rq, sizeof(rq), fds, CONTROL_EXEC_MAX_FDS, &nfds, MSG_DONTWAIT);
    if (n == -EAGAIN) {
        (void)host_watch_arm(w, LX_POLLIN);
        return;
    }
    bool good = n == (int64_t)sizeof(rq) && rq.magic == CONTROL_MAGIC && rq.reserved == 0 &&
                (rq.op == CONTROL_EXEC ? nfds >= CONTROL_EXEC_FDS : nfds == 0);
    if (good)
        perform(c, &rq, fds, nfds);
    else if (n > 0)
        fail(c, EBADMSG, "the request makes no sense");
    for (size_t i = 0; i < nfds; i++)
        fd_close(fds[i]);
    if (good)
        (void)host_watch_arm(w, LX_POLLIN);
    else
        conn_close(c);
}

static void listener_ready(struct host_watch *w, uint32_t events)
{
    (void)events;
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct conn *c = fd >= 0 ? kalloc(sizeof(*c)) : NULL;
    if (c != NULL && host_watch_init(&c->watch, fd, conn_ready) == 0) {
        list_add_tail(&conns, &c->link);
        wait_entry_init(&c->exit, 0, process_exited);
        timer_init(&c->later, later);
        nopen++;
        (void)host_watch_arm(&c->watch, LX_POLLIN);
    } else {
        kfree(c);
        fd_close(fd);
    }
    listen_again();
}

int control_server_begin(const struct control_server *cfg, struct error *err)
{
    config = *cfg;
    if (cfg->boot->listen_fd < 0)
        return 0;
    int r = host_watch_init(&listener, cfg->boot->listen_fd, listener_ready);
    if (r < 0)
        return error_errno(err, -r, "the control socket");
    listen_again();
    return 0;
}

void control_server_console_gone(void)
{
    config.console = NULL;
}

void control_server_end(void)
{
    struct conn *c, *tmp;
    list_for_each_entry_safe (c, tmp, &conns, link) {
        if (c->console != NULL && !c->hung)
            console_flush(c->console);
        if (c->tg != NULL)
            answer_exit(c, c->exited ? c->wait_status : LX_SIGKILL);
        if (c->watch.fd >= 0)
            host_close(c->watch.fd);
        c->watch.fd = -1;
    }
}
