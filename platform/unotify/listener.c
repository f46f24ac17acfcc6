/*
 * How this works: the one place that receives notifications. listener_poll waits for the listener,
 * for the pidfds of the guests' processes and for the caller's descriptor, receives one
 * notification and moves the state of its thread:
 *
 *   - a thread that is working through a stub command must have made exactly the next call of it,
 *     or report that it is done;
 *   - a running thread makes a call of its own (an event for the kernel), or parks from the signal
 *     handler (a kick answered, a host fault);
 *   - a thread that nobody knows must be the child of the clone in progress, and prove it with the
 *     token that it was born with; any other is left unanswered, hence can do nothing, and killed.
 *
 * A process that does anything else has broken into its own stub or frames: it is left unanswered
 * and killed. There is no path from here to CONTINUE but the two comparisons with a host_call.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/alloc.h"
#include "lib/log.h"

enum {
    TICK_NS = 500000000
};

uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void plat_fatal(struct plat *p, const char *text)
{
    if (!p->fatal)
        p->fatal = text;
}

struct plat_thread *thread_find(struct plat *p, pid_t tid)
{
    struct hash_node *n;

    hash_for_each_match (n, &p->threads, hash_u64(0, (uint64_t)tid)) {
        struct plat_thread *th = hash_entry(n, struct plat_thread, node);

        if (th->tid == tid)
            return th;
    }
    return NULL;
}

/* -- events ------------------------------------------------------------------------------------ */

void event_push(struct plat_thread *th, const struct plat_event *ev)
{
    struct queued_event *q = kalloc(sizeof(*q));

    if (!q) {
        plat_fatal(th->as->p, "out of memory for an event");
        return;
    }
    q->ev = *ev;
    q->ev.thread = th;
    th->queued = true;
    list_add_tail(&th->as->p->events, &q->link);
}

void event_push_kind(struct plat_thread *th, enum plat_event_kind kind)
{
    event_push(th, &(struct plat_event){.kind = kind});
}

void events_forget(struct plat_thread *th)
{
    struct queued_event *q, *tmp;

    if (!th->queued)
        return;
    list_for_each_entry_safe (q, tmp, &th->as->p->events, link) {
        if (q->ev.thread == th) {
            list_del_init(&q->link);
            kfree(q);
        }
    }
    th->queued = false;
}

bool event_pop(struct plat *p, struct plat_event *ret_ev)
{
    struct queued_event *q;

    if (list_empty(&p->events))
        return false;
    q = list_first(&p->events, struct queued_event, link);
    list_del_init(&q->link);
    *ret_ev = q->ev;
    kfree(q);
    /* At most one event of a thread waits, but for a death behind it. */
    ret_ev->thread->queued = false;
    list_for_each_entry (q, &p->events, link) {
        if (q->ev.thread == ret_ev->thread)
            q->ev.thread->queued = true;
    }
    return true;
}

/* -- answers ------------------------------------------------------------------------------------
 */

static void listener_send(struct plat *p, struct seccomp_notif_resp *resp)
{
    if (ioctl(p->listener, SECCOMP_IOCTL_NOTIF_SEND, resp) == 0)
        return;
    /* ENOENT, EINPROGRESS: the caller is gone or about to be. */
    if (errno != ENOENT && errno != EINPROGRESS)
        plat_fatal(p, "the host refused an answer at the gate");
}

void listener_answer(struct plat *p, uint64_t id, int64_t val)
{
    struct seccomp_notif_resp resp = {.id = id, .val = val};

    listener_send(p, &resp);
}

void listener_continue(struct plat *p, uint64_t id)
{
    struct seccomp_notif_resp resp = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    listener_send(p, &resp);
}

int listener_add_fd(struct plat *p, uint64_t id, int fd)
{
    struct seccomp_notif_addfd add = {
        .id = id,
        .flags = SECCOMP_ADDFD_FLAG_SETFD,
        .srcfd = (uint32_t)fd,
        .newfd = STUB_MAP_FD,
        .newfd_flags = 02000000, /* O_CLOEXEC */
    };

    return ioctl(p->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

bool listener_alive(struct plat *p, uint64_t id)
{
    return ioctl(p->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* -- notifications ----------------------------------------------------------------------------- */

void condemn(struct plat_thread *th, const char *text)
{
    if (th->as == th->as->p->zygote_as) {
        plat_fatal(th->as->p, text);
        return;
    }
    LOG_D(CH_PLAT, "killing process %d: %s", (int)th->proc->tgid, text);
    syscall(SYS_pidfd_send_signal, th->proc->pidfd, SIGKILL, NULL, 0);
}

static bool in_stub(uint64_t ip)
{
    return ip >= STUB_CODE && ip <= STUB_CODE + 4096;
}

static bool is_park(const struct seccomp_notif *n)
{
    return n->data.nr == STUB_PARK_NR && n->data.instruction_pointer == STUB_CODE + STUB_IP_PARK;
}

/* A block that was overwritten with a call which the host's filter answers itself (a foreign ABI),
 * or never sees, must not pass for the failure of the call that was asked for: none fails so. */
static bool is_forged(uint64_t result)
{
    return result == (uint64_t)-ENOSYS || result == (uint64_t)-ENXIO;
}

static void handle_command(struct plat_thread *th, const struct seccomp_notif *n)
{
    struct plat *p = th->as->p;
    struct stub_run *run = th->run;

    if (n->data.instruction_pointer == STUB_CODE + STUB_IP_COMMAND && run->next < run->n) {
        uint64_t args[6];

        memcpy(args, n->data.args, sizeof(args));
        if (host_call_equals(&run->calls[run->next], (uint32_t)n->data.nr, args)) {
            int fd = run->fds ? run->fds[run->next] : -1;
            /* What the call before was given is still there: a chain ends with the first failure.
             */
            bool there = run->next > 0 && fd >= 0 && run->fds[run->next - 1] == fd;
            int err = fd >= 0 && !there ? listener_add_fd(p, n->id, fd) : 0;

            run->next++;
            run->done = n->data.nr == SYS_exit;
            if (err)
                listener_answer(p, n->id, err);
            else
                listener_continue(p, n->id);
            return;
        }
    } else if (is_park(n) && n->data.args[3] == run->token &&
               (n->data.args[0] & 0xff) == (run->cas ? STUB_KIND_CAS : STUB_KIND_DONE)) {
        bool failed = n->data.args[1] >= (uint64_t)-LX_MAX_ERRNO;
        bool called = run->next && !is_forged(n->data.args[1]) && (failed || run->next == run->n);

        /* Its own process's word: what a compare-and-exchange found cannot be judged further. */
        if (called || (run->cas && n->data.args[1] <= UINT32_MAX)) {
            run->result = (int64_t)n->data.args[1];
            run->done = true;
            th->run = NULL;
            th->host = HOST_PARKED;
            th->notif_id = n->id;
            return;
        }
    }
    condemn(th, "a thread did not make the call that its stub was told to make");
}

/* The signals that the stub has a handler for (zygote.c). */
static bool is_stub_signal(int signo)
{
    return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
           signo == SIGTRAP || signo == SIGSYS || signo == STUB_KICK_SIGNAL;
}

static void handle_signal(struct plat_thread *th, const struct seccomp_notif *n)
{
    uint64_t what = n->data.args[0];
    int signo = (int)((what >> 8) & 0xff);

    if ((what & 0xff) != STUB_KIND_SIGNAL || !frame_in_slot(th, n->data.args[2]) ||
        !is_stub_signal(signo)) {
        condemn(th, "a thread entered the stub by itself");
        return;
    }
    if (signo != STUB_KICK_SIGNAL && (th->kick_first || th->helper)) {
        condemn(th, "a thread faulted where it was to be kicked");
        return;
    }
    th->kick_first = false;
    th->host = HOST_PARKED;
    th->notif_id = n->id;
    th->frame = n->data.args[2];
    th->regs_valid = false;
    th->regs_dirty = false;
    if (signo == STUB_KICK_SIGNAL) {
        kick_arrived(th);
        return;
    }
    th->vis = VIS_CONTEXT;
    event_push(th, &(struct plat_event){.kind = PLAT_EV_FAULT,
                                        .signo = signo,
                                        .code = (int)(what >> 32),
                                        .fault_addr = n->data.args[4]});
}

static void handle_call(struct plat_thread *th, const struct seccomp_notif *n)
{
    struct plat_event ev = {
        .kind = PLAT_EV_SYSCALL, .nr = (uint32_t)n->data.nr, .ip = n->data.instruction_pointer};

    memcpy(ev.args, n->data.args, sizeof(ev.args));
    th->host = HOST_GATE;
    th->vis = VIS_GATE;
    th->notif_id = n->id;
    th->nr = ev.nr;
    memcpy(th->args, ev.args, sizeof(th->args));
    event_push(th, &ev);
}

/* A process that a failed operation left behind: it stays unanswered, and is ended. A thread of a
 * process that we have just killed comes by here too; it needs nothing. */
static void kill_stranger(struct plat *p, const struct seccomp_notif *n)
{
    int fd = (int)syscall(SYS_pidfd_open, n->pid, 0);

    if (fd < 0)
        return;
    if (listener_alive(p, n->id))
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    close(fd);
}

/* The child of a clone in progress whose block was overwritten: its parent would wait in vain. */
static void blame_parents(struct plat *p, const struct seccomp_notif *n)
{
    struct pending_child *c;

    if (!in_stub(n->data.instruction_pointer) || !listener_alive(p, n->id) ||
        (is_park(n) && (n->data.args[0] & 0xff) == STUB_KIND_SIGNAL))
        return;
    list_for_each_entry (c, &p->children, link) {
        if (!c->tid && c->parent && c->parent->as != p->zygote_as)
            condemn(c->parent, "the child of a clone did not come to the gate");
    }
}

static void handle_stranger(struct plat *p, const struct seccomp_notif *n)
{
    struct pending_child *c;

    list_for_each_entry (c, &p->children, link) {
        if (!c->tid && is_park(n) && n->data.args[3] == c->token) {
            c->tid = (pid_t)n->pid;
            c->notif_id = n->id;
            return;
        }
    }
    blame_parents(p, n);
    kill_stranger(p, n);
}

/* The host aborted the notification that we hold and raises the same call again (it should not,
 * once it was received). The thread is where it was; only the id is new. */
static void handle_repeated(struct plat_thread *th, const struct seccomp_notif *n)
{
    bool same = th->host == HOST_PARKED ? is_park(n)
                                        : (uint32_t)n->data.nr == th->nr &&
                                              memcmp(n->data.args, th->args, sizeof(th->args)) == 0;

    if (!same || listener_alive(th->as->p, th->notif_id))
        condemn(th, "a thread came to the gate twice");
    else
        th->notif_id = n->id;
}

static void handle_notification(struct plat *p, const struct seccomp_notif *n)
{
    struct plat_thread *th = thread_find(p, (pid_t)n->pid);

    if (!th) {
        handle_stranger(p, n);
        return;
    }
    switch (th->host) {
    case HOST_COMMAND:
        handle_command(th, n);
        break;
    case HOST_RUNNING:
        if (th->helper && !th->borrowed)
            condemn(th, "a helper thread ran by itself");
        else if (is_park(n))
            handle_signal(th, n);
        else if (in_stub(n->data.instruction_pointer))
            condemn(th, "a thread made a call from the stub by itself");
        else if (th->kick_first || th->helper)
            condemn(th, "a thread ran on past its kick");
        else
            handle_call(th, n);
        break;
    case HOST_GATE:
    case HOST_PARKED:
        handle_repeated(th, n);
        break;
    }
}

/* -- deaths, watchdog -------------------------------------------------------------------------- */

int deaths_watch(struct host_proc *proc)
{
    struct epoll_event ev = {.events = EPOLLIN, .data = {.ptr = proc}};

    return epoll_ctl(proc->p->deaths, EPOLL_CTL_ADD, proc->pidfd, &ev) < 0 ? -errno : 0;
}

static void death_tell(struct host_proc *proc)
{
    struct plat_thread *th;

    if (proc->death_told)
        return;
    list_for_each_entry (th, &proc->threads, link) {
        if (th->helper)
            continue;
        events_forget(th);
        if (!proc->death_told)
            event_push_kind(th, PLAT_EV_THREAD_DEAD);
        proc->death_told = true;
    }
}

static void handle_deaths(struct plat *p)
{
    struct epoll_event evs[16];
    int n = epoll_wait(p->deaths, evs, (int)ARRAY_LEN(evs), 0);

    for (int i = 0; i < n; i++) {
        struct host_proc *proc = evs[i].data.ptr;

        if (!proc) {
            plat_fatal(p, "the zygote has ended");
            return;
        }
        epoll_ctl(p->deaths, EPOLL_CTL_DEL, proc->pidfd, NULL);
        proc->dead = true;
        death_tell(proc);
    }
}

/* A thread that does not answer a kick for some seconds, counted in ticks during which we were
 * awake ourselves (a frozen sandbox does not age), blocks it: it is ended with its process. */
static void watchdog(struct plat *p)
{
    uint64_t now = now_ns(), past = now - p->watchdog_last;
    struct hash_node *n;

    if (!p->kicks || past < TICK_NS / 2)
        return;
    p->watchdog_last = now;
    past = MIN(past, (uint64_t)TICK_NS * 2);
    hash_for_each (n, &p->threads) {
        struct plat_thread *th = hash_entry(n, struct plat_thread, node);

        if (!th->kick_sent || th->host != HOST_RUNNING)
            continue;
        th->kick_age += past;
        if (th->kick_age > p->kick_patience && !th->proc->dead)
            syscall(SYS_pidfd_send_signal, th->proc->pidfd, SIGKILL, NULL, 0);
    }
}

/* -- waiting ----------------------------------------------------------------------------------- */

static int receive_one(struct plat *p)
{
    struct seccomp_notif n;

    memset(&n, 0, sizeof(n));
    if (ioctl(p->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0) {
        handle_notification(p, &n);
        return 1;
    }
    if (errno != ENOENT && errno != EINTR)
        plat_fatal(p, "the gate is closed: no guest process is left");
    return 0;
}

int listener_poll(struct plat *p, int host_fd, int64_t timeout_ns)
{
    struct pollfd fds[3] = {
        {.fd = p->listener, .events = POLLIN},
        {.fd = p->deaths, .events = POLLIN},
        {.fd = host_fd, .events = POLLIN},
    };
    struct timespec ts;
    bool tick = p->kicks && (timeout_ns < 0 || timeout_ns > TICK_NS);
    int n;

    if (tick)
        timeout_ns = TICK_NS;
    ts.tv_sec = timeout_ns / 1000000000;
    ts.tv_nsec = timeout_ns % 1000000000;
    n = ppoll(fds, host_fd >= 0 ? 3 : 2, timeout_ns < 0 ? NULL : &ts, NULL);
    if (p->kicks)
        watchdog(p);
    if (n <= 0)
        return tick && n == 0 ? 1 : 0;
    if (fds[1].revents)
        handle_deaths(p);
    if (fds[0].revents & POLLIN)
        receive_one(p);
    else if (fds[0].revents)
        plat_fatal(p, "the gate is closed: no guest process is left");
    return fds[0].revents || fds[1].revents;
}
