/* tries: the cloud's metadata address 169.254.169.254 (and fd00:ec2::254), name servers from
   /etc/resolv.conf, 127.0.0.53, 8.8.8.8, the container bridge 172.17.0.1; by TCP and UDP */
/* must fail because: there is no AF_INET (EAFNOSUPPORT), or a network namespace without a route
 * (ENETUNREACH) */
/* an escape would: fetch the machine's cloud credentials, or carry data out in DNS queries */
/* source: ATTACKS.md N6, sandlock --net-deny */
#include <poll.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "attack.h"

static int reached, last;

static void try_address(const char *text, int port)
{
    for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((unsigned short)port)};
        bool six = strchr(text, ':') != NULL;
        if (inet_pton(six ? AF_INET6 : AF_INET, text,
                      six ? (void *)&in6.sin6_addr : (void *)&in.sin_addr) != 1)
            return;
        int fd = socket(six ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK, 0);
        if (fd < 0) {
            last = errno;
            continue;
        }
        int r = connect(fd, six ? (void *)&in6 : (void *)&in, six ? sizeof(in6) : sizeof(in));
        last = errno;
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int err = 0;
        socklen_t len = sizeof(err);
        if (r < 0 && errno == EINPROGRESS && poll(&p, 1, 300) == 1 &&
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 && err == 0)
            r = 0;
        if (r == 0 && type == SOCK_DGRAM)
            r = send(fd, "\0\1\1\0\0\1\0\0\0\0\0\0\1x\0\0\1\0\1", 19, 0) == 19 ? 0 : -1;
        if (r == 0) {
            step("%s port %d by %s: a way leads there", text, port,
                 type == SOCK_STREAM ? "TCP" : "UDP");
            reached++;
        }
        close(fd);
    }
}

static int attack(void)
{
    static const char *const addresses[] = {
        "169.254.169.254", "fd00:ec2::254", "8.8.8.8",     "2001:4860:4860::8888", "172.17.0.1",
        "10.0.2.2",        "192.168.0.1",   "224.0.0.251", "255.255.255.255"};
    char line[200], server[100];
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        try_address(addresses[i], 80);
        try_address(addresses[i], 53);
    }
    FILE *f = fopen("/etc/resolv.conf", "r");
    step("/etc/resolv.conf: %s", f ? "is there" : err_name(errno));
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "nameserver %99s", server) == 1)
            try_address(server, 53);
    step("the last error: %s", err_name(last));
    if (reached)
        return escaped("%d addresses can be reached", reached);
    return contained("no way out");
}

static int twin(void)
{
    unsigned char a[4];
    char back[20], line[200];
    FILE *f = fopen("/etc/hosts", "r");
    if (inet_pton(AF_INET, "169.254.1.2", a) != 1 || !inet_ntop(AF_INET, a, back, sizeof(back)) ||
        strcmp(back, "169.254.1.2"))
        return broken("addresses as text");
    if (!f || !fgets(line, sizeof(line), f))
        return broken("/etc/hosts: %s", err_name(errno));
    return works("addresses are text, and /etc/hosts is there");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
