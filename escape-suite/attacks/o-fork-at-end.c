/* tries: fork in a storm while the first process ends: thirty processes that fork and exec without
 * pause at that very moment */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace; a fork that is under way ends with the namespace */
/* an escape would: have one child slip through the end of the run */
/* source: ATTACKS.md O1, V6 */
#include "tricks.h"

static int attack(void)
{
    int p[2];
    char c;
    pipe(p);
    for (int i = 0; i < 20; i++) {
        if (fork() != 0)
            continue;
        if (i == 0)
            write(p[1], "x", 1);
        for (;;) {
            pid_t pid = i % 3 == 0 ? vfork() : fork();
            if (pid == 0) {
                execl("/proc/self/exe", "again", "leaf", NULL);
                _exit(0);
            }
            if (pid > 0)
                waitpid(pid, NULL, 0);
        }
    }
    read(p[0], &c, 1);
    usleep(30000);
    return contained("the end came in the middle of forks");
}

static int child_sleeps(void)
{
    usleep(20000);
    return 6;
}

static int twin(void)
{
    if (in_child(child_sleeps) != 6)
        return broken("a child that is waited for: %s", err_name(errno));
    return works("a child that is waited for ends in time");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "leaf") == 0)
        return 0;
    return attack_main(argc, argv, attack, twin);
}
