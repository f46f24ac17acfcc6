/* inotify: which events which operation raises. */
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "facts.h"

static int in;

static const char *mask_text(uint32_t m)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{IN_ACCESS, "ACCESS"},
                 {IN_MODIFY, "MODIFY"},
                 {IN_ATTRIB, "ATTRIB"},
                 {IN_CLOSE_WRITE, "CLOSE_WRITE"},
                 {IN_CLOSE_NOWRITE, "CLOSE_NOWRITE"},
                 {IN_OPEN, "OPEN"},
                 {IN_MOVED_FROM, "MOVED_FROM"},
                 {IN_MOVED_TO, "MOVED_TO"},
                 {IN_CREATE, "CREATE"},
                 {IN_DELETE, "DELETE"},
                 {IN_DELETE_SELF, "DELETE_SELF"},
                 {IN_MOVE_SELF, "MOVE_SELF"},
                 {IN_IGNORED, "IGNORED"},
                 {IN_ISDIR, "ISDIR"},
                 {IN_Q_OVERFLOW, "OVERFLOW"}};
    static char text[128];
    text[0] = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (m & names[i].bit)
            strcat(strcat(text, text[0] ? "|" : ""), names[i].name);
    return text;
}

static void show(const char *label)
{
    char buf[4096] __attribute__((aligned(8)));
    char line[900] = "";
    ssize_t n = read(in, buf, sizeof(buf));
    for (ssize_t at = 0; at < n;) {
        struct inotify_event *e = (struct inotify_event *)(buf + at);
        snprintf(line + strlen(line), sizeof(line) - strlen(line), " %d:%s%s%s", e->wd,
                 mask_text(e->mask), e->len ? " " : "", e->len ? e->name : "");
        at += (ssize_t)(sizeof(*e) + e->len);
    }
    say("%s:%s", label, n < 0 ? errno_name(errno) : line);
}

int main(void)
{
    char c;
    facts_start();
    NEED(mkdir("d", 0755));
    close(make_file("f", "abc"));
    in = NEED(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    FACT("bad flag", inotify_init1(1));
    show("nothing");
    VALUE("watch a file", inotify_add_watch(in, "f", IN_ALL_EVENTS));
    VALUE("watch a directory", inotify_add_watch(in, "d", IN_ALL_EVENTS));
    FACT("watch missing", inotify_add_watch(in, "missing", IN_ALL_EVENTS));
    FACT("empty mask", inotify_add_watch(in, "f", 0));
    FACT("IN_ONLYDIR on a file", inotify_add_watch(in, "f", IN_OPEN | IN_ONLYDIR));
    FACT("not an inotify", inotify_add_watch(0, "f", IN_OPEN));
    int fd = NEED(open("f", O_RDWR));
    NEED(read(fd, &c, 1));
    NEED(write(fd, "x", 1));
    close(fd);
    show("open read write close");
    close(NEED(open("f", O_RDONLY)));
    show("open and close for reading");
    close(NEED(open("f", O_WRONLY | O_TRUNC)));
    show("open O_TRUNC");
    NEED(truncate("f", 10));
    show("truncate");
    NEED(chmod("f", 0600));
    show("chmod");
    NEED(link("f", "f2"));
    show("link");
    close(make_file("d/new", "x"));
    show("create in a directory");
    NEED(mkdir("d/sub", 0755));
    show("mkdir");
    NEED(rename("d/new", "d/moved"));
    show("rename within");
    NEED(rename("d/moved", "out"));
    show("rename out");
    NEED(rename("out", "d/in"));
    show("rename in");
    NEED(unlink("d/in"));
    show("unlink");
    NEED(rmdir("d/sub"));
    show("rmdir");
    NEED(symlink("x", "d/link"));
    show("symlink");
    NEED(unlink("d/link"));
    show("unlink of it");
    NEED(write(NEED(open("f", O_WRONLY)), "a", 1));
    NEED(write(NEED(open("f", O_WRONLY)), "b", 1));
    int n = 0;
    ioctl(in, FIONREAD, &n);
    YES("FIONREAD", n >= 64);
    char tiny[4];
    FACT("read into too little", read(in, tiny, sizeof(tiny)));
    show("two opens and writes");
    VALUE("change the mask", inotify_add_watch(in, "f", IN_ATTRIB));
    close(NEED(open("f", O_RDONLY)));
    show("not wanted any more");
    NEED(unlink("f"));
    show("unlink one name");
    NEED(rename("f2", "f3"));
    show("rename of the watched file");
    FACT("remove the watch", inotify_rm_watch(in, 1));
    show("removed");
    FACT("remove it again", inotify_rm_watch(in, 1));
    NEED(rmdir("d"));
    show("the watched directory goes");
    NEED(mkdir("e", 0755));
    VALUE("IN_ONESHOT", inotify_add_watch(in, "e", IN_CREATE | IN_ONESHOT));
    close(make_file("e/1", ""));
    close(make_file("e/2", ""));
    show("once");
    remove_work_dir();
    return 0;
}
