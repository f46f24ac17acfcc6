/*
 * control_server.c: the sentry's side of the control socket: connections, answers, short requests.
 *
 * Everything runs on the worker, as callbacks of host descriptors, of a process's end and of
 * timers; nothing ever waits. A connection that asks for an exec or a wait lives until the process
 * has ended. What must not be freed inside of somebody else's callback is freed by the connection's
 * timer, which fires at once, outside of everything.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>

#include <sys/socket.h>

#include "abi/poll.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/console.h"
#include "sentry/cli/control_conn.h"
#include "sentry/cli/control_info.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

struct control_server control_config;
static struct host_watch listener;
static bool listening;
struct list_head control_conns = {&control_conns, &control_conns};
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

void conn_answer(struct conn *c, struct control_reply *rp)
{
    answer_fd(c, rp, -1);
}

static void answer(struct conn *c, enum control_kind kind)
{
    struct control_reply rp = {.kind = kind};
    conn_answer(c, &rp);
}

void conn_fail_with(struct conn *c, int exit_code, const struct error *err)
{
    struct control_reply rp = {.kind = CONTROL_FAILED, .error = err->code, .exit_code = exit_code};
    (void)snprintf(rp.text, sizeof(rp.text), "%.399s", err->text);
    conn_answer(c, &rp);
}

void conn_fail(struct conn *c, int code, const char *text)
{
    struct error err;
    error_init(&err);
    (void)error_set(&err, code, "%s", text);
    conn_fail_with(c, EXIT_OTHER, &err);
}

static void answer_exit(struct conn *c, int wait_status)
{
    struct control_reply rp = {.kind = CONTROL_EXITED, .wait_status = wait_status};
    conn_answer(c, &rp);
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

void conn_drop_console(struct conn *c)
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
    conn_drop_console(c);
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

void conn_later(struct conn *c)
{
    timer_arm(&c->later, clock_monotonic());
}

static void later(struct timer *tm)
{
    struct conn *c = container_of(tm, struct conn, later);
    if (c->hung)
        conn_drop_console(c);
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
        conn_later(c);
}

void conn_watch(struct conn *c, struct thread_group *tg CONSUMES)
{
    c->tg = tg;
    wait_queue_add(&tg->exit_wait, &c->exit);
}

/* -- the other words -----------------------------------------------------------------------------
 */

static void op_start(struct conn *c)
{
    if (kernel.paused)
        conn_fail(c, EBUSY, "the sandbox is paused");
    else if (control_config.start == NULL || !control_config.start())
        conn_fail(c, EALREADY, "the first process has been started already");
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
            conn_fail(c, EINVAL, "no such signal");
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
            conn_fail(c, ESRCH, "no such process");
        return;
    }
    int r = rq->signal == 0 ? 0 : signal_send_outside(tg, rq->signal);
    if (rq->pid == CONTROL_OWN)
        return;
    if (r < 0)
        conn_fail(c, -r, "the signal could not be queued");
    else
        answer(c, CONTROL_DONE);
}

static void op_wait(struct conn *c, const struct control_request *rq)
{
    struct thread_group *tg = find_group(c, rq->pid);
    if (c->tg != NULL) {
        conn_fail(c, EBUSY, "this connection has a process already");
    } else if (tg == NULL) {
        conn_fail(c, ESRCH, "no such process");
    } else if (tg->zombie) {
        answer_exit(c, tg->exit_code);
    } else {
        conn_watch(c, thread_group_get(tg));
    }
}

static void op_ps(struct conn *c)
{
    struct control_reply rp = {.kind = CONTROL_PROCESSES};
    int fd = control_info_processes(&rp.count);
    if (fd < 0)
        conn_fail(c, -fd, "the list of processes could not be made");
    else
        answer_fd(c, &rp, fd);
    fd_close(fd);
}

static void op_stats(struct conn *c)
{
    struct control_reply rp = {.kind = CONTROL_STATISTICS};
    control_info_stats(&rp.stats);
    conn_answer(c, &rp);
}

static struct tty_master *find_terminal(const struct conn *c, int32_t pid)
{
    struct conn *other;
    if (pid == 0)
        return control_config.console;
    if (pid == CONTROL_OWN)
        return c->console != NULL ? c->console->master : NULL;
    list_for_each_entry (other, &control_conns, link) {
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
        conn_fail(c, ENOTTY, "the process has no terminal of its own");
}

static void op_pause(struct conn *c, bool pause)
{
    if (kernel.paused == pause) {
        conn_fail(c, EINVAL, pause ? "the sandbox is paused already" : "the sandbox is not paused");
        return;
    }
    kernel_pause(pause);
    answer(c, CONTROL_DONE);
}

static void op_limit(struct conn *c, const struct control_request *rq)
{
    if (rq->value == 0 || (rq->value != UINT32_MAX && rq->value > kernel.tasks_max)) {
        conn_fail(c, EINVAL, "a limit of tasks that the sandbox has no room for");
        return;
    }
    limit_set(LIMIT_TASKS, MIN((uint64_t)rq->value, kernel.tasks_max));
    answer(c, CONTROL_DONE);
}

static void perform(struct conn *c, const struct control_request *rq, int *fds, size_t nfds)
{
    switch (rq->op) {
    case CONTROL_START:
        op_start(c);
        break;
    case CONTROL_EXEC:
        conn_exec(c, fds, nfds);
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
    case CONTROL_LIMIT:
        op_limit(c, rq);
        break;
    default:
        conn_fail(c, EOPNOTSUPP, "unknown request");
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
    bool good = n == (int64_t)sizeof(rq) && rq.magic == CONTROL_MAGIC &&
                (rq.op == CONTROL_LIMIT || rq.value == 0) &&
                (rq.op == CONTROL_EXEC ? nfds >= CONTROL_EXEC_FDS : nfds == 0);
    if (good)
        perform(c, &rq, fds, nfds);
    else if (n > 0)
        conn_fail(c, EBADMSG, "the request makes no sense");
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
        list_add_tail(&control_conns, &c->link);
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

void control_server_begin(const struct control_server *cfg)
{
    control_config = *cfg;
}

int control_server_listen(int fd)
{
    int r = listening ? -EBUSY : host_watch_init(&listener, fd, listener_ready);
    if (r < 0) {
        fd_close(fd);
        return r;
    }
    listening = true;
    listen_again();
    return 0;
}

void control_server_console_gone(void)
{
    control_config.console = NULL;
}

void control_server_end(void)
{
    struct conn *c, *tmp;
    list_for_each_entry_safe (c, tmp, &control_conns, link) {
        if (c->console != NULL && !c->hung)
            console_flush(c->console);
        if (c->tg != NULL)
            answer_exit(c, c->exited ? c->wait_status : LX_SIGKILL);
        if (c->watch.fd >= 0)
            host_close(c->watch.fd);
        c->watch.fd = -1;
    }
    if (listening)
        host_close(listener.fd);
    listening = false;
}
