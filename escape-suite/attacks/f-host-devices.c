/* tries: open the host's devices by their names in /dev, and every node that a walk over the whole
   tree finds */
/* must fail because: /dev is the sentry's own, with the few devices that it implements itself */
/* an escape would: have an open descriptor of /dev/mem, /dev/kvm, a disk, an input device, ... */
/* source: ATTACKS.md F7 */
#include <ftw.h>

#include <sys/sysmacros.h>

#include "tricks.h"

/* clang-format off */
static const char *const names[] = {
    "mem", "kmem", "port", "kmsg", "sda", "sdb", "vda", "vda1", "nvme0n1", "nvme0", "loop0", "loop-control",
    "uinput", "input/event0", "input/mice", "kvm", "fuse", "cuse", "net/tun", "vhost-net", "vhost-vsock", "vsock",
    "vfio/vfio", "mapper/control", "btrfs-control", "autofs", "userfaultfd", "dri/card0", "dri/renderD128",
    "snd/seq", "cpu/0/msr", "cpu/0/cpuid", "cpu_dma_latency", "hpet", "rtc", "rtc0", "watchdog", "watchdog0", "nvram",
    "tty0", "tty1", "ttyS0", "vcs", "vcsa1", "hvc0", "console", "log", "initctl", "hugepages", "mqueue", "snapshot",
    "rfkill", "tpm0", "tpmrm0", "sgx_enclave", "sev", "ram0", "zram0", "md0", "fb0", "video0", "bus/usb/001/001",
    "nitro_enclaves", "ppp", "usbmon0", "uhid", "udmabuf", "vmci", "binder", "ashmem", "dma_heap/system"};
/* clang-format on */

static int unexpected;

/* Devices that any box has: null zero full random urandom tty ptmx console, terminals of devpts. */
static bool ordinary(const char *path, const struct stat *st)
{
    unsigned ma = major(st->st_rdev), mi = minor(st->st_rdev);
    if (!S_ISCHR(st->st_mode))
        return false;
    return (ma == 1 && (mi == 3 || mi == 5 || mi == 7 || mi == 8 || mi == 9)) ||
           (ma == 5 && mi <= 2) || (ma >= 136 && ma < 144);
}

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    if ((S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) && !ordinary(path, st)) {
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        step("%s is device %u:%u: open %s", path, major(st->st_rdev), minor(st->st_rdev),
             err_name(fd < 0 ? errno : 0));
        unexpected += fd >= 0;
        close(fd);
    }
    return 0;
}

static int attack(void)
{
    char path[256];
    for (int i = 0; i < COUNT(names); i++) {
        static const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY};
        for (int k = 0; k < COUNT(flags); k++) {
            struct stat st;
            snprintf(path, sizeof(path), "/dev/%s", names[i]);
            int fd = open(path, flags[k] | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
            if (fd < 0)
                continue;
            if (fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) &&
                !ordinary(path, &st)) {
                step("%s opened", path);
                unexpected++;
            }
            close(fd);
        }
    }
    for (const char *const *dir =
             (const char *const[]){"/dev", "/run", "/tmp", "/mnt", "/var", NULL};
         *dir; dir++)
        nftw(*dir, look, 20, FTW_PHYS);
    if (unexpected)
        return escaped("%d devices of the host could be opened", unexpected);
    return contained("%d names and a walk over /dev: only the box's own devices", COUNT(names));
}

static int twin(void)
{
    char c = 1;
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);
    int rnd = open("/dev/urandom", O_RDONLY), full = open("/dev/full", O_WRONLY);
    if (write(null, &c, 1) != 1 || read(null, &c, 1) != 0 || read(zero, &c, 1) != 1 || c != 0 ||
        read(rnd, &c, 1) != 1 || write(full, &c, 1) != -1 || errno != ENOSPC)
        return broken("null, zero, urandom or full does not behave: %s", err_name(errno));
    return works("null, zero, urandom and full behave");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
