#pragma once
/* Sockets: AF_UNIX in full, of the other families only the names. */
#include "lib/compiler.h"

#include "abi/file.h"
#include "abi/types.h"

#define LX_AF_UNSPEC    0
#define LX_AF_UNIX      1
#define LX_AF_LOCAL     1
#define LX_AF_INET      2
#define LX_AF_AX25      3
#define LX_AF_IPX       4
#define LX_AF_APPLETALK 5
#define LX_AF_BRIDGE    7
#define LX_AF_X25       9
#define LX_AF_INET6     10
#define LX_AF_KEY       15
#define LX_AF_NETLINK   16
#define LX_AF_PACKET    17
#define LX_AF_RDS       21
#define LX_AF_CAN       29
#define LX_AF_TIPC      30
#define LX_AF_BLUETOOTH 31
#define LX_AF_ALG       38
#define LX_AF_VSOCK     40
#define LX_AF_XDP       44
#define LX_AF_MAX       46

#define LX_SOCK_STREAM    1
#define LX_SOCK_DGRAM     2
#define LX_SOCK_RAW       3
#define LX_SOCK_RDM       4
#define LX_SOCK_SEQPACKET 5
#define LX_SOCK_DCCP      6
#define LX_SOCK_PACKET    10
#define LX_SOCK_TYPE_MASK 0xf
#define LX_SOCK_NONBLOCK  04000
#define LX_SOCK_CLOEXEC   02000000

#define LX_SHUT_RD   0
#define LX_SHUT_WR   1
#define LX_SHUT_RDWR 2
#define LX_SOMAXCONN 4096

#define LX_SOL_SOCKET      1
#define LX_SO_DEBUG        1
#define LX_SO_REUSEADDR    2
#define LX_SO_TYPE         3
#define LX_SO_ERROR        4
#define LX_SO_DONTROUTE    5
#define LX_SO_BROADCAST    6
#define LX_SO_SNDBUF       7
#define LX_SO_RCVBUF       8
#define LX_SO_SNDBUFFORCE  32
#define LX_SO_RCVBUFFORCE  33
#define LX_SO_KEEPALIVE    9
#define LX_SO_OOBINLINE    10
#define LX_SO_NO_CHECK     11
#define LX_SO_PRIORITY     12
#define LX_SO_LINGER       13
#define LX_SO_BSDCOMPAT    14
#define LX_SO_REUSEPORT    15
#define LX_SO_PASSCRED     16
#define LX_SO_PEERCRED     17
#define LX_SO_RCVLOWAT     18
#define LX_SO_SNDLOWAT     19
#define LX_SO_RCVTIMEO     20
#define LX_SO_SNDTIMEO     21
#define LX_SO_PEERNAME     28
#define LX_SO_TIMESTAMP    29
#define LX_SO_ACCEPTCONN   30
#define LX_SO_PEERSEC      31
#define LX_SO_PASSSEC      34
#define LX_SO_MARK         36
#define LX_SO_PROTOCOL     38
#define LX_SO_DOMAIN       39
#define LX_SO_RXQ_OVFL     40
#define LX_SO_PEEK_OFF     42
#define LX_SO_PEERGROUPS   59
#define LX_SO_COOKIE       57
#define LX_SO_PASSPIDFD    76
#define LX_SO_PEERPIDFD    77
#define LX_SO_RCVTIMEO_NEW 66
#define LX_SO_SNDTIMEO_NEW 67

#define LX_MSG_OOB          0x1
#define LX_MSG_PEEK         0x2
#define LX_MSG_DONTROUTE    0x4
#define LX_MSG_CTRUNC       0x8
#define LX_MSG_TRUNC        0x20
#define LX_MSG_DONTWAIT     0x40
#define LX_MSG_EOR          0x80
#define LX_MSG_WAITALL      0x100
#define LX_MSG_CONFIRM      0x800
#define LX_MSG_ERRQUEUE     0x2000
#define LX_MSG_NOSIGNAL     0x4000
#define LX_MSG_MORE         0x8000
#define LX_MSG_WAITFORONE   0x10000
#define LX_MSG_ZEROCOPY     0x4000000
#define LX_MSG_FASTOPEN     0x20000000
#define LX_MSG_CMSG_CLOEXEC 0x40000000

#define LX_SCM_RIGHTS      1
#define LX_SCM_CREDENTIALS 2
#define LX_SCM_SECURITY    3
#define LX_SCM_PIDFD       4
#define LX_SCM_MAX_FD      253

#define LX_UNIX_PATH_MAX 108

struct lx_sockaddr {
    uint16_t sa_family;
    char sa_data[14];
};

struct lx_sockaddr_un {
    uint16_t sun_family;
    char sun_path[LX_UNIX_PATH_MAX];
};

/* Large enough for every family. */
struct lx_sockaddr_storage {
    uint16_t ss_family;
    char data[118];
    uint64_t align;
};

struct lx_msghdr {
    gaddr_t msg_name;
    int32_t msg_namelen;
    int32_t pad0;
    gaddr_t msg_iov;
    uint64_t msg_iovlen;
    gaddr_t msg_control;
    uint64_t msg_controllen;
    uint32_t msg_flags;
    uint32_t pad1;
};

struct lx_mmsghdr {
    struct lx_msghdr msg_hdr;
    uint32_t msg_len;
    uint32_t pad0;
};

/* Header of one control message; data follows, the next header is aligned to 8. */
struct lx_cmsghdr {
    uint64_t cmsg_len; /* with the header */
    int32_t cmsg_level;
    int32_t cmsg_type;
};

#define LX_CMSG_ALIGN(n) (((uint64_t)(n) + 7) & ~7ull)
#define LX_CMSG_SPACE(n) (sizeof(struct lx_cmsghdr) + LX_CMSG_ALIGN(n))
#define LX_CMSG_LEN(n)   (sizeof(struct lx_cmsghdr) + (uint64_t)(n))

struct lx_ucred {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

struct lx_linger {
    int32_t l_onoff;
    int32_t l_linger;
};
