/*
 * How this works: a parked thread is answered with the address of command blocks in its slot; it
 * makes their calls one by one, each checked when it comes to the gate (listener.c), and parks
 * again. The sentry waits here for the end, handling whatever other threads do meanwhile (their
 * events are queued for next_event). The wait is bounded: a thread that does not do what it was
 * told in time is killed with its process.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/random.h>
#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

enum {
    MAX_CHAIN = 32
};
#define COMMAND_PATIENCE_NS  10000000000ll
#define BORROW_TICK_NS       5000000
#define BORROW_CPU_NS        20000000ull
#define BORROW_CPU_THREAD_NS 10000000ull
#define BORROW_CPU_MAX_NS    1000000000ull

/* xorshift128+ over a seed of the host: the token only has to be unknown in advance. */
uint64_t token_new(struct plat *p)
{
    uint64_t a = p->random_state[0], b = p->random_state[1];

    if (!a && !b && getrandom(p->random_state, sizeof(p->random_state), 0) > 0) {
        a = p->random_state[0];
        b = p->random_state[1];
    }
    p->random_state[0] = b;
    a ^= a << 23;
    p->random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return (p->random_state[1] + b) | 1;
}

/* Handles what comes until *cond; false: the process died, the sandbox is lost, or time is over. */
static bool wait_until(struct plat_thread *th, const bool *cond, const pid_t *child)
{
    struct plat *p = th->as->p;
    uint64_t waited = 0, last = 0;

    while (!*cond || (child && !*child)) {
        if (p->fatal || th->proc->dead)
            return false;
        if (listener_poll(p, -1, 1000000000) == 0) {
            uint64_t now = now_ns();

            /* Bounded in time that we were awake ourselves: a frozen sandbox does not count. */
            waited += last ? MIN(now - last, (uint64_t)2000000000) : 1000000000;
            last = now;
            if (waited > COMMAND_PATIENCE_NS) {
                syscall(SYS_pidfd_send_signal, th->proc->pidfd, SIGKILL, NULL, 0);
                return false;
            }
        }
    }
    return true;
}

static int blocks_write(struct plat_thread *th, const struct stub_run *run)
{
    struct stub_block blocks[MAX_CHAIN];
    uint64_t at = stub_slot_addr(th->slot);

    if (run->cas) {
        blocks[0] = (struct stub_block){
            .nr = STUB_CAS_NR,
            .args = {run->cas->addr, run->cas->expected, run->cas->desired},
            .token = run->token,
        };
        return raw_write(th, at, blocks, sizeof(blocks[0]));
    }
    memset(blocks, 0, run->n * sizeof(blocks[0]));
    for (size_t i = 0; i < run->n; i++) {
        blocks[i].nr = run->calls[i].nr;
        memcpy(blocks[i].args, run->calls[i].args, sizeof(blocks[i].args));
        blocks[i].next = i + 1 < run->n ? at + (i + 1) * sizeof(blocks[0]) : 0;
        blocks[i].token = run->token;
    }
    return raw_write(th, at, blocks, run->n * sizeof(blocks[0]));
}

static int64_t run_start(struct plat_thread *th, struct stub_run *run)
{
    if (th->host != HOST_PARKED || th->proc->dead || th->as->p->fatal)
        return -EIO;
    if (!run->token)
        run->token = token_new(th->as->p);
    if (blocks_write(th, run))
        return -EIO;
    th->run = run;
    th->host = HOST_COMMAND;
    listener_answer(th->as->p, th->notif_id, (int64_t)stub_slot_addr(th->slot));
    return 0;
}

static int64_t run_wait(struct plat_thread *th, struct stub_run *run)
{
    int64_t err = run_start(th, run);

    if (err)
        return err;
    if (wait_until(th, &run->done, NULL))
        return run->result;
    th->run = NULL;
    th->host = HOST_RUNNING;
    return -EIO;
}

int64_t stub_run(struct plat_thread *th, const struct host_call *calls, const int *fds, size_t n)
{
    int64_t result = 0;

    for (size_t at = 0; at < n; at += MAX_CHAIN) {
        struct stub_run run = {
            .calls = calls + at, .fds = fds ? fds + at : NULL, .n = MIN(n - at, (size_t)MAX_CHAIN)};

        result = run_wait(th, &run);
        if (result < 0 && result >= -LX_MAX_ERRNO)
            break;
    }
    return result;
}

int64_t stub_cas(struct plat_thread *th, const struct stub_cas *cas)
{
    struct stub_run run = {.cas = cas};

    return run_wait(th, &run);
}

int64_t stub_run_one(struct plat_thread *th, const struct host_call *call)
{
    return stub_run(th, call, NULL, 1);
}

int stub_clone_start(struct plat_thread *th, const struct host_call *call, struct stub_run *run,
                     struct pending_child *child)
{
    struct plat *p = th->as->p;
    int err;

    *run = (struct stub_run){.calls = call, .n = 1, .token = token_new(p)};
    *child = (struct pending_child){.token = run->token, .parent = th};
    list_init(&child->link);
    err = (int)run_start(th, run);
    if (!err)
        list_add_tail(&p->children, &child->link);
    return err;
}

bool stub_clone_finished(const struct stub_run *run, const struct pending_child *child)
{
    return run->done && (run->result < 0 || child->tid);
}

int stub_clone(struct plat_thread *th, const struct host_call *call,
               struct pending_child *ret_child)
{
    struct stub_run run;
    int err = stub_clone_start(th, call, &run, ret_child);
    bool ok;

    if (err)
        return err;
    ok = wait_until(th, &run.done, NULL);
    if (ok && run.result > 0)
        ok = wait_until(th, &run.done, &ret_child->tid);
    list_del_init(&ret_child->link);
    if (ok)
        return run.result < 0 ? (int)run.result : 0;
    if (!run.done) {
        th->run = NULL;
        th->host = HOST_RUNNING;
    }
    return -EIO;
}

/*
 * A kicked thread needs next to no time of its own to come. CPU time that its process uses up
 * meanwhile, beyond a turn for each of its other threads, means that it has blocked the kick; wall
 * time may pass on a busy or frozen host.
 */
static uint64_t borrow_budget(struct plat_thread *th)
{
    uint64_t budget = th->host == HOST_GATE ? BORROW_CPU_NS : BORROW_CPU_MAX_NS;
    struct plat_thread *sibling;

    list_for_each_entry (sibling, &th->proc->threads, link)
        budget += BORROW_CPU_THREAD_NS;
    return unotify_process_cputime(th) + MIN(budget, (uint64_t)BORROW_CPU_MAX_NS);
}

int thread_borrow(struct plat_thread *th)
{
    struct plat *p = th->as->p;
    uint64_t end = 0, cpu = 0;
    bool idle;

    if (th->host != HOST_PARKED) {
        end = now_ns() + (uint64_t)COMMAND_PATIENCE_NS;
        cpu = borrow_budget(th);
    }
    th->borrowed = true;
    while (th->host != HOST_PARKED) {
        if (p->fatal || th->proc->dead || th->host == HOST_COMMAND)
            break;
        kick(th);
        if (th->host == HOST_GATE) {
            /* Its real answer is owed: it goes into the frame's rax when the kernel gives it. */
            th->host = HOST_RUNNING;
            th->kick_first = true;
            listener_answer(p, th->notif_id, 0);
        }
        idle = listener_poll(p, -1, BORROW_TICK_NS) == 0;
        if (now_ns() > end || (idle && unotify_process_cputime(th) > cpu)) {
            condemn(th, "a thread does not come when it is kicked");
            break;
        }
    }
    if (th->host == HOST_PARKED)
        return 0;
    th->borrowed = false;
    return -EIO;
}

void thread_return(struct plat_thread *th)
{
    if (!th->borrowed)
        return;
    th->borrowed = false;
    if (th->vis != VIS_RUNNING || th->host != HOST_PARKED || th->helper)
        return;
    if (th->want_context) {
        th->want_context = false;
        th->vis = VIS_CONTEXT;
        event_push_kind(th, PLAT_EV_CONTEXT);
        return;
    }
    thread_release(th);
}
