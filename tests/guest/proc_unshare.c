/* unshare of what threads share, kcmp, and what fdinfo says of a pidfd. */
#include <pthread.h>
#include <sched.h>

#include <linux/kcmp.h>

#include "facts.h"

static long kcmp(pid_t a, pid_t b, int type, unsigned long x, unsigned long y)
{
    return syscall(SYS_kcmp, a, b, type, x, y);
}

static void *leave(void *arg)
{
    int fd = *(int *)arg;
    FACT("descriptors of its own", unshare(CLONE_FILES));
    close(fd);
    FACT("directory of its own", unshare(CLONE_FS));
    NEED(chdir("/"));
    umask(077);
    FACT("nothing more to do", unshare(CLONE_FILES | CLONE_FS));
    FACT("nothing", unshare(0));
    FACT("what threads must share", unshare(CLONE_VM));
    FACT("signal handlers", unshare(CLONE_SIGHAND));
    FACT("its group", unshare(CLONE_THREAD));
    FACT("no such flag", unshare(1));
    return NULL;
}

static void compare(void)
{
    int fd = NEED(open("/dev/null", O_RDONLY)), same = NEED(dup(fd)),
        other = NEED(open("/dev/null", O_RDONLY));
    pid_t us = getpid(), pid = NEED(fork());
    if (pid == 0) {
        for (;;)
            pause();
    }
    VALUE("one description", kcmp(us, us, KCMP_FILE, (unsigned long)fd, (unsigned long)same));
    YES("two", kcmp(us, us, KCMP_FILE, (unsigned long)fd, (unsigned long)other) > 0);
    VALUE("a child's is the same", kcmp(us, pid, KCMP_FILE, (unsigned long)fd, (unsigned long)fd));
    FACT("no descriptor", kcmp(us, us, KCMP_FILE, 999, (unsigned long)fd));
    const int types[] = {KCMP_VM, KCMP_FILES, KCMP_FS, KCMP_SIGHAND};
    for (size_t i = 0; i < 4; i++) {
        VALUE("with itself", kcmp(us, us, types[i], 0, 0));
        long there = kcmp(us, pid, types[i], 0, 0), back = kcmp(pid, us, types[i], 0, 0);
        YES("with a child: an order", (there == 1 && back == 2) || (there == 2 && back == 1));
    }
    FACT("no such type", kcmp(us, us, 99, 0, 0));
    FACT("no such process", kcmp(us, 0x3fffff, KCMP_VM, 0, 0));
    NEED(kill(pid, SIGKILL));
    say_end("child", pid);
}

static void say_pids(const char *label, int fd)
{
    char path[64], line[128];
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "Pid:", 4) == 0)
            say("%s: %s", label,
                atoi(line + 4) > 0    ? "a number"
                : atoi(line + 4) == 0 ? "0"
                                      : "-1");
    }
    if (f)
        fclose(f);
}

/* Without room for its descriptor no child is made. */
static void no_room(void)
{
    int pidfd = -7;
    struct rlimit rl, few;
    NEED(getrlimit(RLIMIT_NOFILE, &rl));
    few = rl;
    few.rlim_cur = 0;
    NEED(setrlimit(RLIMIT_NOFILE, &few));
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
    if (pid == 0)
        _exit(0);
    FACT("clone with a descriptor", pid);
    say("number %d", pidfd);
    NEED(setrlimit(RLIMIT_NOFILE, &rl));
    FACT("no child", waitpid(-1, NULL, 0));
    pid = (pid_t)NEED(syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0));
    if (pid == 0)
        _exit(fcntl(pidfd, F_GETFD) < 0 ? 0 : 1);
    YES("with room", pidfd >= 0 && fcntl(pidfd, F_GETFD) == FD_CLOEXEC);
    say_end("who has none himself", pid);
}

int main(void)
{
    pthread_t t;
    char dir[256];
    facts_start();
    int fd = NEED(open("/dev/null", O_RDONLY));
    FACT("in the only thread", unshare(CLONE_FILES | CLONE_FS | CLONE_SYSVSEM));
    if (pthread_create(&t, NULL, leave, &fd) != 0 || pthread_join(t, NULL) != 0)
        return 1;
    YES("still open here", fcntl(fd, F_GETFD) >= 0);
    YES("still in our directory", getcwd(dir, sizeof(dir)) && strcmp(dir, "/") != 0);
    VALUE("our mask", umask(022));
    compare();
    no_room();
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(3);
    int pidfd = (int)NEED(syscall(SYS_pidfd_open, pid, 0));
    say_pids("alive or not yet waited for", pidfd);
    say_end("child", pid);
    say_pids("gone", pidfd);
    remove_work_dir();
    return 0;
}
