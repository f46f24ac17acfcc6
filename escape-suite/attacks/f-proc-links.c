/* tries: leave by the magic links of /proc: root, cwd, exe, fd/N, map_files, ns of every pid up to
   8192 and of every thread listed, with the canary's path behind */
/* must fail because: the box's /proc lists only its own tasks and its links lead to the guest's own
   objects, resolved by the sentry and never by the host */
/* an escape would: read the canary through /proc/PID/root or /proc/PID/cwd of a host process */
/* source: ATTACKS.md F3, S3 */
#include <dirent.h>

#include "tricks.h"

static int links_of(const char *base, const char *file)
{
    static const char *const links[] = {
        "root", "root/..", "root/../..",    "cwd",    "cwd/../../../../..", "fd/0/..",
        "fd/3", "fd/4",    "fd/3/../../..", "exe/..", "exe/../../.."};
    char path[512];
    for (int i = 0; i < COUNT(links); i++) {
        snprintf(path, sizeof(path), "%s/%s", base, links[i]);
        if (reach_by(AT_FDCWD, path, file) == 1)
            return 1;
    }
    return 0;
}

static int listed_fds(const char *base, const char *file)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/fd", base);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/fd/%s", base, e->d_name);
        if (reach(AT_FDCWD, path) == 1 || reach_by(AT_FDCWD, path, file) == 1)
            return 1;
    }
    if (d)
        closedir(d);
    return 0;
}

static int attack(void)
{
    const char *file = fact("host_file");
    char base[64];
    int foreign = 0;
    if (!file)
        return cannot("no host_file was given");
    if (links_of("/proc/self", file) || links_of("/proc/thread-self", file) ||
        listed_fds("/proc/self", file))
        return escaped("our own links lead to the canary");
    long facts[] = {fact_number("victim_pid", 1), fact_number("harness_pid", 1),
                    fact_number("neighbour_pid", 1)};
    for (int pid = -2; pid < 8192; pid++) {
        snprintf(base, sizeof(base), "/proc/%ld", pid < 1 ? facts[pid + 2] : pid);
        if (access(base, F_OK) < 0)
            continue;
        if (!is_family(atoi(base + 6)) && foreign++ < 5)
            step("%s exists", base);
        if (links_of(base, file) || listed_fds(base, file))
            return escaped("%s leads to the canary", base);
    }
    char target[512];
    ssize_t n = readlink("/proc/self/root", target, sizeof(target));
    step("/proc/self/root -> %.*s, %d foreign pids", (int)(n < 0 ? 0 : n), target, foreign);
    if (foreign)
        return escaped("%d processes that are not the box's own", foreign);
    return contained("no link of /proc leaves the box");
}

static int twin(void)
{
    char a[4096] = "", b[4096];
    if (chdir("/tmp") < 0 || readlink("/proc/self/cwd", a, sizeof(a) - 1) < 0 ||
        strcmp(a, "/tmp") != 0)
        return broken("/proc/self/cwd is \"%s\": %s", a, err_name(errno));
    if (access("/proc/self/root/proc/self/status", R_OK) < 0)
        return broken("a path through /proc/self/root: %s", err_name(errno));
    int fd = open("/tmp/file", O_RDWR | O_CREAT, 0600);
    snprintf(b, sizeof(b), "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, "x", 1) != 1 || (fd = open(b, O_RDONLY)) < 0 || read(fd, a, 1) != 1)
        return broken("reopening through /proc/self/fd: %s", err_name(errno));
    return works("cwd, root and fd links lead to our own files");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
