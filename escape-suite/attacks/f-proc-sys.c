/* tries: write the settings of the host that give power or do harm: core_pattern, modprobe, sysrq,
   binfmt_misc, overcommit, panic, ns_last_pid and many more of /proc/sys, by name, by openat,
   through /proc/1/root and /proc/self/root */
/* must fail because: /proc/sys is made of the sentry's own words; nothing of it leads to the host's
 */
/* an escape would: change a setting of the host; with core_pattern or modprobe that is a program of
   the attacker's, run by the host's root */
/* source: ATTACKS.md F14 */
#include "tricks.h"

/* clang-format off */
static const char *const settings[] = {
    "kernel/core_pattern", "kernel/core_uses_pid", "kernel/modprobe", "kernel/hotplug", "kernel/poweroff_cmd",
    "kernel/sysrq", "kernel/panic", "kernel/panic_on_oops", "kernel/randomize_va_space", "kernel/ns_last_pid",
    "kernel/yama/ptrace_scope", "kernel/unprivileged_bpf_disabled", "kernel/perf_event_paranoid",
    "kernel/kptr_restrict", "kernel/dmesg_restrict", "kernel/pid_max", "kernel/threads-max", "kernel/shmmax",
    "kernel/shm_rmid_forced", "kernel/msgmax", "kernel/sem",
    "kernel/tainted", "kernel/ftrace_enabled", "kernel/nmi_watchdog", "kernel/sched_rt_runtime_us",
    "kernel/keys/maxkeys", "kernel/seccomp/actions_logged", "kernel/usermodehelper/bset",
    "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns",
    "vm/overcommit_memory", "vm/drop_caches", "vm/panic_on_oom", "vm/mmap_min_addr", "vm/swappiness",
    "vm/compact_memory", "vm/oom_kill_allocating_task", "fs/file-max", "fs/suid_dumpable", "fs/pipe-max-size",
    "fs/protected_symlinks", "fs/protected_hardlinks", "fs/binfmt_misc/register", "fs/binfmt_misc/status",
    "fs/inotify/max_user_watches", "user/max_user_namespaces", "net/ipv4/ip_forward",
    "net/core/bpf_jit_enable", "dev/tty/ldisc_autoload", "dev/tty/legacy_tiocsti", "abi/vsyscall32"};
/* clang-format on */

/* Writes what is there already, or a mark where that shows; true when the host took it. */
static int try_setting(const char *path, int *readable)
{
    char old[256] = "";
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, old, sizeof(old) - 1);
    close(fd);
    *readable += n > 0;
    static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC};
    for (int i = 0; i < COUNT(flags); i++) {
        fd = open(path, flags[i]);
        if (fd < 0)
            continue;
        /* a mark shows best; it does not stay */
        bool mark = strstr(path, "core_pattern") != NULL;
        ssize_t w = mark    ? write(fd, "core.suite", 10)
                    : n > 0 ? write(fd, old, (size_t)n)
                            : write(fd, "1", 1);
        if (mark && w > 0 && n > 0)
            pwrite(fd, old, (size_t)n, 0);
        close(fd);
        if (w > 0)
            return 1;
    }
    chmod(path, 0666);
    truncate(path, 0);
    return 0;
}

/* Limits of System V objects belong to an IPC namespace, the others to a kernel. Where the kernel
 * is the runtime's own, so are they; the harness looks at the host's values. */
static bool box_owned(const char *name)
{
    static const char *const names[] = {
        "kernel/shmmax",      "kernel/shm_rmid_forced",     "kernel/msgmax", "kernel/sem",
        "kernel/ns_last_pid", "vm/overcommit_memory",       "vm/swappiness", "vm/drop_caches",
        "fs/pipe-max-size",   "fs/inotify/max_user_watches"};
    for (int i = 0; own_kernel() && i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int attack(void)
{
    static const char *const roots[] = {"/proc/sys", "/proc/self/root/proc/sys",
                                        "/proc/1/root/proc/sys", "/proc/../proc/./sys",
                                        "/proc/self/task/../../sys"};
    char path[256], now[64] = "";
    int taken = 0, readable = 0, own = 0;
    for (int r = 0; r < COUNT(roots); r++)
        for (int i = 0; i < COUNT(settings); i++) {
            snprintf(path, sizeof(path), "%s/%s", roots[r], settings[i]);
            if (!try_setting(path, &readable))
                continue;
            if (box_owned(settings[i]))
                own++;
            else if (taken++ < 8)
                step("%s takes a write", path);
        }
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY);
    if (fd >= 0)
        read(fd, now, sizeof(now) - 1);
    step(
        "%d readings, %d writes taken, %d of settings of the box's own, core_pattern is now \"%s\"",
        readable, taken, own, now);
    if (taken)
        return escaped("%d settings took a write", taken);
    return contained("no setting takes a write");
}

static int twin(void)
{
    char buf[64] = "";
    int fd = open("/proc/sys/kernel/ostype", O_RDONLY);
    if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0 || strcmp(buf, "Linux\n") != 0)
        return broken("/proc/sys/kernel/ostype is \"%s\": %s", buf, err_name(errno));
    fd = open("/proc/self/comm", O_WRONLY);
    if (fd < 0 || write(fd, "renamed", 7) != 7 || prctl(PR_GET_NAME, buf) < 0 ||
        strcmp(buf, "renamed") != 0)
        return broken("/proc/self/comm: %s", err_name(errno));
    return works("settings can be read, the own name can be written");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
