/* tries: descriptors: open until EMFILE in many processes, dup2 to the highest numbers,
 * RLIMIT_NOFILE raised, tables copied by fork, close_range over four billion */
/* must fail because: tables grow up to RLIMIT_NOFILE, which the run sets; all open files together
 * have a limit (ENFILE) */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for, or
 * open descriptors on the host */
/* source: ATTACKS.md R8 */
#include <sys/resource.h>

#include "tricks.h"

static int fill(void)
{
    int n = 0;
    while (open(n % 2 ? "/dev/null" : "/etc/passwd", O_RDONLY) >= 0)
        n++;
    return n;
}

static int attack(void)
{
    struct rlimit rl, up = {1 << 20, 1 << 20}, max = {RLIM_INFINITY, RLIM_INFINITY};
    int targets[] = {1023, 1024, 4096, 65535, 1 << 20, 1 << 30, 0x7fffffff, -1};
    getrlimit(RLIMIT_NOFILE, &rl);
    int r = setrlimit(RLIMIT_NOFILE, &max) < 0 ? errno : 0,
        r2 = setrlimit(RLIMIT_NOFILE, &up) < 0 ? errno : 0;
    step("RLIMIT_NOFILE %lu/%lu; infinite: %s, 2^20: %s", (long)rl.rlim_cur, (long)rl.rlim_max,
         err_name(r), err_name(r2));
    for (int i = 0; i < COUNT(targets); i++)
        step("dup2 to %d: %s", targets[i], err_name(dup2(0, targets[i]) < 0 ? errno : 0));
    fcntl(0, F_DUPFD, 1 << 30);
    int n = fill();
    step("%d descriptors, then %s", n, err_name(errno));
    int forks = 0;
    for (; forks < 100; forks++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            syscall(SYS_close_range, 3, ~0u, 2 /* UNSHARE */);
            fill();
            pause();
        }
    }
    for (int i = 0; i < 50; i++)
        usleep(10000);
    syscall(SYS_close_range, 3, ~0u, 0);
    int fd = open("/etc/passwd", O_RDONLY);
    step("%d processes full of descriptors; after closing ours: %s", forks,
         err_name(fd < 0 ? errno : 0));
    if (n > (1 << 17))
        return escaped("%d descriptors in one process", n);
    return contained("%d descriptors in one process, then %s", n, "EMFILE");
}

static int twin(void)
{
    for (int i = 3; i < 500; i++)
        if (dup2(0, i) != i)
            return broken("dup2 to %d: %s", i, err_name(errno));
    if (syscall(SYS_close_range, 3, ~0u, 0) < 0 || open("/dev/null", O_RDONLY) != 3)
        return broken("close_range: %s", err_name(errno));
    return works("500 descriptors, closed at once");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
