#pragma once
/*
 * The control socket of a running sandbox: control.sock in its state directory, AF_UNIX
 * SOCK_SEQPACKET, bound before the sentry confines itself and accepted by it (control_server.c).
 *
 * One struct control_request a message, one or more struct control_reply. Connections are the
 * owner's alone (the directory is 0700), but nothing in a message is believed all the same: sizes
 * are fixed, counts are capped, strings of an exec come in a sealed memfd that is copied once.
 *
 *   op      request                  answers
 *   START                            DONE | FAILED (EALREADY: a second time)
 *   EXEC    + memfd, 3 or more fds    STARTED(pid), then EXITED(wait status) | FAILED(text, status)
 *   SIGNAL  pid, signal              DONE | FAILED
 *   WAIT    pid (0: init)            EXITED(wait status) | FAILED
 *   PS                               PROCESSES + a memfd with `count` struct control_process
 *   STATS                            STATS | FAILED
 *   RESIZE  pid, rows, cols          DONE | FAILED
 *   PAUSE, RESUME                    DONE | FAILED
 *   LIMIT   value: tasks             DONE | FAILED (EINVAL: more than the sandbox has room for)
 *
 * Pids are the guest's; in SIGNAL 0 is init and -1 everybody. On the connection of an EXEC, RESIZE
 * and SIGNAL with pid CONTROL_OWN mean its process and are not answered. A connection that closes
 * early changes nothing for the process.
 *
 * The client functions below block, and return 0 or -errno with one sentence in err.
 */
#include "lib/compiler.h"

#include <sys/types.h>

#include "lib/buf.h"
#include "sentry/cli/boot.h"

struct error;

#define CONTROL_MAGIC 0x53435431u /* "SCT1" */
#define CONTROL_SOCK  "control.sock"

enum {
    CONTROL_MAX_CONNECTIONS = 64,
    CONTROL_MAX_BLOB = 4 << 20,
    CONTROL_EXEC_FDS =
        4, /* memfd, stdin, stdout, stderr; behind them what is passed on as 3, 4 ... */
    CONTROL_EXEC_MAX_FDS = CONTROL_EXEC_FDS + BOOT_MAX_PRESERVED,
    CONTROL_OWN = -2
};

enum control_op {
    CONTROL_START = 1,
    CONTROL_EXEC,
    CONTROL_SIGNAL,
    CONTROL_WAIT,
    CONTROL_PS,
    CONTROL_STATS,
    CONTROL_RESIZE,
    CONTROL_PAUSE,
    CONTROL_RESUME,
    CONTROL_LIMIT
};

struct control_request {
    uint32_t magic, op;
    int32_t pid, signal;
    uint16_t rows, cols;
    uint32_t value; /* 0 where nothing is said of it */
};

enum control_kind {
    CONTROL_DONE = 1,
    CONTROL_FAILED,
    CONTROL_STARTED,
    CONTROL_EXITED,
    CONTROL_PROCESSES,
    CONTROL_STATISTICS
};

struct control_process {
    uint32_t pid, ppid, pgid, sid, uid, threads;
    uint64_t cpu_ns, start_ns; /* start: since the sandbox began */
    uint64_t rss;              /* bytes, an upper bound */
    char state;                /* R S D T Z */
    char comm[16];
    char command[232]; /* arguments, blanks between; bytes of the guest */
};

struct control_stats {
    uint64_t cpu_ns, memory, memory_limit; /* memory: bytes of all address spaces, an upper bound */
    uint64_t tasks, tasks_peak, tasks_limit;
    uint64_t processes, disk, disk_peak, syscalls, uptime_ns;
    uint32_t paused, waiting; /* waiting: created, not started */
};

struct control_reply {
    uint32_t magic, kind;
    int32_t pid;         /* STARTED */
    uint32_t count;      /* PROCESSES */
    int32_t wait_status; /* EXITED */
    int32_t error;       /* FAILED: errno */
    int32_t exit_code;   /* FAILED: 126, 127, or 1 */
    uint32_t reserved;
    union {
        char text[400]; /* FAILED */
        struct control_stats stats;
    };
};

/* -- an exec --------------------------------------------------------------------------------------
 */
struct control_exec {
    const char *const *argv; /* NULL-terminated, at least one */
    const char *const *env;  /* NULL-terminated; may be NULL */
    const char *cwd;         /* NULL: the first process's */
    const char *user;        /* NULL with !process.ids_given: the first process's */
    bool inherit;  /* env is added to the first process's; what `process` leaves open is as there */
    bool terminal; /* a terminal of its own, joined to stdin and stdout (raw on the host) */
    uint16_t rows, cols;
    struct boot_process process;
    const int *preserved; /* the caller's descriptors that it gets as 3, 4 ...; not in the blob */
    size_t npreserved;    /* at most BOOT_MAX_PRESERVED */
};

/* -ENOMEM, -E2BIG. */
int control_exec_pack(const struct control_exec *ex, struct buf *out) MUST_CHECK;

/* A parsed blob: ex borrows the bytes. */
struct control_exec_parsed {
    struct control_exec ex;
    const char **argv, **env; /* owned */
};
/* -EBADMSG for anything that control_exec_pack does not make; -ENOMEM. */
int control_exec_parse(const void *blob, size_t len, struct control_exec_parsed *ret) MUST_CHECK;
void control_exec_parsed_done(struct control_exec_parsed *p);

/* -- client ---------------------------------------------------------------------------------------
 */

/* A socket for boot.listen_fd, and its binding in the directory, where it then listens. Any path
 * length is fine. */
int control_socket(int *ret_fd, struct error *err) MUST_CHECK;
int control_bind(int dir_fd, int fd, struct error *err) MUST_CHECK;
/* Both. */
int control_listen(int dir_fd, int *ret_fd, struct error *err) MUST_CHECK;
/* -ECONNREFUSED, -ENOENT: the sandbox has ended. */
int control_connect(int dir_fd, int *ret_sock, struct error *err) MUST_CHECK;

/* Sends the request with its stdio (borrowed); *ret_pid is the new process, or *ret_exit_code what
 * to exit with (126, 127, 1) when it failed. The connection then belongs to this exec. */
int control_exec(int sock, const struct control_exec *ex, const int stdio[3], int32_t *ret_pid,
                 int *ret_exit_code, struct error *err) MUST_CHECK;
/* Until the process of an EXEC or WAIT connection has ended. If the sandbox ends first the status
 * is that of SIGKILL. */
int control_wait_exit(int sock, int *ret_wait_status, struct error *err) MUST_CHECK;
/* One message of such a connection, which poll has found readable: it may be the end. */
int control_read_exit(int sock, bool *ret_exited, int *ret_wait_status, struct error *err)
    MUST_CHECK;

int control_start(int sock, struct error *err) MUST_CHECK;
/* -ESRCH, -EINVAL. */
int control_signal(int sock, int32_t pid, int signo, struct error *err) MUST_CHECK;
/* Then control_wait_exit. */
int control_wait(int sock, int32_t pid, struct error *err) MUST_CHECK;
int control_resize(int sock, int32_t pid, uint16_t rows, uint16_t cols, struct error *err)
    MUST_CHECK;
/* On the connection of an exec: not answered, nothing is waited for. */
void control_resize_own(int sock, uint16_t rows, uint16_t cols);
void control_signal_own(int sock, int signo);
int control_pause(int sock, bool pause, struct error *err) MUST_CHECK;
/* At most so many tasks from now on; UINT32_MAX: as many as there is room for. Those that are there
 * stay. */
int control_limit_tasks(int sock, uint32_t tasks, struct error *err) MUST_CHECK;
int control_stats(int sock, struct control_stats *ret, struct error *err) MUST_CHECK;
/* *ret: kfree. */
int control_ps(int sock, struct control_process **ret, size_t *ret_n, struct error *err) MUST_CHECK;

/* -- in the sentry --------------------------------------------------------------------------------
 */
struct tty_master;
struct user_ids;

struct control_server {
    const struct boot *boot;
    const struct user_ids *ids; /* of the first process */
    struct tty_master *console; /* of the first process, or NULL */
    bool (*start)(void);        /* CONTROL_START; false: not held */
};
/* cfg is copied, what it points to lives on. */
void control_server_begin(const struct control_server *cfg);
/* Serves who connects to fd, a listening socket, the server's from here on. 0 or -errno: EBUSY
 * after the first. */
int control_server_listen(int fd) MUST_CHECK;
void control_server_console_gone(void);
/* Init has ended, and with it all others: tells everybody who waits. */
void control_server_end(void);
