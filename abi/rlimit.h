#pragma once
/* Resource limits. */
#include "lib/compiler.h"

#define LX_RLIMIT_CPU        0
#define LX_RLIMIT_FSIZE      1
#define LX_RLIMIT_DATA       2
#define LX_RLIMIT_STACK      3
#define LX_RLIMIT_CORE       4
#define LX_RLIMIT_RSS        5
#define LX_RLIMIT_NPROC      6
#define LX_RLIMIT_NOFILE     7
#define LX_RLIMIT_MEMLOCK    8
#define LX_RLIMIT_AS         9
#define LX_RLIMIT_LOCKS      10
#define LX_RLIMIT_SIGPENDING 11
#define LX_RLIMIT_MSGQUEUE   12
#define LX_RLIMIT_NICE       13
#define LX_RLIMIT_RTPRIO     14
#define LX_RLIMIT_RTTIME     15
#define LX_RLIM_NLIMITS      16
#define LX_RLIM_INFINITY     (~0ull)

struct lx_rlimit {
    uint64_t rlim_cur;
    uint64_t rlim_max;
};
