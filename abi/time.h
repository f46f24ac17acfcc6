#pragma once
/* Time, and the small structures that report on the system or a process. */
#include "lib/compiler.h"

struct lx_timespec {
    int64_t tv_sec;
    int64_t tv_nsec;
};

struct lx_timeval {
    int64_t tv_sec;
    int64_t tv_usec;
};

struct lx_timezone {
    int32_t tz_minuteswest;
    int32_t tz_dsttime;
};

struct lx_itimerspec {
    struct lx_timespec it_interval;
    struct lx_timespec it_value;
};

struct lx_itimerval {
    struct lx_timeval it_interval;
    struct lx_timeval it_value;
};

/* clocks */
#define LX_CLOCK_REALTIME           0
#define LX_CLOCK_MONOTONIC          1
#define LX_CLOCK_PROCESS_CPUTIME_ID 2
#define LX_CLOCK_THREAD_CPUTIME_ID  3
#define LX_CLOCK_MONOTONIC_RAW      4
#define LX_CLOCK_REALTIME_COARSE    5
#define LX_CLOCK_MONOTONIC_COARSE   6
#define LX_CLOCK_BOOTTIME           7
#define LX_CLOCK_REALTIME_ALARM     8
#define LX_CLOCK_BOOTTIME_ALARM     9
#define LX_CLOCK_TAI                11
#define LX_MAX_CLOCKS               16

/* A negative clock id names a process or thread: ~pid << 3 | per-thread bit 4 | kind. */
#define LX_CPUCLOCK_PID(id)       ((int32_t) ~((id) >> 3))
#define LX_CPUCLOCK_PERTHREAD(id) (((id)&4) != 0)
#define LX_CPUCLOCK_WHICH(id)     ((id)&3)
#define LX_CPUCLOCK_PROF          0
#define LX_CPUCLOCK_VIRT          1
#define LX_CPUCLOCK_SCHED         2
#define LX_CLOCKFD                3

#define LX_TIMER_ABSTIME           1
#define LX_ITIMER_REAL             0
#define LX_ITIMER_VIRTUAL          1
#define LX_ITIMER_PROF             2
#define LX_TFD_TIMER_ABSTIME       01
#define LX_TFD_TIMER_CANCEL_ON_SET 02
#define LX_TFD_CLOEXEC             02000000
#define LX_TFD_NONBLOCK            04000
#define LX_TFD_IOC_SET_TICKS       0x40085400

#define LX_NSEC_PER_SEC  1000000000ll
#define LX_NSEC_PER_USEC 1000ll
#define LX_USEC_PER_SEC  1000000ll
/* clock_t in times(2), /proc and siginfo */
#define LX_USER_HZ 100

/* adjtimex(2): 208 bytes. */
struct lx_timex {
    uint32_t modes;
    int32_t pad0;
    int64_t offset;
    int64_t freq;
    int64_t maxerror;
    int64_t esterror;
    int32_t status;
    int32_t pad1;
    int64_t constant;
    int64_t precision;
    int64_t tolerance;
    struct lx_timeval time;
    int64_t tick;
    int64_t ppsfreq;
    int64_t jitter;
    int32_t shift;
    int32_t pad2;
    int64_t stabil;
    int64_t jitcnt;
    int64_t calcnt;
    int64_t errcnt;
    int64_t stbcnt;
    int32_t tai;
    int32_t reserved[11];
};

#define LX_STA_UNSYNC 0x40
#define LX_TIME_OK    0
#define LX_TIME_ERROR 5

/* times(2) */
struct lx_tms {
    int64_t tms_utime;
    int64_t tms_stime;
    int64_t tms_cutime;
    int64_t tms_cstime;
};

/* getrusage(2), wait4(2) */
struct lx_rusage {
    struct lx_timeval ru_utime;
    struct lx_timeval ru_stime;
    int64_t ru_maxrss; /* KiB */
    int64_t ru_ixrss;
    int64_t ru_idrss;
    int64_t ru_isrss;
    int64_t ru_minflt;
    int64_t ru_majflt;
    int64_t ru_nswap;
    int64_t ru_inblock;
    int64_t ru_oublock;
    int64_t ru_msgsnd;
    int64_t ru_msgrcv;
    int64_t ru_nsignals;
    int64_t ru_nvcsw;
    int64_t ru_nivcsw;
};

#define LX_RUSAGE_SELF     0
#define LX_RUSAGE_CHILDREN (-1)
#define LX_RUSAGE_BOTH     (-2)
#define LX_RUSAGE_THREAD   1

/* uname(2) */
#define LX_NEW_UTS_LEN 64

struct lx_utsname {
    char sysname[LX_NEW_UTS_LEN + 1];
    char nodename[LX_NEW_UTS_LEN + 1];
    char release[LX_NEW_UTS_LEN + 1];
    char version[LX_NEW_UTS_LEN + 1];
    char machine[LX_NEW_UTS_LEN + 1];
    char domainname[LX_NEW_UTS_LEN + 1];
};

/* sysinfo(2): 112 bytes */
struct lx_sysinfo {
    int64_t uptime;
    uint64_t loads[3]; /* fixed point, 16 bits of fraction */
    uint64_t totalram;
    uint64_t freeram;
    uint64_t sharedram;
    uint64_t bufferram;
    uint64_t totalswap;
    uint64_t freeswap;
    uint16_t procs;
    uint16_t pad;
    uint32_t pad1;
    uint64_t totalhigh;
    uint64_t freehigh;
    uint32_t mem_unit;
    uint32_t pad2;
};
