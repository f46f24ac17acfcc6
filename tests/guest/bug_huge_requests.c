/* Absurd requests get an errno and nothing else happens. */
#include <sys/mman.h>
#include <sys/uio.h>

#include "facts.h"

static void try_map(const char *label, size_t len, int prot, int flags)
{
    void *p = mmap(NULL, len, prot, flags | MAP_ANONYMOUS, -1, 0);
    say("%s: %s", label, p == MAP_FAILED ? errno_name(errno) : "ok");
    if (p != MAP_FAILED)
        munmap(p, len);
}

int main(void)
{
    facts_start();
    try_map("map 20 TiB", 20ull << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    try_map("map more than the address space", 1ull << 48, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
    try_map("map length that overflows", SIZE_MAX - 100, PROT_READ, MAP_PRIVATE);
    try_map("map nothing", 0, PROT_READ, MAP_PRIVATE);
    try_map("reserve 64 GiB", 64ull << 30, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
    void *p = malloc(100ull << 40);
    say("malloc of 100 TiB: %s", p ? "ok" : "NULL");
    FACT("brk far away", brk((void *)0x7f0000000000));
    char c;
    FACT("read of a huge length to a bad place", read(0, (void *)1, SIZE_MAX));
    int fd = make_file("f", "abc");
    FACT("write of a huge length", write(fd, (void *)0x1000, SIZE_MAX));
    VALUE("read with a huge length at the end", read(fd, &c, 1));
    struct iovec iov[2] = {{&c, SSIZE_MAX}, {&c, SSIZE_MAX}};
    FACT("readv that overflows", readv(fd, iov, 2));
    FACT("seek to the maximum", lseek(fd, INT64_MAX, SEEK_SET));
    FACT("write at the maximum", pwrite(fd, "x", 1, INT64_MAX));
    FACT("mincore of a hole", mincore((void *)0x10000000000, 4096, (unsigned char *)&c));
    FACT("munmap of nothing", munmap((void *)0x10000000000, 4096));
    FACT("munmap unaligned", munmap((void *)1, 4096));
    FACT("mprotect of a hole", mprotect((void *)0x10000000000, 4096, PROT_READ));
    FACT("msync of a hole", msync((void *)0x10000000000, 4096, MS_SYNC));
    FACT("madvise unknown", madvise((void *)0x10000000000, 4096, 9999));
    remove_work_dir();
    return 0;
}
