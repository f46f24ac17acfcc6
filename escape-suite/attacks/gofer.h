#pragma once
/*
 * For attacks on sentry-gofer: a sentry that has been taken over. Starts the image server on a tree
 * of our own, with a secret outside of it, and speaks raw messages to it. Host-side: the program
 * runs on the host, as its caller, and feeds only the server that it has started itself.
 *
 *      tree/          root 0: hello, dir/, dir/file, links that lead out, a fifo
 *      outside/       beside it: secret (the canary's text is made up here)
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attack.h"

enum {
    HELLO = 1,
    WALK,
    GETATTR,
    OPEN,
    READLINK,
    READDIR,
    STATFS,
    GETXATTR,
    LISTXATTR,
    FORGET
};

struct header {
    uint32_t size;
    uint16_t type, zero;
    uint32_t tag, status;
};

static char tree[512], outside[512];
static int gofer = -1;
static pid_t gofer_pid;
static uint8_t reply[65536];
static ssize_t reply_size;
static int reply_fd = -1; /* a descriptor that came with it */

static int put(const char *dir, const char *name, const char *text)
{
    char path[1100];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    return fd >= 0 && write(fd, text, strlen(text)) > 0 ? close(fd) : -1;
}

/* The tree and what lies beside it. */
__attribute__((unused)) static int gofer_tree(void)
{
    const char *scratch = getenv("SCRATCH");
    char path[1100];
    if (!scratch || !getenv("BIN"))
        return -1;
    snprintf(tree, sizeof(tree), "%s/tree", scratch);
    snprintf(outside, sizeof(outside), "%s/outside", scratch);
    mkdir(tree, 0755);
    mkdir(outside, 0755);
    snprintf(path, sizeof(path), "%s/dir", tree);
    mkdir(path, 0755);
    put(tree, "hello", "hello\n");
    put(path, "file", "file\n");
    put(outside, "secret", CANARY_MARK "00112233445566778899aabbccddeeff\n");
    snprintf(path, sizeof(path), "%s/out", tree);
    symlink("../outside", path);
    snprintf(path, sizeof(path), "%s/absolute", tree);
    symlink(outside, path);
    snprintf(path, sizeof(path), "%s/self", tree);
    symlink("/proc/self/root", path);
    snprintf(path, sizeof(path), "%s/fifo", tree);
    mkfifo(path, 0644);
    snprintf(path, sizeof(path), "%s/hello", tree);
    return access(path, R_OK);
}

__attribute__((unused)) static int gofer_start(void)
{
    char path[1100];
    int pair[2], dir = open(tree, O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof(path), "%s/sentry-gofer", getenv("BIN"));
    if (dir < 0 || access(path, X_OK) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return -1;
    gofer_pid = fork();
    if (gofer_pid == 0) {
        int null = open("/dev/null", O_RDWR), a = fcntl(dir, F_DUPFD, 100),
            b = fcntl(pair[1], F_DUPFD, 100);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        dup2(a, 3);
        dup2(b, 4);
        syscall(SYS_close_range, 5, ~0u, 0);
        execl(path, "sentry-gofer", "--roots", "1", (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    close(dir);
    gofer = pair[0];
    struct timeval tv = {HANG_MS / 1000, 0};
    setsockopt(gofer, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    setsockopt(gofer, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* Ends it: the exit status, or 1000 + the signal that it died of; -1: it had to be killed. */
__attribute__((unused)) static int gofer_stop(void)
{
    int status = 0;
    close(gofer);
    for (long i = 0; i < HANG_MS; i++) {
        if (waitpid(gofer_pid, &status, WNOHANG) == gofer_pid)
            return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    kill(gofer_pid, SIGKILL);
    waitpid(gofer_pid, &status, 0);
    return -1;
}

/* A message of these bytes behind the header; says the size that the header claims. 0: it was sent.
 */
__attribute__((unused)) static int gofer_send(uint16_t type, const void *body, size_t n,
                                              uint32_t claim)
{
    static uint8_t buf[80000];
    struct header h = {claim, type, 0, 77, 0};
    memcpy(buf, &h, sizeof(h));
    if (n)
        memcpy(buf + sizeof(h), body, n);
    return send(gofer, buf, sizeof(h) + n, 0) < 0 ? -errno : 0;
}

/* One reply: its status, -1 when the server has hung up or says nothing. */
__attribute__((unused)) static int gofer_receive(void)
{
    union {
        char buf[CMSG_SPACE(sizeof(int) * 8)];
        struct cmsghdr align;
    } u;
    struct iovec iov = {reply, sizeof(reply)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = sizeof(u.buf)};
    if (reply_fd >= 0)
        close(reply_fd);
    reply_fd = -1;
    reply_size = recvmsg(gofer, &m, 0);
    if (reply_size < (ssize_t)sizeof(struct header))
        return -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_type == SCM_RIGHTS)
            memcpy(&reply_fd, CMSG_DATA(c), sizeof(int));
    return (int)((struct header *)reply)->status;
}

__attribute__((unused)) static int gofer_ask(uint16_t type, const void *body, size_t n)
{
    return gofer_send(type, body, n, (uint32_t)(sizeof(struct header) + n)) ? -1 : gofer_receive();
}

__attribute__((unused)) static int gofer_hello(void)
{
    return gofer_ask(HELLO, (uint32_t[]){1, 1}, 8);
}

/* WALK of one name in a node, with OPEN; the status or the error of the name. */
__attribute__((unused)) static int gofer_walk(uint32_t node, const char *name, size_t len,
                                              uint32_t *ret_node)
{
    uint8_t body[70000];
    uint16_t words[4] = {(uint16_t)node, (uint16_t)(node >> 16), 1, 1}, n = (uint16_t)len;
    memcpy(body, words, 8);
    memcpy(body + 8, &n, 2);
    memcpy(body + 10, name, len);
    int r = gofer_ask(WALK, body, 10 + len);
    if (r == 0 && reply_size >= 24) {
        memcpy(words, reply + 16, 8);
        if (ret_node && words[0] > 0 && reply_size >= 32)
            memcpy(ret_node, reply + 24, 4);
        r = words[1];
    }
    return r;
}

/* Does a reply, or the descriptor that came with it, hold the secret, or write? */
__attribute__((unused)) static int gofer_leaks(void)
{
    char buf[4096];
    if (reply_size > 0 && has_canary(reply, (size_t)reply_size))
        return 1;
    if (reply_fd < 0)
        return 0;
    ssize_t n = pread(reply_fd, buf, sizeof(buf), 0);
    if (n > 0 && has_canary(buf, (size_t)n))
        return 1;
    return (fcntl(reply_fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}
