/* platform/confine/landlock: what a domain takes away, and that children made in it stay in reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "platform/confine/landlock.h"

#include "tests/support/test.h"

static int opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)close(fd);
    return 0;
}

static bool reads_child(void)
{
    static volatile int value = 1;
    int seen = 0;
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            (void)pause();
    }
    struct iovec local = {&seen, sizeof(seen)}, remote = {(void *)(uintptr_t)&value, sizeof(seen)};
    bool good = pid > 0 && process_vm_readv(pid, &local, 1, &remote, 1, 0) == sizeof(seen);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return good && seen == 1;
}

/* 0: as wanted; 77: the kernel has no Landlock; else the number of what is not so. */
static int in_domain(void)
{
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct landlock_path beneath = {.fd = proc,
                                          .rights = LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (opens("/etc/passwd", O_RDONLY) != 0)
        return 1;
    int r = landlock_enter(&beneath, 1);
    if (r == 0)
        return 77;
    if (r < 0)
        return 2;
    if (opens("/etc/passwd", O_RDONLY) != -EACCES || opens("/tmp", O_RDONLY) != -EACCES)
        return 3;
    if (opens("/proc/self/maps", O_RDONLY) != 0)
        return 4;
    return reads_child() ? 0 : 5;
}

TEST(a_domain)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(in_domain());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "step %d",
                  WEXITSTATUS(status));
}

TEST(bad_descriptor)
{
    const struct landlock_path bad = {.fd = -1, .rights = LANDLOCK_READ_FILE};
    int r = landlock_enter(&bad, 1);
    ck_assert(r == -EBADF || r == 0);
}

TEST_SUITE(landlock)
{
    TEST_ADD(a_domain);
    TEST_ADD(bad_descriptor);
}
