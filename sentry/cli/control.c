/*
 * control.c: the client's side of the control socket.
 */
#include "sentry/cli/control.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    BACKLOG = 64,
    PS_MAX = 65536,
    EXIT_OTHER = 1
};

/* -- the socket ----------------------------------------------------------------------------------
 */

/* sun_path is short and state directories may be deep: the name goes through the descriptor. */
static void address(int dir_fd, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" CONTROL_SOCK, dir_fd);
}

int control_socket(int *ret_fd, struct error *err)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno(err, errno, "control socket");
    *ret_fd = fd;
    return 0;
}

int control_bind(int dir_fd, int fd, struct error *err)
{
    struct sockaddr_un a;
    address(dir_fd, &a);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, BACKLOG) < 0)
        return error_errno(err, errno, "control socket");
    return 0;
}

int control_listen(int dir_fd, int *ret_fd, struct error *err)
{
    auto_fd int fd = -1;
    int r = control_socket(&fd, err);
    if (r == 0)
        r = control_bind(dir_fd, fd, err);
    if (r == 0)
        *ret_fd = take_fd(fd);
    return r;
}

int control_connect(int dir_fd, int *ret_sock, struct error *err)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_errno(err, errno, "control socket");
    address(dir_fd, &a);
    while (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
        int e = errno;
        if (e == EINTR)
            continue;
        (void)close(fd);
        return error_errno(err, e, "connecting to the sandbox");
    }
    *ret_sock = fd;
    return 0;
}

static int gone(struct error *err)
{
    return error_set(err, ECONNRESET, "the sandbox has ended");
}

static int send_request(int sock, const struct control_request *rq, const int *fds, size_t nfds,
                        struct error *err)
{
    int64_t n = fd_send(sock, rq, sizeof(*rq), fds, nfds, 0);
    if (n == -EPIPE || n == -ECONNRESET)
        return gone(err);
    if (n < 0)
        return error_errno(err, (int)-n, "asking the sandbox");
    return 0;
}

/* One answer, with a descriptor where ret_fd is not NULL; FAILED becomes the error. */
static int receive_reply_fd(int sock, struct control_reply *rp, int *ret_fd, struct error *err)
{
    size_t nfds = 0;
    int fd = -1;
    rp->kind = 0;
    int64_t n = fd_recv(sock, rp, sizeof(*rp), &fd, ret_fd != NULL ? 1 : 0, &nfds, 0);
    if (n == 0 || n == -ECONNRESET)
        return gone(err);
    if (n < 0)
        return error_errno(err, (int)-n, "the sandbox's answer");
    if (nfds == 1 && ret_fd != NULL)
        *ret_fd = fd;
    if (n != (int64_t)sizeof(*rp) || rp->magic != CONTROL_MAGIC)
        return error_set(err, EPROTO, "the sandbox's answer makes no sense");
    if (rp->kind != CONTROL_FAILED)
        return 0;
    rp->text[sizeof(rp->text) - 1] = '\0';
    return error_set(err, rp->error > 0 ? rp->error : EIO, "%s", rp->text);
}

static int receive_reply(int sock, struct control_reply *rp, struct error *err)
{
    return receive_reply_fd(sock, rp, NULL, err);
}

static int ask(int sock, const struct control_request *rq, uint32_t want, struct control_reply *rp,
               struct error *err)
{
    int r = send_request(sock, rq, NULL, 0, err);
    if (r == 0)
        r = receive_reply(sock, rp, err);
    if (r == 0 && rp->kind != want)
        r = error_set(err, EPROTO, "the sandbox's answer makes no sense");
    return r;
}

static int ask_done(int sock, const struct control_request *rq, struct error *err)
{
    struct control_reply rp;
    return ask(sock, rq, CONTROL_DONE, &rp, err);
}

/* -- exec ----------------------------------------------------------------------------------------
 */

static int blob_fd(const struct control_exec *ex, int *ret_fd, struct error *err)
{
    struct buf b;
    buf_init(&b, CONTROL_MAX_BLOB);
    int r = control_exec_pack(ex, &b);
    int fd = -1;
    if (r == 0) {
        fd = memfd_create("exec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
            r = -errno;
    }
    if (r == 0)
        r = fd_write_full(fd, b.data, b.len);
    if (r == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        r = -errno;
    buf_done(&b);
    if (r < 0) {
        fd_close(fd);
        return error_errno(err, -r, "arguments of the program");
    }
    *ret_fd = fd;
    return 0;
}

int control_exec(int sock, const struct control_exec *ex, const int stdio[3], int32_t *ret_pid,
                 int *ret_exit_code, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_EXEC};
    struct control_reply rp;
    int blob = -1;

    *ret_exit_code = EXIT_OTHER;
    int r = blob_fd(ex, &blob, err);
    if (r < 0)
        return r;
    int fds[CONTROL_EXEC_MAX_FDS] = {blob, stdio[0], stdio[1], stdio[2]};
    size_t n = MIN(ex->npreserved, (size_t)BOOT_MAX_PRESERVED);
    if (n > 0)
        memcpy(fds + CONTROL_EXEC_FDS, ex->preserved, n * sizeof(*fds));
    r = send_request(sock, &rq, fds, CONTROL_EXEC_FDS + n, err);
    (void)close(blob);
    if (r < 0)
        return r;
    r = receive_reply(sock, &rp, err);
    if (r < 0) {
        if (rp.kind == CONTROL_FAILED && (rp.exit_code == 126 || rp.exit_code == 127))
            *ret_exit_code = rp.exit_code;
        return r;
    }
    if (rp.kind != CONTROL_STARTED)
        return error_set(err, EPROTO, "the sandbox's answer makes no sense");
    *ret_pid = rp.pid;
    return 0;
}

int control_read_exit(int sock, bool *ret_exited, int *ret_wait_status, struct error *err)
{
    struct control_reply rp;
    struct error e;

    *ret_exited = false;
    error_init(&e);
    int r = receive_reply(sock, &rp, &e);
    if (r == -ECONNRESET) {
        *ret_exited = true;
        *ret_wait_status = SIGKILL;
    } else if (rp.kind == CONTROL_EXITED && r == 0) {
        *ret_exited = true;
        *ret_wait_status = rp.wait_status;
    } else if (r < 0 && rp.kind != CONTROL_FAILED) {
        return error_set(err, e.code, "%s", e.text);
    }
    return 0;
}

int control_wait_exit(int sock, int *ret_wait_status, struct error *err)
{
    bool exited;
    int r;
    do {
        r = control_read_exit(sock, &exited, ret_wait_status, err);
    } while (r == 0 && !exited);
    return r;
}

int control_wait(int sock, int32_t pid, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_WAIT, .pid = pid};
    return send_request(sock, &rq, NULL, 0, err);
}

void control_resize_own(int sock, uint16_t rows, uint16_t cols)
{
    struct control_request rq = {.magic = CONTROL_MAGIC,
                                 .op = CONTROL_RESIZE,
                                 .pid = CONTROL_OWN,
                                 .rows = rows,
                                 .cols = cols};
    (void)send(sock, &rq, sizeof(rq), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void control_signal_own(int sock, int signo)
{
    struct control_request rq = {
        .magic = CONTROL_MAGIC, .op = CONTROL_SIGNAL, .pid = CONTROL_OWN, .signal = signo};
    (void)send(sock, &rq, sizeof(rq), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* -- the rest ------------------------------------------------------------------------------------
 */

int control_start(int sock, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_START};
    return ask_done(sock, &rq, err);
}

int control_signal(int sock, int32_t pid, int signo, struct error *err)
{
    struct control_request rq = {
        .magic = CONTROL_MAGIC, .op = CONTROL_SIGNAL, .pid = pid, .signal = signo};
    return ask_done(sock, &rq, err);
}

int control_resize(int sock, int32_t pid, uint16_t rows, uint16_t cols, struct error *err)
{
    struct control_request rq = {
        .magic = CONTROL_MAGIC, .op = CONTROL_RESIZE, .pid = pid, .rows = rows, .cols = cols};
    return ask_done(sock, &rq, err);
}

int control_pause(int sock, bool pause, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC,
                                 .op = pause ? CONTROL_PAUSE : CONTROL_RESUME};
    return ask_done(sock, &rq, err);
}

int control_limit_tasks(int sock, uint32_t tasks, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_LIMIT, .value = tasks};
    return ask_done(sock, &rq, err);
}

int control_stats(int sock, struct control_stats *ret, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_STATS};
    struct control_reply rp;
    int r = ask(sock, &rq, CONTROL_STATISTICS, &rp, err);
    if (r == 0)
        *ret = rp.stats;
    return r;
}

static int read_processes(int fd, uint32_t n, struct control_process **ret, struct error *err)
{
    if (n > PS_MAX)
        return error_set(err, EPROTO, "the sandbox's answer makes no sense");
    struct control_process *list = kalloc_array(n, sizeof(*list));
    if (list == NULL)
        return error_set(err, ENOMEM, "no memory");
    if (fd_pread_full(fd, list, n * sizeof(*list), 0) != (int64_t)(n * sizeof(*list))) {
        kfree(list);
        return error_set(err, EPROTO, "the sandbox's answer is too short");
    }
    for (uint32_t i = 0; i < n; i++) {
        list[i].comm[sizeof(list[i].comm) - 1] = '\0';
        list[i].command[sizeof(list[i].command) - 1] = '\0';
    }
    *ret = list;
    return 0;
}

int control_ps(int sock, struct control_process **ret, size_t *ret_n, struct error *err)
{
    struct control_request rq = {.magic = CONTROL_MAGIC, .op = CONTROL_PS};
    struct control_reply rp;
    int fd = -1;

    int r = send_request(sock, &rq, NULL, 0, err);
    if (r == 0)
        r = receive_reply_fd(sock, &rp, &fd, err);
    if (r == 0 && (rp.kind != CONTROL_PROCESSES || fd < 0))
        r = error_set(err, EPROTO, "the sandbox's answer makes no sense");
    if (r == 0)
        r = read_processes(fd, rp.count, ret, err);
    fd_close(fd);
    if (r == 0)
        *ret_n = rp.count;
    return r;
}
