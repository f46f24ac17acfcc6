/* tries: the runtime was started with a socket, a directory and a secret file of the host open at
   20, 21, 22; uses every descriptor that is there: reads, writes, sends, walks up from it */
/* must fail because: a box gets standard input, output and error, nothing else */
/* an escape would: use what the caller forgot to close (CVE-2024-21626 began with such a
 * descriptor) */
/* source: ATTACKS.md F2 O7, CVE-2024-21626 */
#include <fcntl.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attack.h"

static int attack(void)
{
    int open_fds = 0, used = 0;
    char text[4096];
    for (int fd = 3; fd < 1024; fd++) {
        struct stat st;
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        open_fds++;
        fstat(fd, &st);
        step("descriptor %d is open, mode %o", fd, st.st_mode);
        if (send(fd, "hello from the box", 18, MSG_NOSIGNAL) == 18)
            used++;
        ssize_t n = pread(fd, text, sizeof(text), 0);
        if (n > 0 && has_canary(text, (size_t)n)) {
            step("it holds %.*s", (int)n, text);
            used++;
        }
        int up = openat(fd, "../../../../../../etc/hostname", O_RDONLY);
        int inside = openat(fd, "secret", O_RDONLY);
        used += up >= 0 || inside >= 0;
    }
    for (int fd = 0; fd < 3; fd++) {
        int up = openat(fd, "../../etc/hostname", O_RDONLY);
        char path[64];
        snprintf(path, sizeof(path), "/proc/self/fd/%d/../secret", fd + 20);
        int by_proc = open(path, O_RDONLY);
        used += up >= 0 || by_proc >= 0;
    }
    if (open_fds || used)
        return escaped("%d stray descriptors, %d uses of them", open_fds, used);
    return contained("0, 1 and 2 are all there is");
}

/* One's own descriptors are inherited as ever. */
static int twin(void)
{
    int pipes[2], status;
    char text[4] = "";
    if (pipe(pipes) < 0)
        return broken("pipe: %s", err_name(errno));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 20);
        execl("/bin/busybox", "sh", "-c", "echo ok >/proc/self/fd/20", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    if (status != 0 || read(pipes[0], text, 3) != 3 || strncmp(text, "ok", 2) != 0)
        return broken("a descriptor handed over exec: status %x", status);
    return works("a descriptor of the box is inherited over exec");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
