/* I/O priorities: classes, whom they are set for, inheritance. */
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
    waitpid(pid, NULL, 0);
    return 0;
}
