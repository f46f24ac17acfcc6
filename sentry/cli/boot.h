#pragma once
/*
 * boot.h: the boot description, the one way to start a sandbox. The command line (and the OCI
 * command) turn what they were given into a struct boot, validated; sandbox_start makes the
 * processes.
 *
 * All strings are owned by the description (boot_done). Descriptors in it are owned too and
 * close-on-exec.
 */
#include "lib/compiler.h"

#include "lib/error.h"
#include "sentry/fs/dev/host_file.h"
#include "sentry/kernel/usage.h"

enum {
    BOOT_MAX_VOLUMES = 15,
    BOOT_MAX_TMPFS = 16,
    BOOT_MAX_ENV = 1024,
    BOOT_MAX_MOUNTS = 64,
    BOOT_MAX_PATHS = 64,
    BOOT_MAX_SYSCTLS = 64,
    BOOT_MAX_DEVICES = 32,
    BOOT_MAX_CGROUPS = 16,
    BOOT_MAX_GROUPS = 64,
    BOOT_MAX_PRESERVED = 12,
    BOOT_OCI_TASKS = 4096, /* a container has room for so many, whatever its limit is now */
    BOOT_RLIMITS = 16
};
/* A limit that is none; for limits.pids, files, file_size, disk and output. */
#define BOOT_UNLIMITED UINT64_MAX

struct boot_volume {
    int fd;      /* O_PATH: a directory or regular file of the host */
    char *guest; /* absolute path in the sandbox */
};

struct boot_tmpfs {
    char *path;
    uint64_t size; /* bytes, 0: the disk limit only */
};

/* The least memory that a sandbox starts with. A build with sanitizers needs more, and says so only
 * when it fails. */
#define BOOT_MEMORY_MIN (8ull << 20)

struct boot_limits {
    uint64_t wall_ns; /* 0: none */
    uint64_t cpu_ns;  /* 0: none */
    uint64_t memory;  /* bytes */
    uint64_t pids, files, file_size, disk, output;
    uint32_t cpus_milli; /* 0: no limit */
    uint32_t cgroup;     /* enum cgroup_choice (cgroup.h) */
};

/* Who a process is and what it may, beyond its strings: for the first one and for those of exec. */
struct boot_process {
    bool ids_given; /* uid, gid, groups count, and no user is looked up */
    uint32_t uid, gid, ngroups;
    uint32_t groups[BOOT_MAX_GROUPS]; /* supplementary */
    bool caps_given; /* else all for uid 0 and none for others; bit N: capability N */
    uint64_t cap_bounding, cap_effective, cap_inheritable, cap_permitted, cap_ambient;
    bool no_new_privs;
    bool umask_given;
    uint32_t umask;
    bool oom_given;
    int32_t oom_score_adj;
    uint32_t rlimits_given; /* bit N: rlimit[N] counts (RLIMIT_* numbers) */
    struct {
        uint64_t cur, max; /* UINT64_MAX: infinity */
    } rlimit[BOOT_RLIMITS];
    bool find_home; /* without HOME in the environment: the user's of /etc/passwd, else "/" */
};

enum boot_mount_type {
    BOOT_MOUNT_PROC,
    BOOT_MOUNT_SYSFS,
    BOOT_MOUNT_TMPFS,
    BOOT_MOUNT_DEV, /* a tmpfs at /dev and the usual devices in it */
    BOOT_MOUNT_DEVPTS,
    BOOT_MOUNT_MQUEUE,
    BOOT_MOUNT_CGROUP,
    BOOT_MOUNT_BIND
};

enum {
    BOOT_MS_RDONLY = 1,
    BOOT_MS_NOSUID = 2,
    BOOT_MS_NODEV = 4,
    BOOT_MS_NOEXEC = 8,
    BOOT_MS_NOATIME = 16
};

/* One entry of the ordered list. */
struct boot_mount {
    enum boot_mount_type type;
    int fd;              /* BIND: O_PATH, a directory or a file; else -1 */
    char *guest;         /* absolute path in the sandbox; what is missing of it is made */
    char *source;        /* what /proc/mounts says; NULL: a word for the type */
    uint32_t flags;      /* BOOT_MS_* */
    bool recursive;      /* BIND: with what the host has mounted below it */
    uint64_t size;       /* TMPFS: bytes, 0: the disk limit only */
    uint64_t max_inodes; /* TMPFS: 0: the disk limit only */
    bool mode_given;
    uint32_t mode;     /* TMPFS: of its root, else 01777 */
    uint32_t uid, gid; /* TMPFS: of its root */
    bool copy_up;      /* TMPFS: starts with what the image has there (tmpcopyup) */
};

struct boot_sysctl {
    char *name, *value; /* "net.ipv4.ip_forward" or "kernel.hostname" */
};

struct boot_device {
    char *path;
    bool block;
    uint32_t major, minor, mode, uid, gid;
};

struct lx_sock_filter;

struct boot {
    int image_fd;     /* O_PATH directory: the root file system */
    int image_use_fd; /* keeps a stored image from being removed while the monitor lives; -1 */
    char **argv;      /* NULL-terminated */
    char *env[BOOT_MAX_ENV + 1];
    size_t nenv;
    char *cwd;
    char *hostname;
    char *user; /* "UID[:GID]" or a name of the image's /etc/passwd; NULL: 65534 */
    bool writable, tty, strace, capture;
    /* With writable: the root is image_fd itself, written through by the volume server as its first
     * root; there is no overlay and no server of the image. */
    bool root_through;
    char *log_spec;
    int strace_fd, log_fd; /* -1: none / standard error */
    char *name;            /* its id in the state directory; NULL: one is made up */
    char *report_path; /* where the report goes; "-": the last line of standard error; NULL: none */
    struct boot_shared *shared; /* MAP_SHARED, made by the monitor before the fork */
    size_t shared_size;
    struct boot_volume volumes[BOOT_MAX_VOLUMES];
    size_t nvolumes;
    struct boot_tmpfs tmpfs[BOOT_MAX_TMPFS];
    size_t ntmpfs;
    struct boot_limits limits;
    struct boot_process process;

    /* -- what the OCI command adds; boot_init leaves all of it off --------------------------- */

    bool wait_start; /* the first process is loaded, then held until CONTROL_START */
    bool
        oci;       /* signals reach the first process as a container's: what it does not handle is
                      ignored, but SIGKILL and SIGSTOP from outside. Too many tasks: EAGAIN, no verdict */
    int listen_fd; /* control socket, the sentry's: bound and listening; -1: none */
    bool listen_later; /* it is bound when the program runs, and BOOT_LISTEN says so */
    /* Descriptors of the caller that the first process gets as 3, 4 ...; owned. */
    int preserved[BOOT_MAX_PRESERVED];
    size_t npreserved;
    char *domainname;
    bool mounts_given; /* mounts is all there is besides the root: no default /proc, /dev, /tmp ...
                        */
    struct boot_mount mounts[BOOT_MAX_MOUNTS];
    size_t nmounts;
    char *masked[BOOT_MAX_PATHS], *readonly[BOOT_MAX_PATHS];
    size_t nmasked, nreadonly;
    struct boot_sysctl sysctls[BOOT_MAX_SYSCTLS];
    size_t nsysctls;
    struct boot_device devices[BOOT_MAX_DEVICES];
    size_t ndevices;
    /* A program of seccomp(2) that every process from outside starts with (seccomp_export_bpf makes
     * one of a profile); kalloc'd, owned; NULL: none. */
    struct lx_sock_filter *seccomp;
    size_t nseccomp; /* instructions */
    /* Directories of cgroups (v1: one a controller) that the caller made, limited and will remove:
     * gofer and sentry are put into each. With them the monitor makes no cgroup of its own. */
    char *cgroups[BOOT_MAX_CGROUPS];
    size_t ncgroups;
};

void boot_init(struct boot *b);
/* The defaults of an OCI container: no limit of its own, signals and tasks as boot.oci says. */
void boot_init_oci(struct boot *b);
void boot_done(struct boot *b);
/* Append to the lists; strings are copied, a mount's fd is taken over (also on failure). -E2BIG,
 * -ENOMEM. */
int boot_add_mount(struct boot *b, const struct boot_mount *m, struct error *err) MUST_CHECK;
int boot_add_masked(struct boot *b, const char *path, struct error *err) MUST_CHECK;
int boot_add_readonly(struct boot *b, const char *path, struct error *err) MUST_CHECK;
int boot_add_sysctl(struct boot *b, const char *name, const char *value, struct error *err)
    MUST_CHECK;
int boot_add_device(struct boot *b, const struct boot_device *d, struct error *err) MUST_CHECK;
int boot_add_cgroup(struct boot *b, const char *dir, struct error *err) MUST_CHECK;
/* How many roots the volume server has: the sandbox's root if it is written through, the volumes of
 * the command line, then the binds of the list. */
size_t boot_volumes(const struct boot *b);
/* The first of them is the sandbox's root. */
bool boot_root_through(const struct boot *b);
/* argv: NULL-terminated, replaces what was there. */
int boot_set_argv(struct boot *b, const char *const *argv, struct error *err) MUST_CHECK;
/* *slot is one of the strings of the description. */
int boot_set_string(char **slot, const char *value, struct error *err) MUST_CHECK;
/* Sets or replaces "K=V". -E2BIG. */
int boot_env_set(struct boot *b, const char *assignment, struct error *err) MUST_CHECK;
bool boot_env_has(const struct boot *b, const char *key);

/* What the sentry says to the monitor over the control socket, one message each. */
enum boot_message_kind {
    BOOT_STARTED,
    BOOT_ENDED,
    BOOT_FAILED,
    BOOT_CREATED /* with wait_start: loaded and held; BOOT_STARTED follows when it is let go */
};
struct boot_message {
    uint32_t kind;
    int32_t status;   /* ENDED: wait status; FAILED: exit status (125 126 127) */
    uint32_t verdict; /* ENDED: enum verdict */
    uint32_t pids_peak;
    uint64_t cpu_ns, cpu_system_ns, syscalls, disk_peak;
    uint32_t unsupported[512]; /* refused calls by number */
    char text[400];            /* FAILED: the sentence; ENDED: internal error text or "" */
};

/* Memory that monitor and sentry share, so that it survives the death of the sentry: counts,
 * and behind the structure (with --capture) two areas of limits.output bytes for what went out. */
struct boot_shared {
    struct host_output output[2]; /* stdout, stderr */
    struct usage usage;
};

/* What the monitor says to the sentry on that socket, besides a terminal's new size: that the run
 * has to end, and that boot.listen_fd listens now. */
#define BOOT_END    "end"
#define BOOT_LISTEN "l"

/* The sentry process: never returns. Its root is empty; proc_fd is the host's /proc. The sockets
 * are its ends; -1: no such server. */
NORETURN void sentry_main(struct boot *b, int proc_fd, int control, int gofer_sock,
                          int volume_sock);
