/* flock, POSIX locks, open-file-description locks. */
#include <sys/file.h>

#include "facts.h"

static int lock(int fd, int cmd, int type, off_t start, off_t len)
{
    struct flock fl = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
    return fcntl(fd, cmd, &fl);
}

/* What F_GETLK reports about a write lock on the range. */
static void probe(const char *label, int fd, int cmd, off_t start, off_t len)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
    if (fcntl(fd, cmd, &fl) < 0)
        say("%s: %s", label, errno_name(errno));
    else if (fl.l_type == F_UNLCK)
        say("%s: free", label);
    else
        say("%s: %s from %ld length %ld owner %s", label, fl.l_type == F_RDLCK ? "read" : "write",
            (long)fl.l_start, (long)fl.l_len,
            fl.l_pid == getppid() ? "parent"
            : fl.l_pid == -1      ? "-1"
                                  : "other");
}

static void in_child(void (*fn)(int), int fd)
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        fn(fd);
        _exit(0);
    }
    say_end("child", pid);
}

static void child_posix(int fd)
{
    FACT("conflicting write lock", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    FACT("write lock beside it", lock(fd, F_SETLK, F_WRLCK, 10, 10));
    probe("first ten", fd, F_GETLK, 0, 10);
    probe("20 to 30", fd, F_GETLK, 20, 10);
    alarm(1);
    signal(SIGALRM, SIG_DFL);
}

static void child_split(int fd)
{
    probe("before the hole", fd, F_GETLK, 0, 4);
    probe("in the hole", fd, F_GETLK, 4, 2);
    probe("after the hole", fd, F_GETLK, 6, 100);
}

static void child_ofd(int fd)
{
    int own = NEED(open("f", O_RDWR));
    FACT("OFD lock through the inherited description", lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
    FACT("OFD lock through its own", lock(own, F_OFD_SETLK, F_WRLCK, 0, 0));
    probe("owner of an OFD lock", own, F_OFD_GETLK, 0, 0);
}

static void child_flock(int fd)
{
    int own = NEED(open("f", O_RDWR));
    FACT("flock through the inherited description", flock(fd, LOCK_EX | LOCK_NB));
    FACT("flock through its own", flock(own, LOCK_EX | LOCK_NB));
    FACT("shared flock through its own", flock(own, LOCK_SH | LOCK_NB));
}

static void child_deadlock(int fd)
{
    NEED(lock(fd, F_SETLK, F_WRLCK, 1, 1));
    NEED(kill(getppid(), 0));
    /* The parent waits for byte 1 soon; asking for byte 0 closes the circle. */
    nap(300);
    FACT("lock that would deadlock", lock(fd, F_SETLKW, F_WRLCK, 0, 1));
}

int main(void)
{
    facts_start();
    int fd = make_file("f", "0123456789");
    int ro = NEED(open("f", O_RDONLY));
    FACT("write lock", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    FACT("the same again", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    FACT("write lock on a read-only descriptor", lock(ro, F_SETLK, F_WRLCK, 50, 1));
    FACT("bad type", lock(fd, F_SETLK, 77, 0, 1));
    FACT("negative start", lock(fd, F_SETLK, F_RDLCK, -5, 1));
    in_child(child_posix, fd);
    FACT("free the middle", lock(fd, F_SETLK, F_UNLCK, 4, 2));
    in_child(child_split, fd);
    close(ro);
    probe("own locks are not shown", fd, F_GETLK, 0, 0);
    in_child(child_split, fd); /* closing any descriptor of the file dropped the locks */
    FACT("flock", flock(fd, LOCK_EX));
    in_child(child_flock, fd);
    FACT("flock unlock", flock(fd, LOCK_UN));
    FACT("flock bad operation", flock(fd, 0));
    FACT("OFD lock", lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
    in_child(child_ofd, fd);
    FACT("OFD unlock", lock(fd, F_OFD_SETLK, F_UNLCK, 0, 0));

    NEED(lock(fd, F_SETLK, F_WRLCK, 0, 1));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        child_deadlock(fd);
        _exit(0);
    }
    nap(100);
    FACT("waiting lock", lock(fd, F_SETLKW, F_WRLCK, 1, 1));
    say_end("child", pid);
    remove_work_dir();
    return 0;
}
