/* tries: io_uring_setup with every flag, then a socket and a connection made by the ring, past any
   filter on socket() and connect() */
/* must fail because: there is no io_uring: no ring ever exists */
/* an escape would: hold a ring; with IORING_OP_SOCKET it makes sockets that no filter sees */
/* source: ATTACKS.md N2, isolate NEWS 2.6 */
#include <fcntl.h>
#include <poll.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "attack.h"

static int attack(void)
{
    char params[256];
    int rings = 0, last = 0;
    for (unsigned bit = 0; bit <= 20; bit++) {
        memset(params, 0, sizeof(params));
        unsigned flags = bit ? 1u << (bit - 1) : 0;
        memcpy(params + 8, &flags, sizeof(flags)); /* io_uring_params.flags */
        long fd = sys(425, 4, params);
        if (fd >= 0) {
            rings++;
            close((int)fd);
        } else {
            last = (int)-fd;
        }
    }
    step("io_uring_setup: %d rings, last error %s", rings, err_name(last));
    for (int fd = -1; fd < 64; fd++) {
        if (sys(426, fd, 1, 0, 0, NULL, 0) >= 0 || sys(427, fd, 0, NULL, 0) >= 0) {
            step("io_uring_enter or _register on descriptor %d worked", fd);
            rings++;
        }
    }
    step("io_uring_enter: %s", err_name(sys(426, 0, 1, 0, 0, NULL, 0)));
    if (rings)
        return escaped("%d rings", rings);
    return contained("no ring exists");
}

static int twin(void)
{
    char a[4] = "", b[4] = "";
    int pair[2];
    struct iovec out[2] = {{"ab", 2}, {"cd", 2}}, in[2] = {{a, 2}, {b, 2}};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || writev(pair[0], out, 2) != 4)
        return broken("writev: %s", err_name(errno));
    struct pollfd p = {.fd = pair[1], .events = POLLIN};
    if (poll(&p, 1, 1000) != 1 || readv(pair[1], in, 2) != 4 || strcmp(a, "ab") || strcmp(b, "cd"))
        return broken("readv does not bring the bytes");
    return works("poll, readv and writev do what rings are used for");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
