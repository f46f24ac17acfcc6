/*
 * Guests that attack the stub, processes that vanish, and a storm of forks, threads and kills. Only
 * on user-notify; looks into its private objects where the interface shows nothing.
 */
#include <signal.h>
#include <string.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/errno.h"
#include "abi/prctl.h"

#include "platform/stub/page.h"
#include "platform/unotify/private.h"

#include "tests/support/test.h"
#include "tests/unit/platform/world.h"

#define UNOTIFY(name)                         \
    static void name##_body(struct world *w); \
    TEST(name)                                \
    {                                         \
        struct world w;                       \
        if (!world_start(&w, false))          \
            return;                           \
        name##_body(&w);                      \
        world_stop(&w);                       \
    }                                         \
    END_TEST                                  \
    static void name##_body(struct world *w)

/* Sends the guest to rip with rax = nr and lets it run. */
static void jump(struct world *w, uint64_t rip, uint64_t nr)
{
    struct plat_regs regs;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    regs.rip = rip;
    regs.rax = nr;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    plat_ops->resume(w->th);
}

/* The process is killed, unanswered, and nothing else happens. */
static void expect_killed(struct world *w, struct plat_thread *th)
{
    expect_event(w, PLAT_EV_THREAD_DEAD, th);
    plat_ops->process_kill(th);
    plat_ops->next_event(w->p, -1, 1000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
}

/* A frame that rt_sigreturn of the host accepts, at BOX_ADDR + 4096: goes on at rip in the box's
 * program with this signal mask. */
static void forge_frame(struct world *w, struct plat_as *as, uint64_t rip, uint64_t mask)
{
    uint64_t frame[60] = {0};

    (void)w;
    frame[1] = 2 | 4;                /* uc_flags */
    frame[4] = 2;                    /* alternate stack disabled */
    frame[6 + 7] = BOX_ADDR;         /* r15: the box */
    frame[6 + 15] = BOX_ADDR + 8192; /* rsp */
    frame[6 + 16] = rip;
    frame[6 + 17] = 0x246;
    frame[6 + 18] = 0x33 | 0x2bull << 48;
    frame[38] = mask;
    ck_assert_int_eq(plat_write(as, GADDR(BOX_ADDR + 4096), frame, sizeof(frame)), 0);
}

/* th (IN_CONTEXT) goes on in the program with every host signal blocked, the kick among them. */
static void block_kick(struct world *w, struct plat_thread *th, uint64_t rip)
{
    struct plat_regs regs;

    forge_frame(w, plat_ops->thread_as(th), rip, UINT64_MAX);
    ck_assert_int_eq(plat_ops->get_regs(th, &regs), 0);
    regs.rip = STUB_CODE + STUB_OFF_RESUME;
    regs.rsp = BOX_ADDR + 4096;
    ck_assert_int_eq(plat_ops->set_regs(th, &regs), 0);
    plat_ops->resume(th);
}

UNOTIFY(jump_to_park)
{
    jump(w, STUB_CODE + STUB_OFF_PARK, 0);
    expect_killed(w, w->th);
}

UNOTIFY(jump_to_command)
{
    jump(w, STUB_CODE + STUB_IP_COMMAND - 2, SYS_getpid);
    expect_killed(w, w->th);
}

/* The handler's entry with a frame outside of the slot. */
UNOTIFY(jump_to_signal_entry)
{
    struct plat_regs regs;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    regs.rip = STUB_CODE + STUB_OFF_SIGNAL;
    regs.rsi = BOX_ADDR;
    regs.rdi = STUB_KICK_SIGNAL;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    plat_ops->resume(w->th);
    expect_killed(w, w->th);
}

/* rt_sigreturn from the stub is the guest's to use, on a frame that does not exist. */
UNOTIFY(jump_to_sigreturn)
{
    jump(w, STUB_CODE + STUB_OFF_RESUME, 0);
    expect_event(w, PLAT_EV_FAULT, w->th);
    ck_assert_int_eq(w->ev.signo, SIGSEGV);
}

/* rt_sigreturn from elsewhere is an ordinary call of the guest. */
UNOTIFY(sigreturn_from_guest_code)
{
    box_set(w->as, 0, SYS_rt_sigreturn, 0, 0, 0, 0, 0, 0);
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, SYS_rt_sigreturn);
    box_set(w->as, 0, STUB_PARK_NR, 0, 0, 0, 0, 0, 0);
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, STUB_PARK_NR);
}

UNOTIFY(foreign_calls_get_enosys)
{
    /* int $0x80; mov %rax, %rbx; mov $0x40000027, %eax; syscall; mov $501, %edi; mov %edi, %eax;
     * syscall */
    static const uint8_t code[] = {0xcd, 0x80, 0x48, 0x89, 0xc3, 0xb8, 0x27, 0x00,
                                   0x00, 0x40, 0x0f, 0x05, 0x48, 0x89, 0xc6, 0xbf,
                                   0xf5, 0x01, 0x00, 0x00, 0x89, 0xf8, 0x0f, 0x05};
    struct plat_regs regs;

    ck_assert_int_eq(plat_write(w->as, GADDR(CODE_ADDR + 0x800), code, sizeof(code)), 0);
    jump(w, CODE_ADDR + 0x800, 20);
    expect_call(w, w->th, 501);
    ck_assert_int_eq((int)w->ev.args[1], -ENOSYS);
    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    ck_assert_int_eq((int)regs.rbx, -ENOSYS);
}

UNOTIFY(process_vanishes)
{
    struct plat_thread *child;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    start_at(w, child, 0, 600);
    ck_assert_int_eq(kill(child->proc->tgid, SIGKILL), 0);
    expect_event(w, PLAT_EV_THREAD_DEAD, child);
    ck_assert_int_lt(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
    plat_ops->answer(child, 0);
    plat_ops->process_kill(child);
    start_at(w, w->th, 0, 500);
}

UNOTIFY(process_vanishes_in_context)
{
    struct plat_thread *child;
    struct plat_regs regs;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(kill(w->th->proc->tgid, SIGKILL), 0);
    ck_assert_int_lt(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    expect_event(w, PLAT_EV_THREAD_DEAD, w->th);
    ck_assert_int_lt(plat_ops->thread_clone(w->th, false, 0, NULL, &child), 0);
    (void)plat_ops->get_regs(w->th, &regs);
    plat_ops->resume(w->th);
    plat_ops->process_kill(w->th);
}

/* Threads and processes in random order; every thread alive at the end still answers. */
UNOTIFY(storm)
{
    enum {
        MAX = 24
    };
    struct plat_thread *th[MAX + 1] = {w->th};
    unsigned n = 1, seed = 12345;

    for (int round = 0; round < 400; round++) {
        unsigned op = (seed = seed * 1103515245 + 12345) >> 16, i = op / 16 % n;
        struct plat_as *as = plat_ops->thread_as(th[i]);
        struct plat_thread *new = NULL;

        enter_context(w, th[i], 0);
        if (n < MAX && op % 8 < 5) {
            if (op % 8 == 0)
                ck_assert_int_eq(plat_ops->fork(th[i], false, false, 0, NULL, &as, &new), 0);
            else if (op % 8 == 1)
                ck_assert_int_eq(plat_ops->fork(th[i], true, false, 0, NULL, &as, &new), 0);
            else
                ck_assert_int_eq(plat_ops->thread_clone(th[i], false, 0, NULL, &new), 0);
            th[n++] = new;
            start_at(w, new, n, 501);
        } else if (op % 8 == 5) {
            ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
        } else if (n > 1) {
            plat_ops->thread_exit(th[i]);
            th[i] = th[--n];
            continue;
        }
        start_at(w, th[i], i + 32, 502);
    }
    for (unsigned i = 0; i < n; i++) {
        plat_ops->answer(th[i], 0);
        expect_event(w, PLAT_EV_SYSCALL, th[i]);
    }
}

/* Processes are killed while their threads run, fault, and enter the gate. */
UNOTIFY(killed_in_flight)
{
    for (int round = 0; round < 60; round++) {
        struct plat_thread *child, *second;
        struct plat_as *as;

        enter_context(w, w->th, 0);
        ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
        ck_assert_int_eq(plat_ops->thread_clone(child, false, 0, NULL, &second), 0);
        start_at(w, second, 1, 601);
        start_at(w, child, 0, 600);
        plat_ops->answer(child, 0);
        plat_ops->answer(second, 0);
        if (round % 3)
            plat_ops->interrupt(second);
        if (round % 2)
            plat_ops->next_event(w->p, -1, 100000, &w->ev);
        plat_ops->process_kill(round % 5 ? child : second);
        start_at(w, w->th, 0, 500);
    }
}

UNOTIFY(interrupt_storm)
{
    unsigned calls = 0, contexts = 0;

    plat_ops->answer(w->th, 0);
    for (int round = 0; round < 2000; round++) {
        plat_ops->interrupt(w->th);
        plat_ops->next_event(w->p, -1, 5000000000, &w->ev);
        if (w->ev.kind == PLAT_EV_CONTEXT) {
            contexts++;
            plat_ops->resume(w->th);
        } else {
            ck_assert_int_eq((int)w->ev.kind, PLAT_EV_SYSCALL);
            calls++;
            if (round % 7 == 0)
                ck_assert_int_eq(map_anon(w->as, FREE_ADDR, 4096, PROT_READ), 0);
            plat_ops->answer(w->th, 0);
        }
    }
    ck_assert_uint_gt(contexts, 100);
    plat_ops->process_kill(w->th);
}

/* The guest blocks the kick signal by a frame of its own making: it runs on, and is ended for it.
 */
UNOTIFY(kick_is_blocked)
{
    w->p->kick_patience = 300000000;
    enter_context(w, w->th, 0);
    block_kick(w, w->th, CODE_ADDR + 11); /* je . with ZF set */
    plat_ops->next_event(w->p, -1, 50000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
    plat_ops->interrupt(w->th);
    expect_event(w, PLAT_EV_THREAD_DEAD, w->th);
    plat_ops->process_kill(w->th);
}

/* An answer behind a kick: the kernel waits for the registers, and no call may come before them. */
UNOTIFY(call_past_a_kick)
{
    box_set(w->as, 0, 502, 0, 0, 0, 0, 0, 0);
    enter_context(w, w->th, 0);
    block_kick(w, w->th, CODE_ADDR);
    expect_call(w, w->th, 502);
    plat_ops->answer_kick(w->th, 0);
    expect_killed(w, w->th);
}

/* The same where the platform borrows the thread: the kernel still owes it the answer. */
UNOTIFY(call_past_a_borrowed_kick)
{
    struct plat_thread *child;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    box_set(as, 0, 502, 0, 0, 0, 0, 0, 0);
    block_kick(w, child, CODE_ADDR);
    expect_call(w, child, 502);
    ck_assert_int_lt(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
    expect_killed(w, child);
    start_at(w, w->th, 0, 500);
}

/* A leader that has exited is the helper from then on, and never runs guest code again. */
UNOTIFY(helper_runs_past_its_exit)
{
    struct plat_thread *child, *second;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    ck_assert_int_eq(plat_ops->thread_clone(child, false, 0, NULL, &second), 0);
    start_at(w, second, 1, 601);
    box_set(as, 0, 502, 0, 0, 0, 0, 0, 0);
    block_kick(w, child, CODE_ADDR);
    expect_call(w, child, 502);
    plat_ops->thread_exit(child);
    ck_assert_int_lt(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
    expect_killed(w, second);
    start_at(w, w->th, 0, 500);
}

/* The words of a handler, spoken by the guest itself: a signal that the stub has no handler for. */
static void speak_signal(struct world *w, uint64_t signo, uint64_t rsp)
{
    struct plat_regs regs;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    regs.rip = STUB_CODE + STUB_OFF_PARK;
    regs.rdi = STUB_KIND_SIGNAL | signo << 8;
    regs.rsi = regs.r8 = regs.r12 = 0;
    regs.rsp = rsp;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    plat_ops->resume(w->th);
}

UNOTIFY(fault_with_no_signal)
{
    speak_signal(w, 0, frame_address(w->p, w->th->slot));
    expect_killed(w, w->th);
}

UNOTIFY(fault_with_a_large_signal)
{
    speak_signal(w, 200, frame_address(w->p, w->th->slot));
    expect_killed(w, w->th);
}

UNOTIFY(fault_with_a_frame_at_the_end)
{
    speak_signal(w, SIGSEGV, UINT64_MAX - 7);
    expect_killed(w, w->th);
}

/* A fault that the guest makes up is one: the registers are what it wrote there. */
UNOTIFY(fault_made_up)
{
    speak_signal(w, SIGSEGV, frame_address(w->p, w->th->slot));
    expect_event(w, PLAT_EV_FAULT, w->th);
    ck_assert_int_eq(w->ev.signo, SIGSEGV);
}

/* Another thread has the stub go on to a command of its own, whose result must not pass for that of
 * the call that was asked for. */
UNOTIFY(results_are_of_the_call)
{
    enum {
        ROUNDS = 3000,
        FOUND = 0x1234
    };
    const uint64_t block[9] = {STUB_CAS_NR, BOX_ADDR + 12288};
    const uint32_t word = FOUND;
    uint8_t code[] = {0x48, 0xb8, 0,    0,    0,   0, 0, 0, 0, 0, /* mov $next, %rax */
                      0x48, 0xbb, 0,    0,    0,   0, 0, 0, 0, 0, /* mov $block, %rbx */
                      0x48, 0x89, 0x18, 0xeb, 0xfb};              /* 1: mov %rbx, (%rax); jmp 1b */
    uint64_t next = stub_slot_addr(w->th->slot) + STUB_BLOCK_NEXT, mine = BOX_ADDR + 8192;
    struct plat_thread *other;
    struct plat_regs regs;
    struct host_call call;

    memcpy(code + 2, &next, sizeof(next));
    memcpy(code + 12, &mine, sizeof(mine));
    enter_context(w, w->th, 0);
    ck_assert_int_eq(map_anon(w->as, FREE_ADDR, 4096, 7), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(FREE_ADDR), code, sizeof(code)), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(mine), block, sizeof(block)), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(block[1]), &word, sizeof(word)), 0);
    ck_assert_int_eq(plat_ops->thread_clone(w->th, false, 0, NULL, &other), 0);
    ck_assert_int_eq(plat_ops->get_regs(other, &regs), 0);
    regs.rip = FREE_ADDR;
    ck_assert_int_eq(plat_ops->set_regs(other, &regs), 0);
    plat_ops->resume(other);
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert_int_eq(host_call_arch_prctl(LX_ARCH_SET_GS, (uint64_t)i * 4096, &call), 0);
        plat_ops->answer_host(w->th, &call);
        if (plat_ops->get_regs(w->th, &regs) < 0)
            break; /* killed for it */
        ck_assert_uint_eq(regs.rax, 0);
    }
    plat_ops->process_kill(w->th);
}

TEST_SUITE(platform_hostile)
{
    TEST_ADD(kick_is_blocked);
    TEST_ADD(call_past_a_kick);
    TEST_ADD(call_past_a_borrowed_kick);
    TEST_ADD(helper_runs_past_its_exit);
    TEST_ADD(fault_with_no_signal);
    TEST_ADD(fault_with_a_large_signal);
    TEST_ADD(fault_with_a_frame_at_the_end);
    TEST_ADD(fault_made_up);
    TEST_ADD(jump_to_park);
    TEST_ADD(jump_to_command);
    TEST_ADD(jump_to_signal_entry);
    TEST_ADD(jump_to_sigreturn);
    TEST_ADD(sigreturn_from_guest_code);
    TEST_ADD(foreign_calls_get_enosys);
    TEST_ADD(process_vanishes);
    TEST_ADD(process_vanishes_in_context);
    TEST_ADD(storm);
    TEST_ADD(killed_in_flight);
    TEST_ADD(interrupt_storm);
    TEST_ADD(results_are_of_the_call);
}
