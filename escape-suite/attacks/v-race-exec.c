/* tries: a second process, in the same memory (CLONE_VM), and a thread rewrite argv, the strings it
   points at and the path while execve is pending; pointers go to the stub, the kernel, an endless
   array; ends are moved between counting and copying */
/* must fail because: pointers and strings are copied once into memory of the supervisor, which
   counts what it copied */
/* an escape would: overflow what was counted, or start another program than the one that was
 * checked */
/* source: ATTACKS.md V1 V6 */
#include <pthread.h>
#include <sched.h>

#include "child.h"

static char *args[4096], text[8192];
static char path[64] = "/proc/self/exe";
static char stack[65536];

static void *rewrite(void *arg)
{
    for (long end = now_ms() + 300; now_ms() < end;) {
        for (int i = 0; i < 40; i++)
            args[1 + rnd() % 4090] = rnd() % 8 ? text + rnd() % sizeof(text) : (char *)rnd();
        for (int i = 0; i < 20; i++)
            text[rnd() % sizeof(text)] = (char)(rnd() % 4);
        args[rnd() % 4000 + 3] = NULL;
        path[rnd() % 14] ^= 1;
        memcpy(path, "/proc/self/exe", 15);
    }
    return arg;
}

static int other_process(void *arg)
{
    rewrite(arg);
    _exit(0);
}

static void hostile(int arg)
{
    pthread_t t;
    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < 4095; i++)
        args[i] = text;
    args[0] = "child";
    args[1] = "echo";
    if (arg % 2 && clone(other_process, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
        _exit(3);
    pthread_create(&t, NULL, rewrite, NULL);
    for (int i = 0; i < 40; i++) {
        execve(path, args, args + 2048);
        if (i % 8 == 7)
            execve(path, (char **)(0x6fff00000000 + (arg % 3) * 0xfff0), NULL);
    }
    _exit(4);
}

static int attack(void)
{
    int done = 0, failed = 0, died = 0;
    for (int i = 0; i < 24; i++) {
        int status = in_child(hostile, i);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        done += WIFEXITED(status) && WEXITSTATUS(status) == 2;
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 2;
        died += WIFSIGNALED(status);
    }
    return contained("24 processes: %d executed this program, %d failed, %d died", done, failed,
                     died);
}

static int twin(void)
{
    char *v[] = {"true", NULL};
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execve("/bin/true", v, v + 1);
        _exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return broken("execve of /bin/true: %s", end_name(status));
    return works("execve with arguments that nobody changes");
}

int main(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "child") == 0)
        return 2;
    return attack_main(argc, argv, attack, twin);
}
