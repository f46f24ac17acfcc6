/* tries: maps files while its descriptor table is full to the limit, and while threads close,
   replace and reopen the low descriptors, where a descriptor for the mapping could be put */
/* must fail because: the guest's table is the supervisor's own; what the host installs for a moment
   is at a number that no guest call reaches, and goes before the next call */
/* an escape would: leave a descriptor of the host behind in the program, or change one that it uses
 */
/* source: ATTACKS.md V9; agentsh M2; sandlock #80 */
#include <pthread.h>

#include <sys/resource.h>

#include "child.h"

static volatile int stop;

static void *juggle(void *arg)
{
    while (!stop) {
        close(0);
        int fd = open("/dev/null", O_RDONLY);
        if (fd > 0)
            dup2(fd, 0);
        if (fd > 2)
            close(fd);
    }
    return arg;
}

static int map_some(int exe, const char *first)
{
    char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, exe, 0);
    if (p == MAP_FAILED)
        return errno;
    int same = memcmp(p, first, 4096) == 0;
    munmap(p, 4096);
    return same ? 0 : -1;
}

static int attack(void)
{
    char first[4096], buf[64];
    struct rlimit rl = {64, 64};
    int exe = open("/proc/self/exe", O_RDONLY), n = 0, r, rounds = 0;
    pthread_t t;
    if (exe < 0 || pread(exe, first, 4096, 0) != 4096)
        return cannot("reading this program: %s", err_name(errno));
    setrlimit(RLIMIT_NOFILE, &rl);
    while (dup(exe) >= 0)
        n++;
    step("%d descriptors more, then %s", n, err_name(errno));
    for (int i = 0; i < 100; i++)
        if ((r = map_some(exe, first)))
            return escaped("mapping with a full table: %s", r < 0 ? "other bytes" : err_name(r));
    for (int fd = 40; fd < 64; fd++)
        close(fd);
    pthread_create(&t, NULL, juggle, NULL);
    for (long end = now_ms() + 1500; now_ms() < end; rounds++) {
        if ((r = map_some(exe, first)) < 0)
            return escaped("a mapping shows other bytes");
        /* /dev/null or closed; never the file that was just mapped */
        if (read(0, buf, sizeof(buf)) > 0)
            return escaped("descriptor 0 is a file that nobody opened");
    }
    stop = 1;
    pthread_join(t, NULL);
    for (int fd = 40; fd < 200; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return escaped("descriptor %d is open, nobody opened it", fd);
    return contained("%d mappings, no descriptor that is not its own", rounds);
}

static int twin(void)
{
    char first[4096];
    int exe = open("/proc/self/exe", O_RDONLY);
    if (pread(exe, first, 4096, 0) != 4096 || map_some(exe, first))
        return broken("a mapping of this program");
    return works("a mapping shows the file's bytes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
