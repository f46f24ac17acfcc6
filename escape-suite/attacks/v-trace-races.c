/* tries: tracers that play with tasks which fork, exec, start and end threads, are stopped, killed
 * and traced by others at the same moment: every request, registers and calls changed at random */
/* must fail because: a task in a ptrace stop is parked like any other, hangs on no queue, and can
 * be killed; a tracer holds no reference that outlives either of the two */
/* an escape would: crash the sentry, leave a task that nobody can end, or let a changed call reach
 * the host */
/* source: ptrace(2), races of execve, exit and SIGKILL with stops */
#include <pthread.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tricks.h"

enum {
    TRACERS = 4,
    TARGETS = 6
};
static unsigned seed;
static volatile pid_t *pids; /* shared: tracers, then targets */

static unsigned dice(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 12) % n;
}

static void *short_thread(void *arg)
{
    for (int i = 0; i < 20; i++)
        munmap(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
    return arg ? (void *)sys(SYS_exit, 3) : NULL;
}

/* A process that does not keep still. */
static int target(void)
{
    seed = (unsigned)getpid() * 2654435761u;
    for (;;) {
        pthread_t t;
        unsigned what = dice(8);
        if (what == 0 && pthread_create(&t, NULL, short_thread, dice(2) ? &seed : NULL) == 0)
            pthread_detach(t);
        if (what == 1 && fork() == 0)
            _exit(0);
        if (what == 2 && vfork() == 0)
            _exit(0);
        if (what == 3)
            raise(dice(2) ? SIGWINCH : SIGCONT);
        if (what == 4 && dice(6) == 0)
            execl("/proc/self/exe", "t", "target", NULL);
        if (what == 5 && dice(10) == 0)
            raise(SIGSTOP);
        waitpid(-1, NULL, WNOHANG);
    }
    return 0;
}

/* One request on a tracee that may or may not be stopped, or there. */
static void play(pid_t pid)
{
    static const int go[] = {PTRACE_CONT, PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SINGLESTEP, 31, 32};
    static const int nrs[] = {SYS_getpid, SYS_munmap, SYS_mprotect,     SYS_sched_yield,
                              SYS_fork,   -1,         SYS_rt_sigreturn, SYS_exit_group};
    struct user_regs_struct r;
    unsigned what = dice(10);
    if (what == 0 && sys(SYS_ptrace, PTRACE_GETREGS, pid, 0, &r) == 0) {
        ((unsigned long *)&r)[dice(21)] = dice(3) ? dice(4096) : ~0ul - dice(70000);
        sys(SYS_ptrace, PTRACE_SETREGS, pid, 0, &r);
    } else if (what == 1) {
        sys(SYS_ptrace, PTRACE_POKEUSER, pid, offsetof(struct user, regs.orig_rax),
            nrs[dice(COUNT(nrs))]);
    } else if (what == 2) {
        sys(SYS_ptrace, 0x4200 + dice(16), pid, dice(9), dice(2) ? 0 : dice(256));
    } else if (what == 3) {
        sys(SYS_ptrace, PTRACE_DETACH, pid, 0, dice(3) ? 0 : SIGCONT);
    } else if (what == 4) {
        sys(SYS_kill, pid, dice(6) ? SIGCONT : dice(3) ? SIGSTOP : SIGKILL);
    } else if (what > 4) {
        sys(SYS_ptrace, go[dice(COUNT(go))], pid, 0, dice(5) ? 0 : dice(66));
    }
}

static int tracer(int number)
{
    seed = (unsigned)number * 40503u + 7;
    for (;;) {
        pid_t pid = pids[TRACERS + dice(TARGETS)] + (pid_t)(dice(4) ? 0 : dice(12));
        if (dice(3) == 0)
            sys(SYS_ptrace, dice(2) ? 0x4206 /* SEIZE */ : PTRACE_ATTACH, pid, 0,
                dice(2) ? 0xfe : 0x1000ff & dice(1 << 21));
        for (int k = 0; k < 4; k++) {
            pid_t got = waitpid(-1, NULL, WNOHANG | __WALL);
            play(got > 0 ? got : pid);
        }
    }
    return 0;
}

static void start(int i, int number)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(i < TRACERS ? tracer(number) : target());
    pids[i] = pid;
}

/* Who ends is replaced. */
static int race(int round)
{
    long from = now_ms();
    int ended = 0;
    for (int i = TRACERS + TARGETS - 1; i >= 0; i--)
        start(i, round * 1000 + i);
    for (pid_t pid; now_ms() - from < 1500 && (pid = waitpid(-1, NULL, WNOHANG)) >= 0;)
        for (int i = 0; pid > 0 && i < TRACERS + TARGETS; i++)
            if (pids[i] == pid)
                start(i, round * 1000 + ++ended);
    return ended;
}

static int attack(void)
{
    pids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 6; round++) {
        int ended = race(round);
        for (long from = now_ms(); now_ms() - from < HANG_MS;) {
            kill(-1, SIGKILL);
            if (waitpid(-1, NULL, WNOHANG) < 0)
                break;
        }
        step("round %d: %d of them ended, %s", round, ended, err_name(errno));
        if (errno != ECHILD)
            return escaped("a task that nobody can end");
    }
    return contained("all tracers and tracees could be ended");
}

static int still(void)
{
    return raise(SIGSTOP) ? 1 : 7;
}

static int twin(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(still());
    if (waitpid(pid, NULL, WUNTRACED) != pid || kill(pid, SIGCONT) < 0)
        return broken("a child that stops: %s", err_name(errno));
    return wait_for(pid) == 7 << 8 ? works("a child stops and goes on") : broken("it does not");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "target") == 0)
        return target();
    return attack_main(argc, argv, attack, twin);
}
