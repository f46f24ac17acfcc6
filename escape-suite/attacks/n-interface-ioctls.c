/* tries: every socket ioctl (0x8900-0x89ff: interface lists, addresses, routes, bridges, ethtool,
   wireless) and the TUN, vhost and PPP ones, on unix sockets, pipes and the standard streams */
/* must fail because: ioctls are answered by the kind of file; a unix socket of the box knows no
 * interfaces */
/* an escape would: list or change the host's interfaces through a descriptor that looks harmless */
/* source: ATTACKS.md N7 */
#include <fcntl.h>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "attack.h"

static bool host_interface(const char *name)
{
    return strncmp(name, "eth", 3) == 0 || strncmp(name, "en", 2) == 0 ||
           strncmp(name, "wl", 2) == 0 || strncmp(name, "docker", 6) == 0 ||
           strncmp(name, "veth", 4) == 0;
}

static int attack(void)
{
    int fds[6], pair[2], pipes[2], answered = 0, named = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || pipe(pipes) < 0)
        return cannot("no descriptors to try: %s", err_name(errno));
    fds[0] = pair[0];
    fds[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
    fds[2] = pipes[0];
    fds[3] = 0;
    fds[4] = 2;
    fds[5] = open("/dev/null", O_RDWR);
    for (int i = 0; i < 6; i++) {
        for (unsigned request = 0x8900; request < 0x8a00; request++) {
            char buf[4096] = "lo";
            if (request <= 0x8907)
                continue; /* owner, mark and time: of the socket itself */
            if (request == 0x8912)
                ((struct ifconf *)(void *)buf)->ifc_len = 0;
            if (ioctl(fds[i], request, buf) < 0)
                continue;
            if (answered++ < 8)
                step("ioctl %x on descriptor %d is answered", request, i);
            named += host_interface(buf);
        }
        for (int index = 1; index < 16; index++) {
            struct ifreq r = {.ifr_ifindex = index};
            if (ioctl(fds[i], SIOCGIFNAME, &r) == 0 && host_interface(r.ifr_name)) {
                step("interface %d is %s", index, r.ifr_name);
                named++;
            }
        }
    }
    static const unsigned others[] = {0x400454ca, 0x800454d2, 0x4004743a,
                                      0xaf01,     0x4008af30, 0x7b9};
    for (int i = 0; i < 6; i++)
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
            char buf[256] = "tap0";
            answered += ioctl(fds[i], others[k], buf) == 0;
        }
    if (named || (answered && own_kernel()))
        return escaped("%d ioctls are answered, %d name an interface of the host", answered, named);
    return contained("%d answered, no interface of the host", answered);
}

static int twin(void)
{
    int pair[2], n = 0, on = 1;
    char text[4];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || write(pair[0], "abc", 3) != 3)
        return broken("socketpair: %s", err_name(errno));
    if (ioctl(pair[1], FIONREAD, &n) < 0 || n != 3)
        return broken("FIONREAD says %d", n);
    if (ioctl(pair[1], FIONBIO, &on) < 0 || read(pair[1], text, 3) != 3 ||
        read(pair[1], text, 1) != -1 || errno != EAGAIN)
        return broken("FIONBIO: %s", err_name(errno));
    return works("FIONREAD and FIONBIO on a socket");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
