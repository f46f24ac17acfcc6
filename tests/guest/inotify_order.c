/* inotify: which events, in which order, with which names and cookies; merging, one shot, removal.
 */
#include <poll.h>

#include <sys/inotify.h>
#include <sys/ioctl.h>

#include "facts.h"

static int in;
static uint32_t cookies[8];
static int ncookies;

static int cookie_number(uint32_t cookie)
{
    if (!cookie)
        return 0;
    for (int i = 0; i < ncookies; i++) {
        if (cookies[i] == cookie)
            return i + 1;
    }
    cookies[ncookies++ % 8] = cookie;
    return ncookies;
}

/* Everything that is queued, one line an event. */
static void drain(const char *label)
{
    _Alignas(struct inotify_event) char buf[4096];
    struct pollfd p = {.fd = in, .events = POLLIN};

    say("-- %s: ready %d", label, poll(&p, 1, 0));
    for (;;) {
        ssize_t n = read(in, buf, sizeof(buf));
        if (n <= 0)
            break;
        for (char *at = buf; at < buf + n;) {
            struct inotify_event *e = (void *)at;
            say("wd %d mask %x cookie %d len %u \"%s\"", e->wd, e->mask, cookie_number(e->cookie),
                e->len, e->len ? e->name : "");
            at += sizeof(*e) + e->len;
        }
    }
}

static void events_of_a_directory(void)
{
    int fd, bytes = -1;

    VALUE("watch", inotify_add_watch(in, "d", IN_ALL_EVENTS));
    fd = open("d/f", O_CREAT | O_RDWR, 0644);
    VALUE("write", write(fd, "x", 1));
    VALUE("write again", write(fd, "x", 1));
    NEED(lseek(fd, 0, SEEK_SET));
    VALUE("read", read(fd, &(char){0}, 1));
    close(fd);
    FACT("bytes", ioctl(in, FIONREAD, &bytes));
    say("bytes queued %d", bytes);
    drain("file");
    FACT("chmod", chmod("d/f", 0600));
    FACT("truncate", truncate("d/f", 0));
    fd = open("d/f", O_WRONLY | O_TRUNC);
    close(fd);
    FACT("rename", rename("d/f", "d/g"));
    FACT("mkdir", mkdir("d/sub", 0755));
    FACT("symlink", symlink("g", "d/l"));
    FACT("link", link("d/g", "d/h"));
    drain("changes");
    FACT("move out", rename("d/g", "g"));
    FACT("move in", rename("g", "d/a-name-longer-than-sixteen"));
    FACT("unlink", unlink("d/h"));
    FACT("rmdir", rmdir("d/sub"));
    close(open("d", O_RDONLY | O_DIRECTORY));
    drain("moves");
}

static void events_of_a_file(void)
{
    int fd;

    close(make_file("own", "text"));
    VALUE("watch", inotify_add_watch(in, "own", IN_ALL_EVENTS));
    VALUE("the same", inotify_add_watch(in, "own", IN_ALL_EVENTS));
    FACT("must be new", inotify_add_watch(in, "own", IN_MODIFY | IN_MASK_CREATE));
    fd = open("own", O_RDONLY);
    FACT("unlink", unlink("own"));
    drain("still open");
    close(fd);
    drain("gone");
    close(make_file("once", ""));
    VALUE("one shot", inotify_add_watch(in, "once", IN_OPEN | IN_ONESHOT));
    close(open("once", O_RDONLY));
    close(open("once", O_RDONLY));
    drain("one shot");
}

static void errors(void)
{
    char small[8];
    int wd;

    FACT("no such file", inotify_add_watch(in, "missing", IN_OPEN));
    FACT("not a directory", inotify_add_watch(in, "once", IN_OPEN | IN_ONLYDIR));
    FACT("no event", inotify_add_watch(in, "once", 0));
    FACT("not inotify", inotify_add_watch(0, "once", IN_OPEN));
    FACT("unknown watch", inotify_rm_watch(in, 999));
    FACT("bad flags", inotify_init1(077));
    wd = inotify_add_watch(in, "once", IN_OPEN);
    close(open("once", O_RDONLY));
    FACT("small buffer", read(in, small, sizeof(small)));
    FACT("remove", inotify_rm_watch(in, wd));
    drain("removed");
    FACT("empty", read(in, small, sizeof(small)));
}

int main(void)
{
    facts_start();
    NEED(mkdir("d", 0755));
    in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    YES("instance", in >= 0);
    events_of_a_directory();
    events_of_a_file();
    errors();
    return 0;
}
