/* tries: names of the host: paths in mounts, cgroups, exe, cwd, root and descriptor links, maps,
   the host's name, machine id, user names and ids, boot id, device numbers, time zone, kernel
   command line */
/* must fail because: paths and names are the supervisor's; the image's place on the host is known
   to nobody inside */
/* an escape would: learn where the run, the image or a neighbour lies on the host, or which host it
 * is */
/* source: ATTACKS.md S3 S6 */
#include <dirent.h>
#include <fcntl.h>

#include <sys/stat.h>
#include <sys/utsname.h>

#include "attack.h"

static int leaks;

static void look(const char *where, const char *text)
{
    const char *const bad[] = {fact("run_dir"),       fact("host_dir"), "/var/lib/docker",
                               "/var/lib/containers", "overlay2",       "sentry-gofer",
                               "/user.slice",         "/system.slice",  "/home/"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (bad[i] && strlen(bad[i]) > 3 && strstr(text, bad[i])) {
            step("%s names %s", where, bad[i]);
            leaks++;
        }
}

static void file(const char *path)
{
    static char buf[1 << 16];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : 0;
    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = 0;
    for (ssize_t i = 0; i < n; i++)
        if (buf[i] == 0)
            buf[i] = ' ';
    look(path, buf);
}

static void link_of(const char *path)
{
    char buf[4096];
    ssize_t n = readlink(path, buf, sizeof(buf) - 1);
    if (n <= 0)
        return;
    buf[n] = 0;
    look(path, buf);
}

static int attack(void)
{
    static const char *const files[] = {
        "mounts",       "mountinfo", "mountstats", "cgroup",    "maps",     "smaps",
        "numa_maps",    "status",    "comm",       "cpuset",    "uid_map",  "gid_map",
        "attr/current", "stack",     "wchan",      "autogroup", "fdinfo/0", "fdinfo/1"};
    static const char *const links[] = {"exe",  "cwd",  "root",   "fd/0",
                                        "fd/1", "fd/2", "ns/mnt", "ns/pid"};
    char path[128];
    struct utsname u;
    for (int who = 0; who < 2; who++) {
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
            snprintf(path, sizeof(path), "/proc/%s/%s", who ? "1" : "self", files[i]);
            file(path);
        }
        for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
            snprintf(path, sizeof(path), "/proc/%s/%s", who ? "1" : "self", links[i]);
            link_of(path);
        }
    }
    file("/proc/mounts");
    file("/proc/cmdline");
    file("/proc/sys/kernel/core_pattern");
    file("/proc/sys/kernel/random/boot_id");
    file("/etc/mtab");
    file("/sys/fs/cgroup/cgroup.procs");
    uname(&u);
    step("node %s, release %s, version %.40s", u.nodename, u.release, u.version);
    look("uname", u.nodename);
    char cwd[4096] = "";
    getcwd(cwd, sizeof(cwd));
    look("cwd", cwd);
    const char *p = fact("run_dir");
    if (p && access(p, F_OK) == 0) {
        step("%s can be reached", p);
        leaks++;
    }
    if (leaks)
        return escaped("%d names of the host", leaks);
    return contained("no name of the host is told");
}

static int twin(void)
{
    char buf[512] = "";
    if (readlink("/proc/self/exe", buf, sizeof(buf) - 1) <= 0 || strncmp(buf, "/attack/", 8) != 0)
        return broken("/proc/self/exe is \"%s\"", buf);
    return works("/proc/self/exe is %s", buf);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
