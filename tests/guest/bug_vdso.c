/* Code in the vDSO runs in the program: its results agree, and a syscall instruction there is no
 * way round. */
#include <elf.h>
#include <sched.h>

#include <sys/auxv.h>

#include "facts.h"

/* Makes a call by jumping to a "syscall; ret" somewhere else. */
static long call_through(const unsigned char *insn, long nr)
{
    long r;
    __asm__ volatile("leaq 1f(%%rip), %%rdx\n"
                     "pushq %%rdx\n"
                     "jmp *%1\n"
                     "1:\n"
                     : "=a"(r)
                     : "r"(insn), "a"(nr)
                     : "rcx", "rdx", "r11", "memory");
    return r;
}

int main(void)
{
    facts_start();
    const unsigned char *base = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    if (!base) {
        say("no vDSO");
        return 0;
    }
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)base;
    YES("it is an ELF image", memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0);
    YES("a shared object for x86-64", eh->e_type == ET_DYN && eh->e_machine == EM_X86_64);
    const Elf64_Phdr *ph = (const Elf64_Phdr *)(base + eh->e_phoff);
    size_t size = 0;
    for (int i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD)
            size = ph[i].p_offset + ph[i].p_memsz;
    int wrong = 0;
    for (size_t i = 0; i + 3 < size; i++) {
        if (base[i] != 0x0f || base[i + 1] != 0x05 || base[i + 2] != 0xc3)
            continue;
        wrong += call_through(base + i, SYS_getpid) != getpid();
        wrong += call_through(base + i, 9999) != -ENOSYS;
    }
    say("syscall instructions there answer as ours do: %s", wrong ? "no" : "yes");
    unsigned cpu = 9999;
    YES("getcpu", sched_getcpu() >= 0 && syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 && cpu < 4096);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
    YES("both clocks agree",
        llabs((b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec) < 1000000000ll);
    remove_work_dir();
    return 0;
}
