/* ptrace(2): registers in all their forms, single steps, what a call looks like, /proc/PID/mem. */
#include <elf.h>
#include <stddef.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "tracee.h"

#ifndef PTRACE_GET_SYSCALL_INFO
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif

struct call_info {
    uint8_t op, pad[3];
    uint32_t arch;
    uint64_t ip, sp;
    union {
        struct {
            uint64_t nr, args[6];
        } entry;
        struct {
            int64_t rval;
            uint8_t is_error;
        } exit;
        uint8_t bytes[64];
    };
};

static int go(pid_t pid, int request, int signo)
{
    int st = 0;
    NEED(syscall(SYS_ptrace, request, pid, 0, signo));
    NEED(waitpid(pid, &st, __WALL));
    return st;
}

static struct user_regs_struct regs_of(pid_t pid)
{
    struct user_regs_struct r;
    NEED(syscall(SYS_ptrace, PTRACE_GETREGS, pid, 0, &r));
    return r;
}

/* Known values in all registers, then int3. */
static void known_registers(void)
{
    __asm__ volatile("mov $0x101, %%rax\n mov $0x102, %%rcx\n mov $0x103, %%rdx\n"
                     "mov $0x104, %%rsi\n mov $0x105, %%rdi\n mov $0x108, %%r8\n"
                     "mov $0x109, %%r9\n mov $0x10a, %%r10\n mov $0x10b, %%r11\n"
                     "mov $0x10c, %%r12\n mov $0x10d, %%r13\n mov $0x10e, %%r14\n"
                     "mov $0x10f, %%r15\n movq %%rax, %%xmm3\n fldpi\n std\n"
                     "int3\n"
                     "cld\n fstp %%st(0)\n"
                     "mov %%eax, %%edi\n mov $231, %%eax\n syscall\n" ::
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
                           "r13", "r14", "r15", "xmm3", "memory");
}

static void general(void)
{
    pid_t pid = stopped_child(known_registers, 0);
    int st = go(pid, PTRACE_CONT, 0);
    struct user_regs_struct r = regs_of(pid), s;
    siginfo_t si = {0};
    NEED(syscall(SYS_ptrace, PTRACE_GETSIGINFO, pid, 0, &si));
    say("int3: %s code %d", status_text(st), si.si_code);
    say("%llx %llx %llx %llx %llx", (long long)r.rax, (long long)r.rcx, (long long)r.rdx,
        (long long)r.rsi, (long long)r.rdi);
    say("%llx %llx %llx %llx %llx %llx %llx %llx", (long long)r.r8, (long long)r.r9,
        (long long)r.r10, (long long)r.r11, (long long)r.r12, (long long)r.r13, (long long)r.r14,
        (long long)r.r15);
    say("orig %lld cs %#llx ss %#llx ds %lld es %lld fs %lld gs %lld gs base %lld flags %#llx",
        (long long)r.orig_rax, (long long)r.cs, (long long)r.ss, (long long)r.ds, (long long)r.es,
        (long long)r.fs, (long long)r.gs, (long long)r.gs_base, (long long)r.eflags & 0x500);
    YES("fs base", r.fs_base != 0);
    errno = 0;
    unsigned long word = 0;
    FACT("peek r12",
         syscall(SYS_ptrace, PTRACE_PEEKUSER, pid, offsetof(struct user, regs.r12), &word));
    say("r12 %#lx", word);
    struct iovec iov = {&s, sizeof(s)};
    FACT("prstatus", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov));
    YES("the same", memcmp(&r, &s, sizeof(r)) == 0 && iov.iov_len == sizeof(s));
    iov.iov_len = 16;
    FACT("prstatus, a part", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov));
    say("len %zu", iov.iov_len);
    iov.iov_len = 13;
    FACT("prstatus, odd", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov));
    iov.iov_len = 100000;
    iov.iov_base = malloc(100000);
    FACT("prstatus, more", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov));
    say("len %zu", iov.iov_len);
    FACT("unknown set", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, 0x999, &iov));
    r.rax = 55;
    iov.iov_base = &r;
    iov.iov_len = sizeof(r);
    FACT("set prstatus", syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov));
    say("end: %s", status_text(go(pid, PTRACE_CONT, 0)));
}

static void floating(void)
{
    pid_t pid = stopped_child(known_registers, 0);
    struct user_fpregs_struct fp, fp2;
    go(pid, PTRACE_CONT, 0);
    FACT("getfpregs", syscall(SYS_ptrace, PTRACE_GETFPREGS, pid, 0, &fp));
    say("cwd %#x mxcsr %#x xmm3 %#x st0 %#x:%08x%08x", fp.cwd, fp.mxcsr, fp.xmm_space[12],
        fp.st_space[2], fp.st_space[1], fp.st_space[0]);
    struct iovec iov = {&fp2, sizeof(fp2)};
    FACT("prfpreg", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_PRFPREG, &iov));
    YES("the same", memcmp(&fp, &fp2, 400) == 0);
    say("len %zu", iov.iov_len);
    static unsigned char area[65536];
    iov = (struct iovec){area, sizeof(area)};
    FACT("xstate", syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov));
    YES("xcr0 has x87 and sse", (area[464] & 3) == 3);
    YES("size", iov.iov_len >= 576);
    memcpy(&fp2, area, sizeof(fp2));
    say("xmm3 %#x", fp2.xmm_space[12]);
    size_t len = iov.iov_len;
    uint32_t ninety = 90;
    memcpy(area + offsetof(struct user_fpregs_struct, xmm_space) + 48, &ninety, 4);
    FACT("set xstate", syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov));
    iov.iov_len = len - 8;
    FACT("set a part of it", syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov));
    iov.iov_len = len;
    area[519] = 0x80;
    FACT("set unknown features", syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov));
    NEED(syscall(SYS_ptrace, PTRACE_GETFPREGS, pid, 0, &fp));
    say("xmm3 %d", (int)fp.xmm_space[12]);
    fp.xmm_space[12] = 91;
    FACT("setfpregs", syscall(SYS_ptrace, PTRACE_SETFPREGS, pid, 0, &fp));
    fp.mxcsr = 0xffffffff;
    FACT("bad mxcsr", syscall(SYS_ptrace, PTRACE_SETFPREGS, pid, 0, &fp));
    NEED(syscall(SYS_ptrace, PTRACE_GETFPREGS, pid, 0, &fp));
    say("xmm3 %d", (int)fp.xmm_space[12]);
    struct user_regs_struct r = regs_of(pid);
    (void)r;
    say("end: %s", status_text(go(pid, PTRACE_CONT, 0)));
}

static volatile int steps_seen;

static void on_usr1(int signo)
{
    (void)signo;
    steps_seen++;
}

static void stepped(void)
{
    signal(SIGUSR1, on_usr1);
    __asm__ volatile("int3\n nop\n mov $110, %%eax\n syscall\n nop\n nop\n"
                     "mov $11, %%eax\n mov $0x10000, %%edi\n mov $4096, %%esi\n syscall\n nop\n"
                     "pushf\n pop %%rax\n and $0x100, %%eax\n int3\n" ::
                         : "rax", "rcx", "r11", "rdi", "rsi", "memory");
    raise(SIGUSR1);
    _exit(steps_seen == 1 ? 30 : 31);
}

static void steps(void)
{
    pid_t pid = stopped_child(stepped, 0);
    int st = go(pid, PTRACE_CONT, 0);
    unsigned long at = (unsigned long)regs_of(pid).rip;
    say("at int3: %s", status_text(st));
    for (int i = 0; i < 13; i++) {
        siginfo_t si = {0};
        st = go(pid, PTRACE_SINGLESTEP, 0);
        NEED(syscall(SYS_ptrace, PTRACE_GETSIGINFO, pid, 0, &si));
        struct user_regs_struct r = regs_of(pid);
        long rax = (long)r.orig_rax == SYS_getppid && (long)r.rax >= 0 ? 1 : 0;
        say("step: +%ld code %d orig %lld tf %d ppid %ld", (long)(r.rip - at), si.si_code,
            (long long)r.orig_rax, (r.eflags & 0x100) != 0, rax);
    }
    struct user_regs_struct r = regs_of(pid);
    say("after: rip +%ld rax %#llx", (long)(r.rip - at), (long long)r.rax);
    st = go(pid, PTRACE_CONT, 0);
    say("signal: %s", status_text(st));
    st = go(pid, PTRACE_SINGLESTEP, SIGUSR1);
    YES("in the handler", regs_of(pid).rip == (unsigned long)on_usr1);
    siginfo_t si = {0};
    NEED(syscall(SYS_ptrace, PTRACE_GETSIGINFO, pid, 0, &si));
    say("handler: %s code %d", status_text(st), si.si_code);
    st = go(pid, PTRACE_SINGLESTEP, 0);
    YES("one further", regs_of(pid).rip != (unsigned long)on_usr1);
    int n = 0;
    while (WIFSTOPPED(st) && WSTOPSIG(st) == SIGTRAP && n++ < 100000)
        st = go(pid, PTRACE_SINGLESTEP, 0);
    YES("many steps", n > 10);
    say("end: %s", status_text(st));
}

static void two_calls(void)
{
    syscall(SYS_dup2, 77, 78, 3, 4, 5, 6);
    syscall(SYS_getppid);
}

static void call_infos(void)
{
    pid_t pid = stopped_child(two_calls, 0);
    struct call_info ci;
    memset(&ci, 0xee, sizeof(ci));
    VALUE("none", syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, pid, sizeof(ci), &ci));
    say("op %d arch %#x pad %d", ci.op, ci.arch, ci.pad[0]);
    NEED(syscall(SYS_ptrace, PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD));
    for (int i = 0; i < 400; i++) {
        int st = go(pid, PTRACE_SYSCALL, 0);
        if (!WIFSTOPPED(st))
            break;
        struct user_regs_struct r = regs_of(pid);
        if (r.orig_rax != SYS_dup2)
            continue;
        memset(&ci, 0xee, sizeof(ci));
        VALUE("info", syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, pid, sizeof(ci), &ci));
        unsigned long msg = 0;
        NEED(syscall(SYS_ptrace, PTRACE_GETEVENTMSG, pid, 0, &msg));
        YES("ip and sp", ci.ip == r.rip && ci.sp == r.rsp);
        if (ci.op == 1)
            say("entry %lld: %lld %lld %lld %lld %lld %lld message %ld", (long long)ci.entry.nr,
                (long long)ci.entry.args[0], (long long)ci.entry.args[1],
                (long long)ci.entry.args[2], (long long)ci.entry.args[3],
                (long long)ci.entry.args[4], (long long)ci.entry.args[5], msg);
        else
            say("op %d: %lld error %d message %ld", ci.op, (long long)ci.exit.rval,
                ci.exit.is_error, msg);
        memset(&ci, 0xee, sizeof(ci));
        VALUE("a part", syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, pid, 4, &ci));
        YES("no more", ci.op <= 3 && ci.arch == 0xeeeeeeee);
    }
}

static char area[64] __attribute__((aligned(64))) = "at the base";

/* What the tracer makes the base of gs is where the program reads. */
static void gs_user(void)
{
    unsigned long base = 0;
    char c;
    syscall(SYS_arch_prctl, 0x1001, area);
    raise(SIGTRAP);
    syscall(SYS_arch_prctl, 0x1004, &base);
    __asm__("mov %%gs:0, %0" : "=q"(c));
    _exit(base == (unsigned long)area + 3 && c == 't' ? 40 : 41);
}

static void bases(void)
{
    pid_t pid = stopped_child(gs_user, 0);
    go(pid, PTRACE_CONT, 0);
    struct user_regs_struct r = regs_of(pid);
    YES("gs base", r.gs_base == (unsigned long)area);
    r.gs_base += 3;
    FACT("set gs base", syscall(SYS_ptrace, PTRACE_SETREGS, pid, 0, &r));
    unsigned long word = 0;
    FACT("arch_prctl", syscall(SYS_ptrace, 30, pid, &word, 0x1004));
    YES("it is there", word == (unsigned long)area + 3);
    FACT("arch_prctl fs", syscall(SYS_ptrace, 30, pid, &word, 0x1003));
    YES("it is there", word == r.fs_base);
    FACT("arch_prctl set too high", syscall(SYS_ptrace, 30, pid, 1ul << 62, 0x1002));
    FACT("arch_prctl unknown", syscall(SYS_ptrace, 30, pid, 0, 0x9999));
    say("end: %s", status_text(go(pid, PTRACE_CONT, 0)));
}

static int word = 17;
static const int constant = 18;

static void spin(void)
{
    for (;;)
        pause();
}

/* /proc/PID/mem writes what the program may not. */
static void memory_file(void)
{
    char path[64];
    int *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = stopped_child(spin, 0);
    int v = 99, got = 0;
    unsigned long w = 0;
    snprintf(path, sizeof(path), "/proc/%d/mem", pid);
    int fd = (int)NEED(open(path, O_RDWR));
    VALUE("read", pread(fd, &got, 4, (off_t)&word));
    say("word %d", got);
    VALUE("write", pwrite(fd, &v, 4, (off_t)&word));
    VALUE("write constant", pwrite(fd, &v, 4, (off_t)&constant));
    VALUE("read", pread(fd, &got, 4, (off_t)&constant));
    say("constant there %d, here %d", got, *(volatile const int *)&constant);
    VALUE("write inaccessible", pwrite(fd, &v, 4, (off_t)none));
    VALUE("read inaccessible", pread(fd, &got, 4, (off_t)none));
    say("inaccessible %d", got);
    VALUE("write shared", pwrite(fd, &v, 4, (off_t)shared));
    VALUE("write nothing", pwrite(fd, &v, 4, 8));
    FACT("peek inaccessible", syscall(SYS_ptrace, PTRACE_PEEKDATA, pid, none, &w));
    FACT("poke shared", syscall(SYS_ptrace, PTRACE_POKEDATA, pid, shared, 1));
    kill(pid, SIGKILL);
    say_end("memory file", pid);
}

/* What was opened before an exec is of the program that is gone. */
static void opened_before_exec(void)
{
    static char *args[] = {"sleep", "100", NULL}, *env[] = {"NEW=1", NULL};
    const char *names[] = {"mem", "environ", "maps"};
    int go[2], gone[2], fds[3];
    char path[64], buf[64];
    NEED(pipe(go));
    NEED(pipe2(gone, O_CLOEXEC));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        NEED(read(go[0], buf, 1));
        execve("/bin/sleep", args, env);
        _exit(1);
    }
    close(gone[1]);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "/proc/%d/%s", pid, names[i]);
        fds[i] = (int)NEED(open(path, i == 0 ? O_RDWR : O_RDONLY));
    }
    NEED(write(go[1], "x", 1));
    VALUE("exec done", read(gone[0], buf, 1));
    VALUE("mem read", pread(fds[0], buf, 8, (off_t)(uintptr_t)path));
    VALUE("mem write", pwrite(fds[0], buf, 8, (off_t)(uintptr_t)path));
    VALUE("environ", read(fds[1], buf, sizeof(buf)));
    VALUE("maps", read(fds[2], buf, sizeof(buf)));
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    kill(pid, SIGKILL);
    NEED(waitpid(pid, NULL, 0));
}

int main(void)
{
    facts_start();
    general();
    floating();
    steps();
    call_infos();
    bases();
    memory_file();
    opened_before_exec();
    remove_work_dir();
    return 0;
}
