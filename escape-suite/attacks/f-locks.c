/* tries: take every lock on the shared read-only image: flock exclusive, POSIX and OFD locks of all
   ranges, leases, directory notification, on two hundred files and directories of the image, and
   keep them */
/* must fail because: locks live in the sentry's inodes; the gofer's descriptors, which other
   sandboxes of the same image share on the host, never get one */
/* an escape would: hold a lock on a host inode, so that another sandbox (or the host) blocks: a way
   to talk and to starve; the host's /proc/locks, or a lease break, would show it */
/* source: ATTACKS.md F16, S2 */
#include <ftw.h>

#include <sys/file.h>

#include "tricks.h"

static int files, locks, host;

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    if (files >= 200 || (type != FTW_F && type != FTW_D))
        return 0;
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return 0;
    files++;
    struct flock rd = {.l_type = F_RDLCK}, wr = {.l_type = F_WRLCK, .l_start = 1, .l_len = 1};
    struct flock who = {.l_type = F_WRLCK};
    locks += flock(fd, LOCK_EX | LOCK_NB) == 0;
    locks += fcntl(fd, F_SETLK, &rd) == 0;
    locks += fcntl(fd, F_SETLK, &wr) == 0;
    locks += fcntl(fd, F_OFD_SETLK, &rd) == 0;
    fcntl(fd, F_SETLEASE, F_RDLCK);
    fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MULTISHOT);
    /* who holds a lock here? nobody but us can */
    if (fcntl(fd, F_GETLK, &who) == 0 && who.l_type != F_UNLCK && !is_family(who.l_pid))
        host++, step("%s is locked by process %d", path, who.l_pid);
    return 0; /* kept open, kept locked */
}

static int others_in_proc(void)
{
    char line[256];
    int foreign = 0, n = 0;
    FILE *f = fopen("/proc/locks", "r");
    while (f && fgets(line, sizeof(line), f)) {
        int pid = 0;
        if (sscanf(line, "%*d: %*s %*s %*s %d", &pid) == 1 && pid > 1 && !is_family(pid))
            foreign++;
        n++;
    }
    step("/proc/locks has %d lines, %d of others", n, foreign);
    return foreign;
}

static int attack(void)
{
    static const char *const tops[] = {"/etc", "/bin", "/attack", "/lib", "/usr"};
    struct stat st;
    signal(SIGIO, SIG_IGN); /* directory notification */
    for (int i = 0; i < COUNT(tops); i++)
        nftw(tops[i], look, 15, FTW_PHYS);
    step("%d locks on %d files and directories", locks, files);
    if (others_in_proc() || host)
        return escaped("locks of processes outside the box show");
    if (files < 3)
        return cannot("only %d files to lock", files);
    for (int i = 0; i < COUNT(tops); i++)
        if (flock(open(tops[i], O_RDONLY), LOCK_SH | LOCK_NB) == 0 && stat(tops[i], &st) < 0)
            return escaped("%s is gone", tops[i]);
    return contained("%d locks, all of them the sentry's", locks);
}

static int twin(void)
{
    int a = open("/etc/passwd", O_RDONLY), b = open("/etc/passwd", O_RDONLY);
    if (flock(a, LOCK_EX | LOCK_NB) < 0)
        return broken("flock: %s", err_name(errno));
    if (flock(b, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return broken("two exclusive locks on one file");
    if (flock(a, LOCK_UN) < 0 || flock(b, LOCK_EX | LOCK_NB) < 0)
        return broken("the second lock after the first is gone: %s", err_name(errno));
    return works("flock excludes within the box");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
