/* Pseudo-terminals: line discipline, settings, job control, hang-up. Prints facts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/wait.h>

static int master, slave;
static char name[64];

static void show(const char *what, const char *buf, ssize_t n)
{
    printf("%s: ", what);
    if (n < 0) {
        printf("errno %d\n", errno);
        return;
    }
    printf("%zd ", n);
    for (ssize_t i = 0; i < n; i++)
        printf(buf[i] < 32 || buf[i] == 127 ? "\\x%02x" : "%c", (unsigned char)buf[i]);
    printf("\n");
}

static void get(const char *what, int fd, size_t cap)
{
    char buf[512];
    ssize_t n = read(fd, buf, cap);
    show(what, buf, n);
}

/* The host's kernel hands an echo on by a worker of its own, at times in pieces. */
static void get_echo(void)
{
    char buf[512];
    ssize_t n = read(master, buf, sizeof(buf));
    struct pollfd p = {.fd = master, .events = POLLIN};
    while (n > 0 && (size_t)n < sizeof(buf) && poll(&p, 1, 50) > 0) {
        ssize_t more = read(master, buf + n, sizeof(buf) - (size_t)n);
        if (more <= 0)
            break;
        n += more;
    }
    show("echo", buf, n);
}

static void put(int fd, const char *s)
{
    if (write(fd, s, strlen(s)) != (ssize_t)strlen(s))
        printf("short write\n");
}

static void open_pair(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        printf("no pty: errno %d\n", errno);
        exit(1);
    }
    snprintf(name, sizeof(name), "%s", ptsname(master));
    printf("name %s\n", strncmp(name, "/dev/pts/", 9) == 0 ? "/dev/pts/N" : name);
    slave = open(name, O_RDWR | O_NOCTTY);
    printf("slave %s, isatty %d %d, ttyname %d\n", slave < 0 ? "bad" : "ok", isatty(slave),
           isatty(master), slave >= 0 && strcmp(ttyname(slave), name) == 0);
}

static void cooked(void)
{
    put(master, "abx\177c\r");
    get("line", slave, 100);
    get_echo();
    put(master, "one two\027three\r");
    get("word erase", slave, 100);
    get_echo();
    put(master, "junk\025ok\r");
    get("kill", slave, 100);
    get_echo();
    put(master, "a\026\003b\r");
    get("literal", slave, 100);
    get_echo();
    put(master, "a\tb\177\177c\r");
    get("tab", slave, 100);
    get_echo();
    put(master, "ab\022\r");
    get("reprint", slave, 100);
    get_echo();
    put(master, "part\004");
    get("eof after text", slave, 100);
    put(master, "\004");
    get("eof", slave, 100);
    get_echo();
    put(master, "first\rsecond\r");
    int n;
    /* Linux passes input on from a kernel thread. */
    usleep(50000);
    ioctl(slave, FIONREAD, &n);
    printf("FIONREAD %d\n", n);
    get("short read", slave, 3);
    get("rest", slave, 100);
    get("next", slave, 100);
    get_echo();
    put(slave, "out\nx\ty\r");
    get("output", master, 100);
}

static void modes(void)
{
    struct termios t;
    tcgetattr(slave, &t);
    printf("flags %o %o %o %o\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag);
    for (int i = 0; i < 17; i++)
        printf("%d ", t.c_cc[i]);
    printf("\nspeed %d\n", cfgetospeed(&t) == B38400);
    struct termios raw = t;
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    put(master, "x\r\003\004");
    get("raw", slave, 100);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 1;
    tcsetattr(slave, TCSANOW, &raw);
    get("timed out", slave, 100);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &raw);
    get("polling", slave, 100);
    raw.c_cc[VMIN] = 4;
    raw.c_cc[VTIME] = 1;
    tcsetattr(slave, TCSANOW, &raw);
    put(master, "ab");
    get("inter-byte", slave, 100);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &raw);
    fcntl(slave, F_SETFL, O_RDWR | O_NONBLOCK);
    get("non-blocking", slave, 100);
    fcntl(slave, F_SETFL, O_RDWR);
    put(slave, "a\nb");
    get("raw output", master, 100);
    put(master, "lost");
    tcflush(slave, TCIFLUSH);
    int n = -1;
    ioctl(slave, FIONREAD, &n);
    printf("after flush %d\n", n);
    tcsetattr(slave, TCSADRAIN, &t);
    struct winsize ws = {.ws_row = 24, .ws_col = 80};
    ioctl(master, TIOCSWINSZ, &ws);
    memset(&ws, 0, sizeof(ws));
    ioctl(slave, TIOCGWINSZ, &ws);
    printf("size %d %d\n", ws.ws_row, ws.ws_col);
    n = tcgetpgrp(slave);
    printf("tcgetpgrp %d errno %d\n", n, errno);
    n = ioctl(slave, TIOCSTI, "x");
    printf("TIOCSTI %d\n", n);
}

static void flow(void)
{
    struct pollfd p = {.fd = slave, .events = POLLOUT};
    put(master, "\023");
    printf("stopped: %d\n", poll(&p, 1, 0));
    put(master, "\021");
    printf("started: %d\n", poll(&p, 1, 0));
    p = (struct pollfd){.fd = master, .events = POLLIN | POLLOUT};
    int n = poll(&p, 1, 0);
    printf("master poll %d %x\n", n, p.revents);
    int on = 1;
    ioctl(master, TIOCPKT, &on);
    put(slave, "pkt");
    get("packet", master, 100);
    put(master, "\023");
    get("packet", master, 100);
    put(master, "\021");
    get("packet", master, 100);
    tcflush(slave, TCIFLUSH);
    get("packet", master, 100);
    on = 0;
    ioctl(master, TIOCPKT, &on);
}

static volatile sig_atomic_t got;

static void on_signal(int signo)
{
    got = signo;
}

static void wait_signal(const char *what, int signo)
{
    for (int i = 0; i < 200 && got != signo; i++)
        usleep(10000);
    printf("%s: %s\n", what, got == signo ? "yes" : "no");
    fflush(stdout);
    got = 0;
}

static void child(int ready)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGQUIT, &sa, NULL);
    sigaction(SIGTSTP, &sa, NULL);
    sigaction(SIGWINCH, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    close(master);
    setsid();
    int fd = open("/dev/tty", O_RDWR);
    printf("no terminal: %d errno %d\n", fd, errno);
    close(slave);
    slave = open(name, O_RDWR);
    fd = open("/dev/tty", O_RDWR);
    printf("terminal: %s, pgrp %d, sid %d\n", fd < 0 ? "no" : "yes", tcgetpgrp(fd) == getpid(),
           tcgetsid(fd) == getpid());
    fflush(stdout);
    (void)!write(ready, "1", 1);
    wait_signal("SIGINT", SIGINT);
    (void)!write(ready, "2", 1);
    wait_signal("SIGQUIT", SIGQUIT);
    (void)!write(ready, "3", 1);
    wait_signal("SIGTSTP", SIGTSTP);
    (void)!write(ready, "4", 1);
    wait_signal("SIGWINCH", SIGWINCH);
    pid_t bg = fork();
    if (bg == 0) {
        char c;
        setpgid(0, 0);
        (void)!read(fd, &c, 1);
        _exit(0);
    }
    setpgid(bg, bg);
    int status;
    waitpid(bg, &status, WUNTRACED);
    printf("background read stops: %d %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGTTIN);
    printf("tcsetpgrp %d\n", tcsetpgrp(fd, bg));
    kill(bg, SIGKILL);
    waitpid(bg, &status, 0);
    signal(SIGTTOU, SIG_IGN);
    printf("tcsetpgrp back %d\n", tcsetpgrp(fd, getpid()));
    fflush(stdout);
    (void)!write(ready, "5", 1);
    wait_signal("SIGHUP", SIGHUP);
    char c;
    ssize_t n = read(slave, &c, 1);
    printf("read after hang-up %zd\n", n);
    n = write(slave, "x", 1);
    printf("write after hang-up %zd errno %d\n", n, errno);
    struct pollfd p = {.fd = slave, .events = POLLIN};
    poll(&p, 1, 0);
    printf("poll after hang-up %x\n", p.revents);
    fflush(stdout);
    _exit(0);
}

static void job_control(void)
{
    int ready[2];
    char c;
    struct winsize ws = {.ws_row = 30, .ws_col = 90};
    fflush(stdout);
    if (pipe(ready) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        child(ready[1]);
    close(ready[1]);
    close(slave);
    (void)!read(ready[0], &c, 1);
    put(master, "\003");
    (void)!read(ready[0], &c, 1);
    put(master, "\034");
    (void)!read(ready[0], &c, 1);
    put(master, "\032");
    (void)!read(ready[0], &c, 1);
    ioctl(master, TIOCSWINSZ, &ws);
    (void)!read(ready[0], &c, 1);
    close(master);
    waitpid(pid, NULL, 0);
}

static void slave_gone(void)
{
    open_pair();
    put(slave, "bye");
    close(slave);
    get("last words", master, 100);
    get("end", master, 100);
    struct pollfd p = {.fd = master, .events = POLLIN};
    poll(&p, 1, 0);
    printf("poll %x\n", p.revents);
    slave = open(name, O_RDWR | O_NOCTTY);
    put(slave, "again");
    get("again", master, 100);
    close(slave);
    close(master);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 65536);
    alarm(30);
    open_pair();
    cooked();
    modes();
    flow();
    job_control();
    slave_gone();
    return 0;
}
