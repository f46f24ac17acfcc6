#pragma once
/*
 * For the gofer's tests: a temporary tree with one of everything, and a server of it in a process
 * of its own. Static functions, included by each test file; a test that fails leaves the tree
 * behind.
 *
 *      plain      "hello\n", 0644          deep/a/b/c/leaf
 *      secret     0600                      many/     2000 files, by make_many
 *      null       character device 1:3      fifo, sock
 *      up -> ../../../../etc/passwd         abs -> /etc      ok -> plain      loop -> loop
 */
#include "lib/compiler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "gofer/client.h"
#include "gofer/server.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "tests/support/test.h"

enum {
    MANY_FILES = 2000
};

struct served {
    char dir[64];
    int dir_fd;
    int sock; /* our end; -1 once a client has it */
    pid_t pid;
    struct gofer_client *client;
};

static inline void put_file(int at, const char *path, const char *text, mode_t mode)
{
    int fd = openat(at, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fd_write_full(fd, text, strlen(text)), 0);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    fd_close(fd);
}

static inline void make_socket(const char *dir)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    fd_close(fd);
}

static inline void make_many(struct served *s)
{
    ck_assert_int_eq(mkdirat(s->dir_fd, "many", 0755), 0);
    for (int i = 0; i < MANY_FILES; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "many/a-file-of-many-%04d", i);
        put_file(s->dir_fd, name, "", 0644);
    }
}

static inline void make_tree(struct served *s)
{
    strcpy(s->dir, "/tmp/gofer-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    int d = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(d, 0);
    ck_assert_int_eq(fchmod(d, 0755), 0);
    put_file(d, "plain", "hello\n", 0644);
    put_file(d, "secret", "s", 0600);
    ck_assert_int_eq(mkfifoat(d, "fifo", 0644), 0);
    (void)mknodat(d, "null", S_IFCHR | 0666, makedev(1, 3)); /* needs privilege */
    make_socket(s->dir);
    ck_assert_int_eq(symlinkat("../../../../etc/passwd", d, "up"), 0);
    ck_assert_int_eq(symlinkat("/etc", d, "abs"), 0);
    ck_assert_int_eq(symlinkat("plain", d, "ok"), 0);
    ck_assert_int_eq(symlinkat("loop", d, "loop"), 0);
    ck_assert_int_eq(mkdirat(d, "deep", 0755), 0);
    ck_assert_int_eq(mkdirat(d, "deep/a", 0755), 0);
    ck_assert_int_eq(mkdirat(d, "deep/a/b", 0755), 0);
    ck_assert_int_eq(mkdirat(d, "deep/a/b/c", 0755), 0);
    put_file(d, "deep/a/b/c/leaf", "leaf", 0644);
    s->dir_fd = d;
}

static inline int remove_entry(const char *path, UNUSED const struct stat *st, UNUSED int type,
                               UNUSED struct FTW *at)
{
    return remove(path);
}

static inline void remove_tree(struct served *s)
{
    fd_close(s->dir_fd);
    ck_assert_int_eq(nftw(s->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Starts an unconfined server of s->dir; it exits with 0, or with 3 after a malformed request. */
static inline void serve(struct served *s)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    s->pid = fork();
    ck_assert_int_ge(s->pid, 0);
    if (s->pid == 0) {
        struct server *server;
        kalloc_fail_after(0); /* our failures are not its */
        fd_close(ends[0]);
        if (server_new(&s->dir_fd, 1, &server) < 0)
            _exit(1);
        int rc = server_run(server, &(struct gofer_port){.sock = ends[1]});
        bool good = tree_check(&server->tree);
        server_free(server);
        _exit(!good ? 9 : rc == 0 ? 0 : rc == -EPROTO ? 3 : 1);
    }
    fd_close(ends[1]);
    s->sock = ends[0];
    s->client = NULL;
}

static inline void served_start(struct served *s)
{
    struct error err;
    make_tree(s);
    serve(s);
    error_init(&err);
    int rc = gofer_client_new(s->sock, 1, &s->client, &err);
    ck_assert_msg(rc == 0, "%s", err.text);
    s->sock = -1;
}

/* A server whose host calls or allocations, or ours, may fail: whether it greeted us. */
static inline bool served_try(struct served *s)
{
    struct error err;
    serve(s);
    if (gofer_client_new(s->sock, 1, &s->client, &err) < 0)
        s->client = NULL;
    s->sock = -1;
    return s->client != NULL;
}

/* Hangs up; the exit status of the server. */
static inline int served_wait(struct served *s)
{
    int status;
    gofer_client_free(s->client);
    s->client = NULL;
    fd_close(s->sock);
    s->sock = -1;
    ck_assert_int_eq(waitpid(s->pid, &status, 0), s->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void served_stop(struct served *s)
{
    ck_assert_int_eq(served_wait(s), 0);
    remove_tree(s);
}
