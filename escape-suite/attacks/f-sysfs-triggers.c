/* tries: write what the host's kernel acts on: sysrq-trigger, uevent_helper, release_agent and
   notify_on_release of every cgroup, cgroup.procs, power/state, device uevents, debugfs, kexec,
   acpi */
/* must fail because: /sys is a small read-only tree of the sentry, with no cgroups in it;
   sysrq-trigger does not exist */
/* an escape would: have the host's kernel start a program of the attacker's (uevent_helper,
   release_agent), move itself out of its limits, or stop the machine */
/* source: ATTACKS.md F14 */
#include <ftw.h>

#include "tricks.h"

/* clang-format off */
static const char *const names[] = {
    "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/kernel/uevent_seqnum", "/sys/power/state",
    "/sys/power/wake_lock", "/sys/kernel/kexec_crash_size", "/sys/kernel/mm/ksm/run", "/sys/kernel/debug/sched/features",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/tracing/tracing_on", "/sys/kernel/security/lockdown",
    "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/notify_on_release",
    "/sys/fs/cgroup/cgroup.subtree_control", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/devices/devices.allow", "/sys/fs/cgroup/rdma/release_agent", "/sys/fs/cgroup/systemd/release_agent",
    "/sys/fs/cgroup/freezer/freezer.state", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/pids.max",
    "/sys/class/net/lo/uevent", "/sys/class/mem/null/uevent", "/sys/devices/virtual/mem/null/uevent",
    "/sys/bus/pci/rescan", "/sys/bus/usb/drivers_probe", "/sys/module/kernel/parameters/panic",
    "/sys/firmware/efi/vars/new_var", "/sys/block/vda/uevent", "/sys/block/sda/queue/scheduler", "/proc/acpi/wakeup",
    "/proc/irq/0/smp_affinity", "/proc/mtrr", "/proc/scsi/scsi", "/proc/self/attr/current", "/proc/1/oom_score_adj",
    "/proc/self/uid_map", "/proc/1/uid_map", "/proc/1/setgroups", "/proc/self/sched", "/proc/1/coredump_filter"};
/* clang-format on */

static int taken, seen;

static bool own(const char *path)
{
    return strncmp(path, "/proc/self/", 11) == 0 || strncmp(path, "/proc/1/", 8) == 0;
}

static void try_write(const char *path, const char *what)
{
    static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND};
    for (int i = 0; i < COUNT(flags); i++) {
        int fd = open(path, flags[i] | O_CLOEXEC);
        if (fd < 0)
            continue;
        /* nothing that does harm where it works: sysrq h is help, the rest is a word or our own pid
         */
        if (write(fd, what, strlen(what)) > 0 && !own(path) && taken++ < 8)
            step("%s takes \"%s\"", path, what);
        close(fd);
    }
}

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    if (type == FTW_F && seen++ < 4000 && (st->st_mode & 0222))
        try_write(path, "0");
    return 0;
}

static int attack(void)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", getpid());
    for (int i = 0; i < COUNT(names); i++) {
        const char *what = strstr(names[i], "sysrq")                                ? "h"
                           : strstr(names[i], "_agent")                             ? "/nonexistent"
                           : strstr(names[i], "procs") || strstr(names[i], "tasks") ? pid
                           : strstr(names[i], "helper")                             ? ""
                                                                                    : "x";
        try_write(names[i], what);
    }
    nftw("/sys", look, 20, FTW_PHYS);
    mkdir("/sys/fs/cgroup/suite", 0755);
    if (access("/sys/fs/cgroup/suite", F_OK) == 0)
        taken++, step("a cgroup could be made");
    if (taken)
        return escaped("%d triggers of the host took a write", taken);
    return contained("%d names and %d files of /sys: none takes a write", COUNT(names), seen);
}

static int twin(void)
{
    char buf[64] = "";
    if (!own_kernel() && access("/sys", F_OK) < 0)
        return cannot("this box has no /sys");
    int fd = open("/sys/devices/system/cpu/online", O_RDONLY);
    if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0)
        return broken("/sys/devices/system/cpu/online: %s", err_name(errno));
    fd = open("/proc/self/oom_score_adj", O_WRONLY);
    if (fd < 0 || write(fd, "500", 3) != 3)
        return broken("/proc/self/oom_score_adj: %s", err_name(errno));
    return works("processors are listed, the own oom_score_adj can be raised");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
