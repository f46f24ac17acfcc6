/*
 * cgroup_systemd.c: a scope, asked for with busctl, which is there wherever systemd is. So nothing
 * here speaks D-Bus, and nothing is linked for it.
 *
 * systemd answers when the job is queued, not when it is done; it is done when the process is in
 * the new group, which /proc says.
 */
#include "runsc-shim/cgroup_systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/cli/cgroup_file.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

enum {
    WAIT_MS = 30000,
    STEP_MS = 2,
    OUTPUT_KEPT = 300
};

/* Letters that systemd takes in the name of a unit. */
static bool unit_name(const char *s)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.\\@";
    return s[0] != '\0' && s[0] != '.' && s[strspn(s, allowed)] == '\0';
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

int scope_check(struct error *err)
{
    if (access(CGROUP_ROOT "/cgroup.controllers", F_OK) == 0)
        return 0;
    return error_set(err, ENOTSUP,
                     "--systemd-cgroup: only where cgroup v2 is mounted at " CGROUP_ROOT
                     "; use the cgroupfs driver (podman: cgroup_manager = \"cgroupfs\", "
                     "containerd: SystemdCgroup = false)");
}

int scope_parse(const char *cgroups_path, const char *id, bool user, struct scope_names *ret_n,
                struct error *err)
{
    const char *slice = user ? "user.slice" : "system.slice";
    const char *prefix = "runsc-shim", *name = id;
    char text[768];
    int n, m;

    if (cgroups_path != NULL && cgroups_path[0] != '\0') {
        char *at = text;
        if (strlen(cgroups_path) >= sizeof(text))
            return error_set(err, ENAMETOOLONG, "linux.cgroupsPath is too long");
        (void)snprintf(text, sizeof(text), "%s", cgroups_path);
        const char *first = strsep(&at, ":"), *second = strsep(&at, ":");
        if (second == NULL || at == NULL || strchr(at, ':') != NULL)
            return error_set(
                err, EINVAL,
                "linux.cgroupsPath: '%.200s' is not SLICE:PREFIX:NAME, as it has to be "
                "with --systemd-cgroup",
                cgroups_path);
        slice = first[0] != '\0' ? first : slice;
        prefix = second;
        name = at;
    }
    n = snprintf(ret_n->slice, sizeof(ret_n->slice), "%s", slice);
    m = snprintf(ret_n->unit, sizeof(ret_n->unit), "%s%s%s%s", prefix, prefix[0] != '\0' ? "-" : "",
                 name, ends_with(name, ".scope") ? "" : ".scope");
    if (n < 0 || (size_t)n >= sizeof(ret_n->slice) || m < 0 || (size_t)m >= sizeof(ret_n->unit))
        return error_set(err, ENAMETOOLONG, "linux.cgroupsPath is too long");
    if (!unit_name(ret_n->slice) || !unit_name(ret_n->unit) || !ends_with(ret_n->slice, ".slice"))
        return error_set(err, EINVAL,
                         "linux.cgroupsPath: '%.200s', '%.200s' are no units of systemd",
                         ret_n->slice, ret_n->unit);
    return 0;
}

/* -- asking ---------------------------------------------------------------------------------------
 */

NORETURN static void busctl(const struct scope_names *n, pid_t pid, bool user, int out)
{
    char number[16];
    sigset_t none;

    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    (void)syscall(SYS_close_range, 3u, ~0u, 0);
    (void)execlp("busctl", "busctl", user ? "--user" : "--system", "--quiet", "--timeout=30", "--",
                 "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                 "org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))",
                 n->unit, "replace", "6", "Description", "s", "container of runsc-shim", "Slice",
                 "s", n->slice, "Delegate", "b", "true", "DefaultDependencies", "b", "false",
                 "CollectMode", "s", "inactive-or-failed", "PIDs", "au", "1", number, "0",
                 (char *)NULL);
    (void)dprintf(2, "busctl: %s", strerror(errno));
    _exit(127);
}

static int ask(const struct scope_names *n, pid_t pid, bool user, struct error *err)
{
    char text[OUTPUT_KEPT + 1];
    int out[2], status = 0;

    if (pipe2(out, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    pid_t child = fork();
    if (child == 0)
        busctl(n, pid, user, out[1]);
    int e = errno;
    (void)close(out[1]);
    int64_t len = child > 0 ? fd_read_full(out[0], text, OUTPUT_KEPT) : 0;
    (void)close(out[0]);
    if (child < 0)
        return error_errno(err, e, "fork");
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    text[MAX(len, (int64_t)0)] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return error_set(
        err, EIO,
        "--systemd-cgroup: systemd gives no scope %.100s (%s); without systemd use the "
        "cgroupfs driver (podman: cgroup_manager = \"cgroupfs\", containerd: "
        "SystemdCgroup = false)",
        n->unit, text);
}

/* -- where it is ----------------------------------------------------------------------------------
 */

/* The v2 group of a process ("self", or a number), below the mount. */
static bool group_of(const char *process, char *ret_dir, size_t cap)
{
    char path[64], text[4096];

    (void)snprintf(path, sizeof(path), "/proc/%s", process);
    if (!cgroup_file_read(path, "cgroup", text, sizeof(text)))
        return false;
    char *save = NULL;
    for (char *l = strtok_r(text, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
        if (strncmp(l, "0::/", 4) != 0)
            continue;
        int n = snprintf(ret_dir, cap, CGROUP_ROOT "%s", l + 3);
        return n > 0 && (size_t)n < cap;
    }
    return false;
}

bool scope_own_dir(char *ret_dir, size_t cap)
{
    return group_of("self", ret_dir, cap);
}

static int wait_joined(const struct scope_names *n, pid_t pid, char *ret_dir, size_t cap,
                       struct error *err)
{
    const struct timespec step = {0, STEP_MS * 1000000l};
    char process[16];

    (void)snprintf(process, sizeof(process), "%d", (int)pid);
    for (int i = 0; i < WAIT_MS / STEP_MS; i++) {
        const char *last = group_of(process, ret_dir, cap) ? strrchr(ret_dir, '/') : NULL;
        if (last != NULL && strcmp(last + 1, n->unit) == 0)
            return 0;
        (void)nanosleep(&step, NULL);
    }
    return error_set(err, ETIMEDOUT, "--systemd-cgroup: systemd has not made %.100s", n->unit);
}

/* A group with processes cannot give its controllers to its children, so the process moves first.
 */
static int make_child(pid_t pid, const char *scope, char *ret_dir, size_t cap, struct error *err)
{
    static const char *const wanted[] = {"+memory", "+cpu", "+pids", "+cpuset", "+io"};
    char number[16];
    int n = snprintf(ret_dir, cap, "%s/container", scope);

    if (n < 0 || (size_t)n >= cap)
        return error_set(err, ENAMETOOLONG, "the path of %s", scope);
    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    if (mkdir(ret_dir, 0755) < 0 && errno != EEXIST)
        return error_errno(err, errno, "%s", ret_dir);
    int r = cgroup_file_write(ret_dir, "cgroup.procs", number);
    if (r < 0)
        return error_errno(err, -r, "%s: moving the container", ret_dir);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        (void)!cgroup_file_write(scope, "cgroup.subtree_control", wanted[i]);
    return 0;
}

int scope_make(const struct scope_names *n, pid_t pid, bool user, char *ret_dir, size_t cap,
               struct error *err)
{
    char scope[1024];

    int r = ask(n, pid, user, err);
    if (r == 0)
        r = wait_joined(n, pid, scope, sizeof(scope), err);
    return r < 0 ? r : make_child(pid, scope, ret_dir, cap, err);
}
