/* inotify: which events, in which order, with which names. Prints facts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static int in;
static char dir[] = "/tmp/notify-XXXXXX";

static void events(const char *what)
{
    char buf[8192] __attribute__((aligned(8)));
    printf("%s:", what);
    for (;;) {
        ssize_t n = read(in, buf, sizeof(buf));
        if (n <= 0)
            break;
        for (char *p = buf; p < buf + n;) {
            struct inotify_event *e = (void *)p;
            printf(" [%d %x%s%s%s]", e->wd, e->mask, e->cookie ? " cookie" : "", e->len ? " " : "",
                   e->len ? e->name : "");
            p += sizeof(*e) + e->len;
        }
    }
    printf(" %s\n", errno == EAGAIN ? "" : strerror(errno));
}

static void touch(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0644);
    if (write(fd, "x", 1) != 1)
        printf("write failed\n");
    close(fd);
}

int main(void)
{
    struct pollfd p;
    char c;
    int r, n;
    if (!mkdtemp(dir) || chdir(dir) < 0)
        return 1;
    in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    p = (struct pollfd){.fd = in, .events = POLLIN};
    r = inotify_add_watch(in, ".", IN_ALL_EVENTS);
    printf("watch %d, poll %d\n", r, poll(&p, 1, 0));
    touch("a");
    r = poll(&p, 1, 0);
    r = r * 10 + (ioctl(in, FIONREAD, &n) == 0 && n > 0);
    printf("poll and FIONREAD %d\n", r);
    r = (int)read(in, &c, 1);
    printf("short buffer %d %d\n", r, errno);
    events("create and write");
    r = open("a", O_RDONLY);
    (void)!read(r, &c, 1);
    close(r);
    events("read");
    chmod("a", 0600);
    truncate("a", 0);
    events("chmod, truncate");
    rename("a", "b");
    events("rename");
    link("b", "c");
    events("link");
    unlink("b");
    events("unlink");
    symlink("c", "s");
    mkdir("d", 0755);
    rmdir("d");
    events("symlink, mkdir, rmdir");
    for (int i = 0; i < 5; i++)
        chmod("c", 0600);
    events("the same five times");
    r = inotify_add_watch(in, "c", IN_MODIFY | IN_DELETE_SELF | IN_ATTRIB | IN_MOVE_SELF);
    printf("watch %d\n", r);
    touch("c");
    rename("c", "e");
    unlink("e");
    events("a watched file goes");
    r = inotify_rm_watch(in, 2);
    printf("its watch has ended %d %d\n", r, errno);
    r = inotify_add_watch(in, ".", IN_CREATE);
    printf("again %d\n", r);
    touch("f");
    events("only creation");
    (void)inotify_add_watch(in, ".", IN_DELETE | IN_MASK_ADD);
    unlink("f");
    events("and deletion");
    r = inotify_add_watch(in, ".", IN_CREATE | IN_MASK_CREATE);
    printf("exists %d %d\n", r, errno);
    r = inotify_add_watch(in, "/etc/passwd", IN_CREATE | IN_ONLYDIR);
    printf("only directories %d %d\n", r, errno);
    r = inotify_add_watch(in, "nothing", IN_CREATE);
    printf("absent %d %d\n", r, errno);
    r = inotify_add_watch(in, ".", 0);
    printf("no events %d %d\n", r, errno);
    r = inotify_add_watch(0, ".", IN_CREATE);
    printf("no inotify %d %d\n", r, errno);
    r = inotify_rm_watch(in, 1);
    printf("remove %d\n", r);
    events("ignored");
    (void)inotify_add_watch(in, ".", IN_CREATE | IN_ONESHOT);
    touch("g");
    touch("h");
    events("one shot");
    (void)inotify_add_watch(in, ".", IN_ALL_EVENTS);
    unlink("g");
    unlink("h");
    unlink("s");
    chdir("/");
    rmdir(dir);
    events("the directory goes");
    return 0;
}
