/* name_to_handle_at: sizes, errors, handles that tell files apart. */
#include "facts.h"

static char raw[8 + 128] __attribute__((aligned(8)));
static struct file_handle *h = (struct file_handle *)raw;
static int mnt;

static long handle(int dfd, const char *name, unsigned room, int flags)
{
    memset(raw, 0, sizeof(raw));
    h->handle_bytes = room;
    return syscall(SYS_name_to_handle_at, dfd, name, h, &mnt, flags);
}

int main(void)
{
    char a[12], b[12];
    int first, fd;

    facts_start();
    fd = make_file("a", "1");
    close(make_file("b", "2"));
    NEED(symlink("a", "l"));
    FACT("too small", handle(AT_FDCWD, "a", 0, 0));
    say("needs %u bytes", h->handle_bytes);
    FACT("one byte less", handle(AT_FDCWD, "a", 11, 0));
    FACT("fits", handle(AT_FDCWD, "a", 12, 0));
    say("%u bytes of type %d", h->handle_bytes, h->handle_type);
    memcpy(a, h->f_handle, 12);
    first = mnt;
    FACT("another", handle(AT_FDCWD, "b", 128, 0));
    YES("another handle", memcmp(a, h->f_handle, 12) != 0 && mnt == first);
    FACT("by descriptor", handle(fd, "", 128, AT_EMPTY_PATH));
    YES("the same handle", memcmp(a, h->f_handle, 12) == 0 && mnt == first);
    FACT("link", handle(AT_FDCWD, "l", 128, 0));
    memcpy(b, h->f_handle, 12);
    YES("the link's own", memcmp(a, b, 12) != 0);
    FACT("followed", handle(AT_FDCWD, "l", 128, AT_SYMLINK_FOLLOW));
    YES("the file's", memcmp(a, h->f_handle, 12) == 0);
    FACT("too much room", handle(AT_FDCWD, "a", 129, 0));
    FACT("unknown flag", handle(AT_FDCWD, "a", 128, 0x4000));
    FACT("empty name", handle(AT_FDCWD, "", 128, 0));
    FACT("no such file", handle(AT_FDCWD, "none", 128, 0));
    FACT("bad descriptor", handle(99, "a", 128, 0));
    FACT("not a directory", handle(fd, "a", 128, 0));
    FACT("bad name", handle(AT_FDCWD, (char *)8, 128, 0));
    FACT("bad handle", syscall(SYS_name_to_handle_at, AT_FDCWD, "a", 8, &mnt, 0));
    h->handle_bytes = 128;
    FACT("bad mount id", syscall(SYS_name_to_handle_at, AT_FDCWD, "a", h, 8, 0));
    FACT("proc has none", handle(AT_FDCWD, "/proc/self/status", 128, 0));
    FACT("opening takes a privilege", open_by_handle_at(AT_FDCWD, h, O_RDONLY));
    remove_work_dir();
    return 0;
}
