/* tries: hand the canary's name, plain and behind every prefix that could leave the box, to every
   system call that takes a path: stat family, access, readlink, statfs, chdir, xattr, inotify,
   utimes, truncate, unix connect and bind, swapon, acct, ... */
/* must fail because: there is one path walk for all of them and it knows only the guest's tree */
/* an escape would: any answer for the canary's name that a name which does not exist does not get
 */
/* source: ATTACKS.md F2, F3, G1 */
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "tricks.h"

static long unix_call(int nr, const char *p)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", p);
    long r = sys(nr, fd, &a, sizeof(a));
    close(fd);
    return r;
}

static long try_call(int k, const char *p)
{
    static char buf[8192];
    static int ino = -1;
    if (ino < 0)
        ino = inotify_init();
    /* clang-format off */
    switch (k) {
    case 0: return sys(SYS_stat, p, buf);
    case 1: return sys(SYS_lstat, p, buf);
    case 2: return sys(SYS_newfstatat, AT_FDCWD, p, buf, 0);
    case 3: return sys(SYS_statx, AT_FDCWD, p, 0, 0xfff, buf);
    case 4: return sys(SYS_access, p, F_OK);
    case 5: return sys(439 /* faccessat2 */, AT_FDCWD, p, 0, AT_EACCESS);
    case 6: return sys(SYS_readlink, p, buf, sizeof(buf)) >= 0 ? 0 : -errno;
    case 7: return sys(SYS_statfs, p, buf);
    case 8: return sys(SYS_chdir, p);
    case 9: return sys(SYS_chroot, p);
    case 10: return sys(SYS_getxattr, p, "user.x", buf, 10);
    case 11: return sys(SYS_llistxattr, p, buf, 100);
    case 12: return sys(SYS_inotify_add_watch, ino, p, IN_ALL_EVENTS);
    case 13: return sys(SYS_utimensat, AT_FDCWD, p, NULL, 0);
    case 14: return sys(SYS_truncate, p, 1l << 40);
    case 15: return sys(SYS_chmod, p, 0600);
    case 16: return sys(SYS_chown, p, -1, -1);
    case 17: return sys(SYS_unlink, p);
    case 18: return sys(SYS_rename, p, "/tmp/x");
    case 19: return sys(SYS_link, p, "/tmp/x");
    case 20: return sys(SYS_open, p, O_PATH);
    case 21: return sys(SYS_open, p, O_RDONLY | O_DIRECTORY);
    case 22: return sys(SYS_execve, p, (char *[]){"x", NULL}, (char *[]){NULL});
    case 23: return sys(SYS_uselib, p);
    case 24: return sys(SYS_swapon, p, 0);
    case 25: return sys(SYS_acct, p);
    case 26: return sys(SYS_quotactl, 0x800002, p, 0, buf);
    case 27: return sys(SYS_name_to_handle_at, AT_FDCWD, p, buf, buf + 4096, 0);
    case 28: return sys(SYS_open_tree, AT_FDCWD, p, 0);
    case 29: return sys(SYS_fanotify_mark, ino, 1, 2, AT_FDCWD, p);
    case 30: return sys(SYS_mount, p, "/tmp", "none", 0x1000, NULL);
    case 31: return sys(SYS_umount2, p, 2);
    case 32: return sys(SYS_pivot_root, p, "/tmp");
    case 33: return unix_call(SYS_connect, p);
    case 34: return sys(SYS_rmdir, p);
    case 35: return sys(SYS_ustat, 0, p);
    case 36: return sys(SYS_utime, p, NULL);
    default: return 1;
    }
    /* clang-format on */
}

static int attack(void)
{
    static const char *const prefix[] = {"",
                                         "/..",
                                         "/proc/1/root",
                                         "/proc/self/root/../..",
                                         "../../../../../..",
                                         "/proc/self/cwd/../../../../..",
                                         "/proc/thread-self/root"};
    const char *file = fact("host_file"), *dir = fact("host_dir");
    char real[4096], fake[4096];
    int differ = 0, calls = 0;
    if (!file || !dir)
        return cannot("no host_file, no host_dir");
    for (int i = 0; i < 2 * COUNT(prefix); i++) {
        const char *what = i % 2 ? dir : file;
        snprintf(real, sizeof(real), "%s%s", prefix[i / 2], what);
        snprintf(fake, sizeof(fake), "%s%s-no-such", prefix[i / 2], what);
        for (int k = 0; k < 37; k++, calls++) {
            long a = try_call(k, real), b = try_call(k, fake);
            if ((a == b && a < 0) || k == 35)
                continue;
            differ++;
            step("call %d, \"%s\": %ld, for a name that does not exist %ld", k, prefix[i / 2], a,
                 b);
        }
    }
    if (differ)
        return escaped("%d answers that only the canary's name gets", differ);
    return contained("%d calls answer as for a name that does not exist", calls);
}

static int twin(void)
{
    int fd = open("/tmp/file", O_WRONLY | O_CREAT, 0600);
    close(fd);
    for (int k = 0; k < 6; k++)
        if (try_call(k, "/tmp/file") != 0 || try_call(k, "/tmp/no-such") != -ENOENT)
            return broken("call %d does not tell a file from none", k);
    return works("the same calls find a file that exists");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
