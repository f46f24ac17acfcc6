/* ptrace(2): TRACEME, ATTACH, calls looked at and changed, memory, options, detaching. */
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracee.h"

static char word[64] = "untouched";
static const char constant[64] __attribute__((aligned(64))) = "constant";

static const char *call_name(long nr)
{
    switch (nr) {
    case SYS_getppid:
        return "getppid";
    case SYS_getuid:
        return "getuid";
    case SYS_munmap:
        return "munmap";
    case SYS_exit_group:
        return "exit_group";
    case SYS_dup:
        return "dup";
    case -1:
        return "none";
    default:
        return "other";
    }
}

static int wait_stop(const char *label, pid_t pid)
{
    int st = 0;
    if (waitpid(pid, &st, __WALL) != pid) {
        say("%s: wait: %s", label, errno_name(errno));
        return -1;
    }
    if (label)
        say("%s: %s event %d", label, status_text(st), WIFSTOPPED(st) ? st >> 16 : 0);
    return st;
}

static void some_calls(void)
{
    syscall(SYS_getppid);
    syscall(SYS_munmap, 0x10000, 4096);
    syscall(SYS_dup, 77);
    syscall(9999);
    syscall(SYS_getuid);
}

/* A call without a name is the C library's own. */
static void calls(void)
{
    pid_t pid = traced_child(some_calls, 0);
    wait_stop("calls first", pid);
    FACT("sysgood", ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD));
    FACT("bad options", ptrace(PTRACE_SETOPTIONS, pid, 0, 0x10000000));
    bool on = false;
    for (int i = 0; i < 200; i++) {
        struct user_regs_struct r = {0};
        int st;
        NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
        st = wait_stop(NULL, pid);
        if (!WIFSTOPPED(st)) {
            say("calls end: %s", status_text(st));
            return;
        }
        NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
        if (r.orig_rax == SYS_getppid)
            on = true;
        if (!on)
            continue;
        long rax = r.orig_rax == SYS_getppid && (long)r.rax > 0 ? 1 : (long)r.rax;
        say("stop %#x call %s rax %ld cs %#llx ss %#llx", st >> 8, call_name((long)r.orig_rax),
            r.orig_rax == SYS_getuid && rax > 0 ? 1 : rax, (unsigned long long)r.cs,
            (unsigned long long)r.ss);
    }
}

static void change_calls(void)
{
    long r = syscall(SYS_getppid);
    say("changed to dup(99): %s", r < 0 ? errno_name(errno) : "ok");
    errno = 0;
    r = syscall(SYS_getppid);
    say("skipped: %ld", r);
    r = syscall(SYS_getppid);
    say("result: %ld", r);
    void *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mprotect by argument: %ld", syscall(SYS_getppid, p, 4096, PROT_READ | PROT_WRITE));
    *(volatile char *)p = 1;
    say("munmap: %d", munmap(p, 8192));
}

static struct user_regs_struct regs_of(pid_t pid)
{
    struct user_regs_struct r;
    NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
    return r;
}

/* Goes on until the entry of call nr. */
static bool until_call(pid_t pid, long nr)
{
    for (int i = 0; i < 400; i++) {
        int st;
        NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
        st = wait_stop(NULL, pid);
        if (!WIFSTOPPED(st))
            return false;
        struct user_regs_struct r = regs_of(pid);
        if (WSTOPSIG(st) == (SIGTRAP | 0x80) && (long)r.orig_rax == nr && (long)r.rax == -ENOSYS)
            return true;
    }
    return false;
}

static void changes(void)
{
    pid_t pid = traced_child(change_calls, 0);
    wait_stop(NULL, pid);
    NEED(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD));
    YES("first", until_call(pid, SYS_getppid));
    struct user_regs_struct r = regs_of(pid);
    r.orig_rax = SYS_dup;
    r.rdi = 99;
    FACT("change number", ptrace(PTRACE_SETREGS, pid, 0, &r));
    YES("second", until_call(pid, SYS_getppid));
    r = regs_of(pid);
    r.orig_rax = -1;
    r.rax = 4321;
    FACT("skip", ptrace(PTRACE_SETREGS, pid, 0, &r));
    YES("third", until_call(pid, SYS_getppid));
    NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
    wait_stop("third result", pid);
    FACT("poke result", ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rax), 1234));
    YES("fourth", until_call(pid, SYS_getppid));
    FACT("to mprotect",
         ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.orig_rax), SYS_mprotect));
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("changes end", pid);
}

static void emulated_call(void)
{
    syscall(SYS_getppid);
    _exit(syscall(SYS_dup, 98) == 77 && syscall(SYS_dup, 97) < 0 ? 5 : 6);
}

static void emulation(void)
{
    pid_t pid = traced_child(emulated_call, 0);
    wait_stop(NULL, pid);
    NEED(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD));
    YES("emulate: first", until_call(pid, SYS_getppid));
    NEED(ptrace(PTRACE_SYSEMU, pid, 0, 0));
    wait_stop("emulate: entry", pid);
    say("emulate: at %s", call_name((long)regs_of(pid).orig_rax));
    NEED(ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rax), 77));
    NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
    wait_stop("emulate: next", pid);
    say("emulate: at %s %lld", call_name((long)regs_of(pid).orig_rax), (long long)regs_of(pid).rdi);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("emulate end", pid);
}

static void tell_word(void)
{
    say("child has: %s, %s", word, constant);
}

static void memory(void)
{
    pid_t pid = traced_child(tell_word, 0);
    wait_stop(NULL, pid);
    errno = 0;
    long v = ptrace(PTRACE_PEEKDATA, pid, word, 0);
    say("peek: %.8s %s", (char *)&v, errno_name(errno));
    memcpy(&v, "changed!", 8);
    FACT("poke", ptrace(PTRACE_POKEDATA, pid, word, v));
    memcpy(&v, "overruns", 8);
    FACT("poke read-only", ptrace(PTRACE_POKETEXT, pid, constant, v));
    errno = 0;
    FACT("peek nothing", ptrace(PTRACE_PEEKDATA, pid, 8, 0));
    FACT("poke nothing", ptrace(PTRACE_POKEDATA, pid, 8, 0));
    FACT("peek high", ptrace(PTRACE_PEEKDATA, pid, -16l, 0));
    FACT("peekuser odd", ptrace(PTRACE_PEEKUSER, pid, 3, 0));
    FACT("peekuser beyond", ptrace(PTRACE_PEEKUSER, pid, 4096, 0));
    FACT("peekuser last", ptrace(PTRACE_PEEKUSER, pid, sizeof(struct user) - 8, 0));
    say("here: %s, %s", word, constant);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("memory end", pid);
}

static void mistakes(void)
{
    int st;
    pid_t pid = NEED(fork());
    if (pid == 0) {
        pause();
        _exit(0);
    }
    struct user_regs_struct r;
    FACT("nobody's", ptrace(PTRACE_GETREGS, pid, 0, &r));
    FACT("attach self", ptrace(PTRACE_ATTACH, getpid(), 0, 0));
    FACT("attach none", ptrace(PTRACE_ATTACH, 0, 0, 0));
    FACT("attach gone", ptrace(PTRACE_ATTACH, 999999, 0, 0));
    FACT("seize address", ptrace(PTRACE_SEIZE, pid, 1, 0));
    FACT("seize options", ptrace(PTRACE_SEIZE, pid, 0, 0x10000000));
    FACT("attach", ptrace(PTRACE_ATTACH, pid, 0, 0));
    FACT("attach twice", ptrace(PTRACE_ATTACH, pid, 0, 0));
    wait_stop("attached", pid);
    FACT("unknown", ptrace(12345, pid, 0, 0));
    FACT("bad signal", ptrace(PTRACE_CONT, pid, 0, 65));
    FACT("interrupt not seized", ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    FACT("listen not seized", ptrace(PTRACE_LISTEN, pid, 0, 0));
    FACT("bad buffer", ptrace(PTRACE_GETREGS, pid, 0, (void *)8));
    r = regs_of(pid);
    r.cs = 8;
    FACT("bad cs", ptrace(PTRACE_SETREGS, pid, 0, &r));
    r = regs_of(pid);
    r.fs_base = 1ull << 63;
    FACT("bad fs base", ptrace(PTRACE_SETREGS, pid, 0, &r));
    FACT("cont", ptrace(PTRACE_CONT, pid, 0, 0));
    FACT("running", ptrace(PTRACE_GETREGS, pid, 0, &r));
    FACT("kill", ptrace(PTRACE_KILL, pid, 0, 0));
    wait_stop("killed", pid);
    FACT("wait again", waitpid(pid, &st, 0));
}

static void detach(void)
{
    int st;
    pid_t pid = NEED(fork());
    if (pid == 0) {
        for (;;)
            pause();
    }
    NEED(ptrace(PTRACE_ATTACH, pid, 0, 0));
    wait_stop("detach: attached", pid);
    FACT("detach bad signal", ptrace(PTRACE_DETACH, pid, 0, 100));
    FACT("detach", ptrace(PTRACE_DETACH, pid, 0, 0));
    VALUE("nothing to wait for", waitpid(pid, &st, WNOHANG | WUNTRACED));
    NEED(ptrace(PTRACE_ATTACH, pid, 0, 0));
    wait_stop("again", pid);
    FACT("detach with SIGTERM", ptrace(PTRACE_DETACH, pid, 0, SIGTERM));
    say_end("detach end", pid);
    /* The tracer ends, and its tracee goes on. */
    int fds[2], back[2];
    NEED(pipe(fds));
    NEED(pipe(back));
    pid = NEED(fork());
    if (pid == 0) {
        char c;
        close(back[0]);
        _exit(read(fds[0], &c, 1) == 1 ? 17 : 18);
    }
    pid_t tracer = NEED(fork());
    if (tracer == 0) {
        int r = ptrace(PTRACE_SEIZE, pid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0;
        _exit(r || waitpid(pid, &st, __WALL) != pid ? 1 : 0);
    }
    say_end("tracer", tracer);
    NEED(write(fds[1], "x", 1));
    say_end("orphaned tracee", pid);
    /* ... or is killed with it. */
    pid = NEED(fork());
    if (pid == 0) {
        for (;;)
            pause();
    }
    tracer = NEED(fork());
    if (tracer == 0)
        _exit(ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL) < 0);
    say_end("tracer", tracer);
    say_end("exitkill", pid);
}

int main(void)
{
    facts_start();
    calls();
    changes();
    emulation();
    memory();
    mistakes();
    detach();
    remove_work_dir();
    return 0;
}
