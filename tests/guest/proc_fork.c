/* fork, vfork, exit codes, zombies, orphans, what a child inherits. */
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include "facts.h"

static int shared_by_vfork;

static pid_t child_exit(int code)
{
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(code);
    return pid;
}

int main(void)
{
    int p[2], st;
    siginfo_t si;
    sigset_t set, got;
    facts_start();
    say_end("exit 0", child_exit(0));
    say_end("exit 255", child_exit(255));
    say_end("exit 256", child_exit(256));
    say_end("exit -1", child_exit(-1));
    pid_t pid = NEED(fork());
    if (pid == 0)
        abort();
    say_end("abort", pid);
    FACT("no children", waitpid(-1, NULL, 0));
    FACT("wait for oneself", waitpid(getpid(), NULL, 0));
    FACT("wait for init", waitpid(1, NULL, 0));
    FACT("bad options", waitpid(-1, NULL, 0x100));
    FACT("waitid without a state", waitid(P_ALL, 0, &si, 0));
    FACT("waitid bad type", waitid((idtype_t)9, 0, &si, WEXITED));

    pid = child_exit(3);
    NEED(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT));
    say("waitid: code %d status %d", si.si_code, si.si_status);
    FACT("kill a zombie", kill(pid, SIGKILL));
    VALUE("pgid of a zombie is ours", getpgid(pid) == getpgrp());
    say_end("still exit 3", pid);
    FACT("kill after the wait", kill(pid, 0));
    FACT("wait again", waitpid(pid, NULL, 0));

    pid_t a = child_exit(1), b = child_exit(2);
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        pid_t r = wait(&st);
        sum += r == a || r == b ? WEXITSTATUS(st) : 100;
    }
    say("two children in any order: %d", sum);
    pid = NEED(fork());
    if (pid == 0) {
        nap(100);
        _exit(0);
    }
    VALUE("WNOHANG while it runs", waitpid(pid, &st, WNOHANG));
    FACT("wait for a process group without children", waitpid(-99999, &st, WNOHANG));
    VALUE("wait for our group", waitpid(0, &st, 0) == pid);

    pid = vfork();
    if (pid == 0) {
        shared_by_vfork = 7;
        _exit(4);
    }
    say("vfork child wrote: %d", shared_by_vfork);
    say_end("vfork", pid);
    pid = NEED(fork());
    if (pid == 0) {
        shared_by_vfork = 8;
        _exit(0);
    }
    say_end("fork", pid);
    say("fork child did not write: %d", shared_by_vfork);

    /* An orphan is adopted by init or the nearest subreaper. */
    NEED(pipe(p));
    NEED(prctl(PR_SET_CHILD_SUBREAPER, 1));
    pid = NEED(fork());
    if (pid == 0) {
        pid_t before = getpid();
        if (fork() == 0) {
            for (int i = 0; i < 200 && getppid() == before; i++)
                nap(10);
            dprintf(p[1], "%s", getppid() == before ? "never" : "adopted");
            _exit(9);
        }
        _exit(0);
    }
    say_end("middle", pid);
    char text[32] = "";
    NEED(read(p[0], text, sizeof(text) - 1));
    say("orphan: %s", text);
    VALUE("the subreaper reaps it", wait(&st) > 0);
    say("%s", status_text(st));

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR1);
    struct itimerval it = {{0, 0}, {40, 0}};
    setitimer(ITIMER_REAL, &it, NULL);
    umask(027);
    setpriority(PRIO_PROCESS, 0, 5);
    pid = NEED(fork());
    if (pid == 0) {
        struct tms t;
        sigpending(&got);
        say("child: pending %d", sigismember(&got, SIGUSR1));
        sigprocmask(SIG_BLOCK, NULL, &got);
        say("child: blocked %d", sigismember(&got, SIGUSR1));
        getitimer(ITIMER_REAL, &it);
        say("child: timer running %d", it.it_value.tv_sec > 0);
        say("child: umask %03o", umask(0));
        say("child: nice %d", getpriority(PRIO_PROCESS, 0));
        say("child: pid differs %d parent ok %d", getpid() != getppid(), getpid() == gettid());
        times(&t);
        say("child: children's time %ld", (long)(t.tms_cutime + t.tms_cstime));
        _exit(0);
    }
    say_end("child", pid);
    struct rusage ru;
    FACT("getrusage", getrusage(RUSAGE_CHILDREN, &ru));
    FACT("getrusage bad who", getrusage(77, &ru));
    pid = child_exit(0);
    VALUE("wait4", wait4(pid, &st, 0, &ru) == pid);
    remove_work_dir();
    return 0;
}
