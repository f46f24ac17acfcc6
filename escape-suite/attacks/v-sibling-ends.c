/* tries: threads blocked in every kind of call (read, futex, poll, accept, wait, flock, sigwait,
   FIFO) while a sibling executes a program, ends the group, or exits as its first thread; all at
   once */
/* must fail because: a parked call is taken off its queues whatever way its task ends */
/* an escape would: leave an entry of a dead task on a queue, which a later wake-up then follows */
/* source: ATTACKS.md V6 */
#include <poll.h>
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "child.h"

static int pipes[2], pair[2], locked, word;

static void *blocked(void *arg)
{
    char c;
    int fd;
    sigset_t set;
    struct epoll_event ev;
    struct pollfd p[2] = {{pipes[0], POLLIN, 0}, {pair[0], POLLIN, 0}};
    sigfillset(&set);
    switch ((long)arg % 10) {
    case 0:
        read(pipes[0], &c, 1);
        break;
    case 1:
        syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0);
        break;
    case 2:
        poll(p, 2, -1);
        break;
    case 3:
        recv(pair[0], &c, 1, 0);
        break;
    case 4:
        wait(NULL);
        break;
    case 5:
        fd = open("/tmp/lock", O_RDWR | O_CREAT, 0644);
        flock(fd, LOCK_EX);
        break;
    case 6:
        sigwaitinfo(&set, NULL);
        break;
    case 7:
        open("/tmp/fifo", O_RDONLY);
        break;
    case 8:
        fd = epoll_create1(0);
        ev.events = EPOLLIN;
        epoll_ctl(fd, EPOLL_CTL_ADD, pipes[0], &ev);
        epoll_wait(fd, &ev, 1, -1);
        break;
    default:
        fd = inotify_init();
        inotify_add_watch(fd, "/tmp", IN_CREATE);
        read(fd, &c, 1);
    }
    return arg;
}

static void hostile(int arg)
{
    char *argv[] = {"true", NULL};
    pthread_t t;
    pipe(pipes);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    locked = open("/tmp/lock", O_RDWR | O_CREAT, 0644);
    flock(locked, LOCK_EX);
    for (long i = 0; i < 20; i++)
        pthread_create(&t, NULL, blocked, (void *)i);
    for (volatile int k = arg * 3000; k > 0; k--)
        ;
    if (arg % 4 == 0)
        execve("/bin/true", argv, argv + 1);
    else if (arg % 4 == 1)
        syscall(SYS_exit_group, 0);
    else if (arg % 4 == 2)
        kill(getpid(), SIGTERM);
    else if (fork() == 0)
        execve("/bin/true", argv, argv + 1);
    else
        _exit(0);
}

static int attack(void)
{
    int ok = 0;
    mkfifo("/tmp/fifo", 0644);
    for (int i = 0; i < 80; i++) {
        long start = now_ms();
        int status = in_child(hostile, i);
        if (status == -1)
            return escaped("no process: %s", err_name(errno));
        if (now_ms() - start > HANG_MS)
            return escaped("the end of a group took %ld ms", now_ms() - start);
        ok += WIFEXITED(status) || WTERMSIG(status) == SIGTERM;
        int fd = open("/tmp/lock", O_RDWR | O_CREAT, 0644);
        /* A child of it may still be about to end. */
        for (long end = now_ms() + HANG_MS; flock(fd, LOCK_EX | LOCK_NB) < 0; usleep(1000))
            if (now_ms() > end)
                return escaped("a lock of a dead process is still held");
        close(fd);
    }
    return contained("80 groups of 21 threads ended, %d as asked", ok);
}

static int twin(void)
{
    pthread_t t;
    pipe(pipes);
    pthread_create(&t, NULL, blocked, (void *)0);
    if (write(pipes[1], "x", 1) != 1 || pthread_join(t, NULL))
        return broken("a blocked thread that gets its byte");
    return works("a blocked thread gets its byte and ends");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
