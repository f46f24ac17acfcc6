/* What mappings do besides holding memory: times of files, the resident set, barriers. */
#include <sys/mman.h>

#include "facts.h"

#define PAGE 4096ul
#define RW   (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

/* A write through a shared mapping is a change of the file; mapping and reading it is none. */
static void times(void)
{
    const struct timespec old[2] = {{1000, 5}, {1000, 5}};
    struct stat st;
    int fd = make_file("times", "text");
    NEED(futimens(fd, old));
    char *p = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0);
    say("mapped: '%.4s'", p);
    NEED(fstat(fd, &st));
    say("mtime %ld.%ld", (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    p[0] = 'n';
    NEED(msync(p, PAGE, MS_SYNC));
    NEED(stat("times", &st));
    YES("written: mtime", st.st_mtim.tv_sec > 1000000);
    NEED(futimens(fd, old));
    NEED(munmap(p, PAGE));
    NEED(fstat(fd, &st));
    say("set again: %ld.%ld", (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    close(fd);
    FACT("every flag", mmap(NULL, 1024, RW, ~0, 3, 0) == MAP_FAILED ? -1 : 0);
}

static long maxrss(void)
{
    struct rusage ru;
    NEED(getrusage(RUSAGE_SELF, &ru));
    return ru.ru_maxrss;
}

/* What is only reserved is not resident; what was written is. */
static void resident(void)
{
    char *a = mmap(NULL, 4ul << 30, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    char *b = mmap(NULL, 1ul << 30, RW, ANON | MAP_NORESERVE, -1, 0);
    YES("reserve", a != MAP_FAILED && b != MAP_FAILED);
    YES("not resident", maxrss() < 256 << 10);
    munmap(a, 4ul << 30);
    munmap(b, 1ul << 30);
    char *p = mmap(NULL, 32 << 20, RW, ANON, -1, 0);
    memset(p, 1, 32 << 20);
    YES("resident", maxrss() >= 32 << 10);
    munmap(p, 32 << 20);
}

/* membarrier(2) of one's own threads: only after it was registered, which children inherit. */
static void barriers(void)
{
    const int cmds[] = {1 << 3, 1 << 5}; /* PRIVATE_EXPEDITED, ..._SYNC_CORE */
    long have = NEED(syscall(SYS_membarrier, 0, 0, 0));
    FACT("query with flags", syscall(SYS_membarrier, 0, 1, 0));
    FACT("unknown command", syscall(SYS_membarrier, 1 << 20, 0, 0));
    FACT("two commands", syscall(SYS_membarrier, 0x28, 0, 0));
    for (int i = 0; i < 2; i++) {
        YES("command is there", (have & (cmds[i] * 3)) == cmds[i] * 3);
        FACT("not registered", syscall(SYS_membarrier, cmds[i], 0, 0));
        FACT("flags", syscall(SYS_membarrier, cmds[i] * 2, 2, 0));
        FACT("register", syscall(SYS_membarrier, cmds[i] * 2, 0, 7));
        FACT("barrier", syscall(SYS_membarrier, cmds[i], 0, 7));
    }
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(syscall(SYS_membarrier, cmds[0], 0, 0) < 0 ? errno : 0);
    say_end("in a child", pid);
}

int main(void)
{
    facts_start();
    times();
    resident();
    barriers();
    remove_work_dir();
    return 0;
}
