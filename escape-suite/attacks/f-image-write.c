/* tries: change the read-only image by every call that writes: open for writing, truncate, unlink,
   rename, mkdir, chmod, chown, utimes, xattr, fallocate, mmap shared, splice, sendfile,
   copy_file_range, FICLONE, inode flags */
/* must fail because: the image file system has no write operation in the sentry, and the gofer's
   filter has no call that writes */
/* an escape would: change a file of the image, on the host's disk and for every later run */
/* source: ATTACKS.md G5, F16 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "tricks.h"

#define FILE_ "/etc/passwd"
static int won;
/* Success of the call is the escape. */
#define TRY(call)                                \
    do {                                         \
        if ((long)(call) >= 0)                   \
            won++, step("%s is allowed", #call); \
    } while (0)

static void by_name(void)
{
    TRY(open(FILE_, O_WRONLY));
    TRY(open(FILE_, O_RDWR | O_APPEND));
    TRY(open(FILE_, O_RDONLY | O_TRUNC));
    TRY(open("/etc/new", O_WRONLY | O_CREAT, 0600));
    TRY(creat(FILE_, 0600));
    TRY(truncate(FILE_, 0));
    TRY(unlink(FILE_));
    TRY(rename(FILE_, "/etc/other"));
    TRY(rename("/tmp/file", FILE_));
    TRY(syscall(SYS_renameat2, AT_FDCWD, "/tmp/file", AT_FDCWD, FILE_, 2));
    TRY(link(FILE_, "/etc/second"));
    TRY(symlink("x", "/etc/link"));
    TRY(mkdir("/etc/dir", 0755));
    TRY(rmdir("/home"));
    TRY(mknod("/etc/fifo", S_IFIFO | 0600, 0));
    TRY(chmod(FILE_, 0666));
    TRY(syscall(452, AT_FDCWD, FILE_, 0666, 0));
    TRY(chown(FILE_, 65534, 65534));
    TRY(lchown("/bin/sh", 65534, 65534));
    TRY(utimes(FILE_, NULL));
    TRY(utimensat(AT_FDCWD, FILE_, NULL, 0));
    TRY(setxattr(FILE_, "user.x", "y", 1, 0));
    TRY(setxattr(FILE_, "security.capability", "y", 1, 0));
    TRY(removexattr(FILE_, "user.x"));
}

static void by_descriptor(void)
{
    int fd = open(FILE_, O_RDONLY), mine = open("/tmp/file", O_RDWR | O_CREAT, 0600), p[2], one = 1;
    struct iovec iov = {"x", 1};
    loff_t zero = 0;
    write(mine, "xyz", 3);
    pipe(p);
    write(p[1], "abc", 3);
    TRY(write(fd, "x", 1));
    TRY(pwrite(fd, "x", 1, 0));
    TRY(pwritev2(fd, &iov, 1, 0, RWF_APPEND));
    TRY(ftruncate(fd, 0));
    TRY(fallocate(fd, 0, 0, 100));
    TRY(fallocate(fd, 3 /* PUNCH_HOLE | KEEP_SIZE */, 0, 100));
    TRY(fchmod(fd, 0666));
    TRY(fchown(fd, 65534, 65534));
    TRY(futimens(fd, NULL));
    TRY(fsetxattr(fd, "user.x", "y", 1, 0));
    TRY(sendfile(fd, mine, NULL, 3));
    TRY(splice(p[0], NULL, fd, &zero, 3, 0));
    TRY(copy_file_range(mine, &zero, fd, &zero, 3, 0));
    TRY(ioctl(fd, 0x40049409 /* FICLONE */, mine));
    TRY(ioctl(fd, 0x40086602 /* FS_IOC_SETFLAGS */, &one));
    TRY(ioctl(fd, 0xc0045877 /* FIFREEZE */, &one));
    fcntl(fd, F_SETFL, O_RDWR);
    TRY(write(fd, "x", 1));
    void *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m != MAP_FAILED)
        won++, step("a writable shared mapping is allowed");
    m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (m != MAP_FAILED && mprotect(m, 4096, PROT_READ | PROT_WRITE) == 0)
        won++, step("mprotect makes a shared mapping writable");
}

static int attack(void)
{
    if (access(FILE_, R_OK) < 0)
        return cannot("no " FILE_ " in the image");
    by_descriptor();
    by_name();
    if (won)
        return escaped("%d calls changed the image", won);
    return contained("43 calls that write: none does");
}

static int twin(void)
{
    int fd = open("/tmp/file", O_RDWR | O_CREAT, 0600);
    char *m = MAP_FAILED;
    if (fd < 0 || write(fd, "abc", 3) != 3 || ftruncate(fd, 4096) < 0 || fchmod(fd, 0644) < 0)
        return broken("a file in /tmp: %s", err_name(errno));
    m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED || (m[0] = 'z', pread(fd, m + 1, 1, 0)) != 1 || m[1] != 'z')
        return broken("a shared mapping of it: %s", err_name(errno));
    if (rename("/tmp/file", "/tmp/other") < 0 || unlink("/tmp/other") < 0)
        return broken("rename and unlink: %s", err_name(errno));
    return works("the same calls work on a file in /tmp");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
