/* Process groups and sessions: setpgid, setsid, kill of groups. */
#include "facts.h"

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        alarm(20);
        return pause();
    }
    int p[2], go[2];
    char c;
    facts_start();
    /* Everything happens below a child that leads its own session. */
    pid_t top = NEED(fork());
    if (top) {
        say_end("session leader", top);
        remove_work_dir();
        return 0;
    }
    alarm(40);
    VALUE("setsid returns the pid", setsid() == getpid());
    say("pgid ok %d sid ok %d", getpgrp() == getpid(), getsid(0) == getpid());
    FACT("setsid again", setsid());
    FACT("setpgid of a session leader", setpgid(0, 0));
    FACT("setpgid negative", setpgid(0, -1));
    FACT("setpgid of nobody", setpgid(99999999, 0));
    FACT("getpgid of nobody", getpgid(99999999));
    FACT("getsid of nobody", getsid(99999999));

    NEED(pipe(p));
    NEED(pipe(go));
    pid_t a = NEED(fork());
    if (a == 0) {
        for (;;)
            pause();
    }
    FACT("setpgid of a child", setpgid(a, a));
    VALUE("it leads a group", getpgid(a) == a);
    pid_t b = NEED(fork());
    if (b == 0) {
        for (;;)
            pause();
    }
    FACT("join its group", setpgid(b, a));
    FACT("join a group that is not there", setpgid(b, 99999999));
    pid_t c1 = NEED(fork());
    if (c1 == 0) {
        setsid();
        if (write(p[1], "x", 1) != 1 || read(go[0], &c, 1) != 1)
            _exit(1);
        FACT("setpgid across sessions", setpgid(0, a));
        _exit(0);
    }
    NEED(read(p[0], &c, 1));
    FACT("setpgid of a child in another session", setpgid(c1, a));
    FACT("join a group of another session", setpgid(b, c1));
    NEED(write(go[1], "x", 1));
    say_end("other session", c1);

    FACT("kill the group", kill(-a, SIGTERM));
    int st, n = 0;
    while (waitpid(-a, &st, 0) > 0)
        n += WIFSIGNALED(st) && WTERMSIG(st) == SIGTERM;
    say("members killed: %d", n);
    FACT("the group is gone", kill(-a, 0));
    FACT("join the group that is gone", setpgid(0, a));
    FACT("kill a group that never was", kill(-99999999, 0));

    /* setpgid after the child has called execve */
    int q[2];
    NEED(pipe2(q, O_CLOEXEC));
    pid_t d = NEED(fork());
    if (d == 0) {
        execl("/proc/self/exe", "x", "sleep", (char *)NULL);
        _exit(1);
    }
    close(q[1]);
    while (read(q[0], &c, 1) > 0)
        ;
    FACT("setpgid after the child's execve", setpgid(d, d));
    kill(d, SIGKILL);
    waitpid(d, &st, 0);
    return 0;
}
