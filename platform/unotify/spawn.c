/*
 * How this works: the sentry clones a process into new user and pid namespaces, and into new ones
 * of the other kinds where its own are not the sandbox's alone: pid 1 of the guests, which is the
 * zygote. It maps its one uid and gid, sets the clocks of the time namespace (for its children),
 * has an empty read-only root (the sentry's, or one that it makes), drops every capability and
 * executes the embedded ELF file (platform/stub/guest/zygote.c) from a memfd. That tells its memory
 * map over a pipe, sets the filter, and parks; its listener is fetched with pidfd_getfd.
 *
 *      sentry --clone(NEW*)--> zygote
 *        |  <-- memory map, or an error --'
 *        `--- pidfd_getfd(zygote, 2) = the listener
 *
 * Every guest process is its child (clone with CLONE_PARENT), reaped by the host since it ignores
 * SIGCHLD; when it ends, as it does with the sentry, all of them end.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum {
    GUEST_ID = 65534,
    ZYGOTE_LISTENER = 2,
    HIGH_FD = 20,
    PATIENCE_MS = 10000
};

extern const uint8_t zygote_image[], zygote_image_end[];

struct spawn {
    const struct plat_config *cfg;
    uint32_t slots;
    int image;   /* memfd */
    int pipe[2]; /* sentry, zygote */
    uid_t uid;
    gid_t gid;
};

/* -- in the zygote -------------------------------------------------------------------------- */

/* On a stack that AddressSanitizer does not know: it would complain where nothing returns. */
#define OTHER_STACK __attribute__((no_sanitize("address")))

OTHER_STACK static NORETURN void init_fail(const struct spawn *s, const char *what)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "!%s %d", what, errno);

    (void)!write(s->pipe[1], text, (size_t)n);
    _exit(1);
}

OTHER_STACK static void init_ids(const struct spawn *s, int procfd)
{
    (void)prctl(PR_SET_DUMPABLE, 1);
    if (idmap_write_single(procfd, "self", GUEST_ID, s->uid, s->gid) < 0)
        init_fail(s, "the maps of the guests' user namespace");
}

/* Whoever runs out of memory, the host or the cgroup, ends a guest before the sentry, which then
 * can say what happened. */
static void init_oom(int procfd)
{
    (void)!fd_put_text(procfd, "self/oom_score_adj", "1000");
}

OTHER_STACK static void init_time(const struct spawn *s, int procfd)
{
    int64_t off = s->cfg->monotonic_offset, sec = off / 1000000000, nsec = off % 1000000000;
    char text[128];

    if (nsec < 0) {
        nsec += 1000000000;
        sec--;
    }
    if (unshare(CLONE_NEWTIME) < 0)
        init_fail(s, "time namespace");
    (void)snprintf(text, sizeof(text), "monotonic %lld %lld\nboottime %lld %lld\n", (long long)sec,
                   (long long)nsec, (long long)sec, (long long)nsec);
    if (off && fd_put_text(procfd, "self/timens_offsets", text) < 0)
        init_fail(s, "/proc/self/timens_offsets");
}

/* An empty read-only root. The mount point is /proc: it is sure to exist, having just been used. */
OTHER_STACK static void init_root(const struct spawn *s)
{
    const unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        init_fail(s, "private mounts");
    if (mount("none", "/proc", "tmpfs", flags, "size=4k,nr_inodes=1,mode=555") < 0)
        init_fail(s, "empty root");
    if (chdir("/proc") < 0)
        init_fail(s, "empty root");
    if (syscall(SYS_pivot_root, ".", ".") == 0) {
        if (umount2(".", MNT_DETACH) < 0)
            init_fail(s, "old root");
    } else if (mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0) {
        init_fail(s, "pivot_root");
    }
    if (chdir("/") < 0)
        init_fail(s, "chdir");
}

OTHER_STACK static void init_privileges(const struct spawn *s)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2];
    const struct rlimit zero = {0, 0};

    memset(none, 0, sizeof(none));
    for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
        ;
    if (errno != EINVAL)
        init_fail(s, "capability bounding set");
    if (syscall(SYS_capset, &head, none) < 0)
        init_fail(s, "capset");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        init_fail(s, "no_new_privs");
    if (setrlimit(RLIMIT_CORE, &zero) < 0)
        init_fail(s, "RLIMIT_CORE");
}

/* Becomes the embedded program, with the pipe as descriptor 0 and /proc as 1 and no other. */
OTHER_STACK static NORETURN void init_exec(const struct spawn *s, int procfd)
{
    char count[16], arg0[] = "z";
    char *argv[] = {arg0, count, NULL}, *envp[] = {NULL};

    (void)snprintf(count, sizeof(count), "%u", s->slots);
    if (dup2(s->pipe[1], 0) < 0 || dup2(procfd, 1) < 0 ||
        syscall(SYS_close_range, 2u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        init_fail(s, "descriptors");
    syscall(SYS_execveat, s->image, "", argv, envp, AT_EMPTY_PATH);
    init_fail(s, "execveat");
}

OTHER_STACK static NORETURN void init_main(const struct spawn *s)
{
    int procfd = s->cfg->proc_fd;
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)signal(SIGCHLD, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        init_fail(s, "PDEATHSIG");
    if (procfd < 0)
        procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (procfd < 0)
        init_fail(s, "/proc");
    init_ids(s, procfd);
    init_oom(procfd);
    init_time(s, procfd);
    if (s->cfg->proc_fd < 0) {
        (void)!sethostname("sandbox", 7);
        init_root(s);
    }
    init_privileges(s);
    init_exec(s, procfd);
}

/* -- in the sentry -------------------------------------------------------------------------------
 */

static int move_high(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0)
        return -errno;
    close(*fd);
    *fd = high;
    return 0;
}

static int spawn_prepare(struct spawn *s, struct error *err)
{
    size_t size = (size_t)(zygote_image_end - zygote_image);
    int *fds[] = {&s->image, &s->pipe[0], &s->pipe[1]};

    s->image = memfd_create("guest", MFD_CLOEXEC | MFD_EXEC);
    if (s->image < 0 && errno == EINVAL)
        s->image = memfd_create("guest", MFD_CLOEXEC);
    if (s->image < 0 || fd_write_full(s->image, zygote_image, size))
        return error_errno(err, errno, "memfd for the zygote");
    if (pipe2(s->pipe, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe for the zygote");
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        int ret = move_high(fds[i]);

        if (ret)
            return error_errno(err, -ret, "descriptors");
    }
    return 0;
}

OTHER_STACK static int init_entry(void *s)
{
    init_main(s);
}

/*
 * Until it executes its program it has our memory, and we wait: nothing is copied for it. What it
 * makes dumpable, to write its maps, is then our memory: confine_sentry takes that back.
 */
static int init_clone(const struct spawn *s, struct zygote_boot *boot, struct error *err)
{
    const unsigned long others =
        CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    const unsigned long flags =
        CLONE_NEWUSER | CLONE_NEWPID | (s->cfg->proc_fd < 0 ? others : 0) | CLONE_PIDFD | SIGCHLD;
    static char stack[64 * 1024] __attribute__((aligned(16)));
    pid_t pid = clone(init_entry, stack + sizeof(stack), (int)(flags | CLONE_VM | CLONE_VFORK),
                      unconst(s), &boot->init_pidfd);

    if (pid < 0)
        return error_errno(err, errno,
                           "namespaces for the guests (user, pid, mount, net, ipc, uts, cgroup)");
    boot->init_pid = pid;
    return 0;
}

/* "!what errno" from the zygote, in words. */
static int boot_error(char *text, struct error *err)
{
    char *space = strrchr(text, ' ');
    int code = space ? (int)strtol(space + 1, NULL, 10) : EIO;

    if (space)
        *space = 0;
    if (strcmp(text, "!seccomp") == 0 && code == EBUSY)
        return error_set(err, code,
                         "this program already runs under a seccomp listener: the kernel allows "
                         "only one user-notify listener in a chain of filters");
    if (strcmp(text, "!seccomp") == 0 && code == EINVAL)
        return error_set(err, code,
                         "seccomp user-notify with WAIT_KILLABLE_RECV: missing (needs Linux 5.19)");
    return error_errno(err, code ? code : EIO, "guest set-up: %s", text + 1);
}

/* One message from the zygote. */
static int boot_message(const struct spawn *s, struct zygote_boot *boot, struct error *err)
{
    struct pollfd pfd = {.fd = s->pipe[0], .events = POLLIN};
    char text[sizeof(boot->maps)];
    ssize_t n;

    if (poll(&pfd, 1, PATIENCE_MS) <= 0)
        return error_set(err, ETIMEDOUT, "guest set-up: no answer from the zygote");
    n = read(s->pipe[0], text, sizeof(text) - 1);
    if (n <= 0)
        return error_errno(err, n < 0 ? errno : EIO, "guest set-up: the zygote has ended");
    text[n] = 0;
    if (text[0] == '!')
        return boot_error(text, err);
    memcpy(boot->maps, text, (size_t)n + 1);
    return 0;
}

static int listener_wait(const struct spawn *s, struct zygote_boot *boot, struct error *err)
{
    const struct timespec pause = {.tv_nsec = 10000};

    for (int tries = 0; tries < 100000; tries++) {
        struct pollfd pfd = {.fd = s->pipe[0], .events = POLLIN};

        boot->listener = (int)syscall(SYS_pidfd_getfd, boot->init_pidfd, ZYGOTE_LISTENER, 0);
        if (boot->listener >= 0)
            return 0;
        if (errno != EBADF)
            return error_errno(err, errno, "fetching the gate's descriptor (pidfd_getfd)");
        if (tries % 16 == 15 && poll(&pfd, 1, 0) > 0)
            return boot_message(s, boot, err);
        (void)nanosleep(&pause, NULL);
    }
    return error_set(err, ETIMEDOUT, "guest set-up: no listener from the zygote");
}

/* The zygote makes it within some 50 us, and the kernel would add as much to each sleep. */
static int listener_fetch(const struct spawn *s, struct zygote_boot *boot, struct error *err)
{
    (void)prctl(PR_SET_TIMERSLACK, 1);
    int ret = listener_wait(s, boot, err);
    (void)prctl(PR_SET_TIMERSLACK, 0); /* as it was */
    return ret;
}

static int spawn_run(struct spawn *s, struct zygote_boot *boot, struct error *err)
{
    int ret = init_clone(s, boot, err);

    if (ret)
        return ret;
    close(take_fd(s->pipe[1]));
    ret = boot_message(s, boot, err);
    if (!ret)
        ret = listener_fetch(s, boot, err);
    if (!ret && boot->listener < 0)
        ret = error_set(err, EIO, "guest set-up: no listener from the zygote");
    return ret;
}

int zygote_spawn(const struct plat_config *cfg, uint32_t slots, struct zygote_boot *ret_boot,
                 struct error *err)
{
    struct spawn s = {.cfg = cfg,
                      .slots = slots,
                      .image = -1,
                      .pipe = {-1, -1},
                      .uid = geteuid(),
                      .gid = getegid()};
    struct zygote_boot *boot = ret_boot;
    int ret;

    boot->listener = boot->init_pidfd = -1;
    boot->init_pid = 0;
    boot->maps[0] = 0;
    ret = spawn_prepare(&s, err);
    if (!ret)
        ret = spawn_run(&s, boot, err);
    fd_close(s.image);
    fd_close(s.pipe[0]);
    fd_close(s.pipe[1]);
    if (ret && boot->init_pid > 0) {
        kill(boot->init_pid, SIGKILL);
        waitpid(boot->init_pid, NULL, 0);
        fd_close(boot->init_pidfd);
    }
    return ret;
}
