/* tries: netlink sockets of all 23 protocols (route, audit, netfilter, uevent, generic...), and a
   dump of the host's interfaces, addresses and generic families */
/* must fail because: netlink does not exist in the box; a runtime with a network namespace shows lo
 * only */
/* an escape would: learn the names and addresses of the host's interfaces, or configure them */
/* source: ATTACKS.md N7, sandlock netlink module */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "attack.h"

/* Counts interfaces other than lo in an answer. */
static int foreign_links(const char *buf, ssize_t n)
{
    int found = 0;
    const struct nlmsghdr *h = (const void *)buf;
    for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
        if (h->nlmsg_type != RTM_NEWLINK)
            continue;
        const struct ifinfomsg *info = NLMSG_DATA(h);
        const struct rtattr *a = IFLA_RTA(info);
        long len = (long)IFLA_PAYLOAD(h);
        for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
            if (a->rta_type == IFLA_IFNAME) {
                step("interface %s", (const char *)RTA_DATA(a));
                const char *name = RTA_DATA(a);
                /* Tunnel devices without a home come with every namespace. */
                found += strcmp(name, "lo") != 0 && !strchr(name, '0');
                found += strncmp(name, "eth", 3) == 0 || strncmp(name, "en", 2) == 0;
            }
    }
    return found;
}

static int dump(int fd, int type)
{
    struct {
        struct nlmsghdr h;
        struct rtgenmsg g;
    } req = {{sizeof(req), (unsigned short)type, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
    static char buf[65536] __attribute__((aligned(8)));
    struct timeval tv = {.tv_usec = 200000};
    int found = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    if (send(fd, &req, sizeof(req), 0) < 0)
        return 0;
    for (int i = 0; i < 8; i++) {
        ssize_t n = recv(fd, buf, sizeof(buf), 0);
        if (n <= 0)
            break;
        found += foreign_links(buf, n);
    }
    return found;
}

static int attack(void)
{
    int sockets = 0, found = 0, last = 0;
    for (int protocol = 0; protocol < 23; protocol++)
        for (int type = SOCK_DGRAM; type <= SOCK_RAW; type++) {
            struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = ~0u};
            int fd = socket(AF_NETLINK, type, protocol);
            if (fd < 0) {
                last = errno;
                continue;
            }
            sockets++;
            if (bind(fd, (void *)&all, sizeof(all)) == 0)
                step("listens to the groups of protocol %d", protocol);
            if (protocol == NETLINK_ROUTE)
                found += dump(fd, RTM_GETLINK) + dump(fd, RTM_GETADDR);
            close(fd);
        }
    step("%d sockets, the others: %s", sockets, err_name(last));
    if (found || (sockets && own_kernel()))
        return escaped("%d netlink sockets, %d interfaces of the host", sockets, found);
    return contained("%d netlink sockets, no interface of the host", sockets);
}

static int twin(void)
{
    char name[65];
    int pair[2], on = 1;
    if (gethostname(name, sizeof(name)) < 0 || name[0] == 0)
        return broken("gethostname: %s", err_name(errno));
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
        return broken("a datagram pair with credentials: %s", err_name(errno));
    return works("the box has a name, %s, and datagrams", name);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
