/* ptrace(2): signals stop a tracee, and its tracer decides; masks, queues, restarts. */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracee.h"

static volatile sig_atomic_t handled, handled_code, handled_value;

static void handler(int signo, siginfo_t *si, void *uc)
{
    (void)uc;
    handled = signo;
    handled_code = si->si_code;
    handled_value = si->si_value.sival_int;
}

static void catch (int signo, int flags)
{
    struct sigaction sa = {.sa_flags = SA_SIGINFO | flags};
    sa.sa_sigaction = handler;
    sigaction(signo, &sa, NULL);
}

static int next_stop(const char *label, pid_t pid, int signo)
{
    int st = 0;
    siginfo_t si = {0};
    NEED(ptrace(PTRACE_CONT, pid, 0, signo));
    NEED(waitpid(pid, &st, __WALL));
    if (!WIFSTOPPED(st)) {
        say("%s: %s", label, status_text(st));
        return st;
    }
    int r = ptrace(PTRACE_GETSIGINFO, pid, 0, &si);
    say("%s: %s, info %s signo %d code %d", label, status_text(st),
        r < 0 ? errno_name(errno) : "ok", si.si_signo, r < 0 ? 0 : si.si_code);
    return st;
}

static void raise_some(void)
{
    catch (SIGUSR1, 0);
    catch (SIGUSR2, 0);
    raise(SIGUSR1);
    say("raised: handled %d", handled);
    handled = 0;
    raise(SIGUSR1);
    say("suppressed: handled %d", handled);
    raise(SIGUSR1);
    say("another: handled %d code %d", handled, handled_code);
    raise(SIGUSR1);
    say("changed info: handled %d value %d", handled, handled_value);
    raise(SIGWINCH);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR2);
    raise(SIGTERM);
    say("still here");
    *(volatile int *)8 = 1;
}

static void decide(void)
{
    pid_t pid = stopped_child(raise_some, 0);
    siginfo_t si;
    next_stop("first", pid, 0);
    next_stop("second", pid, SIGUSR1);
    next_stop("third", pid, 0);
    next_stop("fourth", pid, SIGUSR2);
    NEED(ptrace(PTRACE_GETSIGINFO, pid, 0, &si));
    si.si_code = SI_QUEUE;
    si.si_value.sival_int = 4711;
    FACT("set info", ptrace(PTRACE_SETSIGINFO, pid, 0, &si));
    next_stop("ignored by default", pid, SIGUSR1);
    next_stop("ignored", pid, SIGWINCH);
    next_stop("fatal", pid, SIGUSR2);
    next_stop("fault", pid, 0);
    next_stop("end", pid, SIGSEGV);
}

static void blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    catch (SIGUSR1, 0);
    catch (SIGRTMIN + 1, 0);
    union sigval v = {.sival_int = 1};
    sigqueue(getpid(), SIGRTMIN + 1, v);
    v.sival_int = 2;
    sigqueue(getpid(), SIGRTMIN + 1, v);
    syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
    raise(SIGUSR2);
    say("unblocked by the tracer: %d", handled == SIGUSR1);
    raise(SIGTRAP);
    sigprocmask(SIG_BLOCK, NULL, &set);
    say("mask: USR1 %d USR2 %d", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
}

static void masks(void)
{
    pid_t pid = stopped_child(blocked, 0);
    uint64_t set = 0;
    siginfo_t si[4];
    struct {
        uint64_t off;
        uint32_t flags;
        int32_t nr;
    } args = {0, 1, 4};
    next_stop("masks", pid, 0);
    VALUE("shared queue", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    say("values %d %d code %d", si[0].si_value.sival_int, si[1].si_value.sival_int, si[0].si_code);
    args.off = 1;
    VALUE("from the second", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    args.off = 2;
    VALUE("from the third", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    args.flags = 0;
    args.off = 0;
    VALUE("own queue", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    args.flags = 2;
    VALUE("flags", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    args.flags = 0;
    args.nr = -1;
    VALUE("count", syscall(SYS_ptrace, PTRACE_PEEKSIGINFO, pid, &args, si));
    FACT("get mask size", syscall(SYS_ptrace, PTRACE_GETSIGMASK, pid, 4, &set));
    FACT("get mask", syscall(SYS_ptrace, PTRACE_GETSIGMASK, pid, 8, &set));
    say("mask %#llx", (unsigned long long)set);
    set = ~0ull & ~(1ull << (SIGUSR1 - 1)) & ~(1ull << (SIGTRAP - 1));
    FACT("set mask", syscall(SYS_ptrace, PTRACE_SETSIGMASK, pid, 8, &set));
    next_stop("now it comes", pid, 0);
    next_stop("trap", pid, SIGUSR1);
    FACT("get mask", syscall(SYS_ptrace, PTRACE_GETSIGMASK, pid, 8, &set));
    say("mask %#llx", (unsigned long long)set);
    set = 0;
    FACT("set mask", syscall(SYS_ptrace, PTRACE_SETSIGMASK, pid, 8, &set));
    next_stop("queued 1", pid, 0);
    next_stop("queued 2", pid, SIGRTMIN + 1);
    next_stop("queue over", pid, SIGRTMIN + 1);
}

static int fds[2];

static void read_pipe(void)
{
    char c;
    catch (SIGUSR1, SA_RESTART);
    catch (SIGUSR2, 0);
    say("restarted: %zd", read(fds[0], &c, 1));
    ssize_t n = read(fds[0], &c, 1);
    say("interrupted: %s", n < 0 ? errno_name(errno) : "ok");
    struct timespec ts = {0, 30000000}, rem;
    int r = nanosleep(&ts, &rem);
    say("sleep: %s", r < 0 ? errno_name(errno) : "ok");
}

static bool in_read(pid_t pid)
{
    char path[64], line[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    for (int i = 0; i < 5000; i++) {
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
        if (fd >= 0)
            close(fd);
        if (n > 0 && strstr(line, ") S "))
            return true;
        nap(2);
    }
    return false;
}

static void say_call(const char *label, pid_t pid)
{
    struct user_regs_struct r;
    NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
    say("%s: call %lld rax %lld", label, (long long)r.orig_rax, (long long)r.rax);
}

static int stop_now(const char *label, pid_t pid)
{
    int st;
    NEED(waitpid(pid, &st, __WALL));
    say("%s: %s", label, status_text(st));
    return st;
}

static void restarts(void)
{
    NEED(pipe(fds));
    pid_t pid = stopped_child(read_pipe, 0);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    YES("reads", in_read(pid));
    kill(pid, SIGUSR1);
    stop_now("restart", pid);
    say_call("restart", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGUSR1));
    YES("reads again", in_read(pid));
    kill(pid, SIGWINCH);
    stop_now("ignored", pid);
    say_call("ignored", pid);
    NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
    stop_now("call again", pid);
    say_call("call again", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    YES("reads once more", in_read(pid));
    kill(pid, SIGTERM);
    stop_now("suppressed", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(write(fds[1], "x", 1));
    YES("second read", in_read(pid));
    kill(pid, SIGUSR2);
    stop_now("no restart", pid);
    NEED(ptrace(PTRACE_SYSCALL, pid, 0, SIGUSR2));
    stop_now("sigreturn", pid);
    say_call("sigreturn", pid);
    NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
    stop_now("after sigreturn", pid);
    say_call("after sigreturn", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    stop_now("restarts end", pid);
}

static void stop_self(void)
{
    raise(SIGTSTP);
    raise(SIGSTOP);
    _exit(21);
}

static void group_stops(void)
{
    int st;
    siginfo_t si = {0};
    pid_t pid = stopped_child(stop_self, 0);
    next_stop("stop signal", pid, 0);
    next_stop("to group stop", pid, SIGTSTP);
    char path[64], line[128] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = NEED(open(path, O_RDONLY));
    NEED(read(fd, line, sizeof(line) - 1));
    close(fd);
    YES("state t", strstr(line, ") t ") != NULL);
    FACT("waitid", waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOHANG));
    say("nothing new: %d", si.si_pid);
    next_stop("second", pid, 0);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGSTOP));
    FACT("waitid", waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOWAIT));
    say("code %d status %d signo %d", si.si_code, si.si_status, si.si_signo);
    NEED(waitpid(pid, &st, 0));
    say("group stop: %s", status_text(st));
    kill(pid, SIGCONT);
    next_stop("SIGCONT", pid, 0);
    next_stop("over", pid, SIGCONT);
}

static volatile sig_atomic_t children;

static void on_child(int signo, siginfo_t *si, void *uc)
{
    (void)signo, (void)uc;
    children = children * 100 + si->si_code * 10 + (si->si_status == SIGUSR1);
}

static void idle(void)
{
    raise(SIGUSR1);
}

static void tracer_hears(void)
{
    struct sigaction sa = {.sa_flags = SA_SIGINFO};
    int st;
    sa.sa_sigaction = on_child;
    sigaction(SIGCHLD, &sa, NULL);
    pid_t pid = stopped_child(idle, 0);
    children = 0;
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    while (waitpid(pid, &st, 0) < 0)
        ;
    say("SIGCHLD: %d", children);
    children = 0;
    sa.sa_flags |= SA_NOCLDSTOP;
    sigaction(SIGCHLD, &sa, NULL);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGUSR1));
    while (waitpid(pid, &st, 0) < 0)
        ;
    say("at the end: %d %s", children, status_text(st));
    signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
    facts_start();
    decide();
    masks();
    restarts();
    /* In a process group that is not orphaned. */
    pid_t pid = NEED(fork());
    if (pid == 0) {
        NEED(setpgid(0, 0));
        group_stops();
        _exit(0);
    }
    say_end("group stops", pid);
    tracer_hears();
    remove_work_dir();
    return 0;
}
