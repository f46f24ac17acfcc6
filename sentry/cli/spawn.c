/*
 * spawn.c: the monitor makes the gofer and the sentry.
 *
 * The sentry is a fork of the monitor in a new user and pid namespace: it is pid 1 there, so its
 * death kills every guest. Its uid map has one entry: the caller's uid, or for root a uid of
 * its own that owns nothing on the host. It makes its other namespaces itself (settle.c), while the
 * monitor writes the map and makes the cgroup, whose files it is sent to enter it. Root's servers
 * share the sentry's namespaces when these are empty; an ordinary user may not join them, so there
 * a server makes its own.
 *
 * The gofer is a program of its own (sentry-gofer beside our own executable), started with the
 * image as descriptor 3 and its socket as 4, as the first process of a pid namespace; for an
 * ordinary user in a user namespace too.
 */
#include "sentry/cli/spawn.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gofer/proto.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"
#include "lib/log.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/settle.h"

enum {
    GOFER_FD_IMAGE = 3,
    GOFER_FD_COUNT = 2, /* and the socket; roots of volumes follow */
    JOIN_FD_COUNT = 2,  /* and for --namespaces, see struct join */
    FD_SHIFT = 128
};

/* The cgroups that both processes go into. */
struct groups {
    struct cgroup *cg;
    const struct boot *boot;
    int birthplace; /* directory of the v2 group that processes are born in, -1: none */
    struct cgroup_entry entry;
};

static void groups_open(struct groups *g)
{
    cgroup_entry_open(g->cg, g->birthplace >= 0, &g->entry);
    for (size_t i = 0; i < g->boot->ncgroups; i++)
        cgroup_entry_add(&g->entry, g->boot->cgroups[i]);
}

/* A fork in new namespaces and in the birthplace. Where the host refuses the latter there is none
 * from then on. */
static pid_t fork_into(uint64_t flags, struct groups *g)
{
    struct clone_args args = {.flags = (__u64)flags, .exit_signal = SIGCHLD};
    if (g->birthplace >= 0) {
        args.flags |= (__u64)CLONE_INTO_CGROUP;
        args.cgroup = (__u64)g->birthplace;
        pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
        if (pid >= 0)
            return pid;
        (void)close(g->birthplace);
        g->birthplace = -1;
        cgroup_entry_done(&g->entry);
        groups_open(g);
    }
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int groups_make(struct groups *g, struct error *err)
{
    const struct boot_limits *l = &g->boot->limits;
    const struct cgroup_want want = {
        .memory = l->memory, .cpus_milli = l->cpus_milli, .choice = (enum cgroup_choice)l->cgroup};
    int r = g->boot->ncgroups == 0 ? cgroup_make(g->cg, &want, err) : 0;
    if (r < 0)
        return r;
    g->birthplace = cgroup_birthplace(g->cg);
    groups_open(g);
    return 0;
}

/* -- gofer ------------------------------------------------------------------------------------- */

static int gofer_path(char *buf, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", buf, cap - 1);
    if (n < 0)
        return -errno;
    buf[n] = '\0';
    char *slash = strrchr(buf, '/');
    if (slash == NULL || (size_t)(slash - buf) + sizeof("/sentry-gofer") > cap)
        return -ENAMETOOLONG;
    memcpy(slash, "/sentry-gofer", sizeof("/sentry-gofer"));
    return 0;
}

/* One of the servers: its option, and the descriptors that it gets from 3 on. */
struct server_start {
    const char *option, *value;
    bool own_user;
    int fds[BOOT_MAX_VOLUMES + BOOT_MAX_MOUNTS + GOFER_FD_COUNT + JOIN_FD_COUNT + 1];
    size_t n;
};

NORETURN static void gofer_child(const struct boot *b, struct cgroup_entry *e,
                                 const struct server_start *s, uid_t uid, gid_t gid,
                                 const char *path)
{
    int fds[ARRAY_LEN(s->fds)];

    /* Before it makes a process. */
    cgroup_enter(e);
    /* An ordinary user's own ids become 0 before exec, which would take the capabilities away. */
    if (s->own_user && uid != 0 && idmap_write_single(AT_FDCWD, "/proc/self", 0, uid, gid) < 0)
        _exit(126);
    /* First out of the way of the fixed numbers, then into place. */
    for (size_t i = 0; i < s->n; i++)
        fds[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, FD_SHIFT);
    for (size_t i = 0; i < s->n; i++) {
        if (fds[i] < 0 || dup2(fds[i], GOFER_FD_IMAGE + (int)i) < 0)
            _exit(126);
    }
    (void)syscall(SYS_close_range, (unsigned)(GOFER_FD_IMAGE + (int)s->n), ~0u, 0);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        (void)dup2(null, 0);
        (void)dup2(null, 1);
        if (null > 2)
            (void)close(null);
    }
    char join[16], *const envp[] = {NULL};
    const char *namespaces = s->own_user ? "own" : join;
    (void)snprintf(join, sizeof(join), "%zu", GOFER_FD_IMAGE + s->n - JOIN_FD_COUNT);
    if (b->log_spec != NULL)
        (void)execle(path, "sentry-gofer", s->option, s->value, "--namespaces", namespaces, "--log",
                     b->log_spec, (char *)NULL, envp);
    else
        (void)execle(path, "sentry-gofer", s->option, s->value, "--namespaces", namespaces,
                     (char *)NULL, envp);
    _exit(127);
}

static void reap(pid_t pid, int *ret_status)
{
    if (pid <= 0)
        return;
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
        continue;
}

/* A container's root may make no pid namespace without a user namespace. That one has all ids,
 * which only somebody outside may map: with one id the image's owners would be unknown, and the
 * server the host's root. Returns in the child when they are mapped. */
static pid_t fork_mapped(struct groups *g)
{
    char path[32], byte;
    int go[2], status;
    if (pipe2(go, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork_into(CLONE_NEWUSER | CLONE_NEWPID, g);
    int r = pid < 0 ? -errno : 0;
    if (pid == 0) {
        (void)close(go[1]);
        if (fd_read_full(go[0], &byte, 1) != 1)
            _exit(126);
        return 0;
    }
    if (r == 0) {
        (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
        r = idmap_write_identity(AT_FDCWD, path);
    }
    if (r == 0)
        r = fd_write_full(go[1], "g", 1);
    (void)close(go[1]);
    (void)close(go[0]);
    if (r < 0 && pid > 0)
        reap(pid, &status);
    errno = -r;
    return r < 0 ? -1 : pid;
}

/* A pid namespace is root's to make; others get one with a user namespace. Root who may make
 * neither has a server without. Whatever else goes wrong must not make the server a weaker one. */
static pid_t fork_server(struct groups *g, uid_t uid, bool *ret_own_user)
{
    *ret_own_user = uid != 0;
    pid_t pid = fork_into(uid == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID, g);
    if (pid >= 0 || uid != 0 || errno != EPERM)
        return pid;
    *ret_own_user = true;
    pid = fork_mapped(g);
    if (pid >= 0 || errno != EPERM)
        return pid;
    *ret_own_user = false;
    return fork_into(0, g);
}

static int server_start(const struct boot *b, struct groups *g, struct server_start *start,
                        pid_t *ret_pid, struct error *err)
{
    char path[PATH_MAX];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int r = gofer_path(path, sizeof(path));
    if (r < 0)
        return error_errno(err, -r, "finding sentry-gofer");
    if (access(path, X_OK) < 0)
        return error_errno(err, errno, "%s", path);
    pid_t pid = fork_server(g, uid, &start->own_user);
    if (pid < 0)
        return error_errno(err, errno, "new user and pid namespaces");
    if (pid == 0)
        gofer_child(b, &g->entry, start, uid, gid, path);
    *ret_pid = pid;
    return 0;
}

/* What a server needs to share the sentry's namespaces. */
struct join {
    int sentry;  /* pidfd */
    int settled; /* pipe that closes when they are made and empty */
};

static void add_join(struct server_start *s, const struct join *j)
{
    s->fds[s->n++] = j->sentry;
    s->fds[s->n++] = j->settled;
}

static int gofer_start(const struct boot *b, struct groups *g, int sock, const struct join *j,
                       pid_t *ret_pid, struct error *err)
{
    struct server_start s = {
        .option = "--roots", .value = "1", .fds = {b->image_fd, sock}, .n = GOFER_FD_COUNT};
    add_join(&s, j);
    return server_start(b, g, &s, ret_pid, err);
}

/* The volume server has a letter for each of its roots (gofer/main.c), in the order of
 * boot_volumes. */
static int volumes_start(const struct boot *b, struct groups *g, int sock, const struct join *j,
                         pid_t *ret_pid, struct error *err)
{
    char letters[BOOT_MAX_VOLUMES + BOOT_MAX_MOUNTS + 2] = "";
    struct server_start s = {
        .option = "--volumes", .value = letters, .fds = {sock, sock}, .n = GOFER_FD_COUNT};
    size_t n = 0;

    if (boot_volumes(b) > GOFER_ROOTS_MAX)
        return error_set(err, E2BIG, "more than %u volumes", GOFER_ROOTS_MAX);
    if (boot_root_through(b)) {
        s.fds[s.n++] = b->image_fd;
        letters[n++] = 'w';
    }
    for (size_t i = 0; i < b->nvolumes; i++) {
        s.fds[s.n++] = b->volumes[i].fd;
        letters[n++] = 'r';
    }
    for (size_t i = 0; i < b->nmounts; i++) {
        const struct boot_mount *m = &b->mounts[i];
        if (m->type != BOOT_MOUNT_BIND)
            continue;
        s.fds[s.n++] = m->fd;
        if (m->flags & BOOT_MS_RDONLY)
            letters[n++] = m->recursive ? 'R' : 'r';
        else
            letters[n++] = m->recursive ? 'W' : 'w';
    }
    add_join(&s, j);
    return server_start(b, g, &s, ret_pid, err);
}

/* -- sentry ------------------------------------------------------------------------------------ */

/* Sandboxes of root run under ids that are nobody's; so do those of a user namespace's root, if it
 * has any to spare. */
static void sandbox_ids(pid_t pid, uid_t *ret_uid, gid_t *ret_gid)
{
    char text[IDMAP_TEXT];
    *ret_uid = geteuid();
    *ret_gid = getegid();
    if (*ret_uid != 0)
        return;
    idmap_read("uid_map", text);
    (void)idmap_spare(text, (uint32_t)pid, ret_uid);
    idmap_read("gid_map", text);
    (void)idmap_spare(text, (uint32_t)pid, ret_gid);
}

static int write_maps(pid_t pid, struct error *err)
{
    char path[32];
    uid_t uid;
    gid_t gid;
    sandbox_ids(pid, &uid, &gid);
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    int r = idmap_write_single(AT_FDCWD, path, 0, uid, gid);
    return r < 0 ? error_errno(err, -r, "mapping the user of the sandbox") : 0;
}

/* The change of ids has undone what was asked for before. */
static int sentry_die_with_monitor(int control, struct error *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_errno(err, errno, "dying with the monitor");
    /* It may have died just before that. */
    struct pollfd p = {.fd = control, .events = POLLIN};
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) != 0)
        return error_set(err, EPIPE, "the monitor has gone");
    return 0;
}

struct sockets {
    int control, gofer, volumes; /* -1: no such server */
};

static int int_cmp(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/*
 * The sentry keeps what it needs and nothing else: not the image's directory, nor what the caller
 * left open. Standard input, output and error stay.
 */
static void sentry_close_others(struct boot *b, int settled, const struct sockets *s)
{
    int keep[8 + BOOT_MAX_PRESERVED] = {2,          settled,   s->control,   s->gofer,
                                        s->volumes, b->log_fd, b->strace_fd, b->listen_fd};
    size_t n = 8;

    for (size_t i = 0; i < b->npreserved; i++)
        keep[n++] = b->preserved[i];
    qsort(keep, n, sizeof(keep[0]), int_cmp);
    for (size_t i = 0; i < n; i++) {
        unsigned first = (unsigned)keep[i] + 1, last = i + 1 < n ? (unsigned)keep[i + 1] - 1 : ~0u;
        if (keep[i] >= 2 && (first <= last || i + 1 == n))
            (void)syscall(SYS_close_range, first, last, 0);
    }
    b->image_fd = -1;
    for (size_t i = 0; i < b->nvolumes; i++)
        b->volumes[i].fd = -1;
    for (size_t i = 0; i < b->nmounts; i++)
        b->mounts[i].fd = -1;
}

/* `settled` is closed when its namespaces are made and empty. */
NORETURN static void sentry_child(struct boot *b, int settled, const struct sockets *s)
{
    struct error err;
    error_init(&err);
    sentry_close_others(b, settled, s);
    int proc_fd, r = settle(s->control, settled, &proc_fd, &err);
    if (r == 0)
        r = sentry_die_with_monitor(s->control, &err);
    if (r < 0) {
        struct boot_message m = {.kind = BOOT_FAILED, .status = 125};
        (void)snprintf(m.text, sizeof(m.text), "%.399s", err.text);
        (void)!send(s->control, &m, sizeof(m), MSG_NOSIGNAL);
        _exit(125);
    }
    sentry_main(b, proc_fd, s->control, s->gofer, s->volumes);
}

/* Made, and its ids mapped. It waits for a word. */
static int sentry_start(struct boot *b, struct groups *g, const struct sockets *s, pid_t *ret_pid,
                        struct join *ret_join, struct error *err)
{
    int settled[2];
    if (pipe2(settled, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    ret_join->settled = settled[0];
    pid_t pid = fork_into(CLONE_NEWUSER | CLONE_NEWPID, g);
    if (pid == 0)
        sentry_child(b, settled[1], s);
    int r = pid < 0 ? error_errno(err, errno, "new user and pid namespaces") : 0;
    (void)close(settled[1]);
    *ret_pid = MAX(pid, 0);
    if (r == 0)
        r = write_maps(pid, err);
    if (r == 0) {
        ret_join->sentry = (int)syscall(SYS_pidfd_open, pid, 0);
        r = ret_join->sentry < 0 ? error_errno(err, errno, "pidfd_open") : 0;
    }
    return r;
}

/* -- both -------------------------------------------------------------------------------------- */

/* Both at once: their namespaces are taken down side by side. */
void sandbox_kill(const struct sandbox *sb)
{
    if (sb->sentry > 0)
        (void)kill(sb->sentry, SIGKILL);
    if (sb->gofer > 0)
        (void)kill(sb->gofer, SIGKILL);
    if (sb->volumes > 0)
        (void)kill(sb->volumes, SIGKILL);
}

static bool has_said(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == GOFER_EXIT_SAID;
}

void sandbox_end(struct sandbox *sb, int *ret_sentry_status, bool *ret_said)
{
    int gofer = 0, volumes = 0;
    sandbox_kill(sb);
    reap(sb->sentry, ret_sentry_status);
    reap(sb->gofer, &gofer);
    reap(sb->volumes, &volumes);
    *ret_said = has_said(gofer) || has_said(volumes);
    if (sb->control >= 0)
        (void)close(sb->control);
    *sb = (struct sandbox){.control = -1};
}

/* The sentry has its ends: its own end of a connection must be the only one, or nobody would see
 * that it has died. */
static void sockets_done(struct sockets *s)
{
    fd_close(s->control);
    fd_close(s->gofer);
    fd_close(s->volumes);
    *s = (struct sockets){-1, -1, -1};
}

/* Sentry first: while it makes its namespaces, the servers are started. */
static int start_all(struct boot *b, struct groups *g, const struct sockets *servers,
                     struct sockets *s, struct sandbox *sb, struct error *err)
{
    struct join join = {-1, -1};
    /* On a host with v2 processes are born in the group, so it has to exist before. */
    bool early = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    int r = early ? groups_make(g, err) : 0;
    if (r == 0)
        r = sentry_start(b, g, s, &sb->sentry, &join, err);
    sockets_done(s);
    if (r == 0 && !early)
        r = groups_make(g, err);
    if (r == 0) {
        r = settle_go(sb->control, &g->entry);
        if (r < 0)
            r = error_errno(err, -r, "handing the cgroups to the sentry");
    }
    if (r == 0 && servers->gofer >= 0)
        r = gofer_start(b, g, servers->gofer, &join, &sb->gofer, err);
    if (r == 0 && servers->volumes >= 0)
        r = volumes_start(b, g, servers->volumes, &join, &sb->volumes, err);
    if (r == 0) {
        settle_entered(sb->control, &g->entry);
        cgroup_entered(g->cg, g->birthplace >= 0, &g->entry);
    }
    fd_close(join.sentry);
    fd_close(join.settled);
    return r;
}

/* Both ends of a connection. */
static int connection(int ret[2], struct error *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) < 0)
        return error_errno(err, errno, "socketpair");
    return 0;
}

int sandbox_start(struct boot *b, struct cgroup *ret_cg, struct sandbox *ret_sb, struct error *err)
{
    struct sandbox sb = {.control = -1};
    struct groups g = {.cg = ret_cg, .boot = b, .birthplace = -1};
    int gofer[2] = {-1, -1}, volumes[2] = {-1, -1}, control[2] = {-1, -1}, status;
    bool said;

    int r = connection(control, err);
    if (r == 0 && !boot_root_through(b))
        r = connection(gofer, err);
    if (r == 0 && boot_volumes(b) > 0)
        r = connection(volumes, err);
    sb.control = control[0];
    struct sockets s = {control[1], gofer[0], volumes[0]};
    struct sockets servers = {-1, gofer[1], volumes[1]};
    if (r == 0)
        r = start_all(b, &g, &servers, &s, &sb, err);
    cgroup_entry_done(&g.entry);
    fd_close(g.birthplace);
    fd_close(servers.gofer);
    fd_close(servers.volumes);
    sockets_done(&s);
    if (r < 0) {
        sandbox_end(&sb, &status, &said);
        return r;
    }
    *ret_sb = sb;
    return 0;
}
