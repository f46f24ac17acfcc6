/* tries: be stuck in the host's kernel at the end: vfork parents that wait for ever, opens of
 * FIFOs, exec under way, reads of streams, futexes shared between processes, pages of a mapped file
 * being read */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace; blocking calls are parked in the sentry, and the few host
 * calls are never waits that a kill cannot end */
/* an escape would: have a process, a mount or an object alive on the host after the result was
 * reported, in a state that no signal ends */
/* source: ATTACKS.md O1, V17 */
#include <linux/futex.h>
#include <sys/mman.h>

#include "tricks.h"

static int attack(void)
{
    int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mkfifo("/tmp/fifo", 0600);
    for (int i = 0; i < 14; i++) {
        if (fork() != 0)
            continue;
        char buf[4096];
        switch (i % 7) {
        case 0:
            if (vfork() == 0)
                for (;;)
                    pause();
            break;
        case 1:
            open("/tmp/fifo", O_RDONLY);
            break;
        case 2:
            for (;;)
                execl("/bin/busybox", "sleep", "1000", NULL);
        case 3:
            read(0, buf, sizeof(buf));
            break;
        case 4:
            for (;;)
                syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
        case 5: {
            int fd = open("/bin/busybox", O_RDONLY);
            for (;;) {
                char *p = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
                for (int k = 0; k < 1 << 20; k += 4096)
                    buf[0] += p[k];
                munmap(p, 1 << 20);
            }
        }
        default:
            for (;;)
                if (vfork() == 0)
                    _exit(0);
        }
        for (;;)
            pause();
    }
    usleep(30000);
    return contained("fourteen stuck processes are left behind");
}

static int child_sleeps(void)
{
    usleep(20000);
    return 6;
}

static int twin(void)
{
    if (in_child(child_sleeps) != 6)
        return broken("a child that is waited for: %s", err_name(errno));
    return works("a child that is waited for ends in time");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
