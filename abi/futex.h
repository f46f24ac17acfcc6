#pragma once
/* futex(2) and robust lists. */
#include "lib/compiler.h"

#define LX_FUTEX_WAIT             0
#define LX_FUTEX_WAKE             1
#define LX_FUTEX_FD               2
#define LX_FUTEX_REQUEUE          3
#define LX_FUTEX_CMP_REQUEUE      4
#define LX_FUTEX_WAKE_OP          5
#define LX_FUTEX_LOCK_PI          6
#define LX_FUTEX_UNLOCK_PI        7
#define LX_FUTEX_TRYLOCK_PI       8
#define LX_FUTEX_WAIT_BITSET      9
#define LX_FUTEX_WAKE_BITSET      10
#define LX_FUTEX_WAIT_REQUEUE_PI  11
#define LX_FUTEX_CMP_REQUEUE_PI   12
#define LX_FUTEX_LOCK_PI2         13
#define LX_FUTEX_PRIVATE_FLAG     0x80
#define LX_FUTEX_CLOCK_REALTIME   0x100
#define LX_FUTEX_CMD_MASK         0x7f
#define LX_FUTEX_WAITERS          0x80000000u
#define LX_FUTEX_OWNER_DIED       0x40000000
#define LX_FUTEX_TID_MASK         0x3fffffff
#define LX_FUTEX_BITSET_MATCH_ANY 0xffffffffu
#define LX_ROBUST_LIST_LIMIT      2048

/* FUTEX_WAKE_OP: op (4 bits) cmp (4) oparg (12) cmparg (12) */
#define LX_FUTEX_OP_SET         0
#define LX_FUTEX_OP_ADD         1
#define LX_FUTEX_OP_OR          2
#define LX_FUTEX_OP_ANDN        3
#define LX_FUTEX_OP_XOR         4
#define LX_FUTEX_OP_OPARG_SHIFT 8
#define LX_FUTEX_OP_CMP_EQ      0
#define LX_FUTEX_OP_CMP_NE      1
#define LX_FUTEX_OP_CMP_LT      2
#define LX_FUTEX_OP_CMP_LE      3
#define LX_FUTEX_OP_CMP_GT      4
#define LX_FUTEX_OP_CMP_GE      5

/* futex_waitv(2) */
#define LX_FUTEX_32         2
#define LX_FUTEX2_SIZE_MASK 0x3
#define LX_FUTEX2_SIZE_U32  0x2
#define LX_FUTEX2_NUMA      0x4
#define LX_FUTEX2_PRIVATE   0x80
#define LX_FUTEX_WAITV_MAX  128

struct lx_futex_waitv {
    uint64_t val;
    uint64_t uaddr;
    uint32_t flags;
    uint32_t reserved;
};

struct lx_robust_list {
    uint64_t next;
};

struct lx_robust_list_head {
    struct lx_robust_list list;
    int64_t futex_offset;
    uint64_t list_op_pending;
};
