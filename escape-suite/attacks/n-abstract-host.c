/* tries: connects and sends to abstract unix sockets of the host: the harness's canaries and the
   names that X11, D-Bus, containerd and others use; with every socket type, by connect, sendto and
   sendmsg */
/* must fail because: abstract names are the box's own; the host's namespace is never consulted */
/* an escape would: reach a daemon of the host that trusts whoever may connect */
/* source: ATTACKS.md N3, bubblewrap README, CVE-2020-15257 */
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static int try_name(const char *name)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int reached = 0;
    strncpy(to.sun_path + 1, name, sizeof(to.sun_path) - 2);
    socklen_t exact = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    for (int padded = 0; padded < 2; padded++)
        for (int i = 0; i < 3; i++) {
            socklen_t len = padded ? sizeof(to) : exact;
            int fd = socket(AF_UNIX, types[i] | SOCK_NONBLOCK, 0);
            struct msghdr m = {.msg_name = &to, .msg_namelen = len};
            if (fd < 0)
                continue;
            if (sendto(fd, "x", 1, MSG_NOSIGNAL, (void *)&to, len) == 1 ||
                sendmsg(fd, &m, MSG_NOSIGNAL) >= 0 || connect(fd, (void *)&to, len) == 0)
                reached++;
            close(fd);
        }
    if (reached)
        step("@%s: reached %d times", name, reached);
    return reached;
}

static int attack(void)
{
    static const char *const names[] = {"/tmp/.X11-unix/X0",
                                        "/tmp/.ICE-unix/1",
                                        "/tmp/dbus-0000000000",
                                        "/containerd-shim/moby/shim.sock@",
                                        "/run/systemd/notify",
                                        "ISCSIADM_ABSTRACT_NAMESPACE",
                                        "/org/kernel/linux/storage/multipathd",
                                        "escape-neighbour",
                                        "docker.sock",
                                        "a"};
    int reached = 0;
    if (!fact("abstract") || !fact("abstract_dgram"))
        return cannot("the names of the canaries are not known");
    reached += try_name(fact("abstract")) + try_name(fact("abstract_dgram"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        reached += try_name(names[i]);
    step("the canary: @%s", fact("abstract"));
    if (reached)
        return escaped("%d connections or messages left the box", reached);
    return contained("nobody listens there");
}

static int twin(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0twin"};
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 5;
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    char text[4] = "";
    if (bind(server, (void *)&un, len) < 0 || listen(server, 1) < 0 ||
        connect(client, (void *)&un, len) < 0)
        return broken("an abstract name of the box: %s", err_name(errno));
    int end = accept(server, NULL, NULL);
    if (end < 0 || write(client, "abc", 3) != 3 || read(end, text, 3) != 3)
        return broken("bytes do not arrive: %s", err_name(errno));
    return works("an abstract name of the box is bound, found and used");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
