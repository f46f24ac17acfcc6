/*
 * The first half of the confinement: two processes. The one that the monitor started becomes the
 * keeper. It has to exist for two reasons: a process enters a pid namespace only by being created
 * in it, and the id maps of a user namespace can only be written in full from outside of it.
 * When that is done the keeper holds nothing but one end of a pipe, has dropped everything, and
 * waits for the server, whose exit status it passes on. It dies with the monitor, and the server
 * with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/confine/filter.h"

#include "gofer/confine.h"
#include "gofer/drop.h"
#include "gofer/proto.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"

enum {
    EMPTY_NAMESPACES = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS,
};

/* Of the caller's user namespace, read while its /proc can be seen. */
static char own_uids[IDMAP_TEXT], own_gids[IDMAP_TEXT];
static int proc_fd; /* the host's /proc */

static int proc_write(pid_t pid, const char *file, const char *text)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "%d/%s", (int)pid, file);
    int fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fd_write_full(fd, text, strlen(text));
    fd_close(fd);
    return rc;
}

/* Every id that the caller's namespace has, mapped to itself; needs CAP_SETUID and CAP_SETGID. */
static int map_all(pid_t pid, const char *file)
{
    char text[IDMAP_TEXT];
    const char *own = strcmp(file, "uid_map") == 0 ? own_uids : own_gids;
    int r = own[0] != '\0' ? idmap_identity(own, text) : -ENOENT;
    return r < 0 ? r : proc_write(pid, file, text);
}

/* The caller's own id as 0, which is all that an ordinary user may do. */
static int map_self(pid_t pid, const char *file, unsigned id)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "0 %u 1\n", id);
    return proc_write(pid, file, text);
}

static int write_maps(pid_t pid, bool *ret_single)
{
    *ret_single = false;
    if (map_all(pid, "uid_map") == 0)
        return map_all(pid, "gid_map");
    *ret_single = true;
    int rc = proc_write(pid, "setgroups", "deny");
    if (rc == 0)
        rc = map_self(pid, "uid_map", geteuid());
    if (rc == 0)
        rc = map_self(pid, "gid_map", getegid());
    return rc;
}

/* Waits for the server; knows three calls. */
static NORETURN void keep(pid_t server, int pipe_fd, pid_t monitor, uint32_t id)
{
    struct error err;
    int status = 0;
    drop_files(&pipe_fd, 1);
    uint64_t caps = drop_privilege(id, 0);
    if (drop_process(&err) < 0 || caps || getppid() != monitor ||
        drop_syscalls(&confine_filter_keeper, &err) < 0)
        _exit(1);
    while (waitpid(server, &status, 0) < 0) {
        if (errno != EINTR)
            _exit(1);
    }
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* In the new process: wait until the keeper has written the maps, and hear whether of one id only.
 */
static int wait_for_maps(int pipe_fd, bool *ret_single)
{
    char go;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return -errno;
    if (fd_read_full(pipe_fd, &go, 1) != 1)
        return -EPIPE;
    *ret_single = go == '1';
    return 0;
}

/* How a host says that it has no such namespaces for this caller. Whatever else goes wrong must not
 * make the server a weaker one. */
static bool not_to_be_had(int err)
{
    return err == EPERM || err == EINVAL || err == ENOSPC || err == EUSERS;
}

/* 1: this is the server. 0: these flags cannot be had. Does not return in the keeper. */
static int split_with(unsigned long flags, struct confinement *c, pid_t monitor)
{
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    int e = errno;
    if (pid == 0) {
        fd_close(ends[1]);
        if (wait_for_maps(ends[0], &c->single_id) < 0)
            _exit(1);
        c->userns = flags & CLONE_NEWUSER;
        c->namespaces = true;
        c->parent_pipe = ends[0];
        return 1;
    }
    fd_close(ends[0]);
    bool single = false;
    bool good = pid > 0 && (!(flags & CLONE_NEWUSER) || write_maps((pid_t)pid, &single) == 0);
    if (good && fd_write_full(ends[1], single ? "1" : "a", 1) == 0)
        keep((pid_t)pid, ends[1], monitor, c->id);
    fd_close(ends[1]);
    if (pid < 0)
        return not_to_be_had(e) ? 0 : -e;
    /* It saw the end of the pipe and ended by itself, or somebody ended it. */
    while (waitpid((pid_t)pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return good || WIFSIGNALED(status) ? -ESRCH : 0;
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

int confine_split(struct confinement *c, const struct confine_join *join, struct error *err)
{
    pid_t monitor = getppid();
    *c = (struct confinement){.parent_pipe = -1, .id = drop_id()};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_errno(err, errno, "die with the parent");
    if (getppid() != monitor)
        return error_set(err, ESRCH, "the parent has gone");
    idmap_read("uid_map", own_uids);
    idmap_read("gid_map", own_gids);
    proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool joined = join != NULL && join_namespaces(c, join);
    if (join != NULL) {
        fd_close(join->pidfd);
        fd_close(join->settled);
    }
    unsigned long namespaces =
        CLONE_NEWPID | (c->detached ? 0 : CLONE_NEWNS) | (joined ? 0 : EMPTY_NAMESPACES);
    int r = split_with(namespaces | CLONE_NEWUSER, c, monitor);
    if (r == 0)
        r = split_with(namespaces, c, monitor);
    fd_close(proc_fd);
    return r < 0 ? error_errno(err, -r, "a process for the server") : 0;
}
