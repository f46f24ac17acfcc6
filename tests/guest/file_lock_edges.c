/* fcntl locks: where a range may begin and end, what splits and joins, who is told. */
#include "facts.h"

static int lock_as(int fd, int cmd, int type, int whence, off_t start, off_t len)
{
    struct flock l = {
        .l_type = (short)type, .l_whence = (short)whence, .l_start = start, .l_len = len};
    return fcntl(fd, cmd, &l);
}

/* What another process would find in the way from start on. */
static void say_holder(const char *label, int fd, off_t start, off_t len)
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
        if (fcntl(fd, F_GETLK, &l) < 0)
            say("%s: %s", label, errno_name(errno));
        else if (l.l_type == F_UNLCK)
            say("%s: free", label);
        else
            say("%s: type %d from %ld length %ld, %s", label, l.l_type, (long)l.l_start,
                (long)l.l_len, l.l_pid == getppid() ? "ours" : "somebody's");
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void places(int fd)
{
    NEED(ftruncate(fd, 1000));
    NEED(lseek(fd, 500, SEEK_SET));
    FACT("from here", lock_as(fd, F_SETLK, F_WRLCK, SEEK_CUR, 10, 5));
    say_holder("510", fd, 0, 600);
    FACT("from the end, backwards", lock_as(fd, F_SETLK, F_RDLCK, SEEK_END, 0, -10));
    say_holder("990", fd, 600, 0);
    FACT("no such place", lock_as(fd, F_SETLK, F_WRLCK, 7, 0, 1));
    FACT("before the file", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, -1, 1));
    FACT("backwards out of it", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, -6));
    FACT("backwards to its first byte", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, -5));
    FACT("beyond the last offset", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, INT64_MAX, 2));
    FACT("sum too large", lock_as(fd, F_SETLK, F_WRLCK, SEEK_CUR, INT64_MAX, 1));
    FACT("the last offset", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, INT64_MAX, 1));
    say_holder("last", fd, INT64_MAX - 1, 0);
    FACT("no such type", lock_as(fd, F_SETLK, 9, SEEK_SET, 0, 1));
    FACT("ask for an unlock", lock_as(fd, F_GETLK, F_UNLCK, SEEK_SET, 0, 1));
    FACT("all free", lock_as(fd, F_SETLK, F_UNLCK, SEEK_SET, 0, 0));
    say_holder("all", fd, 0, 0);
}

static void pieces(int fd)
{
    FACT("whole", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 0, 100));
    FACT("hole", lock_as(fd, F_SETLK, F_UNLCK, SEEK_SET, 40, 20));
    say_holder("before the hole", fd, 0, 0);
    say_holder("in the hole", fd, 40, 20);
    say_holder("after the hole", fd, 40, 0);
    FACT("read lock within", lock_as(fd, F_SETLK, F_RDLCK, SEEK_SET, 10, 10));
    say_holder("first piece", fd, 0, 0);
    say_holder("read piece", fd, 10, 0);
    say_holder("third piece", fd, 20, 0);
    FACT("joined again", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, 40));
    say_holder("joined", fd, 0, 0);
    FACT("over all", lock_as(fd, F_SETLK, F_RDLCK, SEEK_SET, 0, 0));
    say_holder("one", fd, 0, 0);
    FACT("cut at the front", lock_as(fd, F_SETLK, F_UNLCK, SEEK_SET, 0, 50));
    say_holder("cut", fd, 0, 0);
}

static void descriptions(int fd)
{
    int other = NEED(open("f", O_RDWR));
    FACT("of the description", lock_as(other, F_OFD_SETLK, F_WRLCK, SEEK_SET, 0, 10));
    FACT("in the way of the process", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, 1));
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    NEED(fcntl(fd, F_GETLK, &l));
    say("held by %d type %d", l.l_pid, l.l_type);
    l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1, .l_pid = 1};
    FACT("with a pid", fcntl(other, F_OFD_SETLK, &l));
    int third = NEED(dup(other));
    close(other);
    FACT("while a duplicate is open", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, 1));
    close(third);
    FACT("after the last", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 5, 1));
    int ro = NEED(open("f", O_RDONLY)), wo = NEED(open("f", O_WRONLY));
    FACT("write lock by who reads", lock_as(ro, F_SETLK, F_WRLCK, SEEK_SET, 0, 1));
    FACT("read lock by who writes", lock_as(wo, F_SETLK, F_RDLCK, SEEK_SET, 0, 1));
    close(ro);
    say_holder("any close frees the process's", fd, 0, 0);
    close(wo);
}

/* Two processes that wait for each other: the second is told. */
static void deadlock(int fd)
{
    int ready[2], go[2];
    char c;
    NEED(pipe(ready));
    NEED(pipe(go));
    FACT("first byte", lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 0, 1));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        if (lock_as(fd, F_SETLK, F_WRLCK, SEEK_SET, 1, 1) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit(lock_as(fd, F_SETLKW, F_WRLCK, SEEK_SET, 0, 1) < 0 ? errno == EDEADLK ? 2 : 3 : 0);
    }
    NEED(read(ready[0], &c, 1));
    /* Whoever comes second gets EDEADLK; the other one gets the lock. */
    int r = lock_as(fd, F_SETLKW, F_WRLCK, SEEK_SET, 1, 1);
    int e = errno;
    NEED(lock_as(fd, F_SETLK, F_UNLCK, SEEK_SET, 0, 0));
    int st;
    NEED(waitpid(pid, &st, 0));
    bool we = r < 0 && e == EDEADLK && WIFEXITED(st) && WEXITSTATUS(st) == 0;
    bool they = r == 0 && WIFEXITED(st) && WEXITSTATUS(st) == 2;
    YES("one of two is told of the deadlock", we || they);
}

int main(void)
{
    facts_start();
    int fd = make_file("f", "");
    places(fd);
    pieces(fd);
    descriptions(fd);
    deadlock(fd);
    remove_work_dir();
    return 0;
}
