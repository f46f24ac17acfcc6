/* tries: while the server walks, somebody on the host swaps a directory of the image for a link
   that leads out, and a file for a fifo, a device and a link, as fast as possible */
/* must fail because: no component is ever followed; only what is regular after it was opened is
 * handed out */
/* an escape would: win the race and hand out a file outside of the image */
/* source: ATTACKS.md G1 I1; CVE-2024-21626 family */
#include <sys/prctl.h>

#include "gofer.h"

static void swap(void)
{
    char dir[1100], aside[1100], file[1200];
    snprintf(dir, sizeof(dir), "%s/dir", tree);
    snprintf(aside, sizeof(aside), "%s/aside", tree);
    snprintf(file, sizeof(file), "%s/secret", dir);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; getppid() != 1; i++) {
        rename(dir, aside);
        symlink("../outside", dir);
        unlink(dir);
        rename(aside, dir);
        if (i % 3 == 0)
            symlink("../../outside/secret", file);
        else if (i % 3 == 1)
            mkfifo(file, 0644);
        else
            put(dir, "secret", "inside\n");
        unlink(file);
    }
}

static int attack(void)
{
    int leaks = 0, found = 0, rounds = 0;
    if (gofer_tree())
        return cannot("no tree, or no BIN");
    pid_t pid = fork();
    if (pid == 0)
        swap();
    for (int i = 0; i < 8 && rounds >= 0; i++) {
        if (gofer_start() || gofer_hello() != 0)
            return cannot("the server does not start");
        for (int k = 0; k < 3000; k++) {
            uint32_t dir = 0, file;
            /* both names in one walk, and one after the other */
            uint8_t body[64] = {0, 0, 0, 0, 2, 0, 1, 0};
            memcpy(body + 8, "\3\0dir\6\0secret", 13);
            int r = k % 2 ? gofer_ask(WALK, body, 21) : gofer_walk(0, "dir", 3, &dir);
            if (r < 0)
                return escaped("the server has gone");
            leaks += gofer_leaks();
            if (!(k % 2) && gofer_walk(dir, "secret", 6, &file) == 0) {
                found++;
                leaks += gofer_leaks();
                memcpy(body, &file, 4);
                memset(body + 4, 0, 4);
                gofer_ask(OPEN, body, 8);
                leaks += gofer_leaks();
            }
            rounds++;
        }
        gofer_stop();
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (leaks)
        return escaped("%d of %d walks held what lies outside", leaks, rounds);
    return contained("%d walks, %d of them found the file inside", rounds, found);
}

static int twin(void)
{
    uint32_t dir;
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return broken("the server does not start");
    int ok = gofer_walk(0, "dir", 3, &dir) == 0 && gofer_walk(dir, "file", 4, NULL) == 0 &&
             reply_fd >= 0;
    gofer_stop();
    return ok ? works("a directory that nobody swaps is walked") : broken("dir/file");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
