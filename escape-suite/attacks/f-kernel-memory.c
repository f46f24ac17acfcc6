/* tries: read the host kernel's memory, symbols and messages: kcore, kmem, kallsyms with addresses,
   kmsg, kpage*, keys, slabinfo, timer_list, vmallocinfo, syslog(2), config, iomem, pagemap frame
   numbers, firmware tables */
/* must fail because: /proc holds only what the sentry made up; the host's files of that name are in
   no namespace that a guest sees */
/* an escape would: read a kernel address, a physical frame number, or a message of the host's
 * kernel */
/* source: ATTACKS.md F7, F14 */
#include <sys/klog.h>

#include "tricks.h"

/* clang-format off */
static const char *const names[] = {
    "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/kmsg", "/proc/kmsg", "/proc/kpagecount", "/proc/kpageflags",
    "/proc/kpagecgroup", "/proc/keys", "/proc/key-users", "/proc/slabinfo", "/proc/timer_list", "/proc/vmallocinfo",
    "/proc/sched_debug", "/proc/iomem", "/proc/ioports", "/proc/config.gz", "/proc/latency_stats", "/proc/pagetypeinfo",
    "/proc/sysvipc/shm", "/proc/1/stack", "/proc/self/stack", "/proc/self/wchan", "/proc/self/syscall",
    "/sys/kernel/notes", "/sys/kernel/vmcoreinfo", "/sys/firmware/acpi/tables/DSDT", "/sys/firmware/dmi/tables/DMI",
    "/sys/kernel/debug/kmemleak", "/sys/module/kernel/sections/.text", "/sys/class/dmi/id/product_uuid",
    "/sys/kernel/boot_params/data", "/boot/System.map", "/proc/modules", "/proc/bus/pci/devices", "/proc/net/tcp",
    "/proc/net/unix", "/proc/net/arp", "/proc/swaps", "/proc/partitions", "/proc/diskstats", "/proc/mdstat"};
/* clang-format on */

/* A pointer into the kernel's half, written as text. */
static bool kernel_address(const char *buf, ssize_t n)
{
    for (ssize_t i = 0; i + 16 <= n; i++) {
        if (strncmp(buf + i, "ffff", 4) != 0)
            continue;
        int k = 4, zero = 0;
        while (k < 16 && strchr("0123456789abcdef", buf[i + k])) {
            zero += buf[i + k] == '0' || buf[i + k] == 'f';
            k++;
        }
        if (k == 16 && zero < 12)
            return true;
    }
    return false;
}

static int attack(void)
{
    static char buf[65536];
    int leaks = 0, readable = 0;
    for (int i = 0; i < COUNT(names); i++) {
        int fd = open(names[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
        close(fd);
        if (n <= 0)
            continue;
        readable++;
        bool bad = kernel_address(buf, n) || (i < 8 && n > 0) || strncmp(buf + 1, "ELF", 3) == 0;
        step("%s: %zd bytes%s", names[i], n, bad ? ", of the host's kernel" : "");
        leaks += bad;
    }
    int fd = open("/proc/kallsyms", O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
    if (n > 0 && kernel_address(buf, n))
        leaks++, step("/proc/kallsyms shows addresses");
    uint64_t frame = 0;
    fd = open("/proc/self/pagemap", O_RDONLY);
    if (fd >= 0 && pread(fd, &frame, 8, (off_t)((uintptr_t)buf / 4096 * 8)) == 8 &&
        (frame & ((1ull << 55) - 1)) != 0)
        leaks++, step("/proc/self/pagemap shows frame %#llx", (unsigned long long)frame);
    for (int op = 0; op <= 10; op++) {
        if (op == 5 || op == 4 || op == 6 || op == 7 || op == 8 || op == 1)
            continue; /* would clear or silence the log where it works */
        int r = klogctl(op, buf, sizeof(buf));
        if ((op == 2 || op == 3) && r > 0)
            leaks++, step("syslog(%d) gives %d bytes", op, r);
    }
    if (leaks)
        return escaped("%d looks into the host's kernel", leaks);
    return contained("%d of %d files can be read, nothing of the host's kernel in them", readable,
                     COUNT(names));
}

static int twin(void)
{
    char buf[4096] = "";
    int fd = open("/proc/self/maps", O_RDONLY);
    if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0 || !strstr(buf, "[stack]"))
        return broken("/proc/self/maps: %s", err_name(errno));
    fd = open("/proc/meminfo", O_RDONLY);
    if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0 || strncmp(buf, "MemTotal:", 9) != 0)
        return broken("/proc/meminfo: %s", err_name(errno));
    return works("maps and meminfo can be read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
