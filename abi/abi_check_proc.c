/*
 * Compile-time comparison of our definitions with the kernel's UAPI headers: memory, tasks,
 * time, limits, capabilities and the rest. No code.
 */
#include <asm/ipcbuf.h>
#include <asm/mman.h>
#include <asm/msgbuf.h>
#include <asm/prctl.h>
#include <asm/sembuf.h>
#include <asm/shmbuf.h>
#include <linux/auxvec.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/inotify.h>
#include <linux/ipc.h>
#include <linux/kcmp.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/mempolicy.h>
#include <linux/mman.h>
#include <linux/mqueue.h>
#include <linux/msg.h>
#include <linux/personality.h>
#include <linux/prctl.h>
#include <linux/random.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include <linux/sysinfo.h>
#include <linux/time.h>
#include <linux/time_types.h>
#include <linux/timerfd.h>
#include <linux/times.h>
#include <linux/timex.h>
#include <linux/utsname.h>
#include <linux/wait.h>

#include "abi/abi_check.h"
#include "abi/elf.h"
#include "abi/futex.h"
#include "abi/misc.h"
#include "abi/mman.h"
#include "abi/mqueue.h"
#include "abi/prctl.h"
#include "abi/rlimit.h"
#include "abi/sched.h"
#include "abi/time.h"
#include "abi/wait.h"

/* clang-format off */
/* abi/elf.h */
CONST(AT_NULL) CONST(AT_IGNORE) CONST(AT_EXECFD) CONST(AT_PHDR) CONST(AT_PHENT) CONST(AT_PHNUM)
CONST(AT_PAGESZ) CONST(AT_BASE) CONST(AT_FLAGS) CONST(AT_ENTRY) CONST(AT_NOTELF) CONST(AT_UID)
CONST(AT_EUID) CONST(AT_GID) CONST(AT_EGID) CONST(AT_PLATFORM) CONST(AT_HWCAP) CONST(AT_CLKTCK)
CONST(AT_SECURE) CONST(AT_BASE_PLATFORM) CONST(AT_RANDOM) CONST(AT_HWCAP2) CONST(AT_EXECFN)

/* abi/futex.h */
CONST(FUTEX_WAIT) CONST(FUTEX_WAKE) CONST(FUTEX_FD) CONST(FUTEX_REQUEUE) CONST(FUTEX_CMP_REQUEUE)
CONST(FUTEX_WAKE_OP) CONST(FUTEX_LOCK_PI) CONST(FUTEX_UNLOCK_PI) CONST(FUTEX_TRYLOCK_PI)
CONST(FUTEX_WAIT_BITSET) CONST(FUTEX_WAKE_BITSET) CONST(FUTEX_WAIT_REQUEUE_PI)
CONST(FUTEX_CMP_REQUEUE_PI) CONST(FUTEX_LOCK_PI2) CONST(FUTEX_PRIVATE_FLAG)
CONST(FUTEX_CLOCK_REALTIME) CONST(FUTEX_WAITERS) CONST(FUTEX_OWNER_DIED) CONST(FUTEX_TID_MASK)
CONST(FUTEX_BITSET_MATCH_ANY) CONST(ROBUST_LIST_LIMIT) CONST(FUTEX_OP_SET) CONST(FUTEX_OP_ADD)
CONST(FUTEX_OP_OR) CONST(FUTEX_OP_ANDN) CONST(FUTEX_OP_XOR) CONST(FUTEX_OP_OPARG_SHIFT)
CONST(FUTEX_OP_CMP_EQ) CONST(FUTEX_OP_CMP_NE) CONST(FUTEX_OP_CMP_LT) CONST(FUTEX_OP_CMP_LE)
CONST(FUTEX_OP_CMP_GT) CONST(FUTEX_OP_CMP_GE)

/* abi/misc.h */
CONST(GRND_NONBLOCK) CONST(GRND_RANDOM) CONST(GRND_INSECURE) CONST(IN_ACCESS) CONST(IN_MODIFY)
CONST(IN_ATTRIB) CONST(IN_CLOSE_WRITE) CONST(IN_CLOSE_NOWRITE) CONST(IN_CLOSE) CONST(IN_OPEN)
CONST(IN_MOVED_FROM) CONST(IN_MOVED_TO) CONST(IN_MOVE) CONST(IN_CREATE) CONST(IN_DELETE)
CONST(IN_DELETE_SELF) CONST(IN_MOVE_SELF) CONST(IN_UNMOUNT) CONST(IN_Q_OVERFLOW) CONST(IN_IGNORED)
CONST(IN_ONLYDIR) CONST(IN_DONT_FOLLOW) CONST(IN_EXCL_UNLINK) CONST(IN_MASK_CREATE)
CONST(IN_MASK_ADD) CONST(IN_ISDIR) CONST(IN_ONESHOT) CONST(IN_ALL_EVENTS) CONST(IN_CLOEXEC)
CONST(IN_NONBLOCK) CONST(MEMBARRIER_CMD_QUERY) CONST(MEMBARRIER_CMD_GLOBAL)
CONST(MEMBARRIER_CMD_GLOBAL_EXPEDITED) CONST(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
CONST(MEMBARRIER_CMD_PRIVATE_EXPEDITED) CONST(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
CONST(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE)
CONST(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)
CONST(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) CONST(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ)
CONST(KCMP_FILE) CONST(KCMP_VM) CONST(KCMP_FILES) CONST(KCMP_FS) CONST(KCMP_SIGHAND)
CONST(KCMP_IO) CONST(KCMP_SYSVSEM) CONST(KCMP_EPOLL_TFD) CONST(PER_LINUX) CONST(ADDR_NO_RANDOMIZE)
CONST(READ_IMPLIES_EXEC) CONST(ADDR_COMPAT_LAYOUT) CONST(MMAP_PAGE_ZERO) CONST(SHORT_INODE)
CONST(STICKY_TIMEOUTS) CONST(PER_MASK) CONST(MPOL_DEFAULT) CONST(MPOL_PREFERRED) CONST(MPOL_BIND)
CONST(MPOL_INTERLEAVE) CONST(MPOL_LOCAL) CONST(MPOL_F_NODE) CONST(MPOL_F_ADDR)
CONST(MPOL_F_MEMS_ALLOWED) CONST(IPC_CREAT) CONST(IPC_EXCL) CONST(IPC_NOWAIT) CONST(IPC_PRIVATE)
CONST(IPC_RMID) CONST(IPC_SET) CONST(IPC_STAT) CONST(IPC_INFO) CONST(SHM_STAT) CONST(SHM_INFO)
CONST(SEM_STAT) CONST(SEM_INFO) CONST(MSG_STAT) CONST(MSG_INFO) CONST(SHM_LOCK) CONST(SHM_UNLOCK)
CONST(SHM_STAT_ANY) CONST(SEM_STAT_ANY) CONST(MSG_STAT_ANY) CONST(GETPID) CONST(GETVAL)
CONST(GETALL) CONST(GETNCNT) CONST(GETZCNT) CONST(SETVAL) CONST(SETALL) CONST(SHM_R) CONST(SHM_W)
CONST(SHM_RDONLY) CONST(SHM_RND) CONST(SHM_REMAP) CONST(SHM_EXEC) CONST(SHM_HUGETLB)
CONST(SHM_NORESERVE) CONST(SEM_UNDO) CONST(MSG_NOERROR) CONST(MSG_EXCEPT) CONST(MSG_COPY)
CONST(SEMMNI) CONST(SEMMSL) CONST(SEMMNS) CONST(SEMOPM) CONST(SEMVMX) CONST(SEMAEM) CONST(MSGMNI)
CONST(MSGMAX) CONST(MSGMNB) CONST(SHMMNI)

/* abi/mman.h */
CONST(PROT_NONE) CONST(PROT_READ) CONST(PROT_WRITE) CONST(PROT_EXEC) CONST(PROT_SEM)
CONST(PROT_GROWSDOWN) CONST(PROT_GROWSUP) CONST(MAP_SHARED) CONST(MAP_PRIVATE)
CONST(MAP_SHARED_VALIDATE) CONST(MAP_TYPE) CONST(MAP_FIXED) CONST(MAP_ANONYMOUS) CONST(MAP_32BIT)
CONST(MAP_GROWSDOWN) CONST(MAP_DENYWRITE) CONST(MAP_EXECUTABLE) CONST(MAP_LOCKED)
CONST(MAP_NORESERVE) CONST(MAP_POPULATE) CONST(MAP_NONBLOCK) CONST(MAP_STACK) CONST(MAP_HUGETLB)
CONST(MAP_SYNC) CONST(MAP_FIXED_NOREPLACE) CONST(MAP_UNINITIALIZED) CONST(MREMAP_MAYMOVE)
CONST(MREMAP_FIXED) CONST(MREMAP_DONTUNMAP) CONST(MS_ASYNC) CONST(MS_INVALIDATE) CONST(MS_SYNC)
CONST(MADV_NORMAL) CONST(MADV_RANDOM) CONST(MADV_SEQUENTIAL) CONST(MADV_WILLNEED)
CONST(MADV_DONTNEED) CONST(MADV_FREE) CONST(MADV_REMOVE) CONST(MADV_DONTFORK) CONST(MADV_DOFORK)
CONST(MADV_HWPOISON) CONST(MADV_SOFT_OFFLINE) CONST(MADV_MERGEABLE) CONST(MADV_UNMERGEABLE)
CONST(MADV_HUGEPAGE) CONST(MADV_NOHUGEPAGE) CONST(MADV_DONTDUMP) CONST(MADV_DODUMP)
CONST(MADV_WIPEONFORK) CONST(MADV_KEEPONFORK) CONST(MADV_COLD) CONST(MADV_PAGEOUT)
CONST(MADV_POPULATE_READ) CONST(MADV_POPULATE_WRITE) CONST(MADV_DONTNEED_LOCKED)
CONST(MCL_CURRENT) CONST(MCL_FUTURE) CONST(MCL_ONFAULT) CONST(MLOCK_ONFAULT) CONST(MFD_CLOEXEC)
CONST(MFD_ALLOW_SEALING) CONST(MFD_HUGETLB) CONST(PKEY_DISABLE_ACCESS) CONST(PKEY_DISABLE_WRITE)

/* abi/prctl.h */
CONST(PR_SET_PDEATHSIG) CONST(PR_GET_PDEATHSIG) CONST(PR_GET_DUMPABLE) CONST(PR_SET_DUMPABLE)
CONST(PR_GET_UNALIGN) CONST(PR_SET_UNALIGN) CONST(PR_GET_KEEPCAPS) CONST(PR_SET_KEEPCAPS)
CONST(PR_GET_FPEMU) CONST(PR_SET_FPEMU) CONST(PR_GET_FPEXC) CONST(PR_SET_FPEXC)
CONST(PR_GET_TIMING) CONST(PR_SET_TIMING) CONST(PR_SET_NAME) CONST(PR_GET_NAME)
CONST(PR_GET_SECCOMP) CONST(PR_SET_SECCOMP) CONST(PR_CAPBSET_READ) CONST(PR_CAPBSET_DROP)
CONST(PR_GET_TSC) CONST(PR_SET_TSC) CONST(PR_GET_SECUREBITS) CONST(PR_SET_SECUREBITS)
CONST(PR_SET_TIMERSLACK) CONST(PR_GET_TIMERSLACK) CONST(PR_TASK_PERF_EVENTS_DISABLE)
CONST(PR_TASK_PERF_EVENTS_ENABLE) CONST(PR_MCE_KILL) CONST(PR_MCE_KILL_GET) CONST(PR_SET_MM)
CONST(PR_SET_PTRACER) CONST(PR_SET_CHILD_SUBREAPER) CONST(PR_GET_CHILD_SUBREAPER)
CONST(PR_SET_NO_NEW_PRIVS) CONST(PR_GET_NO_NEW_PRIVS) CONST(PR_GET_TID_ADDRESS)
CONST(PR_SET_THP_DISABLE) CONST(PR_GET_THP_DISABLE) CONST(PR_CAP_AMBIENT)
CONST(PR_GET_SPECULATION_CTRL) CONST(PR_SET_SPECULATION_CTRL) CONST(PR_SET_IO_FLUSHER)
CONST(PR_GET_IO_FLUSHER) CONST(PR_SET_SYSCALL_USER_DISPATCH) CONST(PR_SCHED_CORE)
CONST(PR_SET_VMA) CONST(PR_SET_VMA_ANON_NAME) CONST(PR_CAP_AMBIENT_IS_SET)
CONST(PR_CAP_AMBIENT_RAISE) CONST(PR_CAP_AMBIENT_LOWER) CONST(PR_CAP_AMBIENT_CLEAR_ALL)
CONST(PR_SPEC_L1D_FLUSH) CONST(PR_TSC_ENABLE) CONST(PR_TSC_SIGSEGV) CONST(ARCH_SET_GS) CONST(ARCH_SET_FS)
CONST(ARCH_GET_FS) CONST(ARCH_GET_GS) CONST(ARCH_GET_CPUID) CONST(ARCH_SET_CPUID)
CONST(ARCH_GET_XCOMP_SUPP) CONST(ARCH_GET_XCOMP_PERM) CONST(ARCH_REQ_XCOMP_PERM) CONST(CAP_CHOWN)
CONST(CAP_DAC_OVERRIDE) CONST(CAP_DAC_READ_SEARCH) CONST(CAP_FOWNER) CONST(CAP_FSETID)
CONST(CAP_KILL) CONST(CAP_SETGID) CONST(CAP_SETUID) CONST(CAP_SETPCAP) CONST(CAP_LINUX_IMMUTABLE)
CONST(CAP_NET_BIND_SERVICE) CONST(CAP_NET_BROADCAST) CONST(CAP_NET_ADMIN) CONST(CAP_NET_RAW)
CONST(CAP_IPC_LOCK) CONST(CAP_IPC_OWNER) CONST(CAP_SYS_MODULE) CONST(CAP_SYS_RAWIO)
CONST(CAP_SYS_CHROOT) CONST(CAP_SYS_PTRACE) CONST(CAP_SYS_PACCT) CONST(CAP_SYS_ADMIN)
CONST(CAP_SYS_BOOT) CONST(CAP_SYS_NICE) CONST(CAP_SYS_RESOURCE) CONST(CAP_SYS_TIME)
CONST(CAP_SYS_TTY_CONFIG) CONST(CAP_MKNOD) CONST(CAP_LEASE) CONST(CAP_AUDIT_WRITE)
CONST(CAP_AUDIT_CONTROL) CONST(CAP_SETFCAP) CONST(CAP_MAC_OVERRIDE) CONST(CAP_MAC_ADMIN)
CONST(CAP_SYSLOG) CONST(CAP_WAKE_ALARM) CONST(CAP_BLOCK_SUSPEND) CONST(CAP_AUDIT_READ)
CONST(CAP_PERFMON) CONST(CAP_BPF) CONST(CAP_CHECKPOINT_RESTORE) CONST(CAP_LAST_CAP)
CONST(SECCOMP_MODE_DISABLED) CONST(SECCOMP_MODE_STRICT) CONST(SECCOMP_MODE_FILTER)
CONST(SECCOMP_SET_MODE_STRICT) CONST(SECCOMP_SET_MODE_FILTER) CONST(SECCOMP_GET_ACTION_AVAIL)
CONST(SECCOMP_GET_NOTIF_SIZES) CONST(SECCOMP_FILTER_FLAG_TSYNC) CONST(SECCOMP_FILTER_FLAG_LOG)
CONST(SECCOMP_FILTER_FLAG_SPEC_ALLOW) CONST(SECCOMP_FILTER_FLAG_NEW_LISTENER)
CONST(SECCOMP_FILTER_FLAG_TSYNC_ESRCH) CONST(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
CONST(SECCOMP_RET_KILL_PROCESS) CONST(SECCOMP_RET_KILL_THREAD) CONST(SECCOMP_RET_TRAP)
CONST(SECCOMP_RET_ERRNO) CONST(SECCOMP_RET_USER_NOTIF) CONST(SECCOMP_RET_TRACE)
CONST(SECCOMP_RET_LOG) CONST(SECCOMP_RET_ALLOW) CONST(SECCOMP_RET_ACTION_FULL)
CONST(SECCOMP_RET_DATA)

/* abi/rlimit.h */
CONST(RLIMIT_CPU) CONST(RLIMIT_FSIZE) CONST(RLIMIT_DATA) CONST(RLIMIT_STACK) CONST(RLIMIT_CORE)
CONST(RLIMIT_LOCKS) CONST(RLIMIT_SIGPENDING) CONST(RLIMIT_MSGQUEUE) CONST(RLIMIT_NICE)
CONST(RLIMIT_RTPRIO) CONST(RLIMIT_RTTIME)

/* abi/sched.h */
CONST(CSIGNAL) CONST(CLONE_VM) CONST(CLONE_FS) CONST(CLONE_FILES) CONST(CLONE_SIGHAND)
CONST(CLONE_PIDFD) CONST(CLONE_PTRACE) CONST(CLONE_VFORK) CONST(CLONE_PARENT) CONST(CLONE_THREAD)
CONST(CLONE_NEWNS) CONST(CLONE_SYSVSEM) CONST(CLONE_SETTLS) CONST(CLONE_PARENT_SETTID)
CONST(CLONE_CHILD_CLEARTID) CONST(CLONE_DETACHED) CONST(CLONE_UNTRACED) CONST(CLONE_CHILD_SETTID)
CONST(CLONE_NEWCGROUP) CONST(CLONE_NEWUTS) CONST(CLONE_NEWIPC) CONST(CLONE_NEWUSER)
CONST(CLONE_NEWPID) CONST(CLONE_NEWNET) CONST(CLONE_IO) CONST(CLONE_NEWTIME)
CONST(CLONE_CLEAR_SIGHAND) CONST(CLONE_INTO_CGROUP) CONST(CLONE_ARGS_SIZE_VER0)
CONST(CLONE_ARGS_SIZE_VER1) CONST(CLONE_ARGS_SIZE_VER2) CONST(SCHED_NORMAL) CONST(SCHED_FIFO)
CONST(SCHED_RR) CONST(SCHED_BATCH) CONST(SCHED_IDLE) CONST(SCHED_DEADLINE)
CONST(SCHED_RESET_ON_FORK) CONST(SCHED_FLAG_RESET_ON_FORK) CONST(SCHED_FLAG_ALL)
CONST(SCHED_ATTR_SIZE_VER0) CONST(SCHED_ATTR_SIZE_VER1)

/* abi/time.h */
CONST(CLOCK_REALTIME) CONST(CLOCK_MONOTONIC) CONST(CLOCK_PROCESS_CPUTIME_ID)
CONST(CLOCK_THREAD_CPUTIME_ID) CONST(CLOCK_MONOTONIC_RAW) CONST(CLOCK_REALTIME_COARSE)
CONST(CLOCK_MONOTONIC_COARSE) CONST(CLOCK_BOOTTIME) CONST(CLOCK_REALTIME_ALARM)
CONST(CLOCK_BOOTTIME_ALARM) CONST(CLOCK_TAI) CONST(MAX_CLOCKS) CONST(TIMER_ABSTIME)
CONST(ITIMER_REAL) CONST(ITIMER_VIRTUAL) CONST(ITIMER_PROF) CONST(TFD_TIMER_ABSTIME)
CONST(TFD_TIMER_CANCEL_ON_SET) CONST(TFD_CLOEXEC) CONST(TFD_NONBLOCK) CONST(STA_UNSYNC)
CONST(TIME_OK) CONST(TIME_ERROR) CONST(RUSAGE_SELF) CONST(RUSAGE_CHILDREN) CONST(RUSAGE_BOTH)
CONST(RUSAGE_THREAD)

/* abi/wait.h */
CONST(WNOHANG) CONST(WUNTRACED) CONST(WSTOPPED) CONST(WEXITED) CONST(WCONTINUED) CONST(WNOWAIT)
CONST(__WNOTHREAD) CONST(__WALL) CONST(__WCLONE) CONST(P_ALL) CONST(P_PID) CONST(P_PGID)
CONST(P_PIDFD)
    /* clang-format on */

    SIZE(struct lx_robust_list_head, struct robust_list_head);
OFFSET(struct lx_robust_list_head, list, struct robust_list_head, list);
OFFSET(struct lx_robust_list_head, futex_offset, struct robust_list_head, futex_offset);
OFFSET(struct lx_robust_list_head, list_op_pending, struct robust_list_head, list_op_pending);

SIZE(struct lx_futex_waitv, struct futex_waitv);
OFFSET(struct lx_futex_waitv, val, struct futex_waitv, val);
OFFSET(struct lx_futex_waitv, uaddr, struct futex_waitv, uaddr);
OFFSET(struct lx_futex_waitv, flags, struct futex_waitv, flags);

SIZE(struct lx_inotify_event, struct inotify_event);
OFFSET(struct lx_inotify_event, wd, struct inotify_event, wd);
OFFSET(struct lx_inotify_event, mask, struct inotify_event, mask);
OFFSET(struct lx_inotify_event, cookie, struct inotify_event, cookie);
OFFSET(struct lx_inotify_event, len, struct inotify_event, len);

CONST(MQ_PRIO_MAX) CONST(MQ_BYTES_MAX) SIZE(struct lx_mq_attr, struct mq_attr);
OFFSET(struct lx_mq_attr, mq_flags, struct mq_attr, mq_flags);
OFFSET(struct lx_mq_attr, mq_maxmsg, struct mq_attr, mq_maxmsg);
OFFSET(struct lx_mq_attr, mq_msgsize, struct mq_attr, mq_msgsize);
OFFSET(struct lx_mq_attr, mq_curmsgs, struct mq_attr, mq_curmsgs);

SIZE(struct lx_ipc_perm, struct ipc64_perm);
OFFSET(struct lx_ipc_perm, key, struct ipc64_perm, key);
OFFSET(struct lx_ipc_perm, uid, struct ipc64_perm, uid);
OFFSET(struct lx_ipc_perm, gid, struct ipc64_perm, gid);
OFFSET(struct lx_ipc_perm, cuid, struct ipc64_perm, cuid);
OFFSET(struct lx_ipc_perm, cgid, struct ipc64_perm, cgid);
OFFSET(struct lx_ipc_perm, mode, struct ipc64_perm, mode);
OFFSET(struct lx_ipc_perm, seq, struct ipc64_perm, seq);

SIZE(struct lx_shmid_ds, struct shmid64_ds);
OFFSET(struct lx_shmid_ds, shm_perm, struct shmid64_ds, shm_perm);
OFFSET(struct lx_shmid_ds, shm_segsz, struct shmid64_ds, shm_segsz);
OFFSET(struct lx_shmid_ds, shm_atime, struct shmid64_ds, shm_atime);
OFFSET(struct lx_shmid_ds, shm_dtime, struct shmid64_ds, shm_dtime);
OFFSET(struct lx_shmid_ds, shm_ctime, struct shmid64_ds, shm_ctime);
OFFSET(struct lx_shmid_ds, shm_cpid, struct shmid64_ds, shm_cpid);
OFFSET(struct lx_shmid_ds, shm_lpid, struct shmid64_ds, shm_lpid);
OFFSET(struct lx_shmid_ds, shm_nattch, struct shmid64_ds, shm_nattch);

SIZE(struct lx_shminfo, struct shminfo64);
OFFSET(struct lx_shminfo, shmmax, struct shminfo64, shmmax);
OFFSET(struct lx_shminfo, shmmin, struct shminfo64, shmmin);
OFFSET(struct lx_shminfo, shmmni, struct shminfo64, shmmni);
OFFSET(struct lx_shminfo, shmseg, struct shminfo64, shmseg);
OFFSET(struct lx_shminfo, shmall, struct shminfo64, shmall);

SIZE(struct lx_shm_info, struct shm_info);
OFFSET(struct lx_shm_info, used_ids, struct shm_info, used_ids);
OFFSET(struct lx_shm_info, shm_tot, struct shm_info, shm_tot);
OFFSET(struct lx_shm_info, shm_rss, struct shm_info, shm_rss);
OFFSET(struct lx_shm_info, shm_swp, struct shm_info, shm_swp);
OFFSET(struct lx_shm_info, swap_attempts, struct shm_info, swap_attempts);
OFFSET(struct lx_shm_info, swap_successes, struct shm_info, swap_successes);

SIZE(struct lx_sembuf, struct sembuf);
OFFSET(struct lx_sembuf, sem_num, struct sembuf, sem_num);
OFFSET(struct lx_sembuf, sem_op, struct sembuf, sem_op);
OFFSET(struct lx_sembuf, sem_flg, struct sembuf, sem_flg);

SIZE(struct lx_semid_ds, struct semid64_ds);
OFFSET(struct lx_semid_ds, sem_perm, struct semid64_ds, sem_perm);
OFFSET(struct lx_semid_ds, sem_otime, struct semid64_ds, sem_otime);
OFFSET(struct lx_semid_ds, sem_ctime, struct semid64_ds, sem_ctime);
OFFSET(struct lx_semid_ds, sem_nsems, struct semid64_ds, sem_nsems);

SIZE(struct lx_seminfo, struct seminfo);
OFFSET(struct lx_seminfo, semmap, struct seminfo, semmap);
OFFSET(struct lx_seminfo, semmni, struct seminfo, semmni);
OFFSET(struct lx_seminfo, semmns, struct seminfo, semmns);
OFFSET(struct lx_seminfo, semmnu, struct seminfo, semmnu);
OFFSET(struct lx_seminfo, semmsl, struct seminfo, semmsl);
OFFSET(struct lx_seminfo, semopm, struct seminfo, semopm);
OFFSET(struct lx_seminfo, semume, struct seminfo, semume);
OFFSET(struct lx_seminfo, semusz, struct seminfo, semusz);
OFFSET(struct lx_seminfo, semvmx, struct seminfo, semvmx);
OFFSET(struct lx_seminfo, semaem, struct seminfo, semaem);

SIZE(struct lx_msqid_ds, struct msqid64_ds);
OFFSET(struct lx_msqid_ds, msg_perm, struct msqid64_ds, msg_perm);
OFFSET(struct lx_msqid_ds, msg_stime, struct msqid64_ds, msg_stime);
OFFSET(struct lx_msqid_ds, msg_rtime, struct msqid64_ds, msg_rtime);
OFFSET(struct lx_msqid_ds, msg_ctime, struct msqid64_ds, msg_ctime);
OFFSET(struct lx_msqid_ds, msg_cbytes, struct msqid64_ds, msg_cbytes);
OFFSET(struct lx_msqid_ds, msg_qnum, struct msqid64_ds, msg_qnum);
OFFSET(struct lx_msqid_ds, msg_qbytes, struct msqid64_ds, msg_qbytes);
OFFSET(struct lx_msqid_ds, msg_lspid, struct msqid64_ds, msg_lspid);
OFFSET(struct lx_msqid_ds, msg_lrpid, struct msqid64_ds, msg_lrpid);

SIZE(struct lx_msginfo, struct msginfo);
OFFSET(struct lx_msginfo, msgpool, struct msginfo, msgpool);
OFFSET(struct lx_msginfo, msgmap, struct msginfo, msgmap);
OFFSET(struct lx_msginfo, msgmax, struct msginfo, msgmax);
OFFSET(struct lx_msginfo, msgmnb, struct msginfo, msgmnb);
OFFSET(struct lx_msginfo, msgmni, struct msginfo, msgmni);
OFFSET(struct lx_msginfo, msgssz, struct msginfo, msgssz);
OFFSET(struct lx_msginfo, msgtql, struct msginfo, msgtql);
OFFSET(struct lx_msginfo, msgseg, struct msginfo, msgseg);

SIZE(struct lx_cap_user_header, struct __user_cap_header_struct);
OFFSET(struct lx_cap_user_header, version, struct __user_cap_header_struct, version);
OFFSET(struct lx_cap_user_header, pid, struct __user_cap_header_struct, pid);

SIZE(struct lx_cap_user_data, struct __user_cap_data_struct);
OFFSET(struct lx_cap_user_data, effective, struct __user_cap_data_struct, effective);
OFFSET(struct lx_cap_user_data, permitted, struct __user_cap_data_struct, permitted);
OFFSET(struct lx_cap_user_data, inheritable, struct __user_cap_data_struct, inheritable);

SIZE(struct lx_seccomp_data, struct seccomp_data);
OFFSET(struct lx_seccomp_data, nr, struct seccomp_data, nr);
OFFSET(struct lx_seccomp_data, arch, struct seccomp_data, arch);
OFFSET(struct lx_seccomp_data, instruction_pointer, struct seccomp_data, instruction_pointer);
OFFSET(struct lx_seccomp_data, args, struct seccomp_data, args);

SIZE(struct lx_sock_filter, struct sock_filter);
OFFSET(struct lx_sock_filter, code, struct sock_filter, code);
OFFSET(struct lx_sock_filter, jt, struct sock_filter, jt);
OFFSET(struct lx_sock_filter, jf, struct sock_filter, jf);
OFFSET(struct lx_sock_filter, k, struct sock_filter, k);

SIZE(struct lx_sock_fprog, struct sock_fprog);
OFFSET(struct lx_sock_fprog, len, struct sock_fprog, len);
OFFSET(struct lx_sock_fprog, filter, struct sock_fprog, filter);

SIZE(struct lx_rlimit, struct rlimit);
OFFSET(struct lx_rlimit, rlim_cur, struct rlimit, rlim_cur);
OFFSET(struct lx_rlimit, rlim_max, struct rlimit, rlim_max);

SIZE(struct lx_clone_args, struct clone_args);
OFFSET(struct lx_clone_args, flags, struct clone_args, flags);
OFFSET(struct lx_clone_args, pidfd, struct clone_args, pidfd);
OFFSET(struct lx_clone_args, child_tid, struct clone_args, child_tid);
OFFSET(struct lx_clone_args, parent_tid, struct clone_args, parent_tid);
OFFSET(struct lx_clone_args, exit_signal, struct clone_args, exit_signal);
OFFSET(struct lx_clone_args, stack, struct clone_args, stack);
OFFSET(struct lx_clone_args, stack_size, struct clone_args, stack_size);
OFFSET(struct lx_clone_args, tls, struct clone_args, tls);
OFFSET(struct lx_clone_args, set_tid, struct clone_args, set_tid);
OFFSET(struct lx_clone_args, set_tid_size, struct clone_args, set_tid_size);
OFFSET(struct lx_clone_args, cgroup, struct clone_args, cgroup);

SIZE(struct lx_sched_attr, struct sched_attr);
OFFSET(struct lx_sched_attr, size, struct sched_attr, size);
OFFSET(struct lx_sched_attr, sched_policy, struct sched_attr, sched_policy);
OFFSET(struct lx_sched_attr, sched_flags, struct sched_attr, sched_flags);
OFFSET(struct lx_sched_attr, sched_nice, struct sched_attr, sched_nice);
OFFSET(struct lx_sched_attr, sched_priority, struct sched_attr, sched_priority);
OFFSET(struct lx_sched_attr, sched_runtime, struct sched_attr, sched_runtime);
OFFSET(struct lx_sched_attr, sched_deadline, struct sched_attr, sched_deadline);
OFFSET(struct lx_sched_attr, sched_period, struct sched_attr, sched_period);
OFFSET(struct lx_sched_attr, sched_util_min, struct sched_attr, sched_util_min);
OFFSET(struct lx_sched_attr, sched_util_max, struct sched_attr, sched_util_max);

SIZE(struct lx_timespec, struct timespec);
OFFSET(struct lx_timespec, tv_sec, struct timespec, tv_sec);
OFFSET(struct lx_timespec, tv_nsec, struct timespec, tv_nsec);

SIZE(struct lx_timeval, struct timeval);
OFFSET(struct lx_timeval, tv_sec, struct timeval, tv_sec);
OFFSET(struct lx_timeval, tv_usec, struct timeval, tv_usec);

SIZE(struct lx_timezone, struct timezone);
OFFSET(struct lx_timezone, tz_minuteswest, struct timezone, tz_minuteswest);
OFFSET(struct lx_timezone, tz_dsttime, struct timezone, tz_dsttime);

SIZE(struct lx_itimerspec, struct itimerspec);
OFFSET(struct lx_itimerspec, it_interval, struct itimerspec, it_interval);
OFFSET(struct lx_itimerspec, it_value, struct itimerspec, it_value);

SIZE(struct lx_itimerval, struct itimerval);
OFFSET(struct lx_itimerval, it_interval, struct itimerval, it_interval);
OFFSET(struct lx_itimerval, it_value, struct itimerval, it_value);

SIZE(struct lx_timex, struct __kernel_timex);
OFFSET(struct lx_timex, modes, struct __kernel_timex, modes);
OFFSET(struct lx_timex, offset, struct __kernel_timex, offset);
OFFSET(struct lx_timex, freq, struct __kernel_timex, freq);
OFFSET(struct lx_timex, maxerror, struct __kernel_timex, maxerror);
OFFSET(struct lx_timex, esterror, struct __kernel_timex, esterror);
OFFSET(struct lx_timex, status, struct __kernel_timex, status);
OFFSET(struct lx_timex, constant, struct __kernel_timex, constant);
OFFSET(struct lx_timex, precision, struct __kernel_timex, precision);
OFFSET(struct lx_timex, tolerance, struct __kernel_timex, tolerance);
OFFSET(struct lx_timex, time, struct __kernel_timex, time);
OFFSET(struct lx_timex, tick, struct __kernel_timex, tick);
OFFSET(struct lx_timex, ppsfreq, struct __kernel_timex, ppsfreq);
OFFSET(struct lx_timex, jitter, struct __kernel_timex, jitter);
OFFSET(struct lx_timex, shift, struct __kernel_timex, shift);
OFFSET(struct lx_timex, stabil, struct __kernel_timex, stabil);
OFFSET(struct lx_timex, jitcnt, struct __kernel_timex, jitcnt);
OFFSET(struct lx_timex, calcnt, struct __kernel_timex, calcnt);
OFFSET(struct lx_timex, errcnt, struct __kernel_timex, errcnt);
OFFSET(struct lx_timex, stbcnt, struct __kernel_timex, stbcnt);
OFFSET(struct lx_timex, tai, struct __kernel_timex, tai);

SIZE(struct lx_tms, struct tms);
OFFSET(struct lx_tms, tms_utime, struct tms, tms_utime);
OFFSET(struct lx_tms, tms_stime, struct tms, tms_stime);
OFFSET(struct lx_tms, tms_cutime, struct tms, tms_cutime);
OFFSET(struct lx_tms, tms_cstime, struct tms, tms_cstime);

SIZE(struct lx_rusage, struct rusage);
OFFSET(struct lx_rusage, ru_utime, struct rusage, ru_utime);
OFFSET(struct lx_rusage, ru_stime, struct rusage, ru_stime);
OFFSET(struct lx_rusage, ru_maxrss, struct rusage, ru_maxrss);
OFFSET(struct lx_rusage, ru_minflt, struct rusage, ru_minflt);
OFFSET(struct lx_rusage, ru_majflt, struct rusage, ru_majflt);
OFFSET(struct lx_rusage, ru_inblock, struct rusage, ru_inblock);
OFFSET(struct lx_rusage, ru_oublock, struct rusage, ru_oublock);
OFFSET(struct lx_rusage, ru_nvcsw, struct rusage, ru_nvcsw);
OFFSET(struct lx_rusage, ru_nivcsw, struct rusage, ru_nivcsw);

SIZE(struct lx_utsname, struct new_utsname);
OFFSET(struct lx_utsname, sysname, struct new_utsname, sysname);
OFFSET(struct lx_utsname, nodename, struct new_utsname, nodename);
OFFSET(struct lx_utsname, release, struct new_utsname, release);
OFFSET(struct lx_utsname, version, struct new_utsname, version);
OFFSET(struct lx_utsname, machine, struct new_utsname, machine);
OFFSET(struct lx_utsname, domainname, struct new_utsname, domainname);

SIZE(struct lx_sysinfo, struct sysinfo);
OFFSET(struct lx_sysinfo, uptime, struct sysinfo, uptime);
OFFSET(struct lx_sysinfo, loads, struct sysinfo, loads);
OFFSET(struct lx_sysinfo, totalram, struct sysinfo, totalram);
OFFSET(struct lx_sysinfo, freeram, struct sysinfo, freeram);
OFFSET(struct lx_sysinfo, sharedram, struct sysinfo, sharedram);
OFFSET(struct lx_sysinfo, bufferram, struct sysinfo, bufferram);
OFFSET(struct lx_sysinfo, totalswap, struct sysinfo, totalswap);
OFFSET(struct lx_sysinfo, freeswap, struct sysinfo, freeswap);
OFFSET(struct lx_sysinfo, procs, struct sysinfo, procs);
OFFSET(struct lx_sysinfo, totalhigh, struct sysinfo, totalhigh);
OFFSET(struct lx_sysinfo, freehigh, struct sysinfo, freehigh);
OFFSET(struct lx_sysinfo, mem_unit, struct sysinfo, mem_unit);

_Static_assert(sizeof(struct lx_clone_args) == LX_CLONE_ARGS_SIZE_VER2, "clone_args");
_Static_assert(sizeof(struct lx_sched_attr) == LX_SCHED_ATTR_SIZE_VER1, "sched_attr");
_Static_assert(LX_TFD_IOC_SET_TICKS == TFD_IOC_SET_TICKS, "timerfd ioctl");
