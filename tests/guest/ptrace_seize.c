/* ptrace(2): SEIZE, INTERRUPT, LISTEN, group stops of seized tracees, tracees that are no children.
 */
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "facts.h"

static pid_t spinner(void)
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        for (volatile unsigned i = 0;; i++)
            ;
    }
    return pid;
}

static pid_t sleeper(void)
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        for (;;)
            pause();
    }
    return pid;
}

static int stop_of(const char *label, pid_t pid)
{
    int st = 0;
    siginfo_t si = {0};
    if (waitpid(pid, &st, __WALL) != pid) {
        say("%s: %s", label, errno_name(errno));
        return -1;
    }
    if (!WIFSTOPPED(st)) {
        say("%s: %s", label, status_text(st));
        return st;
    }
    int r = ptrace(PTRACE_GETSIGINFO, pid, 0, &si);
    say("%s: %s event %d info %s signo %d code %#x", label, status_text(st), st >> 16,
        r < 0 ? errno_name(errno) : "ok", si.si_signo, si.si_code);
    return st;
}

/* State and TracerPid as /proc has them. */
static void say_status(const char *label, pid_t pid)
{
    char path[64], text[4096] = "";
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    int fd = (int)NEED(open(path, O_RDONLY));
    NEED(read(fd, text, sizeof(text) - 1));
    close(fd);
    const char *state = strstr(text, "State:"), *tracer = strstr(text, "TracerPid:");
    int id = tracer ? atoi(tracer + 10) : -1;
    say("%s: state %c, traced by %s", label, state ? state[7] : '?',
        id == getpid() ? "us"
        : id == 0      ? "nobody"
                       : "somebody");
}

static void interrupts(void)
{
    int st;
    pid_t pid = spinner();
    FACT("seize", ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD));
    VALUE("no stop", waitpid(pid, &st, WNOHANG));
    say_status("computing", pid);
    FACT("running", ptrace(PTRACE_CONT, pid, 0, 0));
    FACT("interrupt", ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    stop_of("computing", pid);
    say_status("stopped", pid);
    FACT("listen", ptrace(PTRACE_LISTEN, pid, 0, 0));
    FACT("listening", ptrace(PTRACE_CONT, pid, 0, 0));
    VALUE("nothing", waitpid(pid, &st, WNOHANG));
    FACT("interrupt", ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    stop_of("listening", pid);
    FACT("interrupt stopped", ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    VALUE("nothing", waitpid(pid, &st, WNOHANG));
    FACT("cont", ptrace(PTRACE_CONT, pid, 0, 0));
    stop_of("pending interrupt", pid);
    FACT("cont", ptrace(PTRACE_CONT, pid, 0, 0));
    kill(pid, SIGUSR1);
    stop_of("signal", pid);
    FACT("listen at signal", ptrace(PTRACE_LISTEN, pid, 0, 0));
    FACT("cont", ptrace(PTRACE_CONT, pid, 0, SIGUSR1));
    stop_of("end", pid);

    pid = sleeper();
    NEED(ptrace(PTRACE_SEIZE, pid, 0, 0));
    NEED(ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    stop_of("sleeping", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    stop_of("sleeping again", pid);
    kill(pid, SIGKILL);
    stop_of("killed while stopped", pid);
}

/* A stop inside of a call that was made to look like one that can be listened from: the call ends
 * before the next stop. */
static void listen_in_call(void)
{
    siginfo_t si = {0};
    unsigned long kid = 0;
    int go[2], st;
    char c = 0;
    NEED(pipe(go));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        static uint32_t word;
        struct timespec ts = {0, 1000000};
        NEED(read(go[0], &c, 1));
        if (syscall(SYS_clone, 0, 0, 0, 0, 0) == 0)
            _exit(0);
        long r = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, 0, 0);
        _exit(r < 0 && errno == ETIMEDOUT ? 7 : 8);
    }
    NEED(ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACECLONE));
    NEED(write(go[1], "x", 1));
    stop_of("in clone", pid);
    NEED(ptrace(PTRACE_GETEVENTMSG, pid, 0, &kid));
    NEED(waitpid((pid_t)kid, &st, __WALL));
    NEED(ptrace(PTRACE_DETACH, kid, 0, 0));
    NEED(ptrace(PTRACE_GETSIGINFO, pid, 0, &si));
    si.si_code = SIGTRAP | 128 << 8; /* PTRACE_EVENT_STOP */
    NEED(ptrace(PTRACE_SETSIGINFO, pid, 0, &si));
    FACT("listen in clone", ptrace(PTRACE_LISTEN, pid, 0, 0));
    FACT("interrupt", ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    stop_of("behind clone", pid);
    FACT("cont", ptrace(PTRACE_CONT, pid, 0, 0));
    stop_of("end", pid);
}

static void job_control(void)
{
    int st;
    pid_t pid = sleeper();
    NEED(ptrace(PTRACE_SEIZE, pid, 0, 0));
    kill(pid, SIGSTOP);
    stop_of("SIGSTOP", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGSTOP));
    stop_of("group stop", pid);
    FACT("listen", ptrace(PTRACE_LISTEN, pid, 0, 0));
    VALUE("nothing", waitpid(pid, &st, WNOHANG));
    kill(pid, SIGCONT);
    stop_of("woken", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    stop_of("SIGCONT", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGCONT));
    /* A group stop that the tracer lets go of does not hold it. */
    kill(pid, SIGSTOP);
    stop_of("SIGSTOP", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, SIGSTOP));
    stop_of("group stop", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    kill(pid, SIGUSR1);
    stop_of("runs in a group stop", pid);
    FACT("detach", ptrace(PTRACE_DETACH, pid, 0, 0));
    st = 0;
    pid_t got = waitpid(pid, &st, WUNTRACED);
    say("stopped again for its parent: %s", got == pid ? status_text(st) : errno_name(errno));
    kill(pid, SIGKILL);
    say_end("end", pid);
}

static void attach_stopped(void)
{
    int st;
    pid_t pid = sleeper();
    kill(pid, SIGSTOP);
    NEED(waitpid(pid, &st, WUNTRACED));
    say("stopped: %s", status_text(st));
    NEED(ptrace(PTRACE_SEIZE, pid, 0, 0));
    stop_of("seized while stopped", pid);
    say_status("seized while stopped", pid);
    NEED(ptrace(PTRACE_DETACH, pid, 0, 0));
    kill(pid, SIGKILL);
    say_end("end", pid);
    pid = sleeper();
    kill(pid, SIGSTOP);
    NEED(waitpid(pid, &st, WUNTRACED));
    NEED(ptrace(PTRACE_ATTACH, pid, 0, 0));
    stop_of("attached while stopped", pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    stop_of("then", pid);
    NEED(ptrace(PTRACE_KILL, pid, 0, 0));
    stop_of("end", pid);
}

/* The tracee is the child of somebody else, who must wait. */
static void not_our_child(void)
{
    int go[2], st;
    char c;
    NEED(pipe(go));
    pid_t target = sleeper();
    pid_t tracer = NEED(fork());
    if (tracer == 0) {
        NEED(ptrace(PTRACE_SEIZE, target, 0, 0));
        NEED(write(go[1], "x", 1));
        int r = waitpid(target, &st, __WALL) != target || !WIFSTOPPED(st) ||
                WSTOPSIG(st) != SIGTERM || ptrace(PTRACE_CONT, target, 0, SIGTERM) < 0;
        siginfo_t si;
        r |= waitid(P_PID, (id_t)target, &si, WEXITED | WNOWAIT) < 0;
        NEED(write(go[1], "y", 1));
        nap(30);
        r |= waitpid(target, &st, __WALL) != target || !WIFSIGNALED(st);
        r |= waitpid(target, &st, __WALL) >= 0 || errno != ECHILD;
        _exit(r);
    }
    NEED(read(go[0], &c, 1));
    NEED(kill(target, SIGTERM));
    NEED(read(go[0], &c, 1));
    siginfo_t si = {0};
    FACT("its tracer comes first", waitid(P_PID, (id_t)target, &si, WEXITED | WNOHANG | WNOWAIT));
    say("pid given: %d", si.si_pid != 0);
    say_end("tracee", target);
    say_end("tracer", tracer);
}

static void permissions(void)
{
    char word[8] = "before", other[8] = "";
    struct iovec l = {other, 7}, r = {word, 7};
    int st;
    pid_t pid = NEED(fork());
    if (pid == 0) {
        prctl(PR_SET_DUMPABLE, 0);
        raise(SIGSTOP);
        prctl(PR_SET_DUMPABLE, 1);
        raise(SIGSTOP);
        _exit(0);
    }
    NEED(waitpid(pid, &st, WUNTRACED));
    FACT("not dumpable: attach", ptrace(PTRACE_ATTACH, pid, 0, 0));
    FACT("not dumpable: seize", ptrace(PTRACE_SEIZE, pid, 0, 0));
    FACT("not dumpable: read", process_vm_readv(pid, &l, 1, &r, 1, 0));
    kill(pid, SIGCONT);
    NEED(waitpid(pid, &st, WUNTRACED));
    VALUE("dumpable: read", process_vm_readv(pid, &l, 1, &r, 1, 0));
    say("word: %s", other);
    FACT("dumpable: seize", ptrace(PTRACE_SEIZE, pid, 0, 0));
    kill(pid, SIGKILL);
    waitpid(pid, &st, 0);
    FACT("init", ptrace(PTRACE_ATTACH, 1, 0, 0) < 0 || getppid() == 1 ? 0 : -1);
    pid = NEED(fork());
    if (pid == 0) {
        FACT("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
        FACT("traceme twice", ptrace(PTRACE_TRACEME, 0, 0, 0));
        _exit(0);
    }
    say_end("traceme end", pid);
    /* Attached to before it became undumpable: its registers, but not its memory. */
    struct user_regs_struct regs;
    pid = NEED(fork());
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        prctl(PR_SET_DUMPABLE, 0);
        raise(SIGSTOP);
        _exit(0);
    }
    NEED(waitpid(pid, &st, 0));
    FACT("undumpable tracee: peek", ptrace(PTRACE_PEEKDATA, pid, word, 0) < 0 ? -1 : 0);
    FACT("undumpable tracee: poke", ptrace(PTRACE_POKEDATA, pid, word, 0));
    FACT("undumpable tracee: registers", ptrace(PTRACE_GETREGS, pid, 0, &regs));
    kill(pid, SIGKILL);
    say_end("undumpable end", pid);
}

int main(void)
{
    facts_start();
    interrupts();
    listen_in_call();
    job_control();
    attach_stopped();
    not_our_child();
    permissions();
    remove_work_dir();
    return 0;
}
