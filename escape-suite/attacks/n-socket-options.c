/* tries: programs for the kernel by way of sockets: bpf(), SO_ATTACH_FILTER, SO_ATTACH_BPF,
   SO_ATTACH_REUSEPORT_*, TCP_ULP, IP and packet options, SO_PEERPIDFD, SO_NETNS_COOKIE, on every
   unix socket type */
/* must fail because: options are the box's own; a filter program never reaches the host's kernel */
/* an escape would: run BPF in the host's kernel, or learn a pid or namespace cookie of it */
/* source: ATTACKS.md N1 P8 */
#include <linux/filter.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static int attack(void)
{
    static const struct {
        int level, name;
        const char *text;
    } options[] = {{1, 50, "SO_ATTACH_BPF"},
                   {1, 51, "SO_ATTACH_REUSEPORT_CBPF"},
                   {1, 52, "SO_ATTACH_REUSEPORT_EBPF"},
                   {1, 25, "SO_BINDTODEVICE"},
                   {1, 36, "SO_MARK"},
                   {6, 31, "TCP_ULP"},
                   {0, 35, "IP_IPSEC_POLICY"},
                   {0, 64, "IPT_SO_SET_REPLACE"},
                   {263, 5, "PACKET_RX_RING"},
                   {270, 1, "NETLINK_ADD_MEMBERSHIP"},
                   {41, 67, "IPV6_TCLASS"},
                   {279, 1, "ALG_SET_KEY"}};
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0xffff)};
    struct sock_fprog program = {1, code};
    char attr[128] = {1, 0, 0, 0, 1, 0, 0, 0};
    int taken = 0;
    for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
        int pair[2], value[16] = {1};
        if (socketpair(AF_UNIX, type, 0, pair) < 0)
            continue;
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
            if (setsockopt(pair[0], options[i].level, options[i].name, value, sizeof(value)) == 0) {
                step("type %d takes %s", type, options[i].text);
                taken++;
            }
        if (setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0) {
            step("type %d takes a classic filter", type);
            taken += own_kernel(); /* Linux lets anybody */
        }
        unsigned long long cookie = 0;
        socklen_t len = sizeof(cookie);
        if (getsockopt(pair[0], SOL_SOCKET, 71, &cookie, &len) == 0 && own_kernel()) {
            step("the network namespace's cookie is %llx", cookie);
            taken++;
        }
        close(pair[0]);
        close(pair[1]);
    }
    for (int command = 0; command < 40; command++) {
        long r = sys(SYS_bpf, command, attr, sizeof(attr));
        if (r >= 0) {
            step("bpf(%d) = %ld", command, r);
            taken++;
        }
    }
    step("bpf: %s", err_name(sys(SYS_bpf, 0, attr, sizeof(attr))));
    if (taken)
        return escaped("%d programs or options were taken", taken);
    return contained("none is taken");
}

static int twin(void)
{
    int pair[2], size = 32768, type = 0;
    socklen_t len = sizeof(type);
    struct ucred who;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) < 0)
        return broken("SO_SNDBUF: %s", err_name(errno));
    if (getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_STREAM)
        return broken("SO_TYPE is %d", type);
    len = sizeof(who);
    if (getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.pid != getpid() ||
        who.uid != getuid())
        return broken("SO_PEERCRED: pid %d, mine is %d", who.pid, getpid());
    return works("SO_SNDBUF, SO_TYPE and SO_PEERCRED");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
