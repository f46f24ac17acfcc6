/* Directories: reading them whole and in small pieces, while they change; current directory. */
#include <dirent.h>

#include "facts.h"

struct entry {
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *dir)
{
    char *names[64];
    size_t n = 0;
    DIR *d = opendir(dir);
    if (!d) {
        say("opendir %s: %s", dir, errno_name(errno));
        return;
    }
    for (struct dirent *e; (e = readdir(d)) && n < 64;) {
        char text[300];
        snprintf(text, sizeof(text), "%s %d", e->d_name, e->d_type);
        names[n++] = strdup(text);
    }
    closedir(d);
    qsort(names, n, sizeof(names[0]), by_name);
    for (size_t i = 0; i < n; i++)
        say("  %s", names[i]);
}

int main(void)
{
    char buf[300], cwd[128];
    struct stat a, b;
    facts_start();
    FACT("mkdir", mkdir("d", 0755));
    FACT("mkdir existing", mkdir("d", 0755));
    FACT("mkdir below missing", mkdir("missing/d", 0755));
    FACT("mkdir with trailing slash", mkdir("d/sub/", 0755));
    close(make_file("d/file", ""));
    FACT("mkdir below a file", mkdir("d/file/x", 0755));
    NEED(symlink("file", "d/link"));
    FACT("mknod fifo", mknod("d/fifo", S_IFIFO | 0644, 0));
    FACT("mknod of a device", mknod("d/dev", S_IFCHR | 0644, 0x103));
    FACT("mknod of a regular file", mknod("d/reg", S_IFREG | 0644, 0));
    FACT("mknod of a directory", mknod("d/dir", S_IFDIR | 0644, 0));
    say("entries with types:");
    list("d");

    int fd = NEED(open("d", O_RDONLY));
    FACT("getdents64 into too little", syscall(SYS_getdents64, fd, buf, 10));
    int total = 0, calls = 0;
    long n;
    while ((n = syscall(SYS_getdents64, fd, buf, 40)) > 0) {
        calls++;
        for (long at = 0; at < n; total++)
            at += ((struct entry *)(buf + at))->len;
    }
    VALUE("end", n);
    say("%d entries, in more than one call: %s", total, calls > 1 ? "yes" : "no");
    lseek(fd, 0, SEEK_SET);
    YES("from the start again", syscall(SYS_getdents64, fd, buf, sizeof(buf)) > 0);
    FACT("read a directory", read(fd, buf, 1));
    FACT("getdents64 of a file", syscall(SYS_getdents64, NEED(open("d/file", 0)), buf, 100));
    close(fd);

    /* Removing entries while reading loses none of the others. */
    NEED(mkdir("many", 0755));
    for (int i = 0; i < 200; i++) {
        snprintf(buf, sizeof(buf), "many/%d", i);
        close(make_file(buf, ""));
    }
    DIR *d = opendir("many");
    int seen = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        seen++;
        snprintf(buf, sizeof(buf), "many/%s", e->d_name);
        unlink(buf);
    }
    closedir(d);
    VALUE("seen while removing", seen);
    FACT("rmdir afterwards", rmdir("many"));

    FACT("chdir to a file", chdir("d/file"));
    FACT("chdir", chdir("d/sub"));
    NEED(syscall(SYS_getcwd, cwd, sizeof(cwd)) > 0 ? 0 : -1);
    say("end of getcwd: %s", strrchr(cwd, '/'));
    VALUE("getcwd counts the NUL", syscall(SYS_getcwd, cwd, sizeof(cwd)) - (long)strlen(cwd));
    FACT("getcwd too small", syscall(SYS_getcwd, cwd, 3));
    NEED(stat(".", &a));
    NEED(stat("../sub", &b));
    YES("the same inode", a.st_ino == b.st_ino && a.st_dev == b.st_dev);
    fd = NEED(open("..", O_RDONLY | O_DIRECTORY));
    FACT("fchdir", fchdir(fd));
    FACT("rename the directory below us", rename("../d", "../e"));
    NEED(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
    say("end of getcwd: %s", strrchr(cwd, '/'));
    NEED(stat("/", &a));
    NEED(stat("/..", &b));
    YES("the root is its own parent", a.st_ino == b.st_ino);
    NEED(chdir(".."));
    remove_work_dir();
    return 0;
}
