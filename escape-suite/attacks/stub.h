#pragma once
/*
 * For attacks on `sentry run` itself: where its stub lies in every guest address space (one page of
 * code, then a slot of memory for each thread), what a parked thread says, and how a host signal
 * frame is laid out. Copied from what a guest can read in its own memory; nothing here is secret.
 */
#include <signal.h>

#include <sys/mman.h>

#include "child.h"

#define STUB_CODE   0x6fff00000000ul
#define STUB_SLOTS  0x6fff00010000ul
#define STUB_END    0x6fff40000000ul
#define SLOT_SIZE   0x8000ul
#define SLOT_STACK  0x1000ul
#define OFF_PARK    0x000ul
#define OFF_COMMAND 0x05eul /* the syscall instruction of commands */
#define OFF_SIGNAL  0x0a0ul
#define OFF_RESUME  0x0e0ul
#define OFF_RETURN  0x0feul /* the syscall instruction of rt_sigreturn */
#define KIND_DONE   1ul
#define KIND_SIGNAL 2ul
#define KICK        64ul

/* What rt_sigreturn reads, from the stack pointer on (the handler's return address is below). */
struct host_frame {
    uint64_t pretcode, flags, link, stack_sp, stack_flags, stack_size;
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
    uint64_t eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8], sigmask;
    uint8_t siginfo[128];
};

__attribute__((unused)) static struct host_frame *frame_init(void *at, void (*rip)(void),
                                                             void *stack_top)
{
    struct host_frame *f = at;
    memset(f, 0, sizeof(*f));
    f->flags = 2 | 4;
    f->stack_flags = 2; /* no alternate stack */
    f->rip = (uint64_t)(uintptr_t)rip;
    f->rsp = ((uint64_t)(uintptr_t)stack_top & ~15ul) - 8;
    f->eflags = 0x202;
    f->cs = 0x33;
    f->ss = 0x2b;
    return f;
}

/* Jumps to the stub's code at an offset, with these registers; does not come back by itself. */
__attribute__((unused, noreturn)) static void stub_jump(uint64_t off, const void *rsp, uint64_t rdi,
                                                        uint64_t rsi, uint64_t r8, uint64_t r12)
{
    register uint64_t a8 __asm__("r8") = r8;
    register uint64_t a12 __asm__("r12") = r12;
    __asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
                     :
                     : "r"(rsp), "r"(STUB_CODE + off), "D"(rdi), "S"(rsi), "r"(a8), "r"(a12)
                     : "memory");
    __builtin_unreachable();
}

/* Continues at frame->rip with the frame's registers and mask: rt_sigreturn of the host's kernel.
 */
__attribute__((unused, noreturn)) static void stub_return(struct host_frame *f)
{
    stub_jump(OFF_RESUME, f, 0, 0, 0, 0);
}

static volatile sig_atomic_t stub_nothing;
static void stub_handler(int signo)
{
    stub_nothing = signo;
}

/* The slot of the calling thread, or -1: its registers are found there after a signal. */
__attribute__((unused)) static int stub_slot(void)
{
    const uint64_t magic = 0x5107c0ffee000000ul + (uint64_t)syscall(SYS_gettid);
    signal(SIGUSR2, stub_handler);
    register uint64_t mark __asm__("r15") = magic;
    long ret = SYS_tkill;
    __asm__ volatile("syscall"
                     : "+a"(ret)
                     : "D"(syscall(SYS_gettid)), "S"((long)SIGUSR2), "r"(mark)
                     : "rcx", "r11", "memory");
    for (int i = 0; i < 320; i++) {
        const volatile uint64_t *p = (void *)(STUB_SLOTS + i * SLOT_SIZE + SLOT_STACK);
        for (size_t k = 0; k < (SLOT_SIZE - SLOT_STACK) / 8; k++)
            if (p[k] == magic)
                return i;
    }
    return -1;
}

__attribute__((unused)) static uint8_t *slot_at(int slot)
{
    return (uint8_t *)(STUB_SLOTS + (uint64_t)slot * SLOT_SIZE);
}
