/* Pipes and FIFOs: end of file, EPIPE, nonblocking, atomic writes, capacity, poll. */
#include <poll.h>

#include <sys/ioctl.h>

#include "facts.h"

static volatile sig_atomic_t sigpipes;

static void on_sigpipe(int signo)
{
    (void)signo;
    sigpipes++;
}

static int events(int fd, short want)
{
    struct pollfd p = {fd, want, 0};
    return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

int main(void)
{
    static char big[70000];
    char buf[16];
    int p[2], n;
    facts_start();
    FACT("pipe2 bad flag", pipe2(p, O_APPEND));
    FACT("pipe to a bad address", pipe((int *)8));
    NEED(pipe2(p, O_NONBLOCK | O_CLOEXEC));
    say("flags %d %d", fcntl(p[0], F_GETFD), fcntl(p[0], F_GETFL) & O_NONBLOCK ? 1 : 0);
    say("modes %d %d", fcntl(p[0], F_GETFL) & O_ACCMODE, fcntl(p[1], F_GETFL) & O_ACCMODE);
    FACT("read empty", read(p[0], buf, 1));
    FACT("read the write end", read(p[1], buf, 1));
    FACT("write the read end", write(p[0], "x", 1));
    FACT("seek", lseek(p[0], 0, SEEK_SET));
    FACT("pread", pread(p[0], buf, 1, 0));
    say("poll empty: %x %x", events(p[0], POLLIN), events(p[1], POLLOUT));
    VALUE("write", write(p[1], "hello", 5));
    ioctl(p[0], FIONREAD, &n);
    VALUE("FIONREAD", n);
    say("poll with data: %x", events(p[0], POLLIN | POLLRDNORM));
    VALUE("read some", read(p[0], buf, 2));
    VALUE("read the rest", read(p[0], buf, 16));
    VALUE("write of 0 bytes", write(p[1], "", 0));
    FACT("still empty", read(p[0], buf, 1));

    VALUE("capacity", fcntl(p[0], F_GETPIPE_SZ));
    VALUE("fill", write(p[1], big, sizeof(big)));
    FACT("full", write(p[1], "x", 1));
    say("poll full: %x", events(p[1], POLLOUT));
    VALUE("drain 4096", read(p[0], big, 4096));
    say("poll with room: %x", events(p[1], POLLOUT));
    VALUE("atomic write fits", write(p[1], big, 4096));
    NEED(read(p[0], big, 100));
    FACT("atomic write does not fit", write(p[1], big, 4096));
    while (read(p[0], big, sizeof(big)) > 0)
        ;
    VALUE("F_SETPIPE_SZ", fcntl(p[1], F_SETPIPE_SZ, 5000));
    VALUE("fill", write(p[1], big, sizeof(big)));
    FACT("F_SETPIPE_SZ below the content", fcntl(p[1], F_SETPIPE_SZ, 4096));
    while (read(p[0], big, sizeof(big)) > 0)
        ;

    signal(SIGPIPE, on_sigpipe);
    NEED(write(p[1], "bye", 3));
    close(p[1]);
    say("poll after the writer left: %x", events(p[0], POLLIN));
    VALUE("what it left", read(p[0], buf, 16));
    VALUE("end of file", read(p[0], buf, 16));
    say("poll at the end: %x", events(p[0], POLLIN));
    close(p[0]);
    NEED(pipe(p));
    close(p[0]);
    FACT("write without reader", write(p[1], "x", 1));
    VALUE("SIGPIPE came", sigpipes);
    say("poll without reader: %x", events(p[1], POLLOUT));
    close(p[1]);
    signal(SIGPIPE, SIG_DFL);

    NEED(pipe(p));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        close(p[0]);
        for (;;)
            if (write(p[1], big, sizeof(big)) < 0)
                _exit(3);
    }
    close(p[1]);
    long total = 0;
    while (total < 300000)
        total += NEED(read(p[0], big, sizeof(big)));
    close(p[0]);
    say_end("blocked writer", pid);

    NEED(mkfifo("fifo", 0644));
    FACT("open for writing without reader", open("fifo", O_WRONLY | O_NONBLOCK));
    int r = open("fifo", O_RDONLY | O_NONBLOCK);
    FACT("open for reading", r);
    VALUE("read without writer", read(r, buf, 1));
    say("poll: %x", events(r, POLLIN));
    int w = open("fifo", O_WRONLY | O_NONBLOCK);
    FACT("open for writing", w);
    FACT("read with writer", read(r, buf, 1));
    VALUE("write", write(w, "ab", 2));
    VALUE("read", read(r, buf, 16));
    close(w);
    say("poll after the writer left: %x", events(r, POLLIN));
    close(r);
    pid = NEED(fork());
    if (pid == 0) {
        int wr = open("fifo", O_WRONLY);
        _exit(write(wr, "child", 5) == 5 ? 0 : 1);
    }
    r = NEED(open("fifo", O_RDONLY));
    VALUE("read from the child", read(r, buf, 16));
    say_end("child", pid);
    remove_work_dir();
    return 0;
}
