/* tries: turn a read-only or path-only descriptor into a writable one: reopening by /proc/self/fd,
   /dev/fd, /proc/PID/task, F_SETFL, dup into another process by SCM_RIGHTS, pidfd_getfd,
   O_EMPTYPATH, exec'd inheritance */
/* must fail because: reopening asks for permission on the sentry's inode again, and the image is
 * read-only for everybody */
/* an escape would: write to an image file or to a stream of the caller that was opened for reading
 */
/* source: ATTACKS.md F1, F2 */
#include <sys/socket.h>

#include "tricks.h"

static int reopen(int fd)
{
    static const char *const by[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d",
                                     "/proc/1/fd/%d"};
    static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND};
    char path[64];
    int n = 0;
    for (int i = 0; i < COUNT(by); i++) {
        snprintf(path, sizeof(path), by[i], fd);
        for (int k = 0; k < COUNT(flags); k++) {
            int w = open(path, flags[k] | O_NONBLOCK | O_NOCTTY);
            n += w >= 0;
            close(w);
        }
    }
    int e = openat(fd, "", O_WRONLY), f = syscall(SYS_openat, fd, "", O_RDWR | 010000000);
    fcntl(fd, F_SETFL, O_RDWR);
    return n + (e >= 0) + (f >= 0) + (write(fd, "", 0) == 0);
}

static int over_socket(int fd)
{
    int pair[2], got = -1;
    char c = 0, ctl[CMSG_SPACE(sizeof(int))] = "";
    struct iovec iov = {&c, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 0;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    *h = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(h), &fd, sizeof(int));
    if (sendmsg(pair[0], &m, 0) == 1 && recvmsg(pair[1], &m, 0) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
    int n = got >= 0 ? reopen(got) : 0;
    close(got), close(pair[0]), close(pair[1]);
    return n;
}

/* Standard input, if it is a file that was opened for reading: its first byte is written over
 * itself. */
static bool stream_written(void)
{
    static const int flags[] = {O_WRONLY, O_RDWR};
    struct stat st;
    char c;
    if (fstat(0, &st) < 0 || !S_ISREG(st.st_mode) || (fcntl(0, F_GETFL) & O_ACCMODE) != O_RDONLY ||
        pread(0, &c, 1, 0) != 1)
        return false;
    for (int i = 0; i < COUNT(flags); i++)
        if (pwrite(open("/proc/self/fd/0", flags[i] | O_NONBLOCK), &c, 1, 0) == 1)
            return true;
    return false;
}

static int attack(void)
{
    static const char *const files[] = {"/etc/passwd", "/bin/busybox", "/proc/self/exe", "/etc",
                                        "/",           "/dev/urandom"};
    static const int how[] = {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW};
    int won = 0, tries = 0;
    for (int i = 0; i < COUNT(files) - 1; i++) {
        for (int k = 0; k < COUNT(how); k++) {
            int fd = open(files[i], how[k]);
            if (fd < 0)
                continue;
            int n = reopen(fd) + over_socket(fd);
            int p = syscall(SYS_pidfd_open, getpid(), 0), got = syscall(SYS_pidfd_getfd, p, fd, 0);
            n += got >= 0 ? reopen(got) : 0;
            if (n)
                step("%s, opened %#o, became writable", files[i], how[k]);
            won += n;
            tries++;
            close(fd), close(p), close(got);
        }
    }
    if (stream_written())
        won++, step("standard input, a file opened for reading, was written");
    if (won)
        return escaped("%d descriptors became writable", won);
    return contained("%d descriptors, none became writable", tries);
}

static int twin(void)
{
    char path[64];
    int fd = open("/tmp/file", O_RDONLY | O_CREAT, 0600);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int w = open(path, O_WRONLY);
    if (fd < 0 || w < 0 || write(w, "x", 1) != 1)
        return broken("reopening a file of our own: %s", err_name(errno));
    return works("a file of our own can be reopened for writing");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
