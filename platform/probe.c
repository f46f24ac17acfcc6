/*
 * probe.c: each mechanism is tried in a forked child, whose exit status is the answer: 0 found,
 * else the errno.
 */
#include "platform/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum {
    CGROUP2_MAGIC = 0x63677270,
    CGROUP1_MAGIC = 0x27e0eb
};

/* A listener for a filter that notifies nothing that this process calls; -errno. */
static int listener(unsigned long flags)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {ARRAY_LEN(code), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, &prog);
    return fd < 0 ? -errno : (int)fd;
}

static int try_user_notif(void)
{
    int fd = listener(0);
    return fd < 0 ? -fd : 0;
}

static int try_wait_killable(void)
{
    int fd = listener(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    return fd < 0 ? -fd : 0;
}

static int try_sync_wake_up(void)
{
    int fd = listener(0);
    if (fd < 0)
        return -fd;
    return ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) < 0 ? errno
                                                                                            : 0;
}

static int try_ns(int flags)
{
    return unshare(CLONE_NEWUSER | flags) < 0 ? errno : 0;
}

static int try_user_ns(void)
{
    return try_ns(0);
}

static int try_pid_ns(void)
{
    return try_ns(CLONE_NEWPID);
}

static int try_mount_ns(void)
{
    return try_ns(CLONE_NEWNS);
}

static int try_net_ns(void)
{
    return try_ns(CLONE_NEWNET);
}

static int try_time_ns(void)
{
    return try_ns(CLONE_NEWTIME);
}

static int try_vm_access(void)
{
    char here = 0, there = 1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    if (pid < 0)
        return errno;
    struct iovec l = {&here, 1}, r = {&there, 1};
    ssize_t n = process_vm_readv(pid, &l, 1, &r, 1, 0);
    int e = n == 1 ? 0 : errno;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return e;
}

static int try_pidfd_getfd(void)
{
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pidfd < 0)
        return errno;
    return syscall(SYS_pidfd_getfd, pidfd, pidfd, 0) < 0 ? errno : 0;
}

static int try_openat2(void)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = O_PATH | O_CLOEXEC, .resolve = 0x08 /* RESOLVE_BENEATH */};
    int dir = open("/", O_PATH | O_CLOEXEC);
    return syscall(SYS_openat2, dir, ".", &how, sizeof(how)) < 0 ? errno : 0;
}

static int try_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1
               ? ENOSYS
               : 0;
}

static bool fs_is(const char *path, long magic)
{
    struct statfs sfs;
    return statfs(path, &sfs) == 0 && sfs.f_type == magic;
}

static int try_cgroup2(void)
{
    if (fs_is("/sys/fs/cgroup", CGROUP2_MAGIC))
        return access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0 ? 0 : errno;
    return ENOENT;
}

static int try_cgroup1(void)
{
    return fs_is("/sys/fs/cgroup/memory", CGROUP1_MAGIC) ? 0 : ENOENT;
}

static const struct {
    const char *name;
    int (*try)(void);
    bool required;
    const char *cost;
} probes[PROBE_COUNT] = {
    [PROBE_USER_NOTIF] = {"seccomp user-notify", try_user_notif, true, "no run is possible"},
    [PROBE_WAIT_KILLABLE] = {"WAIT_KILLABLE_RECV", try_wait_killable, true,
                             "no run is possible (Linux 5.19)"},
    [PROBE_SYNC_WAKE_UP] = {"SYNC_WAKE_UP", try_sync_wake_up, false,
                            "system calls cost twice as much (Linux 6.6)"},
    [PROBE_USER_NS] = {"user namespaces", try_user_ns, true, "no run is possible"},
    [PROBE_PID_NS] = {"pid namespaces", try_pid_ns, true, "no run is possible"},
    [PROBE_MOUNT_NS] = {"mount namespaces", try_mount_ns, true, "no run is possible"},
    [PROBE_NET_NS] = {"net namespaces", try_net_ns, true, "no run is possible"},
    [PROBE_TIME_NS] = {"time namespaces", try_time_ns, true, "no run is possible (Linux 5.6)"},
    [PROBE_VM_ACCESS] = {"memory of child processes", try_vm_access, true,
                         "no run is possible (ptrace scope)"},
    [PROBE_PIDFD_GETFD] = {"pidfd_getfd", try_pidfd_getfd, true, "no run is possible (Linux 5.6)"},
    [PROBE_OPENAT2] = {"openat2", try_openat2, true, "no run is possible (Linux 5.6)"},
    [PROBE_LANDLOCK] = {"Landlock", try_landlock, false,
                        "one wall less around the sentry and the gofer"},
    [PROBE_CGROUP2] = {"cgroup v2", try_cgroup2, false,
                       "v1 or the sentry's own accounting is used"},
    [PROBE_CGROUP1] = {"cgroup v1 memory", try_cgroup1, false,
                       "v2 or the sentry's own accounting is used"},
};

static int run_probe(int (*try)(void))
{
    int status;
    pid_t pid = fork();
    if (pid < 0)
        return errno;
    if (pid == 0)
        _exit(try() & 0xff);
    if (waitpid(pid, &status, 0) < 0)
        return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void probe_host(struct probe_result ret_results[PROBE_COUNT])
{
    for (int i = 0; i < PROBE_COUNT; i++) {
        int e = run_probe(probes[i].try);
        ret_results[i] = (struct probe_result){
            .name = probes[i].name,
            .found = e == 0,
            .required = probes[i].required,
            .cost = probes[i].cost,
        };
        if (e != 0)
            (void)snprintf(ret_results[i].detail, sizeof(ret_results[i].detail), "%s", strerror(e));
    }
}

bool probe_missing(char *buf, size_t cap)
{
    for (int i = 0; i < PROBE_COUNT; i++) {
        int e = probes[i].required ? run_probe(probes[i].try) : 0;
        if (e == 0)
            continue;
        /* One listener a chain of filters. */
        const char *why = i <= PROBE_WAIT_KILLABLE && e == EBUSY
                              ? "the caller is under a user-notify filter already"
                              : strerror(e);
        (void)snprintf(buf, cap, "this host lacks %s: %s; %s", probes[i].name, why, probes[i].cost);
        return true;
    }
    return false;
}

int probe_print(FILE *out)
{
    struct probe_result r[PROBE_COUNT];
    int status = 0;
    probe_host(r);
    for (int i = 0; i < PROBE_COUNT; i++) {
        if (r[i].found)
            (void)fprintf(out, "%-28s found\n", r[i].name);
        else
            (void)fprintf(out, "%-28s missing: %s; %s\n", r[i].name, r[i].detail, r[i].cost);
        if (!r[i].found && r[i].required)
            status = 1;
    }
    return status;
}
