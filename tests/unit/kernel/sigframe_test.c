/* Signal frames: their layout, the round trip through rt_sigreturn, alternate stacks, hostile
 * frames. */
#include <string.h>

#include "abi/errno.h"

#include "sentry/kernel/dispatch.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define HANDLER 0x40001000ull
#define ALT     BOX_MEM
#define ALT_LEN 16384ull
#define SS      (BOX_MEM + 0x8000)

static struct plat_thread *child;

static void begin(void)
{
    box_begin();
    child = box_fork(box.th);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
}

static void raise_usr1(void)
{
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGUSR1), 0);
    box_run();
}

static struct lx_rt_sigframe frame_of(void)
{
    struct lx_rt_sigframe frame;

    box_read(child, fake_regs(child)->rsp, &frame, sizeof(frame));
    return frame;
}

TEST(all_registers)
{
    begin();
    struct plat_regs *r = fake_regs(child), before;
    uint64_t *words = (uint64_t *)r;

    for (size_t i = 0; i < 15; i++)
        words[i] = 0x1111111111111111ull * (i + 1);
    r->rip = 0x400123;
    r->eflags = 0x202 | 0xd5 | 0x400;
    before = *r;
    raise_usr1();
    ck_assert_uint_eq(r->eflags & 0x500, 0); /* DF and TF are clear in a handler */
    struct lx_rt_sigframe f = frame_of();
    ck_assert_uint_eq(f.pretcode, BOX_RESTORER);
    ck_assert_uint_eq(f.uc.uc_mcontext.r12, before.r12);
    ck_assert_uint_eq(f.uc.uc_mcontext.rip, before.rip);
    ck_assert_uint_eq(f.uc.uc_mcontext.eflags, before.eflags);
    ck_assert_uint_eq(f.uc.uc_mcontext.cs, 0x33);
    ck_assert_uint_eq(f.uc.uc_mcontext.fpstate % 64, 0);
    ck_assert_int_eq(f.info.si_signo, LX_SIGUSR1);
    ck_assert_int_eq(f.info.si_pid, 1);
    ck_assert_uint_eq(r->rdi, LX_SIGUSR1);
    ck_assert_uint_eq(r->rsi, r->rsp + offsetof(struct lx_rt_sigframe, info));
    ck_assert_uint_eq(r->rdx, r->rsp + offsetof(struct lx_rt_sigframe, uc));
    for (size_t i = 0; i < 8; i++)
        words[i] = 0; /* the handler spoils what it likes */
    (void)box_sigreturn(child);
    ck_assert_mem_eq(r, &before, offsetof(struct plat_regs, cs));
    box_end();
}

TEST(extended_state)
{
    uint8_t fp[512], got[512];

    begin();
    for (size_t i = 0; i < sizeof(fp); i++)
        fp[i] = (uint8_t)(i < 464 ? i * 7 : 0);
    /* State is at hand in a context only: two stops give it to us. */
    box_action(child, LX_SIGUSR2, HANDLER + 64, 0, 0);
    box_mask(child, LX_SIGMASK(LX_SIGUSR2));
    raise_usr1();
    struct lx_rt_sigframe f = frame_of();
    box_write(child, f.uc.uc_mcontext.fpstate, fp, sizeof(fp));
    (void)box_sigreturn(child);
    raise_usr1(); /* the new frame holds what sigreturn loaded */
    f = frame_of();
    box_read(child, f.uc.uc_mcontext.fpstate, got, sizeof(got));
    ck_assert_mem_eq(fp, got, 464);
    /* No state in the frame: that of a fresh process. */
    box_put64(child,
              fake_regs(child)->rsp + offsetof(struct lx_rt_sigframe, uc.uc_mcontext.fpstate), 0);
    (void)box_sigreturn(child);
    raise_usr1();
    f = frame_of();
    box_read(child, f.uc.uc_mcontext.fpstate, got, sizeof(got));
    memset(fp, 0, sizeof(fp));
    ck_assert_mem_eq(fp, got, 464);
    box_end();
}

static void set_altstack(uint64_t sp, uint64_t len, int32_t flags, int64_t want)
{
    struct lx_stack ss = {.ss_sp = sp, .ss_flags = flags, .ss_size = len};

    box_write(child, SS, &ss, sizeof(ss));
    ck_assert_int_eq(box_call(child, NR_sigaltstack, SS, 0), want);
}

static struct lx_stack get_altstack(void)
{
    struct lx_stack ss;

    ck_assert_int_eq(box_call(child, NR_sigaltstack, 0, SS), 0);
    box_read(child, SS, &ss, sizeof(ss));
    return ss;
}

TEST(alternate_stack)
{
    begin();
    ck_assert_int_eq(get_altstack().ss_flags, LX_SS_DISABLE);
    set_altstack(ALT, 100, 0, -ENOMEM);
    set_altstack(ALT, ALT_LEN, 8, -EINVAL);
    set_altstack(ALT, ALT_LEN, 0, 0);
    ck_assert_int_eq(get_altstack().ss_flags, 0);
    raise_usr1(); /* without SA_ONSTACK */
    ck_assert_uint_gt(fake_regs(child)->rsp, ALT + ALT_LEN);
    (void)box_sigreturn(child);
    box_action(child, LX_SIGUSR1, HANDLER, LX_SA_ONSTACK | LX_SA_NODEFER, 0);
    raise_usr1();
    uint64_t first = fake_regs(child)->rsp;
    ck_assert(first > ALT && first < ALT + ALT_LEN);
    ck_assert_int_eq(get_altstack().ss_flags, LX_SS_ONSTACK);
    set_altstack(ALT, ALT_LEN, LX_SS_DISABLE, -EPERM);
    raise_usr1(); /* nested: below the first, not at the top again */
    ck_assert_uint_lt(fake_regs(child)->rsp, first);
    (void)box_sigreturn(child);
    (void)box_sigreturn(child);
    ck_assert_int_eq(get_altstack().ss_flags, 0);
    set_altstack(0, 0, LX_SS_DISABLE, 0);
    ck_assert_int_eq(get_altstack().ss_flags, LX_SS_DISABLE);
    box_end();
}

TEST(autodisarm)
{
    begin();
    set_altstack(ALT, ALT_LEN, (int32_t)LX_SS_AUTODISARM, 0);
    box_action(child, LX_SIGUSR1, HANDLER, LX_SA_ONSTACK, 0);
    raise_usr1();
    ck_assert_int_eq(get_altstack().ss_flags, LX_SS_DISABLE);
    (void)box_sigreturn(child);
    ck_assert_uint_eq((uint32_t)get_altstack().ss_flags, LX_SS_AUTODISARM);
    box_end();
}

/* Nested frames until the alternate stack is used up: SIGSEGV, not a write below it. */
TEST(overflow)
{
    begin();
    uint64_t id = fake_id(child);
    set_altstack(ALT + 4096, 4096, 0, 0);
    box_put64(child, ALT + 4088, 0x5a5a);
    box_action(child, LX_SIGUSR1, HANDLER, LX_SA_ONSTACK | LX_SA_NODEFER, 0);
    for (int i = 0; i < 8 && fake_alive(box.p, id); i++) {
        ck_assert_uint_eq(box_get64(child, ALT + 4088), 0x5a5a);
        raise_usr1();
    }
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, SS, 0, 0), 2);
    ck_assert_uint_eq(box_get32(box.th, SS), LX_SIGSEGV);
    box_end();
}

TEST(flags_of_actions)
{
    begin();
    box_action(child, LX_SIGUSR1, HANDLER, LX_SA_RESETHAND | LX_SA_NODEFER, 0);
    raise_usr1();
    ck_assert_uint_eq(box_task(child)->blocked, 0);
    ck_assert_uint_eq(box_task(child)->sighand->action[LX_SIGUSR1 - 1].sa_handler, LX_SIG_DFL);
    (void)box_sigreturn(child);
    uint64_t id = fake_id(child);
    raise_usr1();
    ck_assert(!fake_alive(box.p, id));
    box_end();
}

/* Without a restorer there is nowhere to return to. */
TEST(no_restorer)
{
    begin();
    uint64_t id = fake_id(child);
    struct lx_sigaction act = {.sa_handler = HANDLER};
    box_write(child, SS, &act, sizeof(act));
    ck_assert_int_eq(box_call(child, NR_rt_sigaction, LX_SIGUSR1, SS, 0, 8), 0);
    raise_usr1();
    ck_assert(!fake_alive(box.p, id));
    box_end();
}

#define UC(field) (fake_regs(child)->rsp + offsetof(struct lx_rt_sigframe, uc.field))

TEST(hostile_frames)
{
    begin();
    raise_usr1();
    box_put64(child, UC(uc_mcontext.eflags), ~0ull);
    uint16_t cs = 0x30, ss = 0x28;
    box_write(child, UC(uc_mcontext.cs), &cs, 2);
    box_write(child, UC(uc_mcontext.ss), &ss, 2);
    box_put64(child, UC(uc_sigmask), ~0ull);
    struct lx_stack stack = {.ss_sp = 8, .ss_flags = 0x77, .ss_size = 1 << 20};
    box_write(child, UC(uc_stack), &stack, sizeof(stack));
    (void)box_sigreturn(child);
    const struct plat_regs *r = fake_regs(child);
    ck_assert_uint_eq(r->cs, 0x33);
    ck_assert_uint_eq(r->ss, 0x2b);
    ck_assert_uint_eq(r->eflags & ~0x50fd7ull, 0); /* no IOPL, NT, VM, reserved bits */
    ck_assert_uint_eq(r->eflags & 0x200, 0x200);
    ck_assert_uint_eq(box_task(child)->blocked, ~LX_SIGSET_UNBLOCKABLE);
    ck_assert_int_eq(box_task(child)->altstack.ss_flags, LX_SS_DISABLE);
    box_end();
}

TEST(bad_addresses)
{
    static const uint64_t where[] = {
        0, 8, BOX_MEM - 4096, 0x7ffffffffff8, ~7ull, BOX_MEM + BOX_SIZE - 16};
    for (size_t i = 0; i < ARRAY_LEN(where); i++) {
        begin();
        uint64_t id = fake_id(child);
        raise_usr1();
        fake_regs(child)->rsp = where[i];
        (void)box_call(child, NR_rt_sigreturn, 0);
        ck_assert(!fake_alive(box.p, id));
        box_end();
        begin();
        id = fake_id(child);
        raise_usr1();
        box_put64(child, UC(uc_mcontext.fpstate), where[i] == 0 ? 16 : where[i]);
        (void)box_sigreturn(child);
        ck_assert(!fake_alive(box.p, id));
        box_end();
    }
}

TEST(bad_selectors)
{
    static const uint16_t bad[][2] = {
        {0x10, 0x2b}, {0, 0x2b}, {0x33, 0}, {0x33, 0x18}, {0x23, 0x2b}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        begin();
        uint64_t id = fake_id(child);
        raise_usr1();
        box_write(child, UC(uc_mcontext.cs), &bad[i][0], 2);
        box_write(child, UC(uc_mcontext.ss), &bad[i][1], 2);
        (void)box_sigreturn(child);
        ck_assert(!fake_alive(box.p, id));
        box_end();
    }
}

/* A SIGSEGV handler on an alternate stack takes the failure of a frame on the ordinary one. */
TEST(segv_of_a_frame)
{
    begin();
    set_altstack(ALT, ALT_LEN, 0, 0);
    box_action(child, LX_SIGSEGV, HANDLER + 256, LX_SA_ONSTACK, 0);
    fake_regs(child)->rsp = 0x1000;
    raise_usr1();
    ck_assert_uint_eq(fake_regs(child)->rip, HANDLER + 256);
    ck_assert_int_eq(frame_of().info.si_signo, LX_SIGSEGV);
    ck_assert_int_eq(frame_of().info.si_code, LX_SI_KERNEL);
    box_end();
}

TEST_SUITE(sigframe)
{
    TEST_ADD(all_registers);
    TEST_ADD(extended_state);
    TEST_ADD(alternate_stack);
    TEST_ADD(autodisarm);
    TEST_ADD(overflow);
    TEST_ADD(flags_of_actions);
    TEST_ADD(no_restorer);
    TEST_ADD(hostile_frames);
    TEST_ADD(bad_addresses);
    TEST_ADD(bad_selectors);
    TEST_ADD(segv_of_a_frame);
}
