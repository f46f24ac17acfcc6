/*
 * Compile-time comparison of socket and directory definitions with the C library's: the kernel has
 * no UAPI header for them, and here the two agree. No code.
 */
#include <dirent.h>

#include <sys/socket.h>
#include <sys/un.h>

#include "abi/abi_check.h"
#include "abi/dir.h"
#include "abi/socket.h"

/* clang-format off */
/* abi/dir.h */
CONST(DT_UNKNOWN) CONST(DT_FIFO) CONST(DT_CHR) CONST(DT_DIR) CONST(DT_BLK) CONST(DT_REG)
CONST(DT_LNK) CONST(DT_SOCK) CONST(DT_WHT)

/* abi/socket.h */
CONST(AF_UNSPEC) CONST(AF_UNIX) CONST(AF_LOCAL) CONST(AF_INET) CONST(AF_AX25) CONST(AF_IPX)
CONST(AF_APPLETALK) CONST(AF_BRIDGE) CONST(AF_X25) CONST(AF_INET6) CONST(AF_KEY) CONST(AF_NETLINK)
CONST(AF_PACKET) CONST(AF_RDS) CONST(AF_CAN) CONST(AF_TIPC) CONST(AF_BLUETOOTH) CONST(AF_ALG)
CONST(AF_VSOCK) CONST(AF_XDP) CONST(SOCK_STREAM) CONST(SOCK_DGRAM) CONST(SOCK_RAW) CONST(SOCK_RDM)
CONST(SOCK_SEQPACKET) CONST(SOCK_DCCP) CONST(SOCK_PACKET) CONST(SOCK_NONBLOCK) CONST(SOCK_CLOEXEC)
CONST(SHUT_RD) CONST(SHUT_WR) CONST(SHUT_RDWR) CONST(SOMAXCONN) CONST(SOL_SOCKET) CONST(SO_DEBUG)
CONST(SO_REUSEADDR) CONST(SO_TYPE) CONST(SO_ERROR) CONST(SO_DONTROUTE) CONST(SO_BROADCAST)
CONST(SO_SNDBUF) CONST(SO_RCVBUF) CONST(SO_SNDBUFFORCE) CONST(SO_RCVBUFFORCE) CONST(SO_KEEPALIVE)
CONST(SO_OOBINLINE) CONST(SO_NO_CHECK) CONST(SO_PRIORITY) CONST(SO_LINGER) CONST(SO_BSDCOMPAT)
CONST(SO_REUSEPORT) CONST(SO_PASSCRED) CONST(SO_PEERCRED) CONST(SO_RCVLOWAT) CONST(SO_SNDLOWAT)
CONST(SO_PEERNAME) CONST(SO_ACCEPTCONN) CONST(SO_PEERSEC) CONST(SO_PASSSEC) CONST(SO_MARK)
CONST(SO_PROTOCOL) CONST(SO_DOMAIN) CONST(SO_RXQ_OVFL) CONST(SO_PEEK_OFF) CONST(SO_PEERGROUPS)
CONST(SO_COOKIE) CONST(SO_RCVTIMEO_NEW) CONST(SO_SNDTIMEO_NEW) CONST(MSG_OOB) CONST(MSG_PEEK)
CONST(MSG_DONTROUTE) CONST(MSG_CTRUNC) CONST(MSG_TRUNC) CONST(MSG_DONTWAIT) CONST(MSG_EOR)
CONST(MSG_WAITALL) CONST(MSG_CONFIRM) CONST(MSG_ERRQUEUE) CONST(MSG_NOSIGNAL) CONST(MSG_MORE)
CONST(MSG_WAITFORONE) CONST(MSG_ZEROCOPY) CONST(MSG_FASTOPEN) CONST(MSG_CMSG_CLOEXEC)
CONST(SCM_RIGHTS) CONST(SCM_CREDENTIALS)
    /* clang-format on */

    SIZE(struct lx_sockaddr_un, struct sockaddr_un);
OFFSET(struct lx_sockaddr_un, sun_family, struct sockaddr_un, sun_family);
OFFSET(struct lx_sockaddr_un, sun_path, struct sockaddr_un, sun_path);

SIZE(struct lx_sockaddr_storage, struct sockaddr_storage);
OFFSET(struct lx_sockaddr_storage, ss_family, struct sockaddr_storage, ss_family);

SIZE(struct lx_sockaddr, struct sockaddr);
OFFSET(struct lx_sockaddr, sa_family, struct sockaddr, sa_family);
OFFSET(struct lx_sockaddr, sa_data, struct sockaddr, sa_data);

SIZE(struct lx_msghdr, struct msghdr);
OFFSET(struct lx_msghdr, msg_name, struct msghdr, msg_name);
OFFSET(struct lx_msghdr, msg_namelen, struct msghdr, msg_namelen);
OFFSET(struct lx_msghdr, msg_iov, struct msghdr, msg_iov);
OFFSET(struct lx_msghdr, msg_iovlen, struct msghdr, msg_iovlen);
OFFSET(struct lx_msghdr, msg_control, struct msghdr, msg_control);
OFFSET(struct lx_msghdr, msg_controllen, struct msghdr, msg_controllen);
OFFSET(struct lx_msghdr, msg_flags, struct msghdr, msg_flags);

SIZE(struct lx_mmsghdr, struct mmsghdr);
OFFSET(struct lx_mmsghdr, msg_hdr, struct mmsghdr, msg_hdr);
OFFSET(struct lx_mmsghdr, msg_len, struct mmsghdr, msg_len);

SIZE(struct lx_cmsghdr, struct cmsghdr);
OFFSET(struct lx_cmsghdr, cmsg_len, struct cmsghdr, cmsg_len);
OFFSET(struct lx_cmsghdr, cmsg_level, struct cmsghdr, cmsg_level);
OFFSET(struct lx_cmsghdr, cmsg_type, struct cmsghdr, cmsg_type);

SIZE(struct lx_ucred, struct ucred);
OFFSET(struct lx_ucred, pid, struct ucred, pid);
OFFSET(struct lx_ucred, uid, struct ucred, uid);
OFFSET(struct lx_ucred, gid, struct ucred, gid);

SIZE(struct lx_linger, struct linger);
OFFSET(struct lx_linger, l_onoff, struct linger, l_onoff);
OFFSET(struct lx_linger, l_linger, struct linger, l_linger);

OFFSET(struct lx_dirent64, d_reclen, struct dirent64, d_reclen);
OFFSET(struct lx_dirent64, d_type, struct dirent64, d_type);
_Static_assert(offsetof(struct lx_dirent64, d_name) == LX_DIRENT64_NAME_OFFSET, "dirent64");
_Static_assert(offsetof(struct lx_dirent, d_name) == LX_DIRENT_NAME_OFFSET, "dirent");
_Static_assert(LX_CMSG_SPACE(12) == CMSG_SPACE(12) && LX_CMSG_LEN(12) == CMSG_LEN(12), "cmsg");
