/* tries: two thousand processes that are killed by SIGKILL at a random moment of a random call:
   open, mmap, fork, execve, write to a pipe, futex, clone, sigreturn; and that kill themselves from
   a thread */
/* must fail because: a caller that is gone is a normal answer of the gate at every step; what the
   call held is given back */
/* an escape would: leak descriptors, locks, memory or tasks of the supervisor, or stop it */
/* source: ATTACKS.md V6; crun #526; bst #113; nsjail 0c95a1f */
#include <pthread.h>
#include <sched.h>

#include <sys/socket.h>

#include "child.h"

static int ends[2];

static void *thread(void *arg)
{
    for (;;)
        syscall(SYS_write, ends[1], "x", 1);
    return arg;
}

static void handler(int signo)
{
    (void)signo;
}

static void busy(int how)
{
    char *argv[] = {"true", NULL};
    pthread_t t;
    int pair[2];
    signal(SIGUSR1, handler);
    if (how % 3 == 0)
        pthread_create(&t, NULL, thread, NULL);
    for (int i = 0;; i++) {
        void *p = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0);
        munmap(p, 16384);
        pipe(ends);
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        close(pair[0]);
        raise(SIGUSR1);
        if (how % 4 == 1 && fork() == 0)
            _exit(0);
        /* Its dead would count against the limit of tasks. */
        waitpid(-1, NULL, WNOHANG);
        if (how % 4 == 2 && i > how % 7)
            kill(getpid(), SIGKILL);
        if (how % 8 == 3)
            execve(i > 5 ? "/bin/true" : "/nothing", argv, argv + 1);
        for (int fd = 3; fd < 12; fd++)
            close(fd);
    }
}

/* What the killed leave behind becomes a child of the box's first process, us. */
static void bury(pid_t *pids)
{
    for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
        for (int i = 0; i < 16; i++)
            pids[i] = pids[i] == pid ? 0 : pids[i];
}

static int attack(void)
{
    int rounds = 0, status;
    pid_t pids[16] = {0};
    for (long end = now_ms() + 5000; now_ms() < end; rounds++) {
        int i = (int)(rnd() % 16);
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
            if (waitpid(pids[i], &status, 0) != pids[i])
                return escaped("a killed process cannot be waited for: %s", err_name(errno));
            bury(pids);
        }
        pids[i] = fork();
        if (pids[i] == 0)
            busy(rounds);
        if (pids[i] < 0)
            return escaped("no process after %d kills: %s", rounds, err_name(errno));
        for (volatile int k = (int)(rnd() % 100000); k > 0; k--)
            ;
    }
    for (int i = 0; i < 16; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    for (int left = 0; (left = (int)wait(NULL)) > 0;)
        ;
    int fds[400], n = 0;
    while (n < 400 && (fds[n] = dup(0)) >= 0)
        n++;
    if (n < 400)
        return escaped("only %d descriptors are left: %s", n, err_name(errno));
    return contained("%d processes killed, everything works", rounds);
}

static int twin(void)
{
    int status;
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
            return broken("kill and wait: %s", err_name(errno));
    }
    return works("a hundred sleeping processes are killed and waited for");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
