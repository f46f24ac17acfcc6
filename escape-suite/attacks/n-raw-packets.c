/* tries: as the box's root: AF_PACKET on every protocol, raw ICMP, TCP and IPPROTO_RAW sockets,
   ping sockets, a TUN device, and SO_BINDTODEVICE to eth0 */
/* must fail because: the box's root is emulated; no packet family exists and no device node either
 */
/* an escape would: read or forge packets on the host's wire */
/* source: ATTACKS.md N1, OpenShell 578 */
#include <fcntl.h>

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "attack.h"

static int attack(void)
{
    static const struct {
        const char *name;
        int family, type, protocol;
    } tries[] = {
        {"packet raw", 17, SOCK_RAW, 0x300},
        {"packet datagram", 17, SOCK_DGRAM, 0x300},
        {"packet old", 17, SOCK_PACKET, 0x300},
        {"icmp raw", AF_INET, SOCK_RAW, IPPROTO_ICMP},
        {"tcp raw", AF_INET, SOCK_RAW, IPPROTO_TCP},
        {"ip raw", AF_INET, SOCK_RAW, IPPROTO_RAW},
        {"ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
        {"icmp6 raw", AF_INET6, SOCK_RAW, 58},
        {"bluetooth hci", 31, SOCK_RAW, 1},
        {"can raw", 29, SOCK_RAW, 1},
        {"xdp", 44, SOCK_RAW, 0},
        {"tipc", 30, SOCK_RDM, 0},
    };
    int got = 0;
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        int fd = socket(tries[i].family, tries[i].type, tries[i].protocol);
        step("%s: %s", tries[i].name, fd < 0 ? err_name(errno) : "open");
        if (fd < 0)
            continue;
        got++;
        if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "eth0", 5) == 0)
            step("bound to eth0");
        close(fd);
    }
    static const char *const nodes[] = {"/dev/net/tun", "/tmp/tun"};
    mknod(nodes[1], S_IFCHR | 0666, makedev(10, 200));
    for (size_t i = 0; i < 2; i++) {
        char request[40] = "tap0";
        int fd = open(nodes[i], O_RDWR);
        *(short *)(void *)(request + 16) = 2 | 0x1000; /* IFF_TAP, IFF_NO_PI */
        if (fd >= 0 && ioctl(fd, 0x400454ca, request) == 0)
            return escaped("%s made the interface %s", nodes[i], request);
        step("%s: %s", nodes[i], fd < 0 ? err_name(errno) : "no interface");
        if (fd >= 0)
            close(fd);
    }
    if (got && own_kernel())
        return escaped("%d raw sockets", got);
    if (got)
        return escaped("%d raw sockets for a root that should have no right to them", got);
    return contained("no packets");
}

static int twin(void)
{
    struct stat st;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), size = 0;
    socklen_t len = sizeof(size);
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &size, &len) < 0 || size != SOCK_DGRAM)
        return broken("a datagram socket: %s", err_name(errno));
    if (getuid() != 0 || stat("/dev/null", &st) < 0 || !S_ISCHR(st.st_mode))
        return broken("root with a /dev/null");
    return works("the box's root has a datagram socket and /dev/null");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
