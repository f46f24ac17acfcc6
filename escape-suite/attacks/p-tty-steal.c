/* tries: steal or harm the terminal: TIOCSCTTY with force, TIOCSPGRP to other groups, TIOCNOTTY,
 * setsid, vhangup, TIOCVHANGUP, TIOCEXCL, flow control off, raw mode left behind */
/* must fail because: sessions, foreground groups and modes belong to the sentry's terminal; the
 * operator's own is put back by the monitor */
/* an escape would: take the operator's terminal away, or leave it so that he cannot use it */
/* source: ATTACKS.md P4 */
#include <termios.h>

#include <sys/ioctl.h>

#include "tricks.h"

static int attack(void)
{
    int pgrp = (int)fact_number("harness_pid", 1), moved = 0, tty = open("/dev/tty", O_RDWR);
    struct termios t;
    step("a terminal: %s, /dev/tty: %s", isatty(0) ? "yes" : "no", err_name(tty < 0 ? errno : 0));
    pid_t pid = fork();
    if (pid == 0) {
        int r = setsid() < 0 ? errno : 0;
        int a = ioctl(0, TIOCSCTTY, 0) < 0 ? errno : 0, b = ioctl(0, TIOCSCTTY, 1) < 0 ? errno : 0;
        step("a new session (%s): TIOCSCTTY %s, by force %s", err_name(r), err_name(a),
             err_name(b));
        ioctl(0, TIOCSPGRP, &pgrp);
        ioctl(0, TIOCNOTTY);
        _exit(0);
    }
    wait_for(pid);
    for (int p = 1; p < 3000; p++)
        moved += ioctl(0, TIOCSPGRP, &p) == 0 && !is_family(p);
    ioctl(0, TIOCSPGRP, &pgrp);
    step("vhangup: %s, TIOCVHANGUP: %s, TIOCEXCL: %s", err_name(sys(SYS_vhangup)),
         err_name(ioctl(0, 0x5437) < 0 ? errno : 0), err_name(ioctl(0, TIOCEXCL) < 0 ? errno : 0));
    if (tcgetattr(0, &t) == 0) {
        cfmakeraw(&t);
        t.c_cflag &= ~(unsigned)CREAD;
        t.c_lflag = 0;
        tcsetattr(0, TCSANOW, &t);
        cfsetspeed(&t, B0);
        tcsetattr(0, TCSANOW, &t);
        tcflow(0, TCOOFF);
        tcflow(0, TCOON);
    }
    struct winsize ws = {1, 1, 0, 0};
    ioctl(0, TIOCSWINSZ, &ws);
    signal(SIGTTOU, SIG_IGN);
    if (moved)
        return escaped("the foreground group became one of %d outside the box", moved);
    return contained("the terminal's owner and groups stay in the box");
}

static int twin(void)
{
    int m = open("/dev/ptmx", O_RDWR | O_NOCTTY), lock = 0, n;
    if (m < 0 || ioctl(m, TIOCSPTLCK, &lock) < 0 || ioctl(m, TIOCGPTN, &n) < 0)
        return broken("a pty: %s", err_name(errno));
    char name[64];
    snprintf(name, sizeof(name), "/dev/pts/%d", n);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        int s = open(name, O_RDWR);
        _exit(s < 0 || (ioctl(s, TIOCSCTTY, 0) < 0 && errno != EPERM) || tcgetsid(s) != getpid());
    }
    if (wait_for(pid) != 0)
        return broken("a session with a terminal of its own");
    return works("a session of ours gets a terminal of ours");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
