/* tries: memory that no process maps: memfds written to, sealed, passed on and closed in flight,
 * one after the other */
/* must fail because: memory of guests, sentry and gofer is charged to the run; reaching the limit
 * ends it as a whole; a memfd is the sentry's file, its bytes count against the disk and the memory
 * limit */
/* an escape would: take more of the host's memory than the run was given */
/* source: ATTACKS.md R2 */
#include <sys/mman.h>
#include <sys/socket.h>

#include "tricks.h"

static int attack(void)
{
    static char chunk[1 << 20];
    memset(chunk, 7, sizeof(chunk));
    long total = 0;
    for (int i = 0; i < 900; i++) {
        int fd = memfd_create("hidden", MFD_ALLOW_SEALING);
        if (fd < 0)
            return contained("memfd_create: %s after %ld MiB", err_name(errno), total);
        for (int k = 0; k < 4; k++) {
            ssize_t n = write(fd, chunk, sizeof(chunk));
            if (n <= 0)
                return contained("write: %s after %ld MiB", err_name(errno), total);
            total += n >> 20;
        }
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK);
        if (i % 10 == 0)
            step("%ld MiB", total);
        if (total > 400)
            return escaped("%ld MiB in memfds", total);
    }
    return cannot("%ld MiB only", total);
}

static int twin(void)
{
    char c = 0;
    int fd = memfd_create("mine", 0);
    if (fd < 0 || ftruncate(fd, 1 << 20) < 0 || pwrite(fd, "z", 1, 5) != 1 ||
        pread(fd, &c, 1, 5) != 1 || c != 'z')
        return broken("a memfd of 1 MiB: %s", err_name(errno));
    return works("a memfd of 1 MiB works");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
