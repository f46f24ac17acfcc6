#pragma once
/* poll(2), select(2) and epoll(7). */
#include "lib/compiler.h"

#define LX_POLLIN     0x1
#define LX_POLLPRI    0x2
#define LX_POLLOUT    0x4
#define LX_POLLERR    0x8
#define LX_POLLHUP    0x10
#define LX_POLLNVAL   0x20
#define LX_POLLRDNORM 0x40
#define LX_POLLRDBAND 0x80
#define LX_POLLWRNORM 0x100
#define LX_POLLWRBAND 0x200
#define LX_POLLMSG    0x400
#define LX_POLLREMOVE 0x1000
#define LX_POLLRDHUP  0x2000

#define LX_EPOLLIN        0x00000001u
#define LX_EPOLLPRI       0x00000002u
#define LX_EPOLLOUT       0x00000004u
#define LX_EPOLLERR       0x00000008u
#define LX_EPOLLHUP       0x00000010u
#define LX_EPOLLNVAL      0x00000020u
#define LX_EPOLLRDNORM    0x00000040u
#define LX_EPOLLRDBAND    0x00000080u
#define LX_EPOLLWRNORM    0x00000100u
#define LX_EPOLLWRBAND    0x00000200u
#define LX_EPOLLMSG       0x00000400u
#define LX_EPOLLRDHUP     0x00002000u
#define LX_EPOLLEXCLUSIVE 0x10000000u
#define LX_EPOLLWAKEUP    0x20000000u
#define LX_EPOLLONESHOT   0x40000000u
#define LX_EPOLLET        0x80000000u
#define LX_EPOLL_CTL_ADD  1
#define LX_EPOLL_CTL_DEL  2
#define LX_EPOLL_CTL_MOD  3
#define LX_EPOLL_CLOEXEC  02000000

struct lx_pollfd {
    int32_t fd;
    int16_t events;
    int16_t revents;
};

/* Packed on x86-64. */
struct PACKED lx_epoll_event {
    uint32_t events;
    uint64_t data;
};

/* select(2): bitmaps of 64-bit words. */
#define LX_FD_SETSIZE 1024
#define LX_NFDBITS    64

/* The sixth argument of pselect6(2). */
struct lx_sigset_argpack {
    uint64_t p;
    uint64_t size;
};
