/* tries: commands for the caller's terminal: colours, titles, clipboard (OSC 52), answers back (DA,
   DECRQSS, DSR), 8-bit and UTF-8 controls, split over writes, by writev and sendfile */
/* must fail because: when standard output is a terminal, only text, newline, return and tab pass
 * without --tty */
/* an escape would: type into the operator's shell, or hide what happened */
/* source: ATTACKS.md P4 B5, CVE-2017-5226 */
#include <fcntl.h>
#include <termios.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "attack.h"

static const char *const commands[] = {
    "\x1b[2J",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b]0;title\x1b\\",
    "\x1b[c",
    "\x1b[6n",
    "\x1bP$q\"p\x1b\\",
    "\x1b[21t",
    "\xc2\x9b"
    "2J",
    "\x9b"
    "2J",
    "\x1b"
    "c",
    "\x0e\x0f\x08\x08\x08\x7f",
    "\x1b[?1049h",
    "\x05",
};

static int attack(void)
{
    int typed = 0;
    int fd = memfd_create("controls", 0);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const char *c = commands[i];
        size_t n = strlen(c);
        struct iovec iov[2] = {{(void *)(uintptr_t)c, 1}, {(void *)(uintptr_t)(c + 1), n - 1}};
        for (int out = 1; out <= 2; out++) {
            write(out, c, n);
            write(out, c, 1); /* split over two calls */
            write(out, c + 1, n - 1);
            writev(out, iov, 2);
            off_t at = 0;
            if (fd >= 0 && pwrite(fd, c, n, 0) == (ssize_t)n)
                sendfile(out, fd, &at, n);
        }
    }
    for (int in = 0; in < 3; in++) {
        char one = 'x', line[2] = {3, 0};
        struct termios t;
        struct winsize ws = {1, 1, 1, 1};
        pid_t group = 1;
        typed += ioctl(in, TIOCSTI, &one) == 0;
        typed += ioctl(in, TIOCLINUX, line) == 0;
        typed += tcgetattr(in, &t) == 0 && (t.c_lflag ^= ECHO, tcsetattr(in, TCSANOW, &t)) == 0;
        typed += ioctl(in, TIOCSWINSZ, &ws) == 0;
        typed += ioctl(in, TIOCSPGRP, &group) == 0;
        typed += ioctl(in, TIOCSCTTY, 1) == 0;
    }
    int tty = open("/dev/tty", O_RDWR);
    write(1, "\n", 1);
    step("/dev/tty: %s", tty < 0 ? err_name(errno) : "open");
    if (typed || tty >= 0)
        return escaped("%d commands to the terminal were taken by ioctl", typed);
    return contained("no ioctl reaches the terminal");
}

static int twin(void)
{
    static const char text[] = "plain\ttext, gr\xc3\xbc\xc3\x9f\n";
    if (write(1, text, sizeof(text) - 1) != sizeof(text) - 1)
        return broken("text: %s", err_name(errno));
    return works("text, tabs and newlines reach the terminal");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
