/* tries: blocks the supervisor's reserved signal by a forged frame, parks in a call, and makes
   other calls when the supervisor kicks it: while it is borrowed for a memory operation of a second
   thread, in fork, in execve, and where a signal handler is due */
/* must fail because: where the supervisor has answered behind a kick the next word of the thread
   must be its handler's; anything else ends the process, at the latest after a bounded time */
/* an escape would: put a second call into a task whose first is still held, so that one handler
   takes the saved state of another for its own */
/* source: ATTACKS.md V12 V7 */
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "stub.h"

static char stack[65536];
static struct host_frame frame;
static volatile int blocked;
static int how, ends[2];

static void after(void)
{
    struct timespec ts = {1000, 0};
    char *argv[] = {"/nothing", NULL}, c;
    blocked = 1;
    for (int i = 0; i < 3000; i++) {
        if (how == 0)
            syscall(SYS_read, ends[0], &c, 1);
        else if (how == 1)
            syscall(SYS_nanosleep, &ts, NULL);
        else if (how == 2)
            syscall(SYS_fork);
        else if (how == 3)
            syscall(SYS_execve, argv[0], argv, argv + 1);
        else
            syscall(SYS_tkill, syscall(SYS_gettid), SIGUSR2);
        syscall(SYS_poll, NULL, 0, 1);
        ts.tv_sec = 0;
    }
    syscall(SYS_exit_group, 2);
}

static void *second(void *arg)
{
    while (!blocked)
        ;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    for (int i = 0; i < 8; i++)
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    nanosleep(&(struct timespec){7, 0}, NULL);
    syscall(SYS_exit_group, 3);
    return arg;
}

static void hostile(int arg)
{
    pthread_t t;
    how = arg;
    pipe(ends);
    signal(SIGUSR2, stub_handler);
    pthread_create(&t, NULL, second, NULL);
    frame_init(&frame, after, stack + sizeof(stack))->sigmask = ~0ul;
    stub_return(&frame);
}

static int attack(void)
{
    static const char *const names[] = {"in read", "in nanosleep", "in fork", "in execve",
                                        "before a handler"};
    for (int i = 0; i < 5; i++) {
        long start = now_ms();
        int status = in_child(hostile, i);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        step("%s: %s after %ld ms", names[i], end_name(status), now_ms() - start);
        if (now_ms() - start > HANG_MS)
            return escaped("the supervisor waited %ld ms for a hostile thread", now_ms() - start);
    }
    return contained("the process ends, the supervisor goes on");
}

static int twin(void)
{
    struct timespec ts = {0, 30000000};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(nanosleep(&ts, NULL) == 0 ? 6 : 1);
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 6)
        return broken("fork and sleep with all signals blocked");
    return works("a process that blocks all its signals forks, sleeps and ends");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
