/* tries: socket() and socketpair() over every address family 0..63 and every type, as Linux numbers
 * them */
/* must fail because: only AF_UNIX exists in the box; every other family is refused before any host
   call is made (a runtime that shares the host's kernel may also have AF_INET, AF_INET6 and
   AF_NETLINK, in a network of its own) */
/* an escape would: hold an open AF_INET, AF_PACKET, AF_VSOCK, AF_ALG, AF_BLUETOOTH or AF_NETLINK
   socket of the host, the first step to its network or to rarely tested kernel code */
/* source: ATTACKS.md N1 */
#include <sys/socket.h>

#include "attack.h"

static const int types[] = {SOCK_STREAM,    SOCK_DGRAM, SOCK_RAW,   SOCK_RDM,
                            SOCK_SEQPACKET, SOCK_DCCP,  SOCK_PACKET};

static bool allowed(int af)
{
    return af == AF_UNIX ||
           (!own_kernel() && (af == AF_INET || af == AF_INET6 || af == AF_NETLINK));
}

static int attack(void)
{
    int tried = 0, got = 0, errs[200] = {0};
    for (int af = 0; af < 64; af++) {
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            for (int proto = 0; proto < 3; proto++) {
                int pair[2];
                int fd = socket(af, types[i], proto);
                int e = errno;
                tried++;
                if (fd < 0 && e < 200)
                    errs[e]++;
                if (fd >= 0) {
                    if (!allowed(af) && got++ < 5)
                        step("socket(%d, %d, %d) = %d", af, types[i], proto, fd);
                    close(fd);
                }
                if (socketpair(af, types[i], proto, pair) == 0) {
                    if (!allowed(af) && got++ < 5)
                        step("socketpair(%d, %d, %d)", af, types[i], proto);
                    close(pair[0]);
                    close(pair[1]);
                }
            }
        }
    }
    for (int e = 0; e < 200; e++)
        if (errs[e])
            step("%s %d times", err_name(e), errs[e]);
    if (got)
        return escaped("%d sockets of families that the box should not have", got);
    return contained("%d tries, no family that the box should not have", tried);
}

static int twin(void)
{
    static const int unix_types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    for (size_t i = 0; i < 3; i++) {
        int pair[2];
        char buf[4] = "";
        if (socketpair(AF_UNIX, unix_types[i], 0, pair) < 0)
            return broken("socketpair of type %d: %s", unix_types[i], err_name(errno));
        if (send(pair[0], "abc", 3, 0) != 3 || recv(pair[1], buf, 4, 0) != 3 ||
            strcmp(buf, "abc") != 0)
            return broken("type %d does not carry three bytes", unix_types[i]);
        close(pair[0]);
        close(pair[1]);
    }
    return works("AF_UNIX pairs of three types carry bytes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
