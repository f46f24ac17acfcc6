/* tries: pipes: 4000 of them over eight processes, each enlarged to 1 MiB and filled */
/* must fail because: each kind of kernel object has a limit of its own, charged before it is made,
 * and the sentry's memory counts for the run */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for */
/* source: ATTACKS.md R2 */
#include "tricks.h"

static char chunk[65536];

static int fill(void)
{
    long bytes = 0;
    int pipes = 0, p[2];
    while (pipe2(p, O_NONBLOCK) == 0) {
        pipes++;
        fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
        for (ssize_t n; (n = write(p[1], chunk, sizeof(chunk))) > 0;)
            bytes += n;
    }
    step("%d pipes hold %ld KiB, then %s", pipes, bytes >> 10, err_name(errno));
    return bytes > (100 << 20);
}

static int attack(void)
{
    memset(chunk, 1, sizeof(chunk));
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
        return escaped("more than 100 MiB in the pipes of one process");
    return contained("pipes end where their limit is");
}

static int twin(void)
{
    int p[2];
    if (pipe2(p, O_NONBLOCK) < 0 || write(p[1], chunk, 65536) != 65536 ||
        write(p[1], chunk, 1) != -1 || errno != EAGAIN)
        return broken("a pipe of 64 KiB: %s", err_name(errno));
    if (read(p[0], chunk, 65536) != 65536)
        return broken("reading it: %s", err_name(errno));
    return works("a pipe takes 64 KiB and gives them back");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
