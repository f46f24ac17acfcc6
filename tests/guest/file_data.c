/* guest: glibc-only */
/* Positions, holes, truncation, append, vectors. */
#include <sys/uio.h>

#include "facts.h"

int main(void)
{
    char buf[64] = "";
    facts_start();
    int fd = make_file("f", "0123456789");
    VALUE("position after write", lseek(fd, 0, SEEK_CUR));
    VALUE("read at the end", read(fd, buf, 4));
    FACT("seek before the start", lseek(fd, -1, SEEK_SET));
    FACT("seek with a bad whence", lseek(fd, 0, 9));
    VALUE("seek beyond the end", lseek(fd, 100, SEEK_SET));
    VALUE("read beyond the end", read(fd, buf, 4));
    VALUE("write there", write(fd, "x", 1));
    VALUE("size", lseek(fd, 0, SEEK_END));
    VALUE("pread in the gap", pread(fd, buf, 4, 50));
    YES("the gap is zero", memcmp(buf, "\0\0\0\0", 4) == 0);
    VALUE("pread leaves the position", lseek(fd, 0, SEEK_CUR));
    VALUE("pwrite", pwrite(fd, "AB", 2, 2));
    FACT("pread at a negative offset", pread(fd, buf, 1, -1));
    VALUE("pread of 0 bytes", pread(fd, buf, 0, 0));
    FACT("pread to a bad address", pread(fd, (void *)8, 4, 0));
    FACT("write from a bad address", write(fd, (void *)8, 4));

    FACT("truncate shorter", ftruncate(fd, 5));
    VALUE("pread", pread(fd, buf, 64, 0));
    say("content: %.5s", buf);
    FACT("truncate longer", ftruncate(fd, 8));
    VALUE("pread", pread(fd, buf, 64, 0));
    YES("new bytes are zero", memcmp(buf + 5, "\0\0\0", 3) == 0);
    FACT("truncate to a negative size", ftruncate(fd, -1));
    FACT("truncate by name", truncate("f", 3));
    FACT("truncate a directory", truncate(".", 3));
    int ro = NEED(open("f", O_RDONLY));
    FACT("ftruncate a read-only descriptor", ftruncate(ro, 1));
    close(ro);

    int ap = NEED(open("f", O_WRONLY | O_APPEND));
    VALUE("O_APPEND write", write(ap, "end", 3));
    VALUE("position after it", lseek(ap, 0, SEEK_CUR));
    lseek(ap, 0, SEEK_SET);
    VALUE("O_APPEND write after seek", write(ap, "!", 1));
    VALUE("pwrite with O_APPEND appends", pwrite(ap, "?", 1, 0));
    VALUE("pread", pread(fd, buf, 64, 0));
    say("content: %.8s", buf);

    struct iovec iov[3] = {{buf, 2}, {buf + 10, 0}, {buf + 20, 3}};
    memset(buf, '-', sizeof(buf));
    VALUE("preadv", preadv(fd, iov, 3, 0));
    say("parts: %.2s %.3s", buf, buf + 20);
    VALUE("preadv2 at position -1", preadv2(fd, iov, 3, -1, 0));
    FACT("preadv2 unknown flag", preadv2(fd, iov, 3, 0, 0x40000000));
    VALUE("writev", writev(fd, iov, 2));
    VALUE("readv with no segments", readv(fd, iov, 0));
    FACT("readv with a negative count", readv(fd, iov, -1));
    FACT("readv with 1025 segments", readv(fd, iov, 1025));
    iov[1].iov_len = (size_t)-1;
    FACT("readv with a length that overflows", readv(fd, iov, 3));
    /* The flags are looked at last, and only when there is something to do. */
    int wo = NEED(open("f", O_WRONLY));
    FACT("readv of a write-only descriptor", readv(wo, iov, 1));
    FACT("the same, bad vector", readv(wo, (struct iovec *)8, 1));
    FACT("the same, no segments", readv(wo, iov, 0));
    FACT("unknown flag without segments", preadv2(fd, iov, 0, 0, 0x40000000));
    FACT("unknown flag, bad vector", preadv2(fd, (struct iovec *)8, 1, 0, 0x40000000));
    close(wo);

    int big = NEED(open("sparse", O_RDWR | O_CREAT, 0644));
    NEED(pwrite(big, "end", 3, 1 << 20));
    struct stat st;
    NEED(fstat(big, &st));
    VALUE("sparse size", (long)st.st_size);
    YES("sparse file uses few blocks", st.st_blocks <= 16);
    VALUE("SEEK_DATA from 0", lseek(big, 0, SEEK_DATA));
    VALUE("SEEK_HOLE from 0", lseek(big, 0, SEEK_HOLE));
    VALUE("SEEK_HOLE from data", lseek(big, 1 << 20, SEEK_HOLE));
    FACT("SEEK_DATA past the end", lseek(big, 2 << 20, SEEK_DATA));
    FACT("fallocate", fallocate(big, 0, 0, 8192));
    FACT("fallocate KEEP_SIZE", fallocate(big, FALLOC_FL_KEEP_SIZE, 2 << 20, 4096));
    FACT("punch a hole", fallocate(big, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192));
    FACT("punch without KEEP_SIZE", fallocate(big, FALLOC_FL_PUNCH_HOLE, 0, 4096));
    FACT("fallocate of nothing", fallocate(big, 0, 0, 0));
    NEED(fstat(big, &st));
    VALUE("size is unchanged", (long)st.st_size);
    FACT("fsync", fsync(big));
    FACT("fdatasync", fdatasync(big));
    FACT("fadvise", posix_fadvise(big, 0, 0, POSIX_FADV_WILLNEED));
    remove_work_dir();
    return 0;
}
