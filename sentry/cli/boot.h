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

enum {
    BOOT_MAX_VOLUMES = 15,
    BOOT_MAX_TMPFS = 16,
    BOOT_MAX_ENV = 1024
};

struct boot_volume {
    int fd;      /* O_PATH directory on the host */
    char *guest; /* absolute path in the sandbox */
};

struct boot_tmpfs {
    char *path;
    uint64_t size; /* bytes, 0: the disk limit only */
};

struct boot_limits {
    uint64_t wall_ns; /* 0: none */
    uint64_t cpu_ns;  /* 0: none */
    uint64_t memory;  /* bytes */
    uint64_t pids, files, file_size, disk, output;
    uint32_t cpus_milli; /* 0: no limit */
};

struct boot {
    int image_fd; /* O_PATH directory: the root file system */
    char **argv;  /* NULL-terminated */
    char *env[BOOT_MAX_ENV + 1];
    size_t nenv;
    char *cwd;
    char *hostname;
    char *user; /* "UID[:GID]" or a name of the image's /etc/passwd; NULL: 65534 */
    bool writable, tty, strace, capture;
    char *log_spec;
    int strace_fd, log_fd; /* -1: none / standard error */
    char *report_path; /* where the report goes; "-": the last line of standard error; NULL: none */
    struct boot_shared *shared; /* MAP_SHARED, made by the monitor before the fork */
    size_t shared_size;
    struct boot_volume volumes[BOOT_MAX_VOLUMES];
    size_t nvolumes;
    struct boot_tmpfs tmpfs[BOOT_MAX_TMPFS];
    size_t ntmpfs;
    struct boot_limits limits;
};

void boot_init(struct boot *b);
void boot_done(struct boot *b);
/* Sets or replaces "K=V". -E2BIG. */
int boot_env_set(struct boot *b, const char *assignment, struct error *err) MUST_CHECK;
bool boot_env_has(const struct boot *b, const char *key);

/* What the sentry says to the monitor over the control socket, one message each. */
enum boot_message_kind {
    BOOT_STARTED,
    BOOT_ENDED,
    BOOT_FAILED
};
struct boot_message {
    uint32_t kind;
    int32_t status;   /* ENDED: wait status; FAILED: exit status (125 126 127) */
    uint32_t verdict; /* ENDED: enum verdict */
    uint32_t pids_peak;
    uint64_t cpu_ns, syscalls, disk_peak;
    uint32_t unsupported[512]; /* refused calls by number */
    char text[400];            /* FAILED: the sentence; ENDED: internal error text or "" */
};

/* Memory that monitor and sentry share, so that it survives the death of the sentry: output counts,
 * and behind the structure (with --capture) two areas of limits.output bytes for what went out. */
struct boot_shared {
    struct host_output output[2]; /* stdout, stderr */
};

/* The sentry process: never returns. control and gofer_sock are its ends. */
NORETURN void sentry_main(struct boot *b, int control, int gofer_sock);
