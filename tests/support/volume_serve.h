#pragma once
/* A volume server of one writable directory in a process of its own, unconfined. */
#include "lib/compiler.h"

#include <errno.h>
#include <unistd.h>

#include <sys/socket.h>

#include "gofer/volume_server.h"
#include "lib/alloc.h"
#include "lib/fdio.h"
#include "tests/support/test.h"

/* Its exit status: 0, 3 after a malformed request, 9 where its tables are wrong, 1 otherwise. */
static NORETURN inline void volume_serve_main(int dir_fd, int sock)
{
    struct volume_source root = {.fd = dir_fd, .writable = true};
    struct volume_server *server;
    kalloc_fail_after(0); /* our failures are not its */
    if (volume_server_new(&root, 1, -1, 100, &server) < 0)
        _exit(1);
    int rc = volume_server_run(server, &(struct gofer_port){.sock = sock});
    bool good = volumes_check(&server->volumes);
    volume_server_free(server);
    _exit(!good ? 9 : rc == 0 ? 0 : rc == -EPROTO ? 3 : 1);
}

/* Its pid; our end of the connection is the caller's. */
static inline pid_t serve_volume(int dir_fd, int *ret_sock)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        fd_close(ends[0]);
        volume_serve_main(dir_fd, ends[1]);
    }
    fd_close(ends[1]);
    *ret_sock = ends[0];
    return pid;
}
