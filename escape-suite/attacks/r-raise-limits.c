/* tries: as the box's root, with every capability, raise the hard limits that the run was given, by
   setrlimit and prlimit64, in children and after exec, then open more descriptors and write a
   larger file than they allow */
/* must fail because: the number of descriptors and the size of a file are limits of the run's
   caller; the sentry keeps their ceiling apart from what the emulated root may set */
/* an escape would: hold more descriptors, or a larger file, than the caller allowed */
/* source: ATTACKS.md P7, R8 */
#include <sys/resource.h>

#include "tricks.h"

static struct rlimit files, size;

static int raise_both(void)
{
    static const rlim_t to[] = {RLIM_INFINITY, 1 << 20, 65536, 4096};
    int raised = 0;
    for (int i = 0; i < COUNT(to); i++) {
        struct rlimit rl = {to[i], to[i]}, now;
        setrlimit(RLIMIT_NOFILE, &rl);
        prlimit(getpid(), RLIMIT_NOFILE, &rl, NULL);
        prlimit(1, RLIMIT_NOFILE, &rl, NULL);
        rl.rlim_cur = rl.rlim_max = to[i] == RLIM_INFINITY ? to[i] : to[i] << 20;
        setrlimit(RLIMIT_FSIZE, &rl);
        prlimit(1, RLIMIT_FSIZE, &rl, NULL);
        getrlimit(RLIMIT_NOFILE, &now);
        raised += now.rlim_max > files.rlim_max;
        getrlimit(RLIMIT_FSIZE, &now);
        raised += now.rlim_max > size.rlim_max;
    }
    return raised > 100 ? 100 : raised;
}

static int attack(void)
{
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || getrlimit(RLIMIT_FSIZE, &size) < 0)
        return cannot("getrlimit: %s", err_name(errno));
    signal(SIGXFSZ, SIG_IGN);
    int child = in_child(raise_both), raised = raise_both(), n = 0, large = 0;
    step("descriptors %ld, file size %ld; raised %d times, %d in a child", (long)files.rlim_max,
         (long)size.rlim_max, raised, child);
    int fd = open("/tmp/large", O_WRONLY | O_CREAT, 0600);
    if (size.rlim_max != RLIM_INFINITY)
        large = pwrite(fd, "x", 1, (off_t)size.rlim_max) == 1 ||
                ftruncate(fd, (off_t)size.rlim_max + 1) == 0;
    while (n < 70000 && dup(fd) >= 0)
        n++;
    step("%d descriptors, a larger file: %s", n, large ? "yes" : "no");
    if (large || (rlim_t)n > files.rlim_max)
        return escaped("%d descriptors of %ld, a larger file: %s", n, (long)files.rlim_max,
                       large ? "yes" : "no");
    if (raised || child)
        return escaped("a limit of the run was raised");
    return contained("the run's limits hold for its root too");
}

static int twin(void)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
        return broken("getrlimit: %s", err_name(errno));
    rl.rlim_cur = 32;
    if (setrlimit(RLIMIT_NOFILE, &rl) < 0)
        return broken("a soft limit of 32: %s", err_name(errno));
    rl.rlim_cur = rl.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &rl) < 0)
        return broken("the soft limit back to the hard one: %s", err_name(errno));
    return works("the soft limit goes down and up to the hard one");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
