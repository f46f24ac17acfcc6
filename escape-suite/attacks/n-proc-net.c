/* tries: reads the host's network state: /proc/net and /proc/PID/net (tcp, udp, unix, dev, route,
   arp, ...), /sys/class/net, /proc/sys/net, and looks for the canaries' port and names in it */
/* must fail because: these files describe the box, which has no network; the host's are not mounted
 */
/* an escape would: know who listens where on the host */
/* source: ATTACKS.md N7 S3 */
#include <dirent.h>
#include <fcntl.h>

#include "attack.h"

static int read_files, leaks;

static void look(const char *path)
{
    static char text[1 << 20];
    char port[16];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t n = 0;
    for (ssize_t r; fd >= 0 && n < (ssize_t)sizeof(text) - 1 &&
                    (r = read(fd, text + n, sizeof(text) - 1 - (size_t)n)) > 0;)
        n += r;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    text[n] = 0;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    read_files++;
    snprintf(port, sizeof(port), ":%04lX ", fact_number("tcp_port", 0));
    if (strstr(text, port) || strstr(text, "escape-canary") || strstr(text, "eth0") ||
        strstr(text, "docker") || (fact("abstract") && strstr(text, fact("abstract")))) {
        step("%s shows the host: %.60s", path, text);
        leaks++;
    }
}

static int attack(void)
{
    static const char *const files[] = {"tcp",     "tcp6",     "udp",      "udp6",     "raw",
                                        "unix",    "dev",      "route",    "arp",      "netlink",
                                        "packet",  "if_inet6", "fib_trie", "sockstat", "snmp",
                                        "netstat", "wireless", "vsock",    "igmp"};
    const char *pids[] = {
        "", "self/", "1/", "thread-self/", fact("harness_pid"), fact("victim_pid")};
    char path[200];
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; pids[k] && i < sizeof(files) / sizeof(files[0]); i++) {
            snprintf(path, sizeof(path), "/proc/%s%snet/%s", pids[k], k > 3 ? "/" : "", files[i]);
            look(path);
        }
    DIR *d = opendir("/sys/class/net");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, "eth", 3) == 0 || strncmp(e->d_name, "en", 2) == 0 ||
            strncmp(e->d_name, "docker", 6) == 0) {
            step("/sys/class/net has %s", e->d_name);
            leaks++;
        }
    look("/proc/sys/net/ipv4/route/flush");
    int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY);
    if (fd >= 0 && write(fd, "0\n", 2) == 2 && own_kernel())
        step("ip_forward takes a write");
    step("%d files could be read", read_files);
    if (leaks)
        return escaped("%d places show the host's network", leaks);
    return contained("%d files, none shows the host", read_files);
}

static int twin(void)
{
    char text[4096] = "";
    int fd = open("/proc/self/status", O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || !strstr(text, "Name:"))
        return broken("/proc/self/status: %s", err_name(errno));
    fd = open("/proc/self/mounts", O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || !strstr(text, " / "))
        return broken("/proc/self/mounts: %s", err_name(errno));
    return works("/proc tells of the box itself");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
