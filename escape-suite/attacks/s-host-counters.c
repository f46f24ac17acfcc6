/* tries: the host's counters: load, processes ever made, interrupts, context switches, disks,
   kernel symbols, kernel log, memory in use, uptime, pid allocation, in /proc, /sys, sysinfo,
   syslog, getrusage */
/* must fail because: /proc and /sys are made by the supervisor out of its own numbers */
/* an escape would: watch what other runs and the host do */
/* source: ATTACKS.md S6 R12 */
#include <fcntl.h>

#include <sys/klog.h>
#include <sys/sysinfo.h>

#include "attack.h"

static int leaks;
static char buf[1 << 18];

static char *file(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : -1;
    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = 0;
    return n > 0 ? buf : NULL;
}

static void leak(const char *what, long number)
{
    step("%s: %ld", what, number);
    leaks++;
}

/* Counters of our own making are zero or small. */
static long largest(const char *p)
{
    long most = 0;
    while (*p) {
        if (*p >= '0' && *p <= '9') {
            char *end;
            long v = strtol(p, &end, 10);
            most = v > most ? v : most;
            p = end;
        } else {
            p++;
        }
    }
    return most;
}

static long after(const char *text, const char *word)
{
    const char *p = text ? strstr(text, word) : NULL;
    return p ? strtol(p + strlen(word), NULL, 10) : -1;
}

static int attack(void)
{
    static const char *const absent[] = {"/proc/kcore",
                                         "/proc/kallsyms",
                                         "/proc/kmsg",
                                         "/proc/modules",
                                         "/proc/interrupts",
                                         "/proc/softirqs",
                                         "/proc/diskstats",
                                         "/proc/slabinfo",
                                         "/proc/vmallocinfo",
                                         "/proc/iomem",
                                         "/proc/timer_list",
                                         "/proc/sched_debug",
                                         "/proc/keys",
                                         "/proc/key-users",
                                         "/proc/pagetypeinfo",

                                         "/proc/buddyinfo",
                                         "/proc/schedstat",
                                         "/proc/pressure/cpu",
                                         "/proc/swaps",
                                         "/sys/kernel/debug",
                                         "/sys/class/net/eth0/statistics/rx_bytes",
                                         "/sys/block/sda/stat",
                                         "/sys/class/thermal/thermal_zone0/temp",
                                         "/sys/class/dmi/id/product_name",
                                         "/sys/devices/virtual/dmi/id/bios_version",
                                         "/proc/version_signature",
                                         "/dev/kmsg"};
    struct sysinfo si;
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        char *t = file(absent[i]);
        if (t && strchr(t, '\n') && strchr(t, '\n')[1] && largest(t) > 1000)
            leak(absent[i], largest(t));
    }
    char *t = file("/proc/stat");
    if (after(t, "processes ") > 2000)
        leak("processes ever made", after(t, "processes "));
    if (after(t, "ctxt ") > 1000000)
        leak("context switches", after(t, "ctxt "));
    if (after(t, "intr ") > 100000)
        leak("interrupts", after(t, "intr "));
    if ((t = file("/proc/loadavg"))) {
        step("load %.40s", t);
        long last = strrchr(t, ' ') ? strtol(strrchr(t, ' '), NULL, 10) : 0;
        if (last > 2000)
            leak("the last process id", last);
        if (after(t, "/") > 200)
            leak("tasks", after(t, "/"));
    }
    if ((t = file("/proc/vmstat")) && after(t, "pgfault ") > 10000000)
        leak("page faults", after(t, "pgfault "));
    if ((t = file("/proc/uptime")) && atof(t) > 600)
        leak("uptime", atol(t));
    memset(&si, 0, sizeof(si));
    if (sysinfo(&si) == 0 && si.procs > 200)
        leak("sysinfo: processes", si.procs);
    if (si.uptime > 600)
        leak("sysinfo: uptime", si.uptime);
    int n = klogctl(3, buf, sizeof(buf));
    if (n > 0)
        leak("bytes of the kernel's log", n);
    n = klogctl(10, NULL, 0);
    if (n > 0)
        step("size of the kernel's log: %d", n);
    if (getpid() > 2000)
        leak("its own process id", getpid());
    if (leaks)
        return escaped("%d numbers of the host's", leaks);
    return contained("counters are the run's own");
}

static int twin(void)
{
    struct sysinfo si;
    if (!file("/proc/meminfo") || !strstr(buf, "MemTotal") || !file("/proc/stat") ||
        sysinfo(&si) < 0)
        return broken("/proc/meminfo, /proc/stat, sysinfo: %s", err_name(errno));
    return works("/proc/meminfo, /proc/stat and sysinfo are there");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
