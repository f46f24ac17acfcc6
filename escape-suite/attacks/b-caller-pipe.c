/* tries: to spoil the caller's own pipes: O_NONBLOCK, O_APPEND, O_ASYNC and an owner on standard
   output, the size of the pipe, reading it back through /proc/self/fd/1, truncating, seeking,
   locking it */
/* must fail because: the guest's descriptors are the sentry's objects; no flag passes to the host's
 * pipe */
/* an escape would: make the caller's reads fail, or read what the caller wrote to others */
/* source: ATTACKS.md B1 O2 */
#include <fcntl.h>
#include <signal.h>

#include <sys/file.h>
#include <sys/ioctl.h>

#include "attack.h"

/* The harness looks at flags, size and owner of its pipes afterwards. */
static int attack(void)
{
    int read_back = 0, on = 1;
    char path[64], text[256];
    signal(SIGIO, SIG_IGN);
    for (int fd = 1; fd <= 2; fd++) {
        int r = fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT);
        step("F_SETFL on %d: %s", fd, r < 0 ? err_name(errno) : "taken");
        r = fcntl(fd, F_SETPIPE_SZ, 1 << 20);
        step("F_SETPIPE_SZ on %d: %s", fd, r < 0 ? err_name(errno) : "taken");
        fcntl(fd, F_SETOWN, getpid());
        fcntl(fd, F_SETSIG, SIGIO);
        ioctl(fd, FIONBIO, &on);
        ioctl(fd, FIOASYNC, &on);
        ftruncate(fd, 0);
        lseek(fd, 0, SEEK_SET);
        flock(fd, LOCK_EX | LOCK_NB);
        fcntl(fd, F_SETLEASE, F_WRLCK);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int again = open(path, O_RDWR | O_NONBLOCK);
        if (again >= 0 && read(again, text, sizeof(text)) > 0)
            read_back++;
        again = open(path, O_RDONLY | O_NONBLOCK);
        if (again >= 0 && read(again, text, sizeof(text)) > 0)
            read_back++;
        fcntl(fd, F_SETFL, 0);
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    if (read_back)
        return escaped("read %d times from the caller's pipe", read_back);
    return contained("the caller's pipes are out of reach");
}

static int twin(void)
{
    int pipes[2];
    char text[4];
    if (pipe(pipes) < 0 || fcntl(pipes[0], F_SETFL, O_NONBLOCK) < 0)
        return broken("a pipe of the box: %s", err_name(errno));
    if (read(pipes[0], text, 1) != -1 || errno != EAGAIN)
        return broken("O_NONBLOCK has no effect");
    if (fcntl(pipes[0], F_SETPIPE_SZ, 16384) < 16384 || fcntl(pipes[0], F_GETPIPE_SZ) < 16384)
        return broken("F_SETPIPE_SZ: %s", err_name(errno));
    return works("flags and size of the box's own pipe");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
