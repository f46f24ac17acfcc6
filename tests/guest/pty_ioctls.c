/* The less common ioctls of terminals: old structures, locks, breaks, queues, sessions. */
#include <poll.h>
#include <pty.h>
#include <termios.h>

#include <asm/ioctls.h>
#include <sys/ioctl.h>

#include "facts.h"

#define BAD ((void *)8)
#ifndef TIOCSIG
#define TIOCSIG _IOW('T', 0x36, int)
#endif

struct old_termio {
    unsigned short iflag, oflag, cflag, lflag;
    unsigned char line, cc[8];
};

static int m, t;

static void say_int(const char *label, int fd, unsigned long request)
{
    int v = -9;
    if (ioctl(fd, request, &v) < 0)
        say("%s: %s", label, errno_name(errno));
    else
        say("%s: %d", label, v);
}

static void settings(void)
{
    struct old_termio o;
    struct termios a, b;
    FACT("TCGETA", ioctl(t, TCGETA, &o));
    say("%o %o %o %o line %d cc %d %d %d", o.iflag, o.oflag, o.cflag, o.lflag, o.line, o.cc[0],
        o.cc[1], o.cc[4]);
    NEED(tcgetattr(t, &a));
    o.lflag &= (unsigned short)~ECHO;
    o.cc[4] = 9;
    FACT("TCSETA", ioctl(t, TCSETA, &o));
    NEED(tcgetattr(t, &b));
    say("echo %d eof %d the rest %d", (b.c_lflag & ECHO) != 0, b.c_cc[VEOF],
        b.c_iflag == a.c_iflag);
    FACT("TCSETAW", ioctl(t, TCSETAW, &o));
    FACT("TCSETAF", ioctl(t, TCSETAF, &o));
    FACT("TCSETA from nowhere", ioctl(t, TCSETA, BAD));
    FACT("TCGETA to nowhere", ioctl(t, TCGETA, BAD));
    FACT("TCSETS from nowhere", ioctl(t, TCSETS, BAD));
    FACT("back", tcsetattr(t, TCSAFLUSH, &a));
    say_int("TIOCGETD", t, TIOCGETD);
    int d = 0;
    FACT("TIOCSETD as it is", ioctl(t, TIOCSETD, &d));
    d = 29;
    FACT("TIOCSETD, none such", ioctl(t, TIOCSETD, &d));
    say_int("TIOCGSOFTCAR", t, TIOCGSOFTCAR);
    FACT("no such call", ioctl(t, _IO('T', 0xee), 0));
    FACT("no such call of a master", ioctl(m, _IO('T', 0xee), 0));
}

static void queues(void)
{
    struct pollfd ready[2] = {{.fd = t, .events = POLLIN}, {.fd = m, .events = POLLIN}};
    NEED(write(m, "abc\n", 4));
    NEED(poll(&ready[0], 1, 5000));
    NEED(poll(&ready[1], 1, 5000));
    say_int("FIONREAD", t, FIONREAD);
    say_int("TIOCOUTQ", t, TIOCOUTQ);
    say_int("FIONREAD of the master", m, FIONREAD);
    FACT("TCFLSH, none such", ioctl(t, TCFLSH, 3));
    FACT("TCFLSH", ioctl(t, TCFLSH, TCIFLUSH));
    say_int("FIONREAD", t, FIONREAD);
    FACT("TCXONC, none such", ioctl(t, TCXONC, 4));
    FACT("stop", ioctl(t, TCXONC, TCOOFF));
    FACT("go", ioctl(t, TCXONC, TCOON));
    FACT("TCSBRK", ioctl(t, TCSBRK, 1));
    FACT("TCSBRK, a break", ioctl(t, TCSBRK, 0));
    FACT("TCSBRKP", ioctl(t, TCSBRKP, 1));
    FACT("TIOCSBRK", ioctl(t, TIOCSBRK));
    FACT("TIOCCBRK", ioctl(t, TIOCCBRK));
}

static void locks(void)
{
    char name[64];
    int one = 1, zero = 0;
    NEED(ptsname_r(m, name, sizeof(name)));
    say_int("TIOCGPTLCK", m, TIOCGPTLCK);
    FACT("lock", ioctl(m, TIOCSPTLCK, &one));
    say_int("TIOCGPTLCK", m, TIOCGPTLCK);
    FACT("open while locked", open(name, O_RDWR | O_NOCTTY));
    FACT("a peer while locked", ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY));
    FACT("unlock", ioctl(m, TIOCSPTLCK, &zero));
    int peer = ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    YES("a peer", peer >= 0 && isatty(peer) && fcntl(peer, F_GETFD) == FD_CLOEXEC);
    close(peer);
    FACT("a peer of the terminal", ioctl(t, TIOCGPTPEER, O_RDWR));
    say_int("TIOCGPKT", m, TIOCGPKT);
    FACT("packets", ioctl(m, TIOCPKT, &one));
    say_int("TIOCGPKT", m, TIOCGPKT);
    FACT("no packets", ioctl(m, TIOCPKT, &zero));
    say_int("TIOCGEXCL", t, TIOCGEXCL);
    FACT("TIOCEXCL", ioctl(t, TIOCEXCL));
    say_int("TIOCGEXCL", t, TIOCGEXCL);
    FACT("open an exclusive one", open(name, O_RDWR | O_NOCTTY));
    FACT("TIOCNXCL", ioctl(t, TIOCNXCL));
    int again = open(name, O_RDWR | O_NOCTTY);
    YES("open again", again >= 0);
    close(again);
}

static void sessions(void)
{
    int id = getpid();
    say_int("TIOCGPGRP, not ours", t, TIOCGPGRP);
    say_int("TIOCGSID, not ours", t, TIOCGSID);
    FACT("TIOCSCTTY by no leader", ioctl(t, TIOCSCTTY, 0));
    FACT("TIOCNOTTY, not ours", ioctl(t, TIOCNOTTY));
    FACT("TIOCSPGRP, not ours", ioctl(t, TIOCSPGRP, &id));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        int none = 0x3fffff, negative = -1, group = 0, sid = 0;
        sigset_t set;
        siginfo_t si;
        NEED(setsid());
        id = getpid();
        FACT("TIOCSCTTY", ioctl(t, TIOCSCTTY, 0));
        FACT("again", ioctl(t, TIOCSCTTY, 0));
        NEED(ioctl(t, TIOCGPGRP, &group));
        NEED(ioctl(t, TIOCGSID, &sid));
        YES("group and session", group == id && sid == id);
        NEED(ioctl(m, TIOCGPGRP, &group));
        YES("as the master says", group == id);
        FACT("a group that is not", ioctl(t, TIOCSPGRP, &none));
        FACT("a negative group", ioctl(t, TIOCSPGRP, &negative));
        FACT("from nowhere", ioctl(t, TIOCSPGRP, BAD));
        FACT("to nowhere", ioctl(t, TIOCGPGRP, BAD));
        sigemptyset(&set);
        sigaddset(&set, SIGQUIT);
        sigaddset(&set, SIGHUP);
        sigaddset(&set, SIGCONT);
        NEED(sigprocmask(SIG_BLOCK, &set, NULL));
        FACT("TIOCSIG of another", ioctl(m, TIOCSIG, SIGUSR1));
        FACT("TIOCSIG", ioctl(m, TIOCSIG, SIGQUIT));
        VALUE("it came", sigtimedwait(&set, &si, &(struct timespec){5, 0}) == SIGQUIT);
        FACT("TIOCSIG, none such", ioctl(m, TIOCSIG, 65));
        FACT("TIOCSIG of nothing", ioctl(m, TIOCSIG, 0));
        FACT("TIOCNOTTY", ioctl(t, TIOCNOTTY));
        VALUE("hung up", sigtimedwait(&set, &si, &(struct timespec){5, 0}) == SIGHUP);
        VALUE("continued", sigtimedwait(&set, &si, &(struct timespec){5, 0}) == SIGCONT);
        FACT("none any more", open("/dev/tty", O_RDWR));
        _exit(0);
    }
    say_end("leader", pid);
    FACT("TIOCVHANGUP", ioctl(t, TIOCVHANGUP));
}

int main(void)
{
    facts_start();
    signal(SIGHUP, SIG_IGN);
    NEED(openpty(&m, &t, NULL, NULL, NULL));
    settings();
    queues();
    locks();
    /* Not in the first process of a sandbox, which leads a session. */
    pid_t pid = NEED(fork());
    if (pid == 0) {
        sessions();
        _exit(0);
    }
    say_end("sessions", pid);
    remove_work_dir();
    return 0;
}
