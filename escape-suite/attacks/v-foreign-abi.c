/* tries: system calls by other doors: int 0x80, sysenter, 32-bit code through a far return, the x32
   numbers, the vsyscall page, a syscall instruction found in the vDSO, uretprobe and uprobe,
   numbers with high bits */
/* must fail because: the host's filter answers foreign ABIs with ENOSYS; every other door raises
   the same notification as the front one */
/* an escape would: make the host's kernel execute a call without the supervisor */
/* source: ATTACKS.md V12; BUGS.md 25 */
#include <sys/auxv.h>

#include "child.h"

static uint64_t *page;
static volatile uint64_t *low; /* 32-bit code and its results */

static long int80(long nr, long b, long c, long d)
{
    long ret = nr;
    __asm__ volatile("int $0x80"
                     : "+a"(ret)
                     : "b"(b), "c"(c), "d"(d)
                     : "memory", "r8", "r9", "r10", "r11");
    return ret;
}

/* mov $122 (uname), %eax; mov $low + 256, %ebx; int $0x80; mov %eax, low + 8; sysenter; ud2 */
static void compat(int arg)
{
    static const uint8_t code[] = {0xb8, 122,  0, 0, 0,    0xbb, 0,    1,    0x10, 0,   0xcd,
                                   0x80, 0xa3, 8, 0, 0x10, 0,    0x0f, 0x34, 0x0f, 0x0b};
    (void)arg;
    memcpy((char *)low + 1024, code, sizeof(code));
    __asm__ volatile("push $0x23\n\tpush %0\n\tlretq"
                     :
                     : "r"((uint64_t)(uintptr_t)low + 1024)
                     : "memory");
}

static void sysenter(int arg)
{
    (void)arg;
    __asm__ volatile("mov %%rsp, %%rbp\n\tsysenter" : : "a"(122L), "b"(page) : "memory", "rbp");
}

static void found(int arg)
{
    uint8_t *p = (void *)getauxval(AT_SYSINFO_EHDR);
    int n = 0;
    for (size_t i = 0; p && i < 8190; i++) {
        if (p[i] != 0x0f || p[i + 1] != 0x05 || n++ != arg)
            continue;
        void *stack = (char *)page + 8000;
        /* whatever follows the instruction returns to somewhere or faults */
        __asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
                         :
                         : "r"(stack), "r"(p + i), "a"((long)SYS_getcwd), "D"(page + 64), "S"(64L)
                         : "memory");
    }
    _exit(12);
}

static void vsyscall(int arg)
{
    long (*f)(void *, void *) = (void *)(0xffffffffff600000ul + 1024ul * (unsigned)arg);
    f(page + 700, NULL);
    _exit(11);
}

static void probes(int arg)
{
    syscall(arg, page, page, page);
    _exit(11);
}

static int attack(void)
{
    page = shared_pages(2);
    low = mmap((void *)0x100000, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
               MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (!page || low == MAP_FAILED)
        return cannot("mmap: %s", err_name(errno));
    long pid32 = int80(20, 0, 0, 0), x32 = sys(0x40000000 | SYS_getpid);
    long high = sys(SYS_uname | 1l << 31, page), higher = sys(SYS_getpid | 1l << 40);
    step("int 0x80 getpid %ld, x32 getpid %ld, with bit 31 %ld, with bit 40 %ld", pid32, x32, high,
         higher);
    step("32-bit code: %s", end_name(in_child(compat, 0)));
    step("  its int 0x80 said %d", (int)low[1]);
    step("sysenter: %s", end_name(in_child(sysenter, 0)));
    for (int i = 0; i < 4; i++)
        step("syscall instruction %d of the vDSO: %s", i, end_name(in_child(found, i)));
    for (int i = 0; i < 3; i++)
        step("vsyscall %d: %s", i, end_name(in_child(vsyscall, i)));
    step("335: %s", end_name(in_child(probes, 335)));
    step("336: %s", end_name(in_child(probes, 336)));
    if (pid32 > 0 || x32 > 0 || high >= 0)
        return escaped("a call of a foreign ABI was made");
    for (int i = 0; i < 64; i++)
        if (page[i] || low[32 + i])
            return escaped("a call wrote the kernel's name");
    return contained("every other door is shut or leads to the supervisor");
}

static int twin(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_REALTIME, &ts) < 0 || ts.tv_sec < 1000000000 || time(NULL) < 1000000000)
        return broken("the vDSO's clock");
    return works("the vDSO tells the time");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
