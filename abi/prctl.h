#pragma once
/* prctl(2), arch_prctl(2), capabilities, seccomp(2). */
#include "lib/compiler.h"

#define LX_PR_SET_PDEATHSIG             1
#define LX_PR_GET_PDEATHSIG             2
#define LX_PR_GET_DUMPABLE              3
#define LX_PR_SET_DUMPABLE              4
#define LX_PR_GET_UNALIGN               5
#define LX_PR_SET_UNALIGN               6
#define LX_PR_GET_KEEPCAPS              7
#define LX_PR_SET_KEEPCAPS              8
#define LX_PR_GET_FPEMU                 9
#define LX_PR_SET_FPEMU                 10
#define LX_PR_GET_FPEXC                 11
#define LX_PR_SET_FPEXC                 12
#define LX_PR_GET_TIMING                13
#define LX_PR_SET_TIMING                14
#define LX_PR_SET_NAME                  15
#define LX_PR_GET_NAME                  16
#define LX_PR_GET_SECCOMP               21
#define LX_PR_SET_SECCOMP               22
#define LX_PR_CAPBSET_READ              23
#define LX_PR_CAPBSET_DROP              24
#define LX_PR_GET_TSC                   25
#define LX_PR_SET_TSC                   26
#define LX_PR_GET_SECUREBITS            27
#define LX_PR_SET_SECUREBITS            28
#define LX_PR_SET_TIMERSLACK            29
#define LX_PR_GET_TIMERSLACK            30
#define LX_PR_TASK_PERF_EVENTS_DISABLE  31
#define LX_PR_TASK_PERF_EVENTS_ENABLE   32
#define LX_PR_MCE_KILL                  33
#define LX_PR_MCE_KILL_GET              34
#define LX_PR_SET_MM                    35
#define LX_PR_SET_PTRACER               1499557217
#define LX_PR_SET_CHILD_SUBREAPER       36
#define LX_PR_GET_CHILD_SUBREAPER       37
#define LX_PR_SET_NO_NEW_PRIVS          38
#define LX_PR_GET_NO_NEW_PRIVS          39
#define LX_PR_GET_TID_ADDRESS           40
#define LX_PR_SET_THP_DISABLE           41
#define LX_PR_GET_THP_DISABLE           42
#define LX_PR_CAP_AMBIENT               47
#define LX_PR_GET_SPECULATION_CTRL      52
#define LX_PR_SET_SPECULATION_CTRL      53
#define LX_PR_SET_IO_FLUSHER            57
#define LX_PR_GET_IO_FLUSHER            58
#define LX_PR_SET_SYSCALL_USER_DISPATCH 59
#define LX_PR_SCHED_CORE                62
#define LX_PR_SET_MDWE                  65
#define LX_PR_GET_MDWE                  66
#define LX_PR_SET_VMA                   1398164801
#define LX_PR_SET_VMA_ANON_NAME         0
#define LX_PR_GET_AUXV                  0x41555856
#define LX_PR_CAP_AMBIENT_IS_SET        1
#define LX_PR_CAP_AMBIENT_RAISE         2
#define LX_PR_CAP_AMBIENT_LOWER         3
#define LX_PR_CAP_AMBIENT_CLEAR_ALL     4
#define LX_PR_SPEC_L1D_FLUSH            2
#define LX_PR_TSC_ENABLE                1
#define LX_PR_TSC_SIGSEGV               2
#define LX_TASK_COMM_LEN                16

/* arch_prctl(2) */
#define LX_ARCH_SET_GS         0x1001
#define LX_ARCH_SET_FS         0x1002
#define LX_ARCH_GET_FS         0x1003
#define LX_ARCH_GET_GS         0x1004
#define LX_ARCH_GET_CPUID      0x1011
#define LX_ARCH_SET_CPUID      0x1012
#define LX_ARCH_GET_XCOMP_SUPP 0x1021
#define LX_ARCH_GET_XCOMP_PERM 0x1022
#define LX_ARCH_REQ_XCOMP_PERM 0x1023
#define LX_ARCH_SHSTK_ENABLE   0x5001
#define LX_ARCH_SHSTK_DISABLE  0x5002
#define LX_ARCH_SHSTK_STATUS   0x5005

/* capget(2), capset(2) */
#define LX_LINUX_CAPABILITY_VERSION_1 0x19980330
#define LX_LINUX_CAPABILITY_VERSION_2 0x20071026
#define LX_LINUX_CAPABILITY_VERSION_3 0x20080522
#define LX_CAP_CHOWN                  0
#define LX_CAP_DAC_OVERRIDE           1
#define LX_CAP_DAC_READ_SEARCH        2
#define LX_CAP_FOWNER                 3
#define LX_CAP_FSETID                 4
#define LX_CAP_KILL                   5
#define LX_CAP_SETGID                 6
#define LX_CAP_SETUID                 7
#define LX_CAP_SETPCAP                8
#define LX_CAP_LINUX_IMMUTABLE        9
#define LX_CAP_NET_BIND_SERVICE       10
#define LX_CAP_NET_BROADCAST          11
#define LX_CAP_NET_ADMIN              12
#define LX_CAP_NET_RAW                13
#define LX_CAP_IPC_LOCK               14
#define LX_CAP_IPC_OWNER              15
#define LX_CAP_SYS_MODULE             16
#define LX_CAP_SYS_RAWIO              17
#define LX_CAP_SYS_CHROOT             18
#define LX_CAP_SYS_PTRACE             19
#define LX_CAP_SYS_PACCT              20
#define LX_CAP_SYS_ADMIN              21
#define LX_CAP_SYS_BOOT               22
#define LX_CAP_SYS_NICE               23
#define LX_CAP_SYS_RESOURCE           24
#define LX_CAP_SYS_TIME               25
#define LX_CAP_SYS_TTY_CONFIG         26
#define LX_CAP_MKNOD                  27
#define LX_CAP_LEASE                  28
#define LX_CAP_AUDIT_WRITE            29
#define LX_CAP_AUDIT_CONTROL          30
#define LX_CAP_SETFCAP                31
#define LX_CAP_MAC_OVERRIDE           32
#define LX_CAP_MAC_ADMIN              33
#define LX_CAP_SYSLOG                 34
#define LX_CAP_WAKE_ALARM             35
#define LX_CAP_BLOCK_SUSPEND          36
#define LX_CAP_AUDIT_READ             37
#define LX_CAP_PERFMON                38
#define LX_CAP_BPF                    39
#define LX_CAP_CHECKPOINT_RESTORE     40
#define LX_CAP_LAST_CAP               40
#define LX_CAP_FULL_SET               ((1ull << (LX_CAP_LAST_CAP + 1)) - 1)

struct lx_cap_user_header {
    uint32_t version;
    int32_t pid;
};

/* Version 2 and 3: two of these, low word first. */
struct lx_cap_user_data {
    uint32_t effective;
    uint32_t permitted;
    uint32_t inheritable;
};

/* securebits */
#define LX_SECURE_NOROOT               0
#define LX_SECURE_NO_SETUID_FIXUP      2
#define LX_SECURE_KEEP_CAPS            4
#define LX_SECURE_NO_CAP_AMBIENT_RAISE 6

/* seccomp(2) */
#define LX_SECCOMP_MODE_DISABLED                  0
#define LX_SECCOMP_MODE_STRICT                    1
#define LX_SECCOMP_MODE_FILTER                    2
#define LX_SECCOMP_SET_MODE_STRICT                0
#define LX_SECCOMP_SET_MODE_FILTER                1
#define LX_SECCOMP_GET_ACTION_AVAIL               2
#define LX_SECCOMP_GET_NOTIF_SIZES                3
#define LX_SECCOMP_FILTER_FLAG_TSYNC              0x1
#define LX_SECCOMP_FILTER_FLAG_LOG                0x2
#define LX_SECCOMP_FILTER_FLAG_SPEC_ALLOW         0x4
#define LX_SECCOMP_FILTER_FLAG_NEW_LISTENER       0x8
#define LX_SECCOMP_FILTER_FLAG_TSYNC_ESRCH        0x10
#define LX_SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV 0x20
#define LX_SECCOMP_RET_KILL_PROCESS               0x80000000u
#define LX_SECCOMP_RET_KILL_THREAD                0x0
#define LX_SECCOMP_RET_TRAP                       0x30000
#define LX_SECCOMP_RET_ERRNO                      0x50000
#define LX_SECCOMP_RET_USER_NOTIF                 0x7fc00000
#define LX_SECCOMP_RET_TRACE                      0x7ff00000
#define LX_SECCOMP_RET_LOG                        0x7ffc0000
#define LX_SECCOMP_RET_ALLOW                      0x7fff0000
#define LX_SECCOMP_RET_ACTION_FULL                0xffff0000u
#define LX_SECCOMP_RET_DATA                       0xffff
#define LX_AUDIT_ARCH_X86_64                      0xc000003eu

struct lx_seccomp_data {
    int32_t nr;
    uint32_t arch;
    uint64_t instruction_pointer;
    uint64_t args[6];
};

struct lx_sock_filter {
    uint16_t code;
    uint8_t jt;
    uint8_t jf;
    uint32_t k;
};

struct lx_sock_fprog {
    uint16_t len;
    uint16_t pad0[3];
    uint64_t filter;
};
