/*
 * The first half of the confinement: namespaces. A process enters a pid namespace only by being
 * created in it, so that is the monitor's work. Root's server takes the sentry's empty namespaces,
 * then a user namespace, whose maps can only be written in full from outside of it: a process that
 * shares our memory stays outside, writes them, and is gone.
 *
 *      server   roots detached --- sentry settled --- setns --- user --------+--- maps written
 *                                                  `-- outside: waits --- maps
 *
 * The server of an ordinary user, or of a container's root, is created in a user namespace too, and
 * makes the others itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gofer/confine.h"
#include "gofer/drop.h"
#include "gofer/proto.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"
#include "lib/raw_call.h"

enum {
    EMPTY_NAMESPACES = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS,
};

/* -- the maps of a user namespace ----------------------------------------------------------------
 */

/* For the process outside: two files below the host's /proc, and what to write into each. */
struct outside {
    int proc;
    int go[2]; /* pipe: one byte when the namespace is there */
    struct {
        char path[32], text[IDMAP_TEXT];
        size_t len;
    } map[2];
    char stack[8192] __attribute__((aligned(16)));
};

/* Every id that the caller's namespace has, mapped to itself. Called while its /proc is in sight.
 */
static int outside_prepare(struct outside *o)
{
    static const char *const files[] = {"uid_map", "gid_map"};
    char self[16] = "";
    o->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (o->proc < 0 || readlinkat(o->proc, "self", self, sizeof(self) - 1) < 0)
        return -errno;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        (void)snprintf(o->map[i].path, sizeof(o->map[i].path), "%.15s/%s", self, files[i]);
        int r = idmap_own_identity(files[i], o->map[i].text);
        if (r < 0)
            return r;
        o->map[i].len = strlen(o->map[i].text);
    }
    return 0;
}

/* Needs CAP_SETUID and CAP_SETGID. Exit status 1: could not be written. */
__attribute__((no_sanitize("address", "undefined"))) static int write_outside(void *arg)
{
    struct outside *o = arg;
    char byte;
    (void)raw_call(SYS_close, o->go[1], 0, 0);
    if (raw_call(SYS_read, o->go[0], (long)(intptr_t)&byte, 1) != 1)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(o->map); i++) {
        long fd = raw_call(SYS_openat, o->proc, (long)(intptr_t)o->map[i].path, O_WRONLY);
        long len = (long)o->map[i].len;
        if (fd < 0 || raw_call(SYS_write, fd, (long)(intptr_t)o->map[i].text, len) != len)
            return 1;
    }
    return 0;
}

/* A user namespace and others with it. *ret_mapped: all ids are. Without CAP_SETFCAP nobody may map
 * root's id, and there is no way back. */
static int enter_user(struct outside *o, int flags, bool *ret_mapped)
{
    int status;
    if (geteuid() == 0 && !drop_holds(CAP_SETFCAP))
        return -EPERM;
    if (pipe2(o->go, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = clone(write_outside, o->stack + sizeof(o->stack), CLONE_VM | SIGCHLD, o);
    int r = pid < 0 ? -errno : 0;
    if (r == 0 && unshare(CLONE_NEWUSER | flags) < 0)
        r = -errno;
    if (r == 0)
        r = fd_write_full(o->go[1], "g", 1);
    fd_close(o->go[1]);
    fd_close(o->go[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    if (r < 0)
        return r;
    *ret_mapped = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return WIFSIGNALED(status) ? -ESRCH : 0;
}

/* -- all of them ---------------------------------------------------------------------------------
 */

/* How a host says that it has no such namespaces for this caller. Whatever else goes wrong must not
 * make the server a weaker one. */
static bool not_to_be_had(int err)
{
    return err == -EPERM || err == -EINVAL || err == -ENOSPC || err == -EUSERS;
}

static int make_namespaces(struct confinement *c, struct outside *o, bool own_user, int others)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    bool mapped = false;
    int r = own_user ? 0 : enter_user(o, others, &mapped);
    c->userns = r == 0;
    c->single_id = c->userns && (own_user ? idmap_is_single(o->map[0].text) : !mapped);
    if (r == 0 && !own_user) {
        c->namespaces = true;
        /* Its own ids as 0 is all that an ordinary user may do. */
        return mapped ? 0 : idmap_write_single(o->proc, "self", 0, uid, gid);
    }
    if (r < 0 && !not_to_be_had(r))
        return r;
    c->namespaces = unshare(others) == 0;
    return c->namespaces || not_to_be_had(-errno) ? 0 : -errno;
}

static bool sentry_settled(int settled)
{
    char byte;
    ssize_t n;
    do {
        n = read(settled, &byte, 1);
    } while (n < 0 && errno == EINTR);
    return n == 0;
}

/* The mounts are made while the host's tree is still there, and put into place when it is not. */
static bool join_namespaces(struct confinement *c, const struct confine_join *join)
{
    int trees[GOFER_ROOTS_MAX];
    uint32_t n = 0;
    while (n < join->nroots && (trees[n] = confine_detach(join->roots[n])) >= 0)
        n++;
    bool detached = n > 0 && n == join->nroots;
    bool joined = sentry_settled(join->settled) &&
                  setns(join->pidfd, EMPTY_NAMESPACES | (detached ? CLONE_NEWNS : 0)) == 0;
    c->detached = joined && detached;
    for (uint32_t i = 0; i < n; i++) {
        if (c->detached && dup3(trees[i], join->roots[i], O_CLOEXEC) < 0)
            _exit(1);
        fd_close(trees[i]);
    }
    return joined;
}

int confine_namespaces(struct confinement *c, const struct confine_join *join, bool own_user,
                       struct error *err)
{
    static struct outside outside;
    *c = (struct confinement){.id = drop_id(), .pid = getpid() == 1};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_errno(err, errno, "die with the parent");
    int r = outside_prepare(&outside);
    if (r < 0)
        return error_errno(err, -r, "/proc");
    bool joined = join != NULL && join_namespaces(c, join);
    if (join != NULL) {
        fd_close(join->pidfd);
        fd_close(join->settled);
    }
    r = make_namespaces(c, &outside, own_user,
                        (c->detached ? 0 : CLONE_NEWNS) | (joined ? 0 : EMPTY_NAMESPACES));
    fd_close(outside.proc);
    return r < 0 ? error_errno(err, -r, "the server's namespaces") : 0;
}
