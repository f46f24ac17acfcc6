/*
 * How this works: kicks, answers, and the registers of a thread that is parked in its signal
 * handler. The host's signal frame lies on the thread's alternate stack in its slot:
 *
 *      frame:  pretcode | ucontext (flags link stack sigcontext mask) | siginfo
 *      above:  the extended state that sigcontext.fpstate points at
 *
 * The registers are read once per context, changed in a cache and written back when the thread goes
 * on (or when a clone is to copy them). All of it is guest memory: only what the host kernel will
 * check again on sigreturn is believed.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/cleanup.h"

/* The host kernel's frame; its ucontext has an 8-byte signal mask. */
struct host_ucontext {
    uint64_t flags, link;
    uint64_t stack_sp;
    uint32_t stack_flags, stack_pad;
    uint64_t stack_size;
    struct plat_regs regs;
    uint64_t fpstate;
    uint64_t reserved[8];
    uint64_t sigmask;
};

struct host_frame {
    uint64_t pretcode;
    struct host_ucontext uc;
    uint8_t siginfo[128];
};

_Static_assert(sizeof(struct plat_regs) == 184, "the kernel's sigcontext up to fpstate");
_Static_assert(offsetof(struct host_ucontext, regs) == 40 &&
                   offsetof(struct host_ucontext, sigmask) == 296,
               "the kernel's ucontext");

#define FRAME_REGS (offsetof(struct host_frame, uc) + offsetof(struct host_ucontext, regs))
#define FRAME_FP   (offsetof(struct host_frame, uc) + offsetof(struct host_ucontext, fpstate))
#define FRAME_RAX  (FRAME_REGS + offsetof(struct plat_regs, rax))

enum {
    FRAME_UC_FP_XSTATE = 1,
    FRAME_UC_SIGCONTEXT_SS = 2,
    FRAME_UC_STRICT_RESTORE_SS = 4
};

/* -- kicks ------------------------------------------------------------------------------------ */

void kick(struct plat_thread *th)
{
    struct plat *p = th->as->p;

    if (th->kick_sent || th->proc->dead)
        return;
    if (!p->kicks++)
        p->watchdog_last = now_ns();
    th->kick_sent = true;
    th->kick_age = 0;
    syscall(SYS_tgkill, th->proc->tgid, th->tid, STUB_KICK_SIGNAL);
}

void kick_arrived(struct plat_thread *th)
{
    if (th->kick_sent) {
        th->kick_sent = false;
        th->as->p->kicks--;
    }
    if (th->borrowed || th->helper)
        return;
    if (!th->want_context) {
        /* The context was given on another occasion. */
        thread_release(th);
        return;
    }
    th->want_context = false;
    th->vis = VIS_CONTEXT;
    event_push_kind(th, PLAT_EV_CONTEXT);
}

/* -- the frame -------------------------------------------------------------------------------- */

static uint64_t fp_address(const struct plat *p, uint32_t slot)
{
    return (stub_slot_addr(slot) + STUB_SLOT_SIZE - p->fp_size) & ~63ull;
}

uint64_t frame_address(const struct plat *p, uint32_t slot)
{
    return ((fp_address(p, slot) - sizeof(struct host_frame)) & ~15ull) - 8;
}

bool frame_in_slot(const struct plat_thread *th, uint64_t frame)
{
    uint64_t start = stub_slot_addr(th->slot) + STUB_SLOT_STACK;

    return frame >= start &&
           frame <= start + STUB_SLOT_SIZE - STUB_SLOT_STACK - sizeof(struct host_frame);
}

static int regs_load(struct plat_thread *th)
{
    uint64_t image[24];

    if (th->regs_valid)
        return 0;
    if (raw_read(th, th->frame + FRAME_REGS, image, sizeof(image)))
        return -EIO;
    memcpy(&th->regs, image, sizeof(th->regs));
    th->fpstate = image[23];
    th->regs_valid = true;
    th->regs_dirty = false;
    return 0;
}

int regs_flush(struct plat_thread *th)
{
    if (!th->regs_valid || !th->regs_dirty)
        return 0;
    if (raw_write(th, th->frame + FRAME_REGS, &th->regs, sizeof(th->regs)))
        return -EIO;
    th->regs_dirty = false;
    return 0;
}

uint64_t frame_write(struct plat_thread *via, uint32_t slot, const struct plat_regs *regs,
                     const void *fp)
{
    const struct plat *p = via->as->p;
    uint64_t frame = frame_address(p, slot);
    struct host_frame f;

    memset(&f, 0, sizeof(f));
    f.uc.flags = FRAME_UC_FP_XSTATE | FRAME_UC_SIGCONTEXT_SS | FRAME_UC_STRICT_RESTORE_SS;
    f.uc.stack_sp = stub_slot_addr(slot) + STUB_SLOT_STACK;
    f.uc.stack_size = STUB_SLOT_SIZE - STUB_SLOT_STACK;
    f.uc.regs = *regs;
    f.uc.fpstate = fp ? fp_address(p, slot) : 0;
    if (raw_write(via, frame, &f, sizeof(f)))
        return 0;
    if (fp && raw_write(via, f.uc.fpstate, fp, p->fp_size))
        return 0;
    return frame;
}

/* Where the extended state lies, if that is inside the slot. */
static uint64_t fp_checked(struct plat_thread *th)
{
    uint64_t start = stub_slot_addr(th->slot) + STUB_SLOT_STACK;
    uint64_t end = stub_slot_addr(th->slot) + STUB_SLOT_SIZE;
    size_t n = th->as->p->fp_size;

    return th->fpstate >= start && th->fpstate <= end - n && !(th->fpstate & 63) ? th->fpstate : 0;
}

int64_t frame_read_fp(struct plat_thread *th, void *buf, size_t cap)
{
    struct plat *p = th->as->p;
    size_t n = MIN(cap, p->fp_size);
    uint64_t at;

    if (regs_load(th))
        return -EIO;
    at = fp_checked(th);
    if (!at)
        memcpy(buf, p->fp_fresh, n);
    else if (raw_read(th, at, buf, n))
        return -EIO;
    return (int64_t)n;
}

/* -- operations ---------------------------------------------------------------------------------
 */

int unotify_get_regs(struct plat_thread *th, struct plat_regs *ret_regs)
{
    int err = th->host == HOST_PARKED ? regs_load(th) : -EIO;

    if (!err)
        *ret_regs = th->regs;
    return err;
}

int unotify_set_regs(struct plat_thread *th, const struct plat_regs *regs)
{
    int err = th->host == HOST_PARKED ? regs_load(th) : -EIO;

    if (!err) {
        th->regs = *regs;
        th->regs_dirty = true;
    }
    return err;
}

int64_t unotify_get_fp(struct plat_thread *th, void *buf, size_t cap)
{
    return th->host == HOST_PARKED ? frame_read_fp(th, buf, cap) : -EIO;
}

int unotify_set_fp(struct plat_thread *th, const void *buf, size_t len)
{
    struct plat *p = th->as->p;
    uint64_t at = 0;
    auto_free uint8_t *area = NULL;
    int err = th->host == HOST_PARKED ? regs_load(th) : -EIO;

    if (err)
        return err;
    if (buf) {
        area = kmemdup(p->fp_fresh, p->fp_size);
        if (!area)
            return -ENOMEM;
        memcpy(area, buf, MIN(len, p->fp_size));
        at = fp_checked(th);
        if (!at)
            at = fp_address(p, th->slot);
        if (raw_write(th, at, area, p->fp_size))
            return -EIO;
    }
    if (raw_write(th, th->frame + FRAME_FP, &at, sizeof(at)))
        return -EIO;
    th->fpstate = at;
    return 0;
}

/* Nobody would answer it any more. Its process is gone mostly; an event follows in any case. */
static void lost(struct plat_thread *th)
{
    condemn(th, "the registers of a parked thread are out of reach");
}

void thread_release(struct plat_thread *th)
{
    if (th->host != HOST_PARKED)
        return;
    if (regs_flush(th)) {
        lost(th);
        return;
    }
    th->host = HOST_RUNNING;
    th->regs_valid = false;
    listener_answer(th->as->p, th->notif_id, 0);
}

void unotify_resume(struct plat_thread *th)
{
    th->vis = VIS_RUNNING;
    thread_release(th);
}

/* The owed answer of a borrowed thread goes into its frame. */
static void answer_parked(struct plat_thread *th, int64_t val, bool context)
{
    if (th->regs_valid) {
        th->regs.rax = (uint64_t)val;
        th->regs_dirty = true;
    } else if (raw_write(th, th->frame + FRAME_RAX, &val, sizeof(val))) {
        lost(th);
        return;
    }
    th->borrowed = false;
    if (context || th->want_context) {
        th->want_context = false;
        th->vis = VIS_CONTEXT;
        event_push_kind(th, PLAT_EV_CONTEXT);
        return;
    }
    th->vis = VIS_RUNNING;
    thread_release(th);
}

void unotify_answer(struct plat_thread *th, int64_t val)
{
    if (th->host == HOST_PARKED) {
        answer_parked(th, val, false);
        return;
    }
    if (th->host != HOST_GATE)
        return;
    th->vis = VIS_RUNNING;
    th->host = HOST_RUNNING;
    listener_answer(th->as->p, th->notif_id, val);
}

/* Composed by the kernel, and compared when the stub makes it. */
static void call_in_context(struct plat_thread *th, const struct host_call *call)
{
    int64_t ret;

    if (th->host != HOST_PARKED)
        return;
    if (regs_load(th)) {
        lost(th);
        return;
    }
    ret = stub_run_one(th, call);
    th->regs.rax = (uint64_t)ret;
    th->regs_dirty = true;
}

void unotify_answer_host(struct plat_thread *th, const struct host_call *call)
{
    struct plat *p = th->as->p;

    if (th->vis == VIS_CONTEXT) {
        call_in_context(th, call);
        return;
    }
    if (!host_call_equals(call, th->nr, th->args)) {
        plat_fatal(p, "a host call differs from the pending one");
        return;
    }
    if (th->host == HOST_PARKED) {
        int64_t ret = stub_run_one(th, call);

        if (th->host == HOST_PARKED)
            answer_parked(th, ret, false);
        return;
    }
    if (th->host != HOST_GATE)
        return;
    th->vis = VIS_RUNNING;
    th->host = HOST_RUNNING;
    listener_continue(p, th->notif_id);
}

void unotify_answer_kick(struct plat_thread *th, int64_t val)
{
    if (th->host == HOST_PARKED) {
        answer_parked(th, val, true);
        return;
    }
    if (th->host != HOST_GATE)
        return;
    th->want_context = true;
    kick(th);
    th->kick_first = true;
    th->vis = VIS_RUNNING;
    th->host = HOST_RUNNING;
    listener_answer(th->as->p, th->notif_id, val);
}

void unotify_interrupt(struct plat_thread *th)
{
    if (th->vis != VIS_RUNNING && !th->queued)
        return;
    if (th->vis == VIS_CONTEXT && th->queued)
        return; /* its context is on the way already */
    th->want_context = true;
    if (th->host == HOST_RUNNING || th->host == HOST_GATE)
        kick(th);
}
