/* tries: mount(2) of every type and as bind, remount, move and propagation change, umount2, before
   and after unshare(CLONE_NEWUSER|CLONE_NEWNS), then the canary below each new mount */
/* must fail because: the mount table is the sentry's own and no call changes it; namespaces are
   never made on the host for a guest */
/* an escape would: see the host's files through a mount, or make the read-only root writable */
/* source: ATTACKS.md F12, N9 */
#include <sys/mount.h>

#include "tricks.h"

static const char *const types[] = {"proc",        "sysfs",    "tmpfs",     "devtmpfs", "devpts",
                                    "cgroup",      "cgroup2",  "overlay",   "ext4",     "xfs",
                                    "btrfs",       "vfat",     "iso9660",   "squashfs", "fuse",
                                    "9p",          "nfs",      "virtiofs",  "debugfs",  "tracefs",
                                    "securityfs",  "bpf",      "hugetlbfs", "mqueue",   "ramfs",
                                    "binfmt_misc", "configfs", "efivarfs",  "pstore",   "fusectl"};
static const char *const sources[] = {"/dev/sda",       "/dev/vda",   "/dev/vda1",
                                      "/dev/nvme0n1p1", "/dev/loop0", "none"};

static int try_mounts(const char *when, const char *file)
{
    int ok = 0;
    mkdir("/tmp/m", 0755);
    for (int i = 0; i < COUNT(types); i++) {
        for (int s = 0; s < COUNT(sources); s++) {
            if (mount(sources[s], "/tmp/m", types[i], 0,
                      i == 7 ? "lowerdir=/,upperdir=/tmp,workdir=/tmp" : NULL))
                continue;
            step("%s: %s of %s is mounted", when, types[i], sources[s]);
            ok++;
            if (reach_by(AT_FDCWD, "/tmp/m", file) == 1 ||
                reach_by(AT_FDCWD, "/tmp/m/1/root", file) == 1)
                return -1;
            umount2("/tmp/m", MNT_DETACH);
        }
    }
    static const char *const binds[] = {"/",    "/proc/1/root", "/proc/self/root/..",
                                        "/dev", "/..",          "/proc/self/fd/0"};
    for (int i = 0; i < COUNT(binds); i++) {
        if (mount(binds[i], "/tmp/m", NULL, MS_BIND | MS_REC, NULL) == 0 &&
            reach_by(AT_FDCWD, "/tmp/m", file) == 1)
            return -1;
        umount2("/tmp/m", MNT_DETACH);
    }
    mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL);
    mount(NULL, "/", NULL, MS_REMOUNT, NULL);
    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL);
    mount("/tmp", "/", NULL, MS_MOVE, NULL);
    static const char *const under[] = {"/tmp",  "/dev/shm", "/dev/pts", "/dev",
                                        "/proc", "/sys",     "/"};
    for (int i = 0; i < COUNT(under); i++)
        if (umount2(under[i], MNT_DETACH) == 0 || umount2(under[i], MNT_FORCE) == 0)
            step("%s: %s is unmounted", when, under[i]), ok++;
    if (reach(AT_FDCWD, file) == 1)
        return -1;
    int fd = open("/etc/written", O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        return -2;
    return ok;
}

static int in_namespace(void)
{
    static const int flags[] = {CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNS,
                                CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                    CLONE_NEWIPC};
    for (int i = 0; i < COUNT(flags); i++)
        step("unshare(%#x): %s", flags[i], err_name(unshare(flags[i]) < 0 ? errno : 0));
    int r = try_mounts("after unshare", fact("host_file"));
    return r == -1 ? 200 : r == -2 ? 201 : 0;
}

static int attack(void)
{
    const char *file = fact("host_file");
    if (!file)
        return cannot("no host_file was given");
    int r = in_child(in_namespace);
    if (r == 200 || r == 201)
        return escaped(r == 200 ? "a mount leads to the canary" : "the root is writable");
    r = try_mounts("as we are", file);
    if (r < 0)
        return escaped(r == -1 ? "a mount leads to the canary" : "the root is writable");
    return contained("no mount shows the host; the root stays read-only");
}

static int twin(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/mounts", "r");
    while (f && fgets(line, sizeof(line), f))
        n++;
    if (n < 2)
        return broken("/proc/self/mounts has %d lines", n);
    return works("/proc/self/mounts lists %d mounts", n);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
