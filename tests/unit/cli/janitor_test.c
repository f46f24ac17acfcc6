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
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    }
    janitor_tell_entry("/nonexistent", "b");
    janitor_release();
    janitor_release();
}

TEST_SUITE(janitor)
{
    TEST_ADD(killed_janitor_is_not_the_end);
}
