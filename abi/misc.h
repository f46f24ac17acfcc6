#pragma once
/* What fits nowhere else: random, inotify, eventfd, System V IPC, personality, small enums. */
#include "lib/compiler.h"

/* getrandom(2) */
#define LX_GRND_NONBLOCK 0x1
#define LX_GRND_RANDOM   0x2
#define LX_GRND_INSECURE 0x4

/* eventfd2(2) */
#define LX_EFD_SEMAPHORE 1
#define LX_EFD_CLOEXEC   02000000
#define LX_EFD_NONBLOCK  04000

/* inotify(7) */
#define LX_IN_ACCESS        0x1
#define LX_IN_MODIFY        0x2
#define LX_IN_ATTRIB        0x4
#define LX_IN_CLOSE_WRITE   0x8
#define LX_IN_CLOSE_NOWRITE 0x10
#define LX_IN_CLOSE         0x18
#define LX_IN_OPEN          0x20
#define LX_IN_MOVED_FROM    0x40
#define LX_IN_MOVED_TO      0x80
#define LX_IN_MOVE          0xc0
#define LX_IN_CREATE        0x100
#define LX_IN_DELETE        0x200
#define LX_IN_DELETE_SELF   0x400
#define LX_IN_MOVE_SELF     0x800
#define LX_IN_UNMOUNT       0x2000
#define LX_IN_Q_OVERFLOW    0x4000
#define LX_IN_IGNORED       0x8000
#define LX_IN_ONLYDIR       0x1000000
#define LX_IN_DONT_FOLLOW   0x2000000
#define LX_IN_EXCL_UNLINK   0x4000000
#define LX_IN_MASK_CREATE   0x10000000
#define LX_IN_MASK_ADD      0x20000000
#define LX_IN_ISDIR         0x40000000
#define LX_IN_ONESHOT       0x80000000u
#define LX_IN_ALL_EVENTS    0xfff
#define LX_IN_CLOEXEC       02000000
#define LX_IN_NONBLOCK      04000

/* One event; the name, NUL-padded to len bytes, follows. */
struct lx_inotify_event {
    int32_t wd;
    uint32_t mask;
    uint32_t cookie;
    uint32_t len;
};

/* membarrier(2) */
#define LX_MEMBARRIER_CMD_QUERY                                0x0
#define LX_MEMBARRIER_CMD_GLOBAL                               0x1
#define LX_MEMBARRIER_CMD_GLOBAL_EXPEDITED                     0x2
#define LX_MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED            0x4
#define LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED                    0x8
#define LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED           0x10
#define LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE          0x20
#define LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE 0x40
#define LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ               0x80
#define LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ      0x100
#define LX_MEMBARRIER_CMD_GET_REGISTRATIONS                    0x200

/* kcmp(2) */
#define LX_KCMP_FILE      0
#define LX_KCMP_VM        1
#define LX_KCMP_FILES     2
#define LX_KCMP_FS        3
#define LX_KCMP_SIGHAND   4
#define LX_KCMP_IO        5
#define LX_KCMP_SYSVSEM   6
#define LX_KCMP_EPOLL_TFD 7

/* pidfd_open(2) */
#define LX_PIDFD_NONBLOCK 0x800
#define LX_PIDFD_THREAD   0x80

/* personality(2) */
#define LX_PER_LINUX          0x0
#define LX_ADDR_NO_RANDOMIZE  0x40000
#define LX_READ_IMPLIES_EXEC  0x400000
#define LX_ADDR_COMPAT_LAYOUT 0x200000
#define LX_MMAP_PAGE_ZERO     0x100000
#define LX_SHORT_INODE        0x1000000
#define LX_STICKY_TIMEOUTS    0x4000000
#define LX_PER_MASK           0xff

/* get_mempolicy(2) */
#define LX_MPOL_DEFAULT        0
#define LX_MPOL_PREFERRED      1
#define LX_MPOL_BIND           2
#define LX_MPOL_INTERLEAVE     3
#define LX_MPOL_LOCAL          4
#define LX_MPOL_F_NODE         1
#define LX_MPOL_F_ADDR         2
#define LX_MPOL_F_MEMS_ALLOWED 4

/* syslog(2), reboot(2): refused, the numbers are here for messages */
#define LX_SYSLOG_ACTION_READ_ALL    3
#define LX_SYSLOG_ACTION_SIZE_BUFFER 10

/* ioprio_get(2) */
#define LX_IOPRIO_WHO_PROCESS 1
#define LX_IOPRIO_WHO_PGRP    2
#define LX_IOPRIO_WHO_USER    3
#define LX_IOPRIO_CLASS_SHIFT 13
#define LX_IOPRIO_CLASS_RT    1
#define LX_IOPRIO_CLASS_BE    2
#define LX_IOPRIO_CLASS_IDLE  3

/* System V IPC */
#define LX_IPC_CREAT     01000
#define LX_IPC_EXCL      02000
#define LX_IPC_NOWAIT    04000
#define LX_IPC_PRIVATE   0
#define LX_IPC_RMID      0
#define LX_IPC_SET       1
#define LX_IPC_STAT      2
#define LX_IPC_INFO      3
#define LX_SHM_STAT      13
#define LX_SHM_INFO      14
#define LX_SEM_STAT      18
#define LX_SEM_INFO      19
#define LX_MSG_STAT      11
#define LX_MSG_INFO      12
#define LX_SHM_LOCK      11
#define LX_SHM_UNLOCK    12
#define LX_SHM_STAT_ANY  15
#define LX_SEM_STAT_ANY  20
#define LX_MSG_STAT_ANY  13
#define LX_GETPID        11
#define LX_GETVAL        12
#define LX_GETALL        13
#define LX_GETNCNT       14
#define LX_GETZCNT       15
#define LX_SETVAL        16
#define LX_SETALL        17
#define LX_SHM_R         0400
#define LX_SHM_W         0200
#define LX_SHM_RDONLY    010000
#define LX_SHM_RND       020000
#define LX_SHM_REMAP     040000
#define LX_SHM_EXEC      0100000
#define LX_SHM_HUGETLB   04000
#define LX_SHM_NORESERVE 010000
#define LX_SHM_DEST      01000
#define LX_SHM_LOCKED    02000
#define LX_SEM_UNDO      010000
#define LX_MSG_NOERROR   010000
#define LX_MSG_EXCEPT    020000
#define LX_MSG_COPY      040000
#define LX_SEMMNI        32000
#define LX_SEMMSL        32000
#define LX_SEMMNS        1024000000
#define LX_SEMOPM        500
#define LX_SEMVMX        32767
#define LX_SEMAEM        32767
#define LX_MSGMNI        32000
#define LX_MSGMAX        8192
#define LX_MSGMNB        16384
#define LX_SHMMNI        4096
#define LX_SHMMAX        18446744073692774399ull /* ULONG_MAX - 2^24 */
#define LX_SHMALL        LX_SHMMAX
#define LX_SHMLBA        4096

struct lx_ipc_perm {
    int32_t key;
    uint32_t uid;
    uint32_t gid;
    uint32_t cuid;
    uint32_t cgid;
    uint32_t mode;
    uint16_t seq;
    uint16_t pad2;
    uint32_t pad3;
    uint64_t unused1;
    uint64_t unused2;
};

struct lx_shmid_ds {
    struct lx_ipc_perm shm_perm;
    uint64_t shm_segsz;
    int64_t shm_atime;
    int64_t shm_dtime;
    int64_t shm_ctime;
    int32_t shm_cpid;
    int32_t shm_lpid;
    uint64_t shm_nattch;
    uint64_t unused4;
    uint64_t unused5;
};

struct lx_shminfo {
    uint64_t shmmax;
    uint64_t shmmin;
    uint64_t shmmni;
    uint64_t shmseg;
    uint64_t shmall;
    uint64_t unused[4];
};

struct lx_shm_info {
    int32_t used_ids;
    int32_t pad0;
    uint64_t shm_tot;
    uint64_t shm_rss;
    uint64_t shm_swp;
    uint64_t swap_attempts;
    uint64_t swap_successes;
};

struct lx_sembuf {
    uint16_t sem_num;
    int16_t sem_op;
    int16_t sem_flg;
};

struct lx_semid_ds {
    struct lx_ipc_perm sem_perm;
    int64_t sem_otime;
    uint64_t unused1;
    int64_t sem_ctime;
    uint64_t unused2;
    uint64_t sem_nsems;
    uint64_t unused3;
    uint64_t unused4;
};

struct lx_seminfo {
    int32_t semmap;
    int32_t semmni;
    int32_t semmns;
    int32_t semmnu;
    int32_t semmsl;
    int32_t semopm;
    int32_t semume;
    int32_t semusz;
    int32_t semvmx;
    int32_t semaem;
};

struct lx_msqid_ds {
    struct lx_ipc_perm msg_perm;
    int64_t msg_stime;
    int64_t msg_rtime;
    int64_t msg_ctime;
    uint64_t msg_cbytes;
    uint64_t msg_qnum;
    uint64_t msg_qbytes;
    int32_t msg_lspid;
    int32_t msg_lrpid;
    uint64_t unused4;
    uint64_t unused5;
};

struct lx_msginfo {
    int32_t msgpool;
    int32_t msgmap;
    int32_t msgmax;
    int32_t msgmnb;
    int32_t msgmni;
    int32_t msgssz;
    int32_t msgtql;
    uint16_t msgseg;
    uint16_t pad0;
};
