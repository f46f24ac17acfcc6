#pragma once
/*
 * POSIX message queues (mq_overview(7)).
 */
#include "lib/compiler.h"

#define LX_MQ_PRIO_MAX     32768
#define LX_MQ_BYTES_MAX    819200 /* default of RLIMIT_MSGQUEUE */
#define LX_MQ_COOKIE_LEN   32     /* what SIGEV_THREAD of mq_notify points to */
#define LX_MQ_QUEUES_MAX   256    /* defaults of /proc/sys/fs/mqueue */
#define LX_MQ_MSG_MAX      10
#define LX_MQ_MSGSIZE_MAX  8192
#define LX_MQ_HARD_MSGMAX  65536 /* with CAP_SYS_RESOURCE */
#define LX_MQ_HARD_SIZEMAX (16 << 20)

struct lx_mq_attr {
    int64_t mq_flags;
    int64_t mq_maxmsg;
    int64_t mq_msgsize;
    int64_t mq_curmsgs;
    int64_t reserved[4];
};
