/* guest: glibc-only */
/* ptrace(2): events of fork, vfork, clone, exec, exit and seccomp; who is traced then. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracee.h"

static char self[PATH_MAX];

static pid_t child_with(void (*fn)(void), long options)
{
    pid_t pid = stopped_child(fn, 3);
    NEED(ptrace(PTRACE_SETOPTIONS, pid, 0, options));
    return pid;
}

static pid_t names[16];
static int nnames;

/* Processes by the order in which they appear. */
static int name_of(pid_t pid)
{
    for (int i = 0; i < nnames; i++) {
        if (names[i] == pid)
            return i;
    }
    names[nnames] = pid;
    return nnames++;
}

static const char *event_name(int e)
{
    static const char *const n[] = {"none", "fork",       "vfork", "clone",
                                    "exec", "vfork done", "exit",  "seccomp"};
    return e == 128 ? "stop" : e < 8 ? n[e] : "?";
}

static void say_stop(pid_t pid, int st)
{
    unsigned long msg = 0;
    siginfo_t si = {0};
    int event = st >> 16;
    ptrace(PTRACE_GETEVENTMSG, pid, 0, &msg);
    int r = ptrace(PTRACE_GETSIGINFO, pid, 0, &si);
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
        say("%d: event %s of %d code %#x", name_of(pid), event_name(event), name_of((pid_t)msg),
            si.si_code);
    else if (event == PTRACE_EVENT_VFORK_DONE)
        say("%d: event vfork done, of the child: %s", name_of(pid), msg ? "yes" : "no");
    else if (event == PTRACE_EVENT_EXEC)
        say("%d: event exec, was itself: %s", name_of(pid), (pid_t)msg == pid ? "yes" : "no");
    else if (event)
        say("%d: event %s message %#lx code %#x", name_of(pid), event_name(event), msg, si.si_code);
    else
        say("%d: %s signal %d code %d", name_of(pid), status_text(st), si.si_signo,
            r < 0 ? -1 : si.si_code);
}

/* One tracee at a time: the child's stops are told before its parent goes on. */
static void follow(const char *label, pid_t first)
{
    pid_t held = 0;
    int live = 1, held_st = 0;
    nnames = 0;
    name_of(first);
    NEED(ptrace(PTRACE_CONT, first, 0, 0));
    while (live > 0) {
        int st;
        pid_t pid = waitpid(-1, &st, __WALL);
        if (pid < 0)
            break;
        if (!WIFSTOPPED(st)) {
            say("%d: %s", name_of(pid), status_text(st));
            live--;
        } else {
            int event = st >> 16;
            if (event >= PTRACE_EVENT_FORK && event <= PTRACE_EVENT_CLONE) {
                unsigned long msg;
                NEED(ptrace(PTRACE_GETEVENTMSG, pid, 0, &msg));
                say_stop(pid, st);
                int st2;
                NEED(waitpid((pid_t)msg, &st2, __WALL));
                say_stop((pid_t)msg, st2);
                NEED(ptrace(PTRACE_CONT, (pid_t)msg, 0, 0));
                if (event != PTRACE_EVENT_VFORK) {
                    /* The child to its end first. */
                    held = pid;
                    held_st = st;
                }
                live++;
                if (held)
                    continue;
            } else {
                /* The end of the child of a vfork may come before or after. */
                int st2;
                if (event == PTRACE_EVENT_VFORK_DONE && live > 1) {
                    NEED(waitpid(names[1], &st2, __WALL));
                    say("1: %s", status_text(st2));
                    live--;
                }
                say_stop(pid, st);
            }
            int sig =
                event || WSTOPSIG(st) == SIGTRAP || WSTOPSIG(st) == SIGSTOP ? 0 : WSTOPSIG(st);
            NEED(ptrace(PTRACE_CONT, pid, 0, sig));
        }
        if (held && !WIFSTOPPED(st)) {
            (void)held_st;
            NEED(ptrace(PTRACE_CONT, held, 0, 0));
            held = 0;
        }
    }
    say("%s: over", label);
}

static void fork_once(void)
{
    signal(SIGCHLD, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0)
        _exit(4);
    _exit(pid > 0 ? 5 : 6);
}

static void vfork_once(void)
{
    signal(SIGCHLD, SIG_IGN);
    pid_t pid = vfork();
    if (pid == 0)
        _exit(4);
    _exit(pid > 0 ? 5 : 6);
}

static void exec_self(void)
{
    execl(self, self, "quiet", (char *)NULL);
    _exit(7);
}

static void *thread_end(void *arg)
{
    return arg;
}

static void thread_once(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread_end, NULL);
    pthread_join(t, NULL);
    _exit(8);
}

static void *thread_exec(void *arg)
{
    exec_self();
    return arg;
}

static void exec_by_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread_exec, NULL);
    for (;;)
        pause();
}

static void die_of_signal(void)
{
    raise(SIGUSR1);
}

static void filtered(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 0x77),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
    long a = syscall(SYS_getppid);
    long b = syscall(SYS_getppid);
    _exit(a > 0 && b == 99 ? 10 : 11);
}

static void seccomp_event(void)
{
    pid_t pid = child_with(filtered, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD);
    int st, n = 0;
    nnames = 0;
    name_of(pid);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    while (waitpid(pid, &st, 0) == pid && WIFSTOPPED(st)) {
        struct user_regs_struct r;
        say_stop(pid, st);
        NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
        if (st >> 16 == PTRACE_EVENT_SECCOMP)
            say("getppid: %s rax %lld", r.orig_rax == SYS_getppid ? "yes" : "no", (long long)r.rax);
        if (st >> 16 == PTRACE_EVENT_SECCOMP && n++ == 1) {
            r.orig_rax = -1;
            r.rax = 99;
            NEED(ptrace(PTRACE_SETREGS, pid, 0, &r));
        }
        NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
        if (waitpid(pid, &st, 0) != pid || !WIFSTOPPED(st))
            break;
        NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
        say("then: %s rax > 0: %s orig -1: %s", status_text(st), (long)r.rax > 0 ? "yes" : "no",
            r.orig_rax == (unsigned long long)-1 ? "yes" : "no");
        NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    }
    say("seccomp: %s", status_text(st));
    /* Without the option the call does not run. */
    pid = child_with(filtered, 0);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("seccomp without", pid);
}

/* What execve does without the option, and what calls look like around it. */
static void plain_exec(void)
{
    pid_t pid = child_with(exec_self, 0);
    int st;
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(waitpid(pid, &st, 0));
    nnames = 0;
    name_of(pid);
    say_stop(pid, st);
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("plain exec", pid);
    pid = child_with(exec_self, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
    for (int i = 0; i < 400; i++) {
        struct user_regs_struct r;
        NEED(ptrace(PTRACE_SYSCALL, pid, 0, 0));
        NEED(waitpid(pid, &st, 0));
        if (!WIFSTOPPED(st))
            break;
        NEED(ptrace(PTRACE_GETREGS, pid, 0, &r));
        if (r.orig_rax == SYS_execve)
            say("execve stop %#x rax %lld", st >> 8, (long long)r.rax);
        if (r.orig_rax == SYS_execve && r.rax == 0 && WSTOPSIG(st) & 0x80)
            break;
    }
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("traced exec", pid);
}

/* The event of a thread's exec comes from the process; nothing else is told of the two ids. */
static void thread_exec_events(void)
{
    pid_t pid = child_with(exec_by_thread, PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
    int st;
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(waitpid(pid, &st, __WALL));
    unsigned long tid = 0, msg = 0;
    NEED(ptrace(PTRACE_GETEVENTMSG, pid, 0, &tid));
    say("thread: %s", event_name(st >> 16));
    NEED(waitpid((pid_t)tid, &st, __WALL));
    say("thread begins: %s", status_text(st));
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(ptrace(PTRACE_CONT, tid, 0, 0));
    pid_t got = (pid_t)NEED(waitpid(-1, &st, __WALL));
    NEED(ptrace(PTRACE_GETEVENTMSG, got, 0, &msg));
    say("exec: by the process: %s, event %s, the thread's id: %s", got == pid ? "yes" : "no",
        event_name(st >> 16), msg == tid ? "yes" : "no");
    VALUE("thread id is gone", ptrace(PTRACE_CONT, tid, 0, 0));
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    say_end("exec by thread", pid);
}

/* A traced thread stays until it is waited for, and the leader behind it. */
static void *wait_for_word(void *arg)
{
    while (!atomic_load((atomic_int *)arg))
        sched_yield();
    return NULL;
}

static void two_threads(void)
{
    static atomic_int word;
    pthread_t t;
    pthread_create(&t, NULL, wait_for_word, &word);
    raise(SIGUSR2);
    _exit(12);
}

static void thread_zombies(void)
{
    pid_t pid = child_with(two_threads, PTRACE_O_TRACECLONE);
    int st;
    unsigned long tid = 0;
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(waitpid(pid, &st, __WALL));
    NEED(ptrace(PTRACE_GETEVENTMSG, pid, 0, &tid));
    NEED(waitpid((pid_t)tid, &st, __WALL));
    NEED(ptrace(PTRACE_CONT, tid, 0, 0));
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    NEED(waitpid(pid, &st, __WALL));
    say("signal: %s", status_text(st));
    NEED(ptrace(PTRACE_CONT, pid, 0, 0));
    siginfo_t si = {0};
    FACT("thread ends", waitid(P_PID, (id_t)tid, &si, WEXITED | WNOWAIT | __WALL));
    say("thread: code %d status %d", si.si_code, si.si_status);
    VALUE("leader waits", waitpid(pid, &st, WNOHANG | __WALL));
    FACT("thread", waitpid((pid_t)tid, &st, __WALL) == (pid_t)tid ? 0 : -1);
    say("thread: %s", status_text(st));
    FACT("leader", waitpid(pid, &st, __WALL) == pid ? 0 : -1);
    say("leader: %s", status_text(st));
    FACT("nothing", waitpid(-1, &st, __WALL));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return 9;
    NEED(readlink("/proc/self/exe", self, sizeof(self) - 1));
    facts_start();
    /* Orphans are to go to somebody else than the tracer, who may be the first process inside. */
    pid_t worker = NEED(fork());
    if (worker != 0) {
        say_end("all", worker);
        remove_work_dir();
        return 0;
    }
    alarm(200);
    follow("fork", child_with(fork_once, PTRACE_O_TRACEFORK));
    follow("fork untraced", child_with(fork_once, PTRACE_O_TRACEVFORK));
    follow("vfork", child_with(vfork_once, PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE));
    follow("vfork done", child_with(vfork_once, PTRACE_O_TRACEVFORKDONE));
    follow("thread", child_with(thread_once, PTRACE_O_TRACECLONE));
    follow("exec", child_with(exec_self, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT));
    follow("exit", child_with(thread_once, PTRACE_O_TRACEEXIT));
    follow("signal", child_with(die_of_signal, PTRACE_O_TRACEEXIT));
    seccomp_event();
    plain_exec();
    thread_exec_events();
    thread_zombies();
    return 0;
}
