#pragma once
/*
 * The root object: one sandbox per sentry process, so there is exactly one, `kernel`. It is the one
 * global of the kernel; unit tests reset it through kernel_init/kernel_done.
 */
#include "lib/compiler.h"

#include "abi/rlimit.h"

#include "platform/platform.h"

#include "lib/list.h"
#include "sentry/kernel/timer.h"
#include "sentry/kernel/verdict.h"

struct mount;
struct super;
struct tty_master;
struct task;
struct thread_group;
struct error;
struct file;

struct kernel {
    struct plat *plat;
    struct plat_layout layout;
    char hostname[65], domainname[65];
    uint64_t boot_realtime;  /* ns of CLOCK_REALTIME at start */
    uint64_t boot_monotonic; /* ns of the host CLOCK_MONOTONIC that guests see as zero */
    uint32_t seed;           /* of hash tables */
    uint64_t memory_limit;   /* bytes that /proc/meminfo and sysinfo call total; 0: not set */
    uint32_t cpus;           /* processors that the guest sees; 0: the host's */
    uint64_t cpu_milli;      /* CPU share in thousandths of a processor; 0: no limit */
    struct mount *root_mount;
    struct list_head mounts;   /* mount.all_link, in mount order */
    struct list_head groups;   /* thread_group.all_link */
    struct thread_group *init; /* the first process: adopts orphans, its exit ends the run */
    struct task *current;      /* whose call is being handled; NULL outside of handlers */
    struct task *held;         /* the first process, loaded but not started (counted), or NULL */
    bool init_protected;       /* signals reach init as the first process of a pid namespace */
    bool paused;               /* no guest code runs: kernel_pause */
    bool ended;                /* the run is over: verdict (and exit_status) are final */
    enum verdict verdict;      /* set by kernel_end; NONE: init ended by itself */
    int exit_status;           /* wait status of init */
    const char *fatal;         /* internal-error text, or NULL */
    bool strace;
    bool chaos; /* debug builds: blocked calls are woken at random (docs/debugging.md) */
    uint64_t nsyscalls;
    uint32_t unsupported[512]; /* refused calls by number, for the report */
    uint64_t tasks_max; /* LIMIT_TASKS can be raised to this; RLIMIT_NPROC of the first process */
    bool end_on_pids;   /* crossing the task limit ends the run (else EAGAIN) */
    uint64_t cpu_done;  /* ns of CPU of groups that have ended */
    uint64_t cpu_limit; /* ns, 0: none */
    uint64_t cpu_own;   /* ns that the sentry itself had used when the program started */
    struct timer cpu_timer;
    bool lingering; /* init has ended; only its tasks' number can still change the verdict */
    uint64_t nclones;
    struct seccomp_filter *seccomp_profile; /* of processes from outside; NULL: none */
    uint64_t start_files, start_file_size; /* RLIMIT_NOFILE and RLIMIT_FSIZE of the first process */
};

extern struct kernel kernel;

int kernel_init(struct plat *p, struct error *err) MUST_CHECK;
/* Ends every process and frees everything; the platform is the caller's to shut down. */
void kernel_done(void);

/* What a process from outside looks like: the first one, or one that execs into the sandbox.
 * Strings are borrowed. */
struct kernel_start {
    const char *const *argv, *const *envp; /* NULL-terminated */
    const char *cwd;
    uint32_t uid, gid;
    uint32_t ngroups;
    const uint32_t *groups;
    struct {
        uint64_t effective, permitted, inheritable, bounding, ambient;
    } caps; /* before its execve, which changes them as capabilities(7) says */
    bool no_new_privs;
    uint32_t umask;
    int oom_score_adj;
    uint32_t rlimits_given; /* bit N: rlimit[N] instead of the sandbox's own */
    struct lx_rlimit rlimit[LX_RLIM_NLIMITS];
    int stdio[3];                /* host descriptors, owned by the kernel from here on; -1: none */
    struct file *stdio_files[3]; /* or guest files (a pty), borrowed; NULL: use stdio */
    struct file *const *files;   /* borrowed: descriptors 3, 4 ... */
    size_t nfiles;
    struct tty_master *console; /* of the process's session, or NULL */
    bool hold;                  /* the first process: load it, start it with kernel_release_init */
};
/* Makes the first process; the mounts exist. -ENOENT/-EACCES/-ENOEXEC... as execve, then *ret_exec
 * says that it was the program that could not be executed. */
int kernel_start_init(const struct kernel_start *start, bool *ret_exec, struct error *err)
    MUST_CHECK;
/* Lets a held first process go; false when none is held. */
bool kernel_release_init(void);
/* Makes one more process: without a parent, in a session of its own. *ret_tg is counted; its
 * exit_wait queue is woken when it has ended, with exit_code as its wait status. On failure nothing
 * of it is left. */
int kernel_exec_process(const struct kernel_start *start, struct thread_group **ret_tg,
                        bool *ret_exec, struct error *err) MUST_CHECK;
/* Holds every guest thread, or lets all go on. Takes effect before the worker waits again. */
void kernel_pause(bool pause);
/* ns of CPU time of all guest threads, dead ones included: the user time of a run. */
uint64_t kernel_cputime(void);
/* ns that the sentry has worked since the program started: the system time of a run. */
uint64_t kernel_systime(void);
/* Starts watching kernel.cpu_limit. */
void kernel_watch_cpu(void);
/* Runs events until the first process has ended (kernel.ended) or the sandbox failed. */
void kernel_run(void);
