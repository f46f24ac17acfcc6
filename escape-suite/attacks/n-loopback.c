/* tries: the host's loopback: the harness's TCP and UDP canaries by every name of the machine
   (127.0.0.1, 127.1.2.3, 0.0.0.0, ::1, ::ffff:127.0.0.1), TCP Fast Open, and a scan of all low
   ports */
/* must fail because: there is no AF_INET, or the loopback is the box's own, with nobody on it */
/* an escape would: use services of the host that trust local callers, the supervisor's own among
 * them */
/* source: ATTACKS.md N6 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "attack.h"

static const char *const names[] = {"127.0.0.1", "127.1.2.3",        "0.0.0.0",
                                    "::1",       "::ffff:127.0.0.1", "::"};
static int reached, last;

static socklen_t address(const char *name, int port, struct sockaddr_storage *to)
{
    struct sockaddr_in *in = (void *)to;
    struct sockaddr_in6 *in6 = (void *)to;
    memset(to, 0, sizeof(*to));
    if (strchr(name, ':')) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((unsigned short)port);
        inet_pton(AF_INET6, name, &in6->sin6_addr);
        return sizeof(*in6);
    }
    in->sin_family = AF_INET;
    in->sin_port = htons((unsigned short)port);
    inet_pton(AF_INET, name, &in->sin_addr);
    return sizeof(*in);
}

static bool try_tcp(const char *name, int port)
{
    struct sockaddr_storage to;
    socklen_t len = address(name, port, &to);
    int fd = socket(to.ss_family, SOCK_STREAM, 0);
    bool ok = fd >= 0 && connect(fd, (void *)&to, len) == 0;
    if (!ok)
        last = errno;
    if (fd >= 0)
        close(fd);
    return ok;
}

static void try_canaries(const char *name)
{
    struct sockaddr_storage to;
    int tcp = (int)fact_number("tcp_port", 0), udp = (int)fact_number("udp_port", 0);
    if (try_tcp(name, tcp)) {
        step("connected to %s port %d", name, tcp);
        reached++;
    }
    socklen_t len = address(name, udp, &to);
    int fd = socket(to.ss_family, SOCK_DGRAM, 0);
    if (fd >= 0 && sendto(fd, "hello", 5, 0, (void *)&to, len) == 5)
        step("a datagram to %s port %d went away", name,
             udp); /* whether it came there, the canary says */
    if (fd >= 0)
        close(fd);
    len = address(name, tcp, &to);
    fd = socket(to.ss_family, SOCK_STREAM, 0);
    if (fd >= 0 && sendto(fd, "hello", 5, MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&to, len) == 5)
        reached++;
    if (fd >= 0)
        close(fd);
}

static int attack(void)
{
    if (!fact("tcp_port"))
        return cannot("the canary's port is not known");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        try_canaries(names[i]);
    for (int port = 1; port < 1024; port++)
        reached += try_tcp("127.0.0.1", port);
    step("the last error: %s", err_name(last));
    if (reached)
        return escaped("%d connections to the host's loopback", reached);
    return contained("nobody answers");
}

static int twin(void)
{
    int pair[2];
    char text[8] = "";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return broken("socketpair: %s", err_name(errno));
    if (write(pair[0], "hello", 5) != 5 || shutdown(pair[0], SHUT_WR) < 0 ||
        read(pair[1], text, 8) != 5 || read(pair[1], text, 8) != 0)
        return broken("five bytes and the end do not arrive");
    return works("a client and a server of the box talk");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
