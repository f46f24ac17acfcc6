/* I/O priorities: classes, whom they are set for, inheritance. What a zombie still says. */
#include <sched.h>

#include "facts.h"

static long get(int which, int who)
{
    return syscall(SYS_ioprio_get, which, who);
}

static long set(int which, int who, int value)
{
    return syscall(SYS_ioprio_set, which, who, value);
}

int main(void)
{
    facts_start();
    setsid();
    VALUE("at first", get(1, 0));
    FACT("idle", set(1, 0, 3 << 13));
    VALUE("idle", get(1, 0));
    FACT("best effort 3", set(1, 0, 2 << 13 | 3));
    VALUE("best effort", get(1, 0));
    FACT("real time", set(1, 0, 1 << 13));
    FACT("no class with a level", set(1, 0, 1));
    FACT("a class that does not exist", set(1, 0, 4 << 13));
    FACT("which 9", set(9, 0, 2 << 13));
    FACT("which 9, read", get(9, 0));
    FACT("which 0", get(0, 0));
    FACT("the least which", set(INT_MIN, 0, 2 << 13));
    FACT("the least which, read", get(INT_MIN, 0));
    FACT("nobody", set(1, 4000000, 2 << 13));
    FACT("nobody, read", get(1, 4000000));
    FACT("no such group", set(2, 4000000, 2 << 13));
    FACT("no such group, read", get(2, 4000000));
    FACT("no such user", set(3, 77777, 2 << 13));
    FACT("our group", set(2, 0, 2 << 13 | 5));
    VALUE("our group", get(2, 0));
    VALUE("ourselves", get(1, getpid()));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        VALUE("inherited", get(1, 0));
        VALUE("of the parent", get(1, getppid()));
        FACT("none", set(1, 0, 0));
        VALUE("none", get(1, 0));
        _exit(0);
    }
    siginfo_t info;
    struct sched_param param = {77};
    cpu_set_t cpus;
    NEED(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    YES("a zombie's policy", sched_getscheduler(pid) == sched_getscheduler(0));
    FACT("a zombie's parameters", sched_getparam(pid, &param));
    VALUE("its priority", param.sched_priority);
    FACT("its nice value", getpriority(PRIO_PROCESS, (id_t)pid));
    YES("its processors", sched_getaffinity(pid, sizeof(cpus), &cpus) == 0);
    waitpid(pid, NULL, 0);
    FACT("no more", sched_getscheduler(pid));
    return 0;
}
