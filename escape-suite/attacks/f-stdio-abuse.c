/* tries: harm the caller through the three streams: F_SETFL, F_SETOWN and O_ASYNC, F_SETPIPE_SZ,
   F_SETLEASE, fchmod, fchown, xattrs, utimes, ftruncate, fallocate, ioctls (FIOASYNC, FIONBIO,
   TIOC*, FS_IOC_*), openat from them, exclusive locks */
/* must fail because: the guest's 0, 1 and 2 are the sentry's files; it reads and writes the
   caller's descriptors and does nothing else with them, and keeps flags, owner and locks in its own
   file */
/* an escape would: change the mode, owner, size or flags of a stream that the caller goes on using;
   the harness looks at its own ends after the run */
/* source: ATTACKS.md F2, P4 */
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#include "tricks.h"

static int abuse(int fd)
{
    static const unsigned requests[] = {FIONBIO,
                                        FIOASYNC,
                                        0x8901 /* FIOSETOWN */,
                                        0x8902 /* SIOCSPGRP */,
                                        TIOCEXCL,
                                        TIOCNXCL,
                                        TIOCSBRK,
                                        TIOCSWINSZ,
                                        0x40086602,
                                        0x401c5820 /* FSSETXATTR */,
                                        0xc0045877,
                                        0xc0045878,
                                        0x40049409,
                                        0x12 /* FIBMAP's neighbours */,
                                        1,
                                        FIOCLEX};
    struct stat before, after;
    int n = 0, value[16] = {1};
    fstat(fd, &before);
    for (int i = 0; i < COUNT(requests); i++)
        ioctl(fd, requests[i], value);
    ioctl(fd, FIONCLEX);
    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC | O_APPEND | O_DIRECT | O_NOATIME);
    fcntl(fd, F_SETOWN, 1);
    fcntl(fd, 10 /* F_SETSIG */, SIGKILL);
    fcntl(fd, F_SETPIPE_SZ, 4096);
    fcntl(fd, F_SETLEASE, F_WRLCK);
    fcntl(fd, F_NOTIFY, 0x8000003f);
    fcntl(fd, F_ADD_SEALS, 0xf);
    fcntl(fd, 1036 /* F_SET_RW_HINT */, value);
    flock(fd, LOCK_EX | LOCK_NB);
    /* what works is put back: the harness saw it from here */
    n += fchmod(fd, 0) == 0;
    fchmod(fd, before.st_mode & 07777);
    n += fchown(fd, 12345, 12345) == 0 && fstat(fd, &after) == 0 && after.st_uid == 12345;
    fchown(fd, before.st_uid, before.st_gid);
    n += fsetxattr(fd, "user.suite", "x", 1, 0) == 0;
    fremovexattr(fd, "user.suite");
    n += futimens(fd, (struct timespec[2]){{1, 0}, {1, 0}}) == 0 && S_ISREG(before.st_mode);
    futimens(fd, (struct timespec[2]){before.st_atim, before.st_mtim});
    if (S_ISREG(before.st_mode))
        n += ftruncate(fd, before.st_size) == 0 && fd == 0;
    n += fallocate(fd, 1, 0, 1 << 20) == 0;
    n += S_ISDIR(before.st_mode) || openat(fd, "..", O_RDONLY) >= 0;
    int type = 0;
    socklen_t len = sizeof(type);
    n += getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
    fcntl(fd, F_SETFL, 0);
    step("descriptor %d, mode %o: %d changes went through", fd, before.st_mode, n);
    return n;
}

static int attack(void)
{
    int n = 0;
    for (int fd = 0; fd < 3; fd++)
        n += abuse(fd);
    if (n)
        return escaped("%d changes of the caller's streams went through", n);
    return contained("the streams carry bytes and nothing else");
}

static int twin(void)
{
    int fl = fcntl(1, F_GETFL);
    if (fl < 0 || fcntl(1, F_SETFL, fl | O_NONBLOCK) < 0 || !(fcntl(1, F_GETFL) & O_NONBLOCK))
        return broken("O_NONBLOCK on standard output: %s", err_name(errno));
    fcntl(1, F_SETFL, fl);
    struct stat st;
    if (fstat(1, &st) < 0)
        return broken("fstat of standard output: %s", err_name(errno));
    return works("flags of the own stream can be set and read back");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
