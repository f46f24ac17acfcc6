/* tries: arguments: 20 processes that exec themselves again and again with 2 MiB of arguments and
 * environment, and single strings of 128 KiB and more */
/* must fail because: argument strings are counted while they are in flight, within E2BIG's bounds,
 * and freed when the exec is done or has failed */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for */
/* source: ATTACKS.md R2 */
#include "tricks.h"

extern char **environ;

static char **big_argv(int strings, size_t len, const char *role)
{
    char **v = calloc((size_t)strings + 4, sizeof(char *)), *s = malloc(len + 1);
    memset(s, 'a', len);
    s[len] = 0;
    v[0] = "r-exec-args";
    v[1] = (char *)role;
    for (int i = 0; i < strings; i++)
        v[i + 2] = s;
    return v;
}

static int again(void)
{
    char **v = big_argv(14, 120000, "round");
    for (;;) {
        execve("/proc/self/exe", v, environ);
        /* E2BIG or ENOMEM: less of it */
        v[8] = NULL;
        execve("/proc/self/exe", v, environ);
        usleep(1000);
    }
    return 0;
}

static int attack(void)
{
    static const struct {
        int strings;
        size_t len;
    } tries[] = {{1, 200000}, {16, 131072}, {20, 131071}, {400000, 1}, {100000, 30}, {1, 20 << 20}};
    for (int i = 0; i < COUNT(tries); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char **v = big_argv(tries[i].strings, tries[i].len, "once");
            execve("/proc/self/exe", v, environ);
            int e = errno;
            execve("/proc/self/exe", (char *[]){"r-exec-args", "once", NULL}, v);
            _exit(e);
        }
        int status = wait_for(pid);
        step("%d strings of %zu: %s", tries[i].strings, tries[i].len,
             WIFEXITED(status) ? err_name(WEXITSTATUS(status)) : "killed");
    }
    for (int i = 0; i < 15; i++)
        if (fork() == 0)
            again();
    for (int i = 0; i < 70; i++)
        usleep(10000);
    return contained("exec takes what E2BIG allows and gives it back");
}

static int twin(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        execve("/proc/self/exe", big_argv(10, 100000, "once"), environ);
        _exit(1);
    }
    if (wait_for(pid) != 0)
        return broken("exec with 1 MB of arguments");
    return works("exec with 1 MB of arguments");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "once") == 0)
        return 0;
    if (argc > 1 && strcmp(argv[1], "round") == 0)
        return again();
    return attack_main(argc, argv, attack, twin);
}
