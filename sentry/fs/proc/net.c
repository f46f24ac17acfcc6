/* /proc/PID/net: the tables of a network that has nothing but an idle loopback interface. */
#include "sentry/fs/proc/proc.h"

#define SOCKETS4 \
    "sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
#define SOCKETS6                                                                                     \
    "  sl  local_address                         remote_address                        st tx_queue " \
    "rx_queue tr tm->when retrnsmt   uid  timeout inode"

const struct gen_node proc_net_children[] = {
    GEN_TEXT(
        "dev",
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets "
        "errs drop fifo colls carrier compressed\n"
        "    lo:       0       0    0    0    0     0          0         0        0       0    0"
        "    0    0     0       0          0\n"),
    GEN_TEXT("unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"),
    GEN_TEXT("tcp", "  " SOCKETS4 "                                                     \n"),
    GEN_TEXT("udp", "   " SOCKETS4 " ref pointer drops            \n"),
    GEN_TEXT("raw", "  " SOCKETS4 " ref pointer drops\n"),
    GEN_TEXT("icmp", "  " SOCKETS4 " ref pointer drops            \n"),
    GEN_TEXT("tcp6", SOCKETS6 "\n"),
    GEN_TEXT("udp6", SOCKETS6 " ref pointer drops\n"),
    GEN_TEXT("raw6", SOCKETS6 " ref pointer drops\n"),
    GEN_TEXT("route",
             "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
             "                                                       \n"),
    GEN_TEXT("arp",
             "IP address       HW type     Flags       HW address            Mask     Device\n"),
    GEN_TEXT("if_inet6", ""),
    GEN_TEXT("ipv6_route", ""),
    GEN_TEXT("igmp", "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"),
    GEN_TEXT("dev_mcast", ""),
    GEN_TEXT("packet", "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"),
    GEN_TEXT("netlink", "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    "
                        "Drops    Inode\n"),
    GEN_TEXT("sockstat",
             "sockets: used 0\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\n"
             "UDP: inuse 0 mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n"),
    GEN_TEXT("sockstat6", "TCP6: inuse 0\nUDP6: inuse 0\nUDPLITE6: inuse 0\nRAW6: inuse 0\n"
                          "FRAG6: inuse 0 memory 0\n"),
    GEN_TEXT(
        "protocols",
        "protocol  size sockets  memory press maxhdr  slab module     cl co di ac io in de sh ss "
        "gs se re bi br ha uh gp em\n"),
    GEN_TEXT("wireless", ""),
    GEN_TEXT("ptype", "Type Device      Function\n"),
    {.name = NULL},
};
