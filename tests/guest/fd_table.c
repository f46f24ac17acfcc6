/* The descriptor table: dup, fcntl, close-on-exec, close_range, limits of numbers. */
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "facts.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int range(unsigned a, unsigned b, unsigned flags)
{
    return (int)syscall(436, a, b, flags);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) { /* after exec: which of 3..8 are still there */
        for (int fd = 3; fd < 9; fd++)
            say("after exec %d: %s", fd, is_open(fd) ? "open" : "closed");
        return 0;
    }
    facts_start();
    range(3, ~0u, 0);
    int a = make_file("f", "abcdef");
    VALUE("lowest number", a);
    VALUE("dup", dup(a));
    VALUE("dup2", dup2(a, 7));
    VALUE("dup2 to itself", dup2(a, a));
    FACT("dup2 of a bad one to itself", dup2(99, 99));
    FACT("dup3 to itself", dup3(a, a, 0));
    FACT("dup3 bad flag", dup3(a, 8, O_APPEND));
    VALUE("dup3 cloexec", dup3(a, 8, O_CLOEXEC));
    VALUE("its flag", fcntl(8, F_GETFD));
    VALUE("F_DUPFD from 5", fcntl(a, F_DUPFD, 5));
    VALUE("F_DUPFD_CLOEXEC from 6", fcntl(a, F_DUPFD_CLOEXEC, 6));
    VALUE("its flag", fcntl(6, F_GETFD));
    FACT("F_DUPFD negative", fcntl(a, F_DUPFD, -1));
    FACT("F_DUPFD beyond the limit", fcntl(a, F_DUPFD, 1 << 30));
    FACT("dup of a bad one", dup(99));
    FACT("dup2 to a negative", dup2(a, -1));
    FACT("dup2 beyond the limit", dup2(a, 1 << 30));

    lseek(a, 2, SEEK_SET);
    VALUE("dup shares the position", lseek(4, 0, SEEK_CUR));
    int own = NEED(open("f", O_RDONLY));
    VALUE("open has its own", lseek(own, 0, SEEK_CUR));
    close(own);
    FACT("F_SETFL O_APPEND", fcntl(4, F_SETFL, O_APPEND));
    YES("dup shares the flags", fcntl(a, F_GETFL) & O_APPEND);
    FACT("F_SETFL ignores the access mode", fcntl(a, F_SETFL, O_RDONLY));
    say("mode is still %d", fcntl(a, F_GETFL) & O_ACCMODE);
    FACT("F_SETFD", fcntl(a, F_SETFD, FD_CLOEXEC));
    VALUE("descriptor flags are not shared", fcntl(4, F_GETFD));
    FACT("FIONCLEX", ioctl(a, FIONCLEX));
    VALUE("flag", fcntl(a, F_GETFD));
    FACT("FIOCLEX", ioctl(a, FIOCLEX));
    VALUE("flag", fcntl(a, F_GETFD));
    FACT("unknown fcntl", fcntl(a, 9999));
    FACT("fcntl of a bad descriptor", fcntl(99, F_GETFL));
    FACT("close twice", ({
             int d = dup(a);
             close(d);
             close(d);
         }));
    FACT("ioctl TCGETS of a file", ioctl(a, 0x5401, &(char[64]){0}));
    VALUE("FIONREAD of a file", ({
              int n = 0;
              lseek(a, 2, SEEK_SET);
              ioctl(a, FIONREAD, &n);
              n;
          }));

    pid_t pid = NEED(fork());
    if (pid == 0) {
        execl("/proc/self/exe", "fd_table", "child", (char *)NULL);
        _exit(9);
    }
    say_end("child", pid);

    FACT("close_range", range(5, 6, 0));
    YES("5 is closed", !is_open(5));
    YES("7 is open", is_open(7));
    FACT("close_range CLOEXEC", range(7, 7, 4));
    VALUE("flag", fcntl(7, F_GETFD));
    FACT("close_range backwards", range(7, 6, 0));
    FACT("close_range bad flag", range(7, 8, 0x80));
    FACT("close_range to the end", range(5, ~0u, 0));
    YES("8 is closed", !is_open(8));

    struct rlimit rl = {6, 1024};
    NEED(setrlimit(RLIMIT_NOFILE, &rl));
    VALUE("fill up", dup(0));
    FACT("one too many", dup(0));
    FACT("open one too many", open("f", O_RDONLY));
    FACT("pipe two too many", pipe((int[2]){0}));
    close(5);
    FACT("pipe one too many", pipe((int[2]){0}));
    FACT("dup2 at the limit", dup2(0, 6));
    FACT("dup2 over an open one works", dup2(0, 5));
    remove_work_dir();
    return 0;
}
