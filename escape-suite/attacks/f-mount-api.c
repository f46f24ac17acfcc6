/* tries: the descriptor-based mount calls: fsopen + fsconfig + fsmount of many types, open_tree
   with OPEN_TREE_CLONE, move_mount, fspick, mount_setattr, statmount and listmount */
/* must fail because: none of these reaches the host; EPERM or ENOSYS */
/* an escape would: hold a detached mount of a host file system and read the canary below it, or
   list the host's mounts */
/* source: ATTACKS.md F12 */
#include <linux/mount.h>

#include "tricks.h"

static int fs_of(const char *type, const char *file)
{
    long fs = sys(SYS_fsopen, type, 0);
    if (fs < 0)
        return (int)fs;
    static const char *const source[] = {"/dev/vda", "/dev/sda1", "none"};
    for (int i = 0; i < COUNT(source); i++)
        syscall(SYS_fsconfig, fs, 1 /* SET_STRING */, "source", source[i], 0);
    syscall(SYS_fsconfig, fs, 1, "lowerdir", "/", 0);
    syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0);
    long m = sys(SYS_fsmount, fs, 0, 0);
    close((int)fs);
    if (m < 0)
        return (int)m;
    step("%s: a detached mount, descriptor %ld", type, m);
    mkdir("/tmp/m", 0755);
    syscall(SYS_move_mount, m, "", AT_FDCWD, "/tmp/m", 4);
    return reach_by((int)m, ".", file) == 1 || reach_by((int)m, "1/root", file) == 1 ||
           reach_by(AT_FDCWD, "/tmp/m", file) == 1;
}

static int attack(void)
{
    static const char *const types[] = {"tmpfs",   "proc",   "sysfs",    "ext4",    "xfs", "btrfs",
                                        "overlay", "fuse",   "devtmpfs", "cgroup2", "9p",  "nfs",
                                        "bpf",     "mqueue", "devpts",   "ramfs",   "vfat"};
    static const char *const trees[] = {"/",    "/..",  "/proc/1/root",
                                        "/dev", "/tmp", "/proc/self/root/.."};
    const char *file = fact("host_file");
    if (!file)
        return cannot("no host_file was given");
    for (int i = 0; i < COUNT(types); i++) {
        int r = fs_of(types[i], file);
        if (r == 1)
            return escaped("a mount of type %s leads to the canary", types[i]);
        if (i < 3)
            step("fsopen %s: %s", types[i], err_name(r < 0 ? r : 0));
    }
    for (int i = 0; i < COUNT(trees); i++) {
        for (unsigned flags = 0; flags < 4; flags++) {
            long t = sys(SYS_open_tree, AT_FDCWD, trees[i],
                         (flags & 1) | (flags & 2 ? AT_RECURSIVE : 0));
            if (t >= 0 && (reach_by((int)t, ".", file) == 1 || reach_by((int)t, "..", file) == 1))
                return escaped("open_tree(%s) leads to the canary", trees[i]);
            if (flags == 1)
                step("open_tree %s: %s", trees[i], err_name(t < 0 ? t : 0));
        }
        struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
        long a = sys(SYS_mount_setattr, AT_FDCWD, trees[i], AT_RECURSIVE, &attr, sizeof(attr));
        long p = sys(SYS_fspick, AT_FDCWD, trees[i], 0);
        if (a == 0 && open("/etc/written", O_WRONLY | O_CREAT, 0600) >= 0)
            return escaped("mount_setattr made the root writable");
        if (p >= 0)
            step("fspick %s: %ld", trees[i], p);
    }
    char buf[8192];
    uint64_t req[4] = {sizeof(req), (uint64_t)-1, 0, 0}, ids[64];
    long l = sys(458, req, ids, 64, 0), s = sys(457, req, buf, sizeof(buf), 0);
    step("listmount %s, statmount %s", err_name(l < 0 ? l : 0), err_name(s < 0 ? s : 0));
    if (s >= 0 && memmem(buf, sizeof(buf), file, 12))
        return escaped("statmount shows a mount of the host");
    return contained("no mount could be made, moved or changed");
}

static int twin(void)
{
    int fd = syscall(SYS_fsopen, "tmpfs", 0);
    if (fd < 0 && errno != EPERM && errno != ENOSYS)
        return broken("fsopen: %s", err_name(errno));
    if (open("/tmp/file", O_WRONLY | O_CREAT, 0600) < 0)
        return broken("a file in /tmp: %s", err_name(errno));
    return works("a program that falls back from fsopen to plain files is fine");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
