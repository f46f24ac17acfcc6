/* sendfile, copy_file_range, splice, tee, vmsplice. */
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "facts.h"

static void show(const char *label, int fd)
{
    char buf[64] = "";
    ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);
    say("%s: %zd bytes \"%s\"", label, n, n > 0 ? buf : "");
}

int main(void)
{
    char buf[64];
    int p[2], q[2];
    off_t off;
    loff_t in, out;
    facts_start();
    int a = make_file("a", "0123456789");
    int b = make_file("b", "");
    NEED(pipe(p));
    NEED(pipe(q));

    lseek(a, 0, SEEK_SET);
    VALUE("sendfile", sendfile(b, a, NULL, 4));
    VALUE("input position", lseek(a, 0, SEEK_CUR));
    off = 6;
    VALUE("sendfile with offset", sendfile(b, a, &off, 100));
    VALUE("offset after", (long)off);
    VALUE("position is unchanged", lseek(a, 0, SEEK_CUR));
    show("b", b);
    FACT("sendfile from a pipe", sendfile(b, p[0], NULL, 1));
    VALUE("sendfile to a pipe", sendfile(p[1], a, NULL, 3));
    VALUE("read it", read(p[0], buf, 64));
    FACT("sendfile to a read-only descriptor", sendfile(NEED(open("b", O_RDONLY)), a, NULL, 1));
    off = -1;
    FACT("sendfile with a negative offset", sendfile(b, a, &off, 1));

    in = 2;
    out = 0;
    VALUE("copy_file_range", copy_file_range(a, &in, b, &out, 4, 0));
    say("offsets %ld %ld", (long)in, (long)out);
    show("b", b);
    VALUE("copy_file_range at the end", ({
              in = 100;
              copy_file_range(a, &in, b, &out, 4, 0);
          }));
    FACT("copy_file_range flags", copy_file_range(a, &in, b, &out, 4, 1));
    FACT("copy_file_range of a pipe", copy_file_range(p[0], NULL, b, NULL, 4, 0));
    in = 0;
    out = 2;
    FACT("copy_file_range overlapping", copy_file_range(a, &in, a, &out, 4, 0));
    out = 10;
    VALUE("copy_file_range within a file", copy_file_range(a, &in, a, &out, 4, 0));
    show("a", a);
    int ap = NEED(open("b", O_WRONLY | O_APPEND));
    FACT("copy_file_range to O_APPEND", copy_file_range(a, NULL, ap, NULL, 4, 0));
    FACT("copy_file_range of a directory",
         copy_file_range(NEED(open(".", O_RDONLY)), NULL, b, NULL, 4, 0));

    in = 0;
    VALUE("splice file to pipe", splice(a, &in, p[1], NULL, 5, 0));
    VALUE("tee", tee(p[0], q[1], 5, 0));
    VALUE("read the copy", read(q[0], buf, 64));
    out = 0;
    NEED(ftruncate(b, 0));
    VALUE("splice pipe to file", splice(p[0], NULL, b, &out, 64, 0));
    show("b", b);
    FACT("splice file to file", splice(a, &in, b, &out, 4, 0));
    FACT("splice with a pipe offset", splice(p[0], &in, b, NULL, 4, 0));
    FACT("splice empty, nonblocking", splice(p[0], NULL, b, &out, 4, SPLICE_F_NONBLOCK));
    FACT("tee of one pipe", tee(p[0], p[1], 4, 0));
    NEED(write(p[1], "xyz", 3));
    VALUE("splice pipe to pipe", splice(p[0], NULL, q[1], NULL, 64, 0));
    VALUE("read it", read(q[0], buf, 64));
    struct iovec iov = {(char[]){"hello"}, 5};
    VALUE("vmsplice", vmsplice(p[1], &iov, 1, 0));
    VALUE("read it", read(p[0], buf, 64));
    close(p[1]);
    VALUE("splice at end of file", splice(p[0], NULL, b, &out, 4, 0));
    VALUE("splice of nothing", splice(q[0], NULL, b, &out, 0, 0));
    remove_work_dir();
    return 0;
}
