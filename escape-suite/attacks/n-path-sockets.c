/* tries: connects to unix sockets in the host's file system by name: the harness's canary,
   docker.sock, D-Bus, systemd, through /, /proc/self/root, /proc/1/root and dot-dot chains; and to
   the same names after bind() made them */
/* must fail because: names are looked up in the image and the box's own files only */
/* an escape would: talk to the container daemon or to init, which is the host's root */
/* source: ATTACKS.md N3 */
#include <fcntl.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "attack.h"

static int tries, reached;

static void try_path(const char *path)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(to.sun_path))
        return;
    strcpy(to.sun_path, path);
    for (int i = 0; i < 3; i++) {
        int fd = socket(AF_UNIX, types[i] | SOCK_NONBLOCK, 0);
        tries++;
        if (fd >= 0 && connect(fd, (void *)&to, sizeof(to)) == 0) {
            step("connected to %s", path);
            reached++;
        }
        if (fd >= 0 && sendto(fd, "x", 1, MSG_NOSIGNAL, (void *)&to, sizeof(to)) == 1 &&
            types[i] == SOCK_DGRAM)
            reached++;
        if (fd >= 0)
            close(fd);
    }
}

static int attack(void)
{
    static const char *const prefixes[] = {"",
                                           "/proc/self/root",
                                           "/proc/1/root",
                                           "/proc/self/cwd/../../../../../..",
                                           "/../../../../../../..",
                                           "/proc/self/fd/0/../../.."};
    const char *paths[] = {fact("unix_path"),
                           "/var/run/docker.sock",
                           "/run/docker.sock",
                           "/run/podman/podman.sock",
                           "/run/containerd/containerd.sock",
                           "/run/dbus/system_bus_socket",
                           "/run/systemd/notify",
                           "/run/systemd/private",
                           "/run/systemd/journal/stdout",
                           "/dev/log",
                           "/run/udev/control",
                           "/tmp/.X11-unix/X0",
                           "/run/user/0/bus"};
    char path[400];
    if (!paths[0])
        return cannot("the canary's path is not known");
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++) {
            snprintf(path, sizeof(path), "%s%s", prefixes[k], paths[i]);
            try_path(path);
        }
    /* By a short way through a directory that the box made: a link to the host's name. */
    symlink(paths[0], "/tmp/link");
    try_path("/tmp/link");
    mkdir("/tmp/dir", 0777);
    int dir = open("/tmp/dir", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof(path), "/proc/self/fd/%d/../../..%s", dir, paths[0]);
    try_path(path);
    if (reached)
        return escaped("%d sockets of the host answered", reached);
    return contained("%d tries, nobody is there", tries);
}

static int twin(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/tmp/twin.sock"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    char text[4] = "";
    struct stat st;
    if (bind(server, (void *)&un, sizeof(un)) < 0 || listen(server, 1) < 0 ||
        connect(client, (void *)&un, sizeof(un)) < 0)
        return broken("a socket in /tmp: %s", err_name(errno));
    int end = accept(server, NULL, NULL);
    if (end < 0 || write(client, "abc", 3) != 3 || read(end, text, 3) != 3 ||
        strcmp(text, "abc") != 0)
        return broken("bytes do not arrive: %s", err_name(errno));
    if (stat(un.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || unlink(un.sun_path) < 0)
        return broken("the socket's name: %s", err_name(errno));
    return works("a socket in /tmp is bound, found, used and removed");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
