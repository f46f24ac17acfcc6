/* The monitor's side of the janitor. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/wait.h>

#include "lib/fdio.h"
#include "sentry/cli/janitor.h"
#include "tests/support/test.h"

/* proc_tid_children(5); 0: the host does not say. */
static pid_t only_child(void)
{
    char path[64], text[64] = "";
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    fd_close(fd);
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

TEST(killed_janitor_is_not_the_end)
{
    janitor_tell_entry("/nonexistent", "a");
    pid_t pid = only_child();
    if (pid > 0) {
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        siginfo_t si;
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
    }
    janitor_tell_entry("/nonexistent", "b");
    janitor_release();
    janitor_reap(); /* one is still told something */
    janitor_release();
    janitor_reap();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(janitor_is_waited_for)
{
    janitor_reap(); /* there is none */
    janitor_tell_entry("/nonexistent", "a");
    pid_t pid = only_child();
    janitor_reap();
    ck_assert_int_eq(only_child(), pid);
    janitor_release();
    janitor_reap();
    ck_assert_int_eq(only_child(), 0);
}

TEST_SUITE(janitor)
{
    TEST_ADD(killed_janitor_is_not_the_end);
    TEST_ADD(janitor_is_waited_for);
}
