/* tries: as the box's root, mknod and mknodat of the devices that matter (mem, kmem, port, kmsg,
   disks, uinput, kvm, fuse, tun, loop, ...) in every writable directory, then open them */
/* must fail because: a device node of the sentry's file systems opens the sentry's own device of
   that number, or ENXIO; no call makes a node on the host */
/* an escape would: hold an open device of the host: its memory, its disks, its keyboard */
/* source: ATTACKS.md F7 */
#include <sys/sysmacros.h>

#include "tricks.h"

/* clang-format off */
static const struct {
    int type, major, minor;
    const char *name;
} devices[] = {
    {S_IFCHR, 1, 1, "mem"},      {S_IFCHR, 1, 2, "kmem"},       {S_IFCHR, 1, 4, "port"},
    {S_IFCHR, 1, 11, "kmsg"},    {S_IFCHR, 4, 1, "tty1"},       {S_IFCHR, 4, 64, "ttyS0"},
    {S_IFCHR, 7, 1, "vcs1"},     {S_IFCHR, 10, 223, "uinput"},  {S_IFCHR, 10, 232, "kvm"},
    {S_IFCHR, 10, 229, "fuse"},  {S_IFCHR, 10, 200, "tun"},     {S_IFCHR, 10, 237, "loop-control"},
    {S_IFCHR, 10, 236, "mapper"}, {S_IFCHR, 10, 235, "autofs"}, {S_IFCHR, 10, 234, "btrfs"},
    {S_IFCHR, 10, 238, "vhost"}, {S_IFCHR, 10, 241, "vsock"},   {S_IFCHR, 10, 130, "watchdog"},
    {S_IFCHR, 10, 196, "vfio"},  {S_IFCHR, 13, 64, "event0"},   {S_IFCHR, 202, 0, "msr"},
    {S_IFCHR, 203, 0, "cpuid"},  {S_IFCHR, 226, 0, "card0"},    {S_IFCHR, 195, 0, "nvidia0"},
    {S_IFBLK, 7, 0, "loop0"},    {S_IFBLK, 8, 0, "sda"},        {S_IFBLK, 8, 1, "sda1"},
    {S_IFBLK, 252, 0, "vda"},    {S_IFBLK, 253, 0, "dm0"},      {S_IFBLK, 254, 0, "vda"},
    {S_IFBLK, 259, 0, "nvme0n1"}, {S_IFBLK, 1, 0, "ram0"},      {S_IFBLK, 43, 0, "nbd0"}};
/* clang-format on */

static int try_open(const char *path, const char *what)
{
    static const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY, O_RDONLY | O_DIRECT};
    for (int i = 0; i < COUNT(flags); i++) {
        int fd = open(path, flags[i] | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            continue;
        struct stat st;
        char buf[512];
        ssize_t n = read(fd, buf, sizeof(buf));
        fstat(fd, &st);
        step("%s opens: mode %o, device %u:%u, read %zd", what, st.st_mode, major(st.st_rdev),
             minor(st.st_rdev), n);
        close(fd);
        return S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode);
    }
    return 0;
}

static int attack(void)
{
    static const char *const dirs[] = {"/tmp", "/dev", "/dev/shm", "/", "/run", "/var/tmp", "."};
    char path[256];
    int made = 0, opened = 0, last = 0;
    for (int d = 0; d < COUNT(dirs); d++) {
        int dir = open(dirs[d], O_RDONLY | O_DIRECTORY);
        for (int i = 0; i < COUNT(devices); i++) {
            dev_t dev = makedev(devices[i].major, devices[i].minor);
            snprintf(path, sizeof(path), "%s/node-%s", dirs[d], devices[i].name);
            int r = i % 2 ? mknod(path, devices[i].type | 0666, dev)
                          : mknodat(dir, path, devices[i].type | 0666, dev);
            last = r < 0 ? errno : last;
            made += r == 0;
            opened += r == 0 && try_open(path, devices[i].name);
            unlink(path);
        }
        close(dir);
    }
    step("%d nodes were made, last error %s", made, err_name(last));
    if (opened)
        return escaped("%d device nodes could be opened", opened);
    return contained("%d nodes made, none opens", made);
}

static int twin(void)
{
    char c = 1;
    if (mknod("/tmp/fifo", S_IFIFO | 0600, 0) < 0 || mknod("/tmp/file", S_IFREG | 0600, 0) < 0)
        return broken("mknod of a FIFO and a file: %s", err_name(errno));
    int fd = open("/tmp/fifo", O_RDWR);
    if (fd < 0 || write(fd, "x", 1) != 1 || read(fd, &c, 1) != 1 || c != 'x')
        return broken("the FIFO does not carry a byte: %s", err_name(errno));
    fd = open("/dev/zero", O_RDONLY);
    if (fd < 0 || read(fd, &c, 1) != 1 || c != 0)
        return broken("/dev/zero: %s", err_name(errno));
    return works("mknod makes a FIFO and a file, /dev/zero reads");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
