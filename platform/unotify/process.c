/*
 * How this works: host processes and threads of guests. Every new one comes out of a clone that a
 * parked thread makes on command (stub_clone) and is parked itself when we first see it:
 *
 *   as_new        the zygote forks; the child is the helper thread of the new address space
 *   thread_first  the helper clones a thread onto a signal frame of zero registers
 *   thread_clone  the calling thread clones one onto a copy of its own frame in another slot
 *   fork          the calling thread forks: its frame is copied with everything else; with share_vm
 *                 the child gets a slot and a frame of its own
 *
 * The first thread of a process that came from fork is its thread group leader. It must not end
 * before the process (the host would keep its memory unreachable), so on thread_exit it becomes the
 * helper instead.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/cleanup.h"

/* -- new processes and threads ----------------------------------------------------------------- */

/* The child of a clone that we cannot keep. */
static void child_kill(struct plat *p, const struct pending_child *c)
{
    int fd = c->tid ? (int)syscall(SYS_pidfd_open, c->tid, 0) : -1;

    if (fd < 0)
        return;
    if (listener_alive(p, c->notif_id))
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    close(fd);
}

/* A process for the child, with its one thread. */
struct plat_thread *child_adopt(struct plat_as *as, const struct pending_child *c, uint32_t slot,
                                uint64_t frame)
{
    struct host_proc *proc = proc_make(as, c->tid, c->notif_id);
    struct plat_thread *th;

    if (!proc) {
        child_kill(as->p, c);
        return NULL;
    }
    th = thread_make(proc, c->tid, slot);
    if (!th) {
        child_kill(as->p, c);
        epoll_ctl(as->p->deaths, EPOLL_CTL_DEL, proc->pidfd, NULL);
        close(proc->pidfd);
        list_del_init(&proc->link);
        kfree(proc);
        return NULL;
    }
    th->notif_id = c->notif_id;
    th->frame = frame;
    return th;
}

static int as_from_zygote(struct plat *p, struct plat_as *as)
{
    struct pending_child child;
    struct host_call call;
    int err = slot_take(as, 0);

    if (err)
        return err;
    stub_call_clone_zygote(&call);
    err = stub_clone(p->zygote, &call, &child);
    if (err)
        return err;
    as->helper = child_adopt(as, &child, 0, 0);
    if (!as->helper)
        return -ENOMEM;
    as->helper->helper = true;
    return 0;
}

int unotify_as_new(struct plat *p, struct plat_as **ret_as)
{
    struct plat_as *as = spare_take(p);
    int err;

    if (as) {
        *ret_as = as;
        return 0;
    }
    as = as_make(p);
    err = as ? as_from_zygote(p, as) : -ENOMEM;
    if (err) {
        if (as)
            as_free(as);
        return err;
    }
    *ret_as = as;
    return 0;
}

/* Clones a thread by `via` onto a frame that it gets from regs and fp. */
static int thread_new(struct plat_thread *via, const struct plat_regs *regs, const void *fp,
                      bool set_tls, uint64_t tls, struct plat_thread **ret_th)
{
    struct plat_as *as = via->as;
    struct pending_child child;
    struct host_call call;
    struct plat_thread *th;
    uint64_t frame;
    uint32_t slot;
    int err = slot_alloc(as, &slot);

    if (err)
        return err;
    frame = frame_write(via, slot, regs, fp);
    err = frame ? 0 : -EIO;
    if (!err) {
        stub_call_clone_thread(frame, set_tls, tls, &call);
        err = stub_clone(via, &call, &child);
    }
    if (err) {
        bitmap_clear(&as->slots, slot);
        return err;
    }
    th = thread_make(via->proc, child.tid, slot);
    if (!th) {
        /* A thread that cannot be remembered cannot be let go: it ends with its process. */
        return -ENOMEM;
    }
    th->notif_id = child.notif_id;
    th->frame = frame;
    as->guest_threads++;
    *ret_th = th;
    return 0;
}

int unotify_thread_first(struct plat_as *as, void *owner, struct plat_thread **ret_th)
{
    const struct plat_regs regs = {.cs = 0x33, .ss = 0x2b, .eflags = 0x202};
    int err;

    if (!as->helper)
        return -EINVAL;
    if (as->first) {
        *ret_th = as->first;
        as->first = NULL;
        as->guest_threads++;
        (*ret_th)->helper = false;
        (*ret_th)->owner = owner;
        return 0;
    }
    err = thread_new(as->helper, &regs, NULL, false, 0, ret_th);
    if (!err)
        (*ret_th)->owner = owner;
    return err;
}

int helper_make(struct plat_as *as, struct plat_thread *via)
{
    const struct plat_regs regs = {.cs = 0x33, .ss = 0x2b, .eflags = 0x202};
    struct plat_thread *th;
    int err = thread_new(via, &regs, NULL, false, 0, &th);

    if (err)
        return err;
    th->helper = true;
    as->guest_threads--;
    as->helper = th;
    return 0;
}

/* Registers and extended state of a thread in context, for a copy of it. */
static int context_copy(struct plat_thread *th, struct plat_regs *regs, uint8_t *fp)
{
    int err = unotify_get_regs(th, regs);
    int64_t n = err ? err : frame_read_fp(th, fp, th->as->p->fp_size);

    return n < 0 ? (int)n : 0;
}

int unotify_thread_clone(struct plat_thread *parent, bool set_tls, uint64_t tls, void *owner,
                         struct plat_thread **ret_th)
{
    auto_free uint8_t *fp = kalloc(parent->as->p->fp_size);
    struct plat_regs regs;
    int err = fp ? context_copy(parent, &regs, fp) : -ENOMEM;

    if (!err)
        err = thread_new(parent, &regs, fp, set_tls, tls, ret_th);
    if (!err)
        (*ret_th)->owner = owner;
    return err;
}

static int fork_shared(struct plat_thread *parent, bool set_tls, uint64_t tls,
                       struct plat_thread **ret_th)
{
    struct plat_as *as = parent->as;
    auto_free uint8_t *fp = kalloc(as->p->fp_size);
    struct pending_child child;
    struct plat_regs regs;
    struct host_call call;
    uint64_t frame = 0;
    uint32_t slot;
    int err = fp ? context_copy(parent, &regs, fp) : -ENOMEM;

    if (!err)
        err = slot_alloc(as, &slot);
    if (err)
        return err;
    frame = frame_write(parent, slot, &regs, fp);
    err = frame ? 0 : -EIO;
    if (!err) {
        stub_call_clone_process(frame, set_tls, tls, &call);
        err = stub_clone(parent, &call, &child);
    }
    if (!err) {
        *ret_th = child_adopt(as, &child, slot, frame);
        err = *ret_th ? 0 : -ENOMEM;
    }
    if (err)
        bitmap_clear(&as->slots, slot);
    return err;
}

static int fork_copy(struct plat_thread *parent, bool set_tls, uint64_t tls,
                     struct plat_thread **ret_th)
{
    struct plat_as *as = as_make(parent->as->p);
    struct pending_child child;
    struct host_call call;
    int err = as ? slot_take(as, parent->slot) : -ENOMEM;

    if (!err)
        err = regs_flush(parent);
    if (!err) {
        stub_call_clone_process(0, set_tls, tls, &call);
        err = stub_clone(parent, &call, &child);
    }
    if (!err) {
        *ret_th = child_adopt(as, &child, parent->slot, parent->frame);
        err = *ret_th ? 0 : -ENOMEM;
    }
    if (err && as)
        as_free(as);
    return err;
}

int unotify_fork(struct plat_thread *parent, bool share_vm, bool set_tls, uint64_t tls, void *owner,
                 struct plat_as **ret_as, struct plat_thread **ret_th)
{
    struct plat_thread *th = NULL;
    int err =
        share_vm ? fork_shared(parent, set_tls, tls, &th) : fork_copy(parent, set_tls, tls, &th);

    if (err)
        return err;
    th->owner = owner;
    th->as->guest_threads++;
    *ret_as = th->as;
    *ret_th = th;
    return 0;
}

/* -- ends -------------------------------------------------------------------------------------- */

static size_t proc_guest_threads(const struct host_proc *proc)
{
    const struct plat_thread *th;
    size_t n = 0;

    list_for_each_entry (th, &proc->threads, link)
        n += !th->helper;
    return n;
}

static void leader_to_helper(struct plat_thread *th)
{
    struct plat_as *as = th->as;

    events_forget(th);
    th->owner = NULL;
    th->helper = true;
    th->want_context = false;
    as->guest_threads--;
    if (!as->helper)
        as->helper = th;
}

void unotify_thread_exit(struct plat_thread *th)
{
    struct host_call call;

    if (th->proc->dead || proc_guest_threads(th->proc) <= 1) {
        proc_kill(th->proc);
        return;
    }
    if (th->tid == th->proc->tgid) {
        leader_to_helper(th);
        return;
    }
    stub_call_exit(th->host == HOST_GATE ? th->args[0] : 0, &call);
    if (th->host == HOST_GATE && host_call_equals(&call, th->nr, th->args))
        listener_continue(th->as->p, th->notif_id);
    else if (thread_borrow(th) || stub_run_one(th, &call) < 0) {
        proc_kill(th->proc);
        return;
    }
    thread_free(th);
}

void unotify_process_kill(struct plat_thread *th)
{
    proc_kill(th->proc);
}

void unotify_as_drop(struct plat_as *as)
{
    KASSERT(as->guest_threads == 0 && as->helper);
    proc_kill(as->helper->proc);
}

struct plat_as *unotify_thread_as(struct plat_thread *th)
{
    return th->as;
}

void *unotify_thread_owner(struct plat_thread *th)
{
    return th->owner;
}

/* -- CPU time ---------------------------------------------------------------------------------- */

uint64_t unotify_process_cputime(struct plat_thread *th)
{
    clockid_t clock = (clockid_t)((~(uint32_t)th->proc->tgid << 3) | 2);
    struct timespec ts;

    if (clock_gettime(clock, &ts) == 0)
        th->proc->cputime = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    return th->proc->cputime;
}

/* The host tells a thread's time only to its own process, so the thread itself has to ask. */
uint64_t unotify_thread_cputime(struct plat_thread *th)
{
    uint64_t slot = stub_slot_addr(th->slot);
    struct host_call call;
    struct timespec ts;

    if (proc_guest_threads(th->proc) == 1) {
        th->cputime = unotify_process_cputime(th);
        return th->cputime;
    }
    if (th->vis == VIS_RUNNING || thread_borrow(th))
        return th->cputime;
    stub_call_cputime(slot, &call);
    if (stub_run_one(th, &call) == 0 && raw_read(th, slot + STUB_SLOT_RESULT, &ts, sizeof(ts)) == 0)
        th->cputime = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    thread_return(th);
    return th->cputime;
}
