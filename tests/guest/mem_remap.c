/* mremap in all its forms; msync, mincore, madvise, mlock. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/guest/facts.h"

#define PAGE 4096ul
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW   (PROT_READ | PROT_WRITE)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void fact_map(const char *label, void *p)
{
    say("%s: %s", label, p == MAP_FAILED ? errno_name(errno) : "mapped");
}

static bool mapped(void *p)
{
    unsigned char v;
    return mincore(p, PAGE, &v) == 0;
}

static void remap(void)
{
    char *area = mmap(NULL, 64 * PAGE, PROT_NONE, ANON, -1, 0);
    NEED(munmap(area, 64 * PAGE));
    char *p = mmap(area, 2 * PAGE, RW, ANON | MAP_FIXED, -1, 0);
    strcpy(p, "first");
    strcpy(p + PAGE, "second");
    YES("grows in place", mremap(p, 2 * PAGE, 4 * PAGE, 0) == p);
    YES("zeroed", p[2 * PAGE] == 0 && !strcmp(p, "first"));
    YES("shrinks", mremap(p, 4 * PAGE, PAGE, 0) == p && !mapped(p + PAGE));
    YES("same size", mremap(p, PAGE, PAGE, 0) == p);
    char *wall = mmap(p + PAGE, PAGE, PROT_READ, ANON | MAP_FIXED, -1, 0);
    fact_map("no room", mremap(p, PAGE, 2 * PAGE, 0));
    char *q = mremap(p, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
    YES("moves", q != MAP_FAILED && q != p && !strcmp(q, "first") && !mapped(p) && mapped(wall));
    char *to = area + 32 * PAGE;
    YES("fixed", mremap(q, 3 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
    YES("moved", !strcmp(to, "first") && !mapped(q) && !mapped(q + 2 * PAGE) && mapped(to + PAGE) &&
                     !mapped(to + 2 * PAGE));
    fact_map("fixed overlaps",
             mremap(to, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE));
    fact_map("fixed alone", mremap(to, PAGE, PAGE, MREMAP_FIXED, area));
    fact_map("fixed unaligned", mremap(to, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, area + 1));
    fact_map("unknown flag", mremap(to, PAGE, PAGE, 64));
    fact_map("unaligned", mremap(to + 1, PAGE, PAGE, 0));
    fact_map("new length 0", mremap(to, PAGE, 0, 0));
    fact_map("not mapped", mremap(area + 60 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
    fact_map("too long", mremap(to, 8 * PAGE, 9 * PAGE, MREMAP_MAYMOVE));
    fact_map("old length 0 private", mremap(to, 0, PAGE, MREMAP_MAYMOVE));
    fact_map("absurd", mremap(to, PAGE, 1ul << 47, MREMAP_MAYMOVE));
    q = mremap(to, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
    YES("dontunmap", q != MAP_FAILED && !strcmp(q, "first") && mapped(to) && to[0] == 0);
    fact_map("dontunmap grows", mremap(q, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
    char *s = mmap(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy(s + PAGE, "twice");
    q = mremap(s, 0, 2 * PAGE, MREMAP_MAYMOVE);
    YES("duplicate", q != MAP_FAILED && !strcmp(q + PAGE, "twice"));
    strcpy(q + PAGE, "again");
    say("one memory: %s", s + PAGE);
    int fd = make_file("grow", "");
    NEED(ftruncate(fd, 8 * PAGE));
    NEED(pwrite(fd, "page five", 9, 5 * PAGE));
    q = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    q = mremap(q, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    say("file grows: %s", q == MAP_FAILED ? errno_name(errno) : q + 5 * PAGE);
    mprotect(q + 3 * PAGE, PAGE, PROT_NONE);
    fact_map("across protections", mremap(q, 8 * PAGE, 9 * PAGE, MREMAP_MAYMOVE));
}

static void advise(void)
{
    char *p = mmap(NULL, 4 * PAGE, RW, ANON, -1, 0);
    int fd = make_file("file", "");
    NEED(ftruncate(fd, 4 * PAGE));
    char *s = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);
    p[0] = p[PAGE] = 5;
    FACT("dontneed", madvise(p, PAGE, MADV_DONTNEED));
    say("contents: %d %d", p[0], p[PAGE]);
    FACT("free", madvise(p, PAGE, MADV_FREE));
    FACT("free of file", madvise(s, PAGE, MADV_FREE));
    FACT("willneed", madvise(p, PAGE, MADV_WILLNEED));
    FACT("unaligned", madvise(p + 1, PAGE, MADV_DONTNEED));
    FACT("unknown", madvise(p, PAGE, 77));
    FACT("length 0", madvise(p, 0, MADV_DONTNEED));
    FACT("hwpoison", madvise(p, PAGE, 100));
    FACT("nohugepage", madvise(p, PAGE, MADV_NOHUGEPAGE));
    FACT("populate write", madvise(p, 4 * PAGE, 23));
    memset(s, 7, 4 * PAGE);
    FACT("remove", madvise(s + PAGE, PAGE, MADV_REMOVE));
    say("contents: %d %d %d", s[0], s[PAGE], s[2 * PAGE]);
    FACT("remove of anonymous", madvise(p, PAGE, MADV_REMOVE));
    p[0] = p[PAGE] = 6;
    FACT("wipeonfork", madvise(p, PAGE, MADV_WIPEONFORK));
    FACT("wipeonfork of file", madvise(s, PAGE, MADV_WIPEONFORK));
    FACT("dontfork", madvise(p + 2 * PAGE, PAGE, MADV_DONTFORK));
    pid_t pid = NEED(fork());
    if (!pid) {
        say("child: %d %d %d %d", p[0], p[PAGE], mapped(p + 2 * PAGE), mapped(p + 3 * PAGE));
        _exit(0);
    }
    say_end("child", pid);
    say("parent: %d %d", p[0], mapped(p + 2 * PAGE));
    NEED(munmap(p + PAGE, PAGE));
    FACT("hole dontneed", madvise(p, 3 * PAGE, MADV_DONTNEED));
    FACT("hole willneed", madvise(p, 3 * PAGE, MADV_WILLNEED));
    FACT("hole normal", madvise(p, 3 * PAGE, MADV_NORMAL));
    FACT("msync", msync(s, 4 * PAGE, MS_SYNC));
    FACT("msync async sync", msync(s, PAGE, MS_SYNC | MS_ASYNC));
    FACT("msync unaligned", msync(s + 1, PAGE, MS_SYNC));
    FACT("msync hole", msync(p, 3 * PAGE, MS_SYNC));
    FACT("msync unknown", msync(p, PAGE, 64));
    unsigned char v[4];
    FACT("mincore hole", mincore(p, 3 * PAGE, v));
    FACT("mincore unaligned", mincore(p + 1, PAGE, v));
    FACT("mincore bad vector", mincore(p, PAGE, (void *)1));
    p[0] = 1;
    YES("mincore touched", mincore(p, PAGE, v) == 0 && (v[0] & 1));
}

static void locks(void)
{
    char *p = mmap(NULL, 8 * PAGE, RW, ANON, -1, 0);
    struct rlimit rl = {4 * PAGE, 4 * PAGE};
    NEED(setrlimit(RLIMIT_MEMLOCK, &rl));
    FACT("mlock 4", mlock(p, 4 * PAGE));
    FACT("mlock again", mlock(p, 4 * PAGE));
    FACT("mlock 5th", mlock(p + 4 * PAGE, PAGE));
    FACT("dontneed locked", madvise(p, PAGE, MADV_DONTNEED));
    FACT("munlock", munlock(p, 2 * PAGE));
    FACT("mlock 5th", mlock(p + 4 * PAGE, PAGE));
    fact_map("MAP_LOCKED 2 more", mmap(NULL, 2 * PAGE, RW, ANON | MAP_LOCKED, -1, 0));
    fact_map("MAP_LOCKED 1 more", mmap(NULL, PAGE, RW, ANON | MAP_LOCKED, -1, 0));
    FACT("munmap of locked", munmap(p, 8 * PAGE));
    FACT("mlock unmapped", mlock(p, PAGE));
    FACT("munlock unmapped", munlock(p, PAGE));
    FACT("mlockall 0", mlockall(0));
    FACT("mlockall current", mlockall(MCL_CURRENT));
    FACT("munlockall", munlockall());
    FACT("mlock2 bad", syscall(SYS_mlock2, p, PAGE, 8));
    rl.rlim_cur = 0;
    NEED(setrlimit(RLIMIT_MEMLOCK, &rl));
    FACT("mlock no limit", mlock(p, PAGE));
}

int main(void)
{
    facts_start();
    remap();
    advise();
    locks();
    return 0;
}
