/*
 * settle.c: the sentry makes its namespaces and lets go of the host's files.
 *
 * Two steps take long: a network namespace, and umount2, which waits for a grace period of the
 * kernel's RCU. They run side by side: a process that shares our memory and descriptors makes the
 * network namespace, which we then join, and is gone.
 *
 *      sentry   user, pid --- mount, ipc, uts --- empty root ---+--- cgroup --- ids --- settled
 *                  `-- aside: net ------------------------------'
 */
#include "sentry/cli/settle.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/confine/confine.h"

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/raw_call.h"
#include "sentry/cli/cgroup.h"

/* -- the network namespace -----------------------------------------------------------------------
 */

struct aside {
    pid_t pid;
    int ns;     /* a descriptor of it */
    long error; /* or why there is none, negative */
    char stack[8192] __attribute__((aligned(16)));
};

/* Shares errno with the sentry. */
__attribute__((no_sanitize("address", "undefined"))) static int make_net(void *arg)
{
    struct aside *a = arg;
    static const char path[] = "/proc/self/ns/net";
    long r = raw_call(SYS_unshare, CLONE_NEWNET, 0, 0);
    if (r == 0)
        r = raw_call(SYS_openat, AT_FDCWD, (long)(intptr_t)path, O_RDONLY | O_CLOEXEC);
    a->ns = (int)r;
    a->error = r < 0 ? r : 0;
    return 0;
}

static int aside_start(struct aside *a)
{
    a->ns = -1;
    a->error = -EIO;
    a->pid = clone(make_net, a->stack + sizeof(a->stack), CLONE_VM | CLONE_FILES | SIGCHLD, a);
    return a->pid < 0 ? -errno : 0;
}

static int aside_join(struct aside *a)
{
    while (waitpid(a->pid, NULL, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    if (a->error < 0)
        return (int)a->error;
    auto_fd int ns = a->ns;
    return setns(ns, CLONE_NEWNET) < 0 ? -errno : 0;
}

/* -- the groups ----------------------------------------------------------------------------------
 */

static ssize_t errors_size(size_t n)
{
    return (ssize_t)(MAX(n, 1ul) * sizeof(int));
}

static int enter_groups(int control)
{
    struct cgroup_entry e = {0};
    char byte;
    if (fd_recv(control, &byte, 1, e.fds, CGROUP_ENTRIES, &e.n, 0) != 1)
        return -EPIPE;
    cgroup_enter(&e);
    ssize_t size = errors_size(e.n);
    int r = send(control, e.errors, (size_t)size, MSG_NOSIGNAL) == size ? 0 : -EPIPE;
    cgroup_entry_done(&e);
    return r;
}

int settle_go(int control, const struct cgroup_entry *e)
{
    int fds[CGROUP_ENTRIES];
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (e->fds[i] >= 0)
            fds[n++] = e->fds[i];
    }
    int64_t sent = fd_send(control, "g", 1, fds, n, MSG_NOSIGNAL);
    /* One that has gone is for settle_entered to see. */
    return sent < 0 && sent != -EPIPE && sent != -ECONNRESET ? (int)sent : 0;
}

void settle_entered(int control, struct cgroup_entry *e)
{
    int errors[CGROUP_ENTRIES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->fds[i] >= 0;
    /* Or it says why it could not start, which is for the monitor's loop. */
    if (recv(control, errors, sizeof(errors), MSG_PEEK | MSG_TRUNC) != errors_size(n) ||
        recv(control, errors, sizeof(errors), 0) <= 0)
        return;
    n = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (e->fds[i] >= 0)
            e->errors[i] = errors[n++];
    }
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static int leave_host(int *ret_proc, struct error *err)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
        return error_errno(err, errno, "new mount, ipc and uts namespaces");
    *ret_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*ret_proc < 0)
        return error_errno(err, errno, "/proc");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_errno(err, errno, "private mounts");
    return confine_empty_root(err);
}

/* The cgroup namespace has as its root the group that the monitor has chosen by then. */
static int take_place(int control, struct error *err)
{
    if (enter_groups(control) < 0)
        return error_set(err, EPIPE, "the monitor has gone");
    if (unshare(CLONE_NEWCGROUP) < 0)
        return error_errno(err, errno, "new cgroup namespace");
    (void)!sethostname("sandbox", 7);
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        return error_errno(err, errno, "the user of the sandbox");
    return 0;
}

int settle(int control, int settled, int *ret_proc, struct error *err)
{
    static struct aside aside;
    int r = aside_start(&aside);
    if (r < 0)
        return error_errno(err, -r, "a process for the network namespace");
    r = leave_host(ret_proc, err);
    if (r == 0)
        r = take_place(control, err);
    if (r < 0)
        return r;
    r = aside_join(&aside);
    if (r < 0)
        return error_errno(err, -r, "new net namespace");
    (void)close(settled);
    return 0;
}
