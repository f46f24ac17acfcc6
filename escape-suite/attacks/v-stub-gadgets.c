/* tries: jumps to each syscall instruction of the stub with a call of its own choice in the
   registers: uname, getrandom, clock_gettime into memory, socket, execve, rt_sigreturn */
/* must fail because: the host's filter raises every call but one to the supervisor, which compares
   it with what it has just asked that thread for; it has asked for nothing */
/* an escape would: make the host's kernel execute a call of the attacker's choice */
/* source: ATTACKS.md V12 */
#include <sys/utsname.h>

#include "stub.h"

static uint64_t *page; /* seen by both: what the host would write */

struct regs {
    uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rbx;
};

static struct regs calls[] = {
    {.rax = SYS_uname},
    {.rax = SYS_getrandom, .rsi = 256},
    {.rax = SYS_clock_gettime, .rdi = CLOCK_REALTIME},
    {.rax = SYS_getcwd, .rsi = 256},
    {.rax = SYS_pipe2},
    {.rax = SYS_rt_sigprocmask, .rdi = 2, .r10 = 8},
    {.rax = SYS_rt_sigreturn},
    {.rax = 0x5e17, .rdi = KIND_DONE},
    {.rax = 0x40000000 | 39},
};
static const uint64_t offsets[] = {0x1e, OFF_COMMAND, OFF_RETURN};
static uint64_t block[16];

static void hostile(int arg)
{
    struct regs r = calls[arg / 3];
    uint64_t at = STUB_CODE + offsets[arg % 3];
    if (r.rax == SYS_uname || r.rax == SYS_getrandom || r.rax == SYS_getcwd || r.rax == SYS_pipe2) {
        r.rdi = (uint64_t)(uintptr_t)page;
    } else {
        r.rsi = (uint64_t)(uintptr_t)page;
        r.rdx = (uint64_t)(uintptr_t)page;
    }
    r.rbx = (uint64_t)(uintptr_t)block;
    register uint64_t r10 __asm__("r10") = r.r10, r8 __asm__("r8") = r.r8, r9 __asm__("r9") = r.r9;
    __asm__ volatile("jmp *%0"
                     :
                     : "r"(at), "a"(r.rax), "D"(r.rdi), "S"(r.rsi), "d"(r.rdx), "b"(r.rbx),
                       "r"(r10), "r"(r8), "r"(r9)
                     : "memory", "rcx", "r11");
}

static int attack(void)
{
    const int n = sizeof(calls) / sizeof(calls[0]) * 3;
    int killed = 0;
    page = shared_pages(1);
    if (!page)
        return cannot("shared memory: %s", err_name(errno));
    for (int i = 0; i < n; i++) {
        int status = in_child(hostile, i);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        killed += WIFSIGNALED(status);
        for (int k = 0; k < 512; k++)
            if (page[k])
                return escaped("call %lu from offset %#lx wrote memory", calls[i / 3].rax,
                               offsets[i % 3]);
    }
    return contained("%d calls from the stub's own instructions: none was made, %d processes ended",
                     n, killed);
}

static int twin(void)
{
    struct utsname u;
    char buf[16] = "";
    if (uname(&u) < 0 || syscall(SYS_getrandom, buf, sizeof(buf), 0) != sizeof(buf))
        return broken("uname, getrandom: %s", err_name(errno));
    return works("the same calls from the program's own code are answered");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
