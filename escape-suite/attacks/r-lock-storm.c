/* tries: locks: ten thousands of POSIX byte locks that split and join, OFD and flock locks of many
 * processes, waits in rings, while others unlock */
/* must fail because: locks are limited (ENOLCK); a ring of waits is EDEADLK; a search is bounded by
 * the limit */
/* an escape would: hold the sentry in one lock call */
/* source: ATTACKS.md V17 */
#include <sys/mman.h>

#include "tricks.h"

static int lock(int fd, int cmd, int type, long start, long len)
{
    struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
    return fcntl(fd, cmd, &l) < 0 ? -errno : 0;
}

static int attack(void)
{
    int fd = open("/tmp/locked", O_RDWR | O_CREAT, 0600), r = 0, n = 0;
    long start = now_ms(), worst = 0, t;
    for (; n < 100000 && r == 0 && now_ms() - start < 1000; n++) {
        t = now_ms();
        r = lock(fd, F_SETLK, n % 2 ? F_WRLCK : F_RDLCK, n * 3l, 1);
        worst = now_ms() - t > worst ? now_ms() - t : worst;
    }
    step("%d locks in %ld ms, then %s; the slowest %ld ms", n, now_ms() - start, err_name(r),
         worst);
    /* rings of two and three that wait for each other */
    int rings = 0;
    volatile int *holding =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (holding == MAP_FAILED)
        return cannot("a shared page: %s", err_name(errno));
    for (int i = 0; i < 6; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            int own = open("/tmp/ring", O_RDWR | O_CREAT, 0600), e;
            lock(own, F_SETLK, F_WRLCK, i, 1);
            /* Nobody waits before all six hold theirs: then the last to wait closes the ring. */
            __sync_fetch_and_add(holding, 1);
            while (*holding < 6)
                usleep(1000);
            e = lock(own, F_SETLKW, F_WRLCK, (i + 1) % 6, 1);
            _exit(e == -EDEADLK ? 1 : 0);
        }
        family_add(pid);
    }
    for (int i = 0; i < 6; i++)
        rings += WEXITSTATUS(wait_for(family[i])) == 1;
    t = now_ms();
    r = lock(fd, F_SETLK, F_RDLCK, 0, 0);
    int u = lock(fd, F_SETLK, F_UNLCK, 0, 0);
    step("EDEADLK %d times; all joined: %s, all gone: %s, %ld ms", rings, err_name(r), err_name(u),
         now_ms() - t);
    worst = now_ms() - t > worst ? now_ms() - t : worst;
    if (rings == 0)
        return escaped("a ring of waits was not found");
    if (worst > HANG_MS)
        return escaped("one lock call took %ld ms", worst);
    return contained("%d locks, the slowest call %ld ms", n, worst);
}

static int twin(void)
{
    int fd = open("/tmp/locked", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 100; i++)
        if (lock(fd, F_SETLK, F_WRLCK, i * 2, 1) < 0)
            return broken("lock %d: %s", i, err_name(errno));
    pid_t pid = fork();
    if (pid == 0)
        _exit(lock(fd, F_SETLK, F_WRLCK, 10, 1) == -EAGAIN ? 3 : 4);
    if (wait_for(pid) >> 8 != 3)
        return broken("a child gets a lock that is taken");
    return works("a hundred locks exclude a child");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
