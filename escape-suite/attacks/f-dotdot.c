/* tries: climb above the root: storms of "..", chdir and fchdir upwards, ".." through symbolic
   links and /proc/self/root, paths of 4095 bytes, 40 links in a row, openat2 with every RESOLVE_
   flag */
/* must fail because: the sentry's path walk stops at the guest's root, whatever the way to it; the
   gofer resolves beneath the image's directory only */
/* an escape would: read the canary file of the host, or get a "/.." that is not "/" */
/* source: ATTACKS.md F3 */
#include <linux/openat2.h>

#include "tricks.h"

/* clang-format off */
static const char *prefixes[] = {
    "", "/..", "/../../../../../../../../../../../../../../../..", "..", "../../../../../../..",
    "/proc/self/root/..", "/proc/self/root/../..", "/proc/self/root/proc/self/root/../..",
    "/proc/self/cwd/../../../../../..", "/tmp/../..", "/proc/../..", "/dev/../..", "/dev/shm/../../..",
    "/sys/../..", "/proc/self/task/self/../../../../..", "/dev/fd/../../../../..", "//..//..//..",
    "/./.././../", "/etc/../..", "/bin/../../..", "/proc/self/ns/../../../../..", "/tmp/up",
    "/tmp/up/../..", "/tmp/abs", "/tmp/l40"};
/* clang-format on */

static void links(void)
{
    char from[64], to[64];
    symlink("../../../../../..", "/tmp/up");
    symlink("/../../..", "/tmp/abs");
    symlink("/..", "/tmp/l1");
    for (int i = 2; i <= 40; i++) {
        snprintf(to, sizeof(to), "l%d", i - 1);
        snprintf(from, sizeof(from), "/tmp/l%d", i);
        symlink(to, from);
    }
}

static int long_paths(const char *file)
{
    static const char *const part[] = {"/..", "/.", "/./..", "///..", "/proc/..", "/tmp/../.."};
    char path[4200];
    for (int i = 0; i < COUNT(part); i++) {
        size_t n = 0, len = strlen(part[i]);
        while (n + len + strlen(file) < 4095) {
            memcpy(path + n, part[i], len);
            n += len;
        }
        strcpy(path + n, file);
        if (reach(AT_FDCWD, path) == 1)
            return 1;
        strcpy(path + n, "/");
        for (int k = 0; k < 3; k++)
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
    struct stat root, above;
    links();
    for (int i = 0; i < COUNT(prefixes); i++) {
        int r = reach_by(AT_FDCWD, prefixes[i], file);
        if (r == 1)
            return escaped("\"%s\" leads to the canary", prefixes[i]);
        if (r != -ENOENT && r != -ENOTDIR)
            step("\"%s\": %s", prefixes[i], err_name(r));
        for (unsigned flags = 0; flags < 64; flags++) {
            struct open_how how = {.flags = O_RDONLY, .resolve = flags};
            char path[8192];
            snprintf(path, sizeof(path), "%s%s", prefixes[i], file);
            int fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
            if (fd >= 0 && reach_by(fd, "", "/proc/self/fd") != 1 && read(fd, path, 100) > 0)
                return escaped("openat2(\"%s\", resolve %#x) opened the canary", prefixes[i],
                               flags);
        }
    }
    step("%d ways by 64 resolve flags: none", COUNT(prefixes));
    if (long_paths(file))
        return escaped("a path of 4095 bytes leads to the canary");
    for (int i = 0; i < 500; i++)
        chdir("..");
    for (int i = 0; i < 500; i++) {
        int fd = open("..", O_PATH | O_DIRECTORY);
        fchdir(fd);
        close(fd);
    }
    if (stat("/", &root) < 0 || stat("..", &above) < 0)
        return cannot("stat of the root: %s", err_name(errno));
    if (root.st_ino != above.st_ino || root.st_dev != above.st_dev)
        return escaped("1000 times \"..\" ended elsewhere than in the root");
    return contained("every way ends in the box's own root");
}

static int twin(void)
{
    char cwd[4096];
    if (mkdir("/tmp/a", 0700) < 0 || mkdir("/tmp/a/b", 0700) < 0 || chdir("/tmp/a/b") < 0)
        return broken("mkdir and chdir: %s", err_name(errno));
    if (chdir("../..") < 0 || !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, "/tmp") != 0)
        return broken("\"../..\" does not lead two up");
    if (symlink("a/b/..", "/tmp/l") < 0 || access("/tmp/l/b", F_OK) < 0)
        return broken("a link with \"..\" in it: %s", err_name(errno));
    return works("\"..\" leads one directory up, in links too");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
