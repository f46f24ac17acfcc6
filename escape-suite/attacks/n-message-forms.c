/* tries: to smuggle a foreign address into a unix socket: connect, bind, sendto, sendmsg, sendmmsg
   with AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK and AF_UNSPEC addresses of every length, and control
   messages that belong to IP */
/* must fail because: the address is copied once and judged by the socket's own family */
/* an escape would: have the host's kernel interpret an address that the sentry never looked at */
/* source: ATTACKS.md N3 V1 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static int accepted, tries;

static void try_address(int type, const void *addr, socklen_t len, const char *name)
{
    char control[64] = "";
    struct iovec iov = {(void *)(uintptr_t) "data", 4};
    struct mmsghdr m = {.msg_hdr = {.msg_name = (void *)(uintptr_t)addr,
                                    .msg_namelen = len,
                                    .msg_iov = &iov,
                                    .msg_iovlen = 1}};
    struct cmsghdr *c = (void *)control;
    c->cmsg_len = CMSG_LEN(12);
    c->cmsg_level = IPPROTO_IP;
    c->cmsg_type = IP_PKTINFO;
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    bool ok = sendto(fd, "data", 4, MSG_NOSIGNAL, addr, len) == 4 ||
              sendmsg(fd, &m.msg_hdr, MSG_NOSIGNAL) == 4 ||
              syscall(SYS_sendmmsg, fd, &m, 1, MSG_NOSIGNAL) == 1;
    m.msg_hdr.msg_control = control;
    m.msg_hdr.msg_controllen = sizeof(control);
    ok = ok || sendmsg(fd, &m.msg_hdr, MSG_NOSIGNAL) == 4;
    if (*(const sa_family_t *)addr != AF_UNSPEC)
        ok = ok || connect(fd, addr, len) == 0 || bind(fd, addr, len) == 0;
    tries += 6;
    if (ok) {
        accepted++;
        step("type %d took %s of length %u", type, name, len);
    }
    close(fd);
}

static int attack(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_storage nl = {.ss_family = AF_NETLINK}, vm = {.ss_family = 40},
                            none = {.ss_family = AF_UNSPEC};
    in.sin_port = htons((unsigned short)fact_number("tcp_port", 80));
    in6.sin6_port = in.sin_port;
    for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
        if (type > SOCK_DGRAM && type < SOCK_SEQPACKET)
            continue;
        for (socklen_t len = 2; len <= sizeof(nl); len = len * 2 + 3) {
            try_address(type, &in, len, "AF_INET");
            try_address(type, &in6, len, "AF_INET6");
            try_address(type, &nl, len, "AF_NETLINK");
            try_address(type, &vm, len, "AF_VSOCK");
            try_address(type, &none, len, "AF_UNSPEC");
        }
    }
    if (accepted)
        return escaped("%d foreign addresses were taken", accepted);
    return contained("%d tries, none taken", tries);
}

static int twin(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0forms"};
    struct iovec iov[2] = {{(void *)(uintptr_t) "da", 2}, {(void *)(uintptr_t) "ta", 2}};
    struct mmsghdr m = {
        .msg_hdr = {.msg_name = &un, .msg_namelen = 8, .msg_iov = iov, .msg_iovlen = 2}};
    char text[8] = "";
    int a = socket(AF_UNIX, SOCK_DGRAM, 0), b = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (bind(a, (void *)&un, 8) < 0)
        return broken("bind: %s", err_name(errno));
    if (sendto(b, "data", 4, 0, (void *)&un, 8) != 4 || sendmsg(b, &m.msg_hdr, 0) != 4 ||
        syscall(SYS_sendmmsg, b, &m, 1, 0) != 1)
        return broken("a datagram to the box's own name: %s", err_name(errno));
    for (int i = 0; i < 3; i++)
        if (recv(a, text, sizeof(text), 0) != 4 || memcmp(text, "data", 4) != 0)
            return broken("message %d does not arrive", i);
    return works("sendto, sendmsg and sendmmsg to a name of the box");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
