/*
 * rt_sigreturn on a frame whose bytes are the input, inside a handler on a kernel without a host.
 * The registers that the thread goes on with hold no privilege, and SIGKILL and SIGSTOP stay
 * unblocked.
 */
#include <string.h>

#include "abi/signal.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "tests/support/box.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HANDLER 0x40001000ull

/* IOPL NT VM VIF VIP and what is reserved: never from a frame. */
#define EFLAGS_PRIVILEGED (~(uint64_t)0x50fd7)

static void check_regs(struct plat_thread *th)
{
    const struct plat_regs *r = fake_regs(th);

    KASSERT(r->cs == 0x33 && r->ss == 0x2b);
    KASSERT((r->eflags & EFLAGS_PRIVILEGED) == 0 && (r->eflags & 0x200) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t balance = kalloc_balance();

    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t id = fake_id(child);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
    (void)box_call(box.th, NR_kill, 2, LX_SIGUSR1);
    box_run();
    uint64_t sp = fake_regs(child)->rsp;
    size_t n = MIN(size, (size_t)3072);
    /* Over the frame from the ucontext on; the rest stays as the kernel made it. */
    (void)!plat_write(plat_ops->thread_as(child), GADDR(sp + 8), data, n);
    (void)box_sigreturn(child);
    child = fake_thread(box.p, id);
    if (child) {
        check_regs(child);
        KASSERT((box_task(child)->blocked & LX_SIGSET_UNBLOCKABLE) == 0);
        /* The next frame is built from what came in. */
        (void)box_call(box.th, NR_kill, 2, LX_SIGUSR1);
        box_run();
        child = fake_thread(box.p, id);
        if (child)
            check_regs(child);
    }
    box_end();
    KASSERT(kalloc_balance() == balance);
    return 0;
}
