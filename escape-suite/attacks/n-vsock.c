/* tries: AF_VSOCK: connect to the hypervisor (CID 0), itself (1) and the host (2) on common ports,
   listen, and the ioctl of /dev/vsock that names the own CID */
/* must fail because: the family does not exist in the box, nor does the device */
/* an escape would: talk to the host of a virtual machine, which no network namespace prevents */
/* source: ATTACKS.md N1 N2, isolate NEWS 2.4 */
#include <fcntl.h>

#include <sys/ioctl.h>
#include <sys/socket.h>

#include "attack.h"

struct vm_address {
    unsigned short family, reserved;
    unsigned port, cid;
    unsigned char zero[4];
};

static int attack(void)
{
    static const unsigned cids[] = {0, 1, 2, 3, 0xffffffff},
                          ports[] = {1, 22, 1024, 2375, 0xffffffff};
    int sockets = 0, reached = 0;
    unsigned cid = 0;
    for (int type = 1; type <= 5; type++) {
        for (int i = 0; i < 25; i++) {
            struct vm_address to = {.family = 40, .cid = cids[i / 5], .port = ports[i % 5]};
            int fd = socket(40, type | SOCK_NONBLOCK, 0);
            if (fd < 0)
                continue;
            sockets++;
            if (connect(fd, (void *)&to, sizeof(to)) == 0 || errno == EINPROGRESS)
                reached++;
            if (bind(fd, (void *)&to, sizeof(to)) == 0 && listen(fd, 1) == 0)
                reached++;
            close(fd);
        }
    }
    step("%d sockets, %d of them got further", sockets, reached);
    int dev = open("/dev/vsock", O_RDONLY);
    step("/dev/vsock: %s", dev < 0 ? err_name(errno) : "open");
    if (dev >= 0 && ioctl(dev, 0x7b9, &cid) == 0)
        step("own CID is %u", cid);
    if (sockets || dev >= 0)
        return escaped("AF_VSOCK exists: %d sockets, %d reach somebody", sockets, reached);
    return contained("no vsock");
}

static int twin(void)
{
    int pair[2];
    char text[8] = "";
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return broken("socketpair: %s", err_name(errno));
    if (send(pair[0], "one", 3, 0) != 3 || send(pair[0], "three", 5, 0) != 5 ||
        recv(pair[1], text, 8, 0) != 3)
        return broken("records do not keep their bounds");
    return works("records between two ends of the box");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
