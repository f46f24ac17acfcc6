/* open(2): flags and the errno of each refusal. */
#include "facts.h"

static void try_open(const char *label, const char *path, int flags)
{
    int fd = open(path, flags, 0644);
    int e = errno;
    fact_result(label, fd, e, false);
    if (fd >= 0)
        close(fd);
}

int main(void)
{
    char longname[300], longpath[5000];
    facts_start();
    close(make_file("file", "0123456789"));
    NEED(mkdir("dir", 0755));
    NEED(symlink("file", "link"));
    NEED(symlink("dir", "dirlink"));
    NEED(symlink("missing", "dangling"));
    NEED(symlink("loop2", "loop1"));
    NEED(symlink("loop1", "loop2"));

    try_open("missing", "missing", O_RDONLY);
    try_open("missing below missing", "missing/x", O_RDONLY);
    try_open("empty path", "", O_RDONLY);
    try_open("below a file", "file/x", O_RDONLY);
    try_open("trailing slash on a file", "file/", O_RDONLY);
    try_open("trailing slash on a directory", "dir/", O_RDONLY);
    try_open("O_EXCL existing", "file", O_RDWR | O_CREAT | O_EXCL);
    try_open("O_EXCL dangling link", "dangling", O_RDWR | O_CREAT | O_EXCL);
    try_open("O_CREAT on a directory", "dir", O_RDONLY | O_CREAT);
    try_open("O_CREAT with trailing slash", "new/", O_RDWR | O_CREAT);
    try_open("directory for writing", "dir", O_WRONLY);
    try_open("directory for reading", "dir", O_RDONLY);
    try_open("O_DIRECTORY on a file", "file", O_RDONLY | O_DIRECTORY);
    try_open("O_DIRECTORY on a directory", "dir", O_RDONLY | O_DIRECTORY);
    try_open("O_NOFOLLOW on a link", "link", O_RDONLY | O_NOFOLLOW);
    try_open("O_NOFOLLOW|O_DIRECTORY on a link", "dirlink", O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
    try_open("O_NOFOLLOW through a link", "dirlink/../file", O_RDONLY | O_NOFOLLOW);
    try_open("O_NOFOLLOW|O_PATH on a link", "link", O_PATH | O_NOFOLLOW);
    try_open("link loop", "loop1", O_RDONLY);
    try_open("dangling link", "dangling", O_RDONLY);
    try_open("create through a dangling link", "dangling", O_RDWR | O_CREAT);
    YES("the target exists now", access("missing", F_OK) == 0);
    memset(longname, 'a', sizeof(longname));
    longname[255] = 0;
    try_open("name of 255", longname, O_RDWR | O_CREAT);
    longname[255] = 'a';
    longname[256] = 0;
    try_open("name of 256", longname, O_RDWR | O_CREAT);
    memset(longpath, '/', sizeof(longpath));
    longpath[4096] = 0;
    try_open("path of 4096", longpath, O_RDONLY);
    longpath[4095] = 0;
    try_open("path of 4095 slashes", longpath, O_RDONLY);
    FACT("bad pointer", open((const char *)8, O_RDONLY));
    FACT("relative to a bad descriptor", openat(999, "file", O_RDONLY));
    int fd = NEED(open("file", O_RDONLY));
    FACT("relative to a file", openat(fd, "file", O_RDONLY));
    FACT("absolute path ignores the descriptor", close(openat(999, "/", O_RDONLY)));
    FACT("write to a read-only descriptor", write(fd, "x", 1));
    close(fd);
    fd = NEED(open("file", O_WRONLY));
    char c;
    FACT("read from a write-only descriptor", read(fd, &c, 1));
    close(fd);
    fd = NEED(open("file", O_PATH));
    FACT("read from an O_PATH descriptor", read(fd, &c, 1));
    FACT("fstat of an O_PATH descriptor", fstat(fd, &(struct stat){0}));
    FACT("fchmod of an O_PATH descriptor", fchmod(fd, 0600));
    close(fd);
    fd = NEED(open("file", O_RDWR | O_TRUNC));
    VALUE("size after O_TRUNC", lseek(fd, 0, SEEK_END));
    say("flags from F_GETFL: %#o", fcntl(fd, F_GETFL) & ~0100000);
    close(fd);
    NEED(chmod("file", 0));
    try_open("no permission", "file", O_RDONLY);
    try_open("no permission, O_PATH", "file", O_PATH);
    NEED(chmod("dir", 0600));
    try_open("directory without search", "dir/x", O_RDONLY);
    try_open("O_TMPFILE", ".", O_RDWR | O_TMPFILE);
    try_open("O_TMPFILE read-only", ".", O_RDONLY | O_TMPFILE);
    fd = open("/dev/null", O_RDWR);
    VALUE("write to /dev/null", write(fd, "abc", 3));
    VALUE("read from /dev/null", read(fd, &c, 1));
    remove_work_dir();
    return 0;
}
