/* tries: bytes in flight: stream, datagram and packet sockets of eight processes, send buffers
 * raised, filled until nothing goes */
/* must fail because: each kind of kernel object has a limit of its own, charged before it is made,
 * and the sentry's memory counts for the run */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for */
/* source: ATTACKS.md R2 */
#include <sys/socket.h>

#include "tricks.h"

static char chunk[32768];

static int fill(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    long bytes = 0;
    int pairs = 0, p[2], big = 1 << 30;
    while (socketpair(AF_UNIX, types[pairs % 3] | SOCK_NONBLOCK, 0, p) == 0) {
        pairs++;
        for (int i = 0; i < 2; i++) {
            setsockopt(p[i], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
            setsockopt(p[i], SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof(big));
            for (ssize_t n; (n = send(p[i], chunk, i ? 1 : sizeof(chunk), MSG_NOSIGNAL)) > 0;)
                bytes += n;
            while (send(p[i], chunk, 0, MSG_NOSIGNAL) == 0 && pairs % 3 == 2 &&
                   bytes++ < (64 << 20))
                continue;
        }
    }
    step("%d pairs hold %ld KiB, then %s", pairs, bytes >> 10, err_name(errno));
    return bytes > (100 << 20);
}

static int attack(void)
{
    int many = 0;
    for (int i = 0; i < 8; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            many = fill();
            pause();
        }
    }
    many += fill();
    usleep(500000);
    if (many)
        return escaped("more than 100 MiB in the sockets of one process");
    return contained("sockets end where their limit is");
}

static int twin(void)
{
    int p[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
        return broken("socketpair: %s", err_name(errno));
    for (int i = 0; i < 100; i++)
        if (send(p[0], chunk, 16384, 0) != 16384 || recv(p[1], chunk, 16384, MSG_WAITALL) != 16384)
            return broken("16 KiB, time %d: %s", i, err_name(errno));
    return works("a socket carries a hundred times 16 KiB");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
