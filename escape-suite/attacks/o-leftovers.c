/* tries: leave objects for the next run: SysV shared memory, semaphores, queues, POSIX queues,
 * files in /dev/shm, /tmp, /run, abstract sockets; and look for those of an earlier run first */
/* must fail because: all of these live in the sentry and end with it; the host's namespaces have
 * none of them */
/* an escape would: find what an earlier run has left, or leave it on the host */
/* source: ATTACKS.md O5, S1, S2 */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tricks.h"

enum {
    KEY = 0x5e47ca9e
};

static int found(void)
{
    static const char *const files[] = {"/dev/shm/escape-left", "/tmp/escape-left",
                                        "/run/escape-left", "/var/tmp/escape-left"};
    int n = 0;
    n += shmget(KEY, 0, 0) >= 0;
    n += semget(KEY, 0, 0) >= 0;
    n += msgget(KEY, 0) >= 0;
    n += syscall(SYS_mq_open, "escape-left", O_RDWR, 0, NULL) >= 0;
    for (int i = 0; i < COUNT(files); i++)
        n += access(files[i], F_OK) == 0;
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0escape-left"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    n += connect(s, (struct sockaddr *)&a, 14) == 0;
    close(s);
    return n;
}

static int leave(void)
{
    static const char *const files[] = {"/dev/shm/escape-left", "/tmp/escape-left",
                                        "/run/escape-left", "/var/tmp/escape-left"};
    int n = 0, id = shmget(KEY, 1 << 20, IPC_CREAT | 0666);
    char *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
    if (p != (void *)-1)
        memset(p, 'L', 1 << 20), n++;
    n += semget(KEY, 3, IPC_CREAT | 0666) >= 0;
    n += msgget(KEY, IPC_CREAT | 0666) >= 0;
    n += syscall(SYS_mq_open, "escape-left", O_RDWR | O_CREAT, 0666, NULL) >= 0;
    for (int i = 0; i < COUNT(files); i++)
        n += open(files[i], O_WRONLY | O_CREAT, 0666) >= 0;
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0escape-left"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    n += bind(s, (struct sockaddr *)&a, 14) == 0 && listen(s, 5) == 0;
    return n;
}

static int attack(void)
{
    int old = found();
    if (old)
        return escaped("%d objects of an earlier run are still there", old);
    int n = leave();
    /* a process that keeps them open beyond the end, if it can */
    if (fork() == 0)
        for (;;)
            pause();
    if (found() < 2)
        return cannot("only %d objects could be made", n);
    return contained("nothing was there; %d objects left for the next run", n);
}

static int twin(void)
{
    int old = found();
    if (old)
        return broken("%d objects of the attack's run are here", old);
    if (leave() < 3 || found() < 3)
        return broken("objects of our own: %s", err_name(errno));
    return works("objects work within a run, nothing came from another");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
