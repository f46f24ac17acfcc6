/* tries: outlast the deadline in the middle of something: vfork children that never exec, exec of a
 * FIFO's script, threads in a handler loop, a leader that ended before its threads */
/* must fail because: the monitor outside holds the deadline and ends the sandbox as a whole,
 * whatever state its tasks are in */
/* an escape would: live on beyond the deadline */
/* source: ATTACKS.md R5, O1 */
#include <pthread.h>

#include "tricks.h"

static void again(int sig)
{
    raise(sig);
}

static void *thread(void *arg)
{
    struct sigaction sa = {.sa_handler = again, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR1, &sa, NULL);
    if (arg)
        raise(SIGUSR1);
    for (;;)
        pause();
    return arg;
}

static int attack(void)
{
    pthread_t t;
    int fd = open("/tmp/script", O_WRONLY | O_CREAT, 0755);
    write(fd, "#!/tmp/fifo\n", 12);
    close(fd);
    mkfifo("/tmp/fifo", 0777);
    step("in the middle of five things");
    if (fork() == 0) {
        if (vfork() == 0)
            for (;;)
                pause();
    }
    if (fork() == 0) {
        execl("/tmp/script", "x", NULL);
        execl("/tmp/fifo", "x", NULL);
        for (;;)
            open("/tmp/fifo", O_WRONLY);
    }
    if (fork() == 0) {
        signal(SIGSEGV, again);
        kill(getpid(), SIGTTIN);
        for (;;)
            pause();
    }
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&t, NULL, thread, (void *)1);
    pthread_exit(NULL); /* the leader is gone, its threads are not */
}

static int twin(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", NULL);
        _exit(9);
    }
    int status = wait_for(pid);
    return status == 0 ? works("vfork and exec of /bin/true")
                       : broken("vfork and exec give %#x", status);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
