/*
 * canary.c: makes the canaries and looks whether they were touched. Secrets are random, so that
 * finding one in an attack's output can mean one thing only.
 */
#include "escape-suite/harness/canary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

#define MARK "escape-canary:"

enum {
    ANSWER_MS = 60000 /* its end is seen at once */
};

int canary_secret(char text[static CANARY_TEXT + 1])
{
    uint8_t raw[SECRET_DIGITS / 2];
    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
        return -EIO;
    int n = snprintf(text, CANARY_TEXT + 1, "%s", MARK);
    for (size_t i = 0; i < sizeof(raw); i++)
        n += snprintf(text + n, 3, "%02x", raw[i]);
    return 0;
}

const char *canary_digits(const char *text)
{
    return text + sizeof(MARK) - 1;
}

/* -- files --------------------------------------------------------------------------------------
 */

static int put_file(const char *path, const char *text, mode_t mode)
{
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return -errno;
    int r = fd_write_full(fd, text, strlen(text));
    return r == 0 && fchmod(fd, mode) < 0 ? -errno : r;
}

/* A readable secret (only the box stands before it), an executable, a link, a directory. */
static int make_tree(struct canaries *c, const char *base, struct error *err)
{
    char path[400], text[CANARY_TEXT + 2];
    (void)snprintf(c->dir, sizeof(c->dir), "%s/host", base);
    (void)snprintf(c->file, sizeof(c->file), "%s/secret", c->dir);
    (void)snprintf(text, sizeof(text), "%s\n", c->file_secret);
    int r = mkdir(c->dir, 0755) < 0 ? -errno : put_file(c->file, text, 0644);
    (void)snprintf(path, sizeof(path), "%s/writable", c->dir);
    r = r == 0 ? put_file(path, "nobody writes here\n", 0666) : r;
    (void)snprintf(path, sizeof(path), "%s/tool", c->dir);
    r = r == 0 ? put_file(path, "#!/bin/sh\nexit 0\n", 0755) : r;
    (void)snprintf(path, sizeof(path), "%s/link", c->dir);
    r = r == 0 && symlink("secret", path) < 0 ? -errno : r;
    (void)snprintf(path, sizeof(path), "%s/open", c->dir);
    r = r == 0 && (mkdir(path, 0777) < 0 || chmod(path, 0777) < 0) ? -errno : r;
    if (r < 0)
        return error_errno(err, -r, "canary files in %s", c->dir);
    c->tree_hash = tree_hash(c->dir);
    return 0;
}

/* -- listeners ----------------------------------------------------------------------------------
 */

static int listener(const char *what, struct canary_listener *l, int type,
                    const struct sockaddr *addr, socklen_t len)
{
    l->what = what;
    l->stream = type == SOCK_STREAM;
    l->fd = socket(addr->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0 || bind(l->fd, addr, len) < 0 || (l->stream && listen(l->fd, 16) < 0))
        return -errno;
    return 0;
}

static unsigned port_of(int fd)
{
    struct sockaddr_in in = {0};
    socklen_t len = sizeof(in);
    (void)getsockname(fd, (struct sockaddr *)&in, &len);
    return ntohs(in.sin_port);
}

static int make_listeners(struct canaries *c, const char *base, struct error *err)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un named = {.sun_family = AF_UNIX}, abstract = {.sun_family = AF_UNIX};
    struct canary_listener *l = c->listeners;
    int n = snprintf(c->unix_path, sizeof(c->unix_path), "%s/socket", base);
    if (n < 0 || n >= (int)sizeof(c->unix_path))
        return error_set(err, ENAMETOOLONG, "%s: too long for a unix socket", base);
    (void)snprintf(c->abstract, sizeof(c->abstract), "escape-canary-%d", (int)getpid());
    (void)memcpy(named.sun_path, c->unix_path, (size_t)n + 1);
    (void)memcpy(abstract.sun_path + 1, c->abstract, strlen(c->abstract) + 1);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(c->abstract));
    int r = listener("the TCP listener on loopback", &l[0], SOCK_STREAM, (void *)&in, sizeof(in));
    if (r == 0)
        r = listener("the UDP socket on loopback", &l[1], SOCK_DGRAM, (void *)&in, sizeof(in));
    if (r == 0)
        r = listener("the abstract unix listener", &l[2], SOCK_STREAM, (void *)&abstract, len);
    abstract.sun_path[1] = 'd';
    if (r == 0)
        r = listener("the abstract unix datagram socket", &l[3], SOCK_DGRAM, (void *)&abstract,
                     len);
    if (r == 0)
        r = listener("the unix listener in the file system", &l[4], SOCK_STREAM, (void *)&named,
                     sizeof(named));
    if (r < 0)
        return error_errno(err, -r, "canary listeners");
    (void)chmod(c->unix_path, 0777);
    c->tcp_port = port_of(l[0].fd);
    c->udp_port = port_of(l[1].fd);
    return 0;
}

static void check_listeners(struct canaries *c, struct findings *f)
{
    char piece[256];
    for (size_t i = 0; i < CANARY_LISTENERS; i++) {
        struct canary_listener *l = &c->listeners[i];
        if (l->stream) {
            int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0)
                findings_add(f, "%s got a connection", l->what);
            fd_close(fd);
        } else if (recv(l->fd, piece, sizeof(piece), MSG_DONTWAIT) >= 0) {
            findings_add(f, "%s got a message", l->what);
        }
    }
}

/* -- the victim ---------------------------------------------------------------------------------
 */

static NORETURN void victim(const struct canaries *c, int ask, int answer)
{
    char one;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)prctl(PR_SET_NAME, "escape-victim");
    (void)memcpy(c->victim_page, c->victim_secret, sizeof(c->victim_secret));
    while (read(ask, &one, 1) == 1)
        if (write(answer, c->victim_page, sizeof(c->victim_secret)) < 0)
            break;
    _exit(0);
}

static int make_victim(struct canaries *c, struct error *err)
{
    int ask[2], answer[2];
    c->victim_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->victim_page == MAP_FAILED || pipe2(ask, O_CLOEXEC) < 0)
        return error_errno(err, errno, "victim");
    if (pipe2(answer, O_CLOEXEC) < 0)
        return error_errno(err, errno, "victim");
    c->victim = fork();
    if (c->victim == 0) {
        (void)close(ask[1]);
        (void)close(answer[0]);
        victim(c, ask[0], answer[1]);
    }
    (void)close(ask[0]);
    (void)close(answer[1]);
    c->victim_ask = ask[1];
    c->victim_answer = answer[0];
    return c->victim < 0 ? error_errno(err, errno, "victim") : 0;
}

static void check_victim(struct canaries *c, struct findings *f)
{
    char text[sizeof(c->victim_secret)] = "";
    struct pollfd p = {.fd = c->victim_answer, .events = POLLIN};
    bool answers = write(c->victim_ask, "?", 1) == 1 && poll(&p, 1, ANSWER_MS) > 0 &&
                   fd_read_full(c->victim_answer, text, sizeof(text)) == (int64_t)sizeof(text);
    if (!answers)
        findings_add(f, "the victim process is gone or stopped");
    else if (memcmp(text, c->victim_secret, sizeof(text)) != 0)
        findings_add(f, "the memory of the victim process has changed");
}

static int make_leaks(struct canaries *c, struct error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return error_errno(err, errno, "socket pair");
    c->leak[0] = pair[0];
    c->leak_peer = pair[1];
    c->leak[1] = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    c->leak[2] = open(c->file, O_RDONLY | O_CLOEXEC);
    return 0;
}

int canaries_make(struct canaries *c, const char *base, struct error *err)
{
    *c = (struct canaries){
        .victim_ask = -1, .victim_answer = -1, .leak_peer = -1, .leak = {-1, -1, -1, -1}};
    for (size_t i = 0; i < CANARY_LISTENERS; i++)
        c->listeners[i].fd = -1;
    int r = canary_secret(c->file_secret);
    r = r < 0 ? r : canary_secret(c->victim_secret);
    if (r < 0)
        return error_errno(err, -r, "random bytes");
    r = make_tree(c, base, err);
    r = r < 0 ? r : make_listeners(c, base, err);
    r = r < 0 ? r : make_victim(c, err);
    return r < 0 ? r : make_leaks(c, err);
}

void canaries_done(struct canaries *c)
{
    for (size_t i = 0; i < CANARY_LISTENERS; i++)
        fd_close(c->listeners[i].fd);
    for (size_t i = 0; i < ARRAY_LEN(c->leak); i++)
        fd_close(c->leak[i]);
    fd_close(c->leak_peer);
    fd_close(c->victim_ask);
    fd_close(c->victim_answer);
    if (c->victim > 0) {
        (void)kill(c->victim, SIGKILL);
        (void)waitpid(c->victim, NULL, 0);
    }
}

void canaries_check(struct canaries *c, struct findings *f)
{
    char piece[64];
    uint64_t hash = tree_hash(c->dir);
    if (hash != c->tree_hash)
        findings_add(f, "the files below %s have changed", c->dir);
    c->tree_hash = hash;
    check_listeners(c, f);
    check_victim(c, f);
    if (recv(c->leak_peer, piece, sizeof(piece), MSG_DONTWAIT) > 0)
        findings_add(f, "bytes came through a socket that the runtime had inherited");
}
