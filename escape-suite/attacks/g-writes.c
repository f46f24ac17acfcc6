/* tries: requests that would change something: types beyond the list, reserved bits and flags set,
   statuses in requests, what descriptors that were handed out still allow: write, ftruncate,
   fchmod, reopening through /proc, linkat, setxattr */
/* must fail because: the protocol has no request that writes, and what is handed out is O_RDONLY on
   a read-only mount */
/* an escape would: change a file of the image, which all later runs trust */
/* source: ATTACKS.md G5 */
#include <sys/mman.h>
#include <sys/xattr.h>

#include "gofer.h"

static char first[1100];

static int mmap_write(int fd)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

/* As the sandbox's uid would: a child that has given up root. */
static int changed_by_descriptor(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char path[64];
        int n = 0;
        if (geteuid() == 0) {
            syscall(SYS_setgroups, 0, NULL);
            syscall(SYS_setresgid, 65534, 65534, 65534);
            syscall(SYS_setresuid, 65534, 65534, 65534);
        }
        snprintf(path, sizeof(path), "/proc/self/fd/%d", reply_fd);
        n += write(reply_fd, "x", 1) > 0;
        n += ftruncate(reply_fd, 0) == 0;
        n += fchmod(reply_fd, 0777) == 0;
        n += fsetxattr(reply_fd, "user.x", "y", 1, 0) == 0;
        n += fallocate(reply_fd, 0, 0, 4096) == 0;
        n += futimens(reply_fd, NULL) == 0;
        n += open(path, O_RDWR) >= 0;
        n += open(path, O_WRONLY | O_TRUNC) >= 0;
        n += syscall(SYS_linkat, reply_fd, "", AT_FDCWD, "/tmp/linked", AT_EMPTY_PATH) == 0;
        n += mmap_write(reply_fd);
        _exit(n);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                           : 0;
}

static int attack(void)
{
    uint8_t body[64];
    int answered = 0, ended = 0;
    struct stat before, after;
    if (gofer_tree())
        return cannot("no tree, or no BIN");
    snprintf(first, sizeof(first), "%s/hello", tree);
    stat(first, &before);
    for (int type = 11; type < 70; type += 3) {
        if (gofer_start() || gofer_hello() != 0)
            return cannot("the server does not start");
        memset(body, type, sizeof(body));
        memset(body, 0, 4);
        answered += gofer_ask((uint16_t)(type < 40 ? type : 1 << (type % 12 + 4)), body, 32) >= 0;
        int end = gofer_stop();
        ended += end == 3;
        if (end >= 1000)
            return escaped("request %d: the server died with %d", type, end);
    }
    /* reserved fields, flags */
    for (int bit = 1; bit < 16; bit++) {
        if (gofer_start() || gofer_hello() != 0)
            return cannot("the server does not start");
        uint16_t words[4] = {0, 0, 1, (uint16_t)(1 << bit)};
        memcpy(body, words, 8);
        memcpy(body + 8, "\5\0hello", 7);
        answered += gofer_ask(WALK, body, 15) >= 0;
        ended += gofer_stop() == 3;
    }
    if (gofer_start() || gofer_hello() != 0 || gofer_walk(0, "hello", 5, NULL) != 0 || reply_fd < 0)
        return cannot("no descriptor was handed out");
    int changes = changed_by_descriptor();
    gofer_stop();
    stat(first, &after);
    step("%d odd requests answered, %d ended the server; %d writes through a descriptor", answered,
         ended, changes);
    if (answered || changes || before.st_size != after.st_size || before.st_mode != after.st_mode ||
        before.st_mtime != after.st_mtime)
        return escaped("%d odd requests answered, %d changes", answered, changes);
    return contained("nothing writes");
}

static int twin(void)
{
    char buf[16] = "";
    if (gofer_tree() || gofer_start() || gofer_hello() != 0 || gofer_walk(0, "hello", 5, NULL) != 0)
        return broken("hello and a walk");
    int ok = reply_fd >= 0 && read(reply_fd, buf, 6) == 6 && strcmp(buf, "hello\n") == 0;
    gofer_stop();
    return ok ? works("a descriptor that was handed out reads") : broken("it does not read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
