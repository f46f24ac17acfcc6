/*
 * console.c: host terminals of a container.
 *
 * The engine gets the master and reads, writes and resizes it. The slave stays with the monitor (or
 * the process of an exec): the sentry pumps between it and the pty that the guest sees, and a
 * change of size arrives as SIGWINCH, since the slave is the controlling terminal.
 */
#include "runsc-shim/console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/error.h"
#include "lib/fdio.h"

int console_open(uint16_t rows, uint16_t cols, int *ret_master, int *ret_slave, struct error *err)
{
    struct winsize ws = {.ws_row = rows, .ws_col = cols};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int slave = -1;

    if (master >= 0 && unlockpt(master) == 0)
        slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) {
        int e = errno;
        fd_close(master);
        return error_errno(err, e, "new terminal");
    }
    if (rows != 0 && cols != 0)
        (void)ioctl(slave, TIOCSWINSZ, &ws);
    *ret_master = master;
    *ret_slave = slave;
    return 0;
}

int console_send(const char *socket_path, int master, struct error *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char name[64];

    if (strlen(socket_path) >= sizeof(a.sun_path))
        return error_set(err, ENAMETOOLONG, "--console-socket: the path is too long");
    memcpy(a.sun_path, socket_path, strlen(socket_path));
    if (ptsname_r(master, name, sizeof(name)) != 0)
        return error_errno(err, errno, "name of the terminal");
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return error_errno(err, errno, "socket");
    int64_t r = connect(sock, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : 0;
    if (r == 0)
        r = fd_send(sock, name, strlen(name), &master, 1, 0);
    (void)close(sock);
    return r < 0 ? error_errno(err, (int)-r, "--console-socket: %s", socket_path) : 0;
}

int console_adopt(int slave, struct error *err)
{
    if (setsid() < 0)
        return error_errno(err, errno, "new session");
    if (ioctl(slave, TIOCSCTTY, 0) < 0)
        return error_errno(err, errno, "controlling terminal");
    for (int i = 0; i < 3; i++) {
        if (dup2(slave, i) < 0)
            return error_errno(err, errno, "standard streams");
    }
    return 0;
}
