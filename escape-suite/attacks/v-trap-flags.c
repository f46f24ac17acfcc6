/* tries: runs with the trap flag through system calls, signal handlers, fork, memory calls and the
   stub's code; sets alignment check, nested task, resume and direction flags; int3, int1, hlt, in,
   out, cli, rdmsr, mov to debug and control registers, lgdt, swapgs, ud2, wrfsbase; modify_ldt,
   iopl */
/* must fail because: a trap is one more host fault that the stub reports; privileged instructions
   fault as on any host */
/* an escape would: single-step the stub, change what it does, or use a descriptor table of its own
 */
/* source: ATTACKS.md V12 P8 */
#include <setjmp.h>
#include <ucontext.h>

#include "child.h"

static volatile long traps;
static sigjmp_buf back;

static void on_trap(int signo)
{
    (void)signo;
    traps++;
}

static void on_fault(int signo)
{
    siglongjmp(back, signo);
}

static void set_flags(unsigned long flags)
{
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "r"(flags) : "memory", "cc");
}

static void clear_flags(void)
{
    __asm__ volatile("pushq $0x202\n\tpopfq" : : : "memory", "cc");
}

static void stepping(int arg)
{
    unsigned long flags = arg % 2 ? 0x100 : 0x100 | 0x40000 | 0x400 | 0x4000;
    signal(SIGTRAP, on_trap);
    signal(SIGUSR1, on_trap);
    signal(SIGBUS, SIG_IGN);
    set_flags(flags);
    if (arg == 0)
        for (int i = 0; i < 20; i++)
            syscall(SYS_getpid);
    else if (arg == 1)
        raise(SIGUSR1);
    else if (arg == 2 || arg == 3)
        syscall(SYS_mmap, NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (arg == 4 || arg == 5)
        syscall(SYS_fork);
    else
        ((void (*)(void))(0x6fff00000000 + (unsigned long)(arg - 6) * 0x20))();
    clear_flags();
    syscall(SYS_exit_group, 10);
}

#define INSN(n, text)                                               \
    case n:                                                         \
        __asm__ volatile(text : : : "memory", "rax", "rcx", "rdx"); \
        break

static int instruction(int n)
{
    int signo = sigsetjmp(back, 1);
    if (signo)
        return signo;
    switch (n) {
        INSN(0, "int3");
        INSN(1, ".byte 0xf1"); /* int1 */
        INSN(2, "hlt");
        INSN(3, "cli");
        INSN(4, "in $0x80, %%al");
        INSN(5, "out %%al, $0x80");
        INSN(6, "xor %%ecx, %%ecx\n\trdmsr");
        INSN(7, "xor %%eax, %%eax\n\tmov %%rax, %%dr7");
        INSN(8, "mov %%cr0, %%rax");
        INSN(9, "sub $16, %%rsp\n\tlgdt (%%rsp)\n\tadd $16, %%rsp");
        INSN(10, "swapgs");
        INSN(11, "ud2");
        INSN(12, "int $0x3e");
        INSN(13, "mov $0x2b, %%eax\n\tmov %%eax, %%cs"); /* no such move: illegal */
        INSN(14, "sysretq");
        INSN(15, "invd");
    default:
        break;
    }
    return 0;
}

static int attack(void)
{
    static const int signals[] = {SIGTRAP, SIGSEGV, SIGILL, SIGBUS};
    int through = 0;
    for (int i = 0; i < 12; i++)
        step("trap flag, case %d: %s", i, end_name(in_child(stepping, i)));
    for (int i = 0; i < 4; i++)
        signal(signals[i], on_fault);
    for (int i = 0; i < 16; i++) {
        int signo = instruction(i);
        through += signo == 0 && i != 12;
        if (signo == 0)
            step("instruction %d went through", i);
    }
    long ldt = sys(SYS_modify_ldt, 1, (uint32_t[]){0, 0, 0xfffff, 0x51}, 16);
    long iopl = sys(SYS_iopl, 3), ioperm = sys(SYS_ioperm, 0, 16, 1);
    step("modify_ldt %s, iopl %s, ioperm %s", err_name(ldt), err_name(iopl), err_name(ioperm));
    if (through || ldt >= 0 || iopl == 0 || ioperm == 0)
        return escaped("%d privileged instructions went through", through);
    return contained(
        "every trap and privileged instruction ended in a signal of the program's own");
}

static int twin(void)
{
    signal(SIGTRAP, on_trap);
    set_flags(0x100);
    __asm__ volatile("nop\n\tnop\n\tnop");
    clear_flags();
    return traps >= 3 ? works("single-stepping its own code gives %ld traps", traps)
                      : broken("%ld traps", traps);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
