/* mmap, munmap, mprotect, brk: results, errors and what the memory holds. */
#include <setjmp.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/guest/facts.h"

#define PAGE 4096ul
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW   (PROT_READ | PROT_WRITE)

static sigjmp_buf *fault_jump;
static volatile int fault_signo, fault_code;

static void on_fault(int signo, siginfo_t *info, void *ctx)
{
    fault_signo = signo;
    fault_code = info->si_code;
    siglongjmp(*fault_jump, 1);
}

/* "ok", or the signal and code of a load or store at p. */
static const char *touch(volatile char *p, bool store)
{
    static char text[40];
    sigjmp_buf jump;
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    fault_jump = &jump;
    sigaction(SIGSEGV, &sa, NULL);
    sigaction(SIGBUS, &sa, NULL);
    if (sigsetjmp(jump, 1)) {
        snprintf(text, sizeof(text), "signal %d code %d", fault_signo, fault_code);
        return text;
    }
    if (store)
        *p = 1;
    else
        (void)*p;
    return "ok";
}

static void fact_map(const char *label, void *p)
{
    say("%s: %s", label, p == MAP_FAILED ? errno_name(errno) : "mapped");
}

static void errors(void)
{
    int fd = make_file("data", "hello");
    int ro = open("data", O_RDONLY), wo = open("data", O_WRONLY), dir = open(".", O_RDONLY);
    int path = open("data", O_PATH);
    int pipes[2];
    NEED(pipe(pipes));
    fact_map("length 0", mmap(NULL, 0, RW, ANON, -1, 0));
    fact_map("length max", mmap(NULL, ~0ul, RW, ANON, -1, 0));
    fact_map("length 128 TiB", mmap(NULL, 1ul << 47, PROT_NONE, ANON | MAP_NORESERVE, -1, 0));
    fact_map("20 TiB writable", mmap(NULL, 20ul << 40, RW, ANON, -1, 0));
    void *huge = mmap(NULL, 20ul << 40, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    fact_map("20 TiB reserved", huge);
    FACT("20 TiB back", munmap(huge, 20ul << 40));
    fact_map("no type", mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0));
    fact_map("odd offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, ro, 100));
    fact_map("huge offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, ro, -4096));
    fact_map("bad fd", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0));
    fact_map("O_PATH", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, path, 0));
    fact_map("directory", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, dir, 0));
    fact_map("pipe", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, pipes[0], 0));
    fact_map("write-only private", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, wo, 0));
    fact_map("read-only shared writable", mmap(NULL, PAGE, RW, MAP_SHARED, ro, 0));
    fact_map("read-only shared readable", mmap(NULL, PAGE, PROT_READ, MAP_SHARED, ro, 0));
    fact_map("read-only private writable", mmap(NULL, PAGE, RW, MAP_PRIVATE, ro, 0));
    fact_map("shared validate", mmap(NULL, PAGE, RW, MAP_SHARED_VALIDATE, fd, 0));
    fact_map("shared validate unknown",
             mmap(NULL, PAGE, RW, MAP_SHARED_VALIDATE | (1 << 25), fd, 0));
    fact_map("shared validate anon",
             mmap(NULL, PAGE, RW, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0));
    fact_map("shared growsdown",
             mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0));
    fact_map("fixed unaligned", mmap((void *)0x10000001, PAGE, RW, ANON | MAP_FIXED, -1, 0));
    fact_map("fixed page 0", mmap(NULL, PAGE, RW, ANON | MAP_FIXED, -1, 0));
    fact_map("fixed kernel", mmap((void *)-PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0));
    FACT("munmap unaligned", munmap((void *)0x1001, PAGE));
    FACT("munmap length 0", munmap((void *)0x100000, 0));
    FACT("munmap nothing", munmap((void *)0x100000, PAGE));
    FACT("munmap kernel", munmap((void *)(1ul << 47), PAGE));
    FACT("munmap wraps", munmap((void *)0x100000, ~0ul - PAGE));
}

static void addresses(void)
{
    char *p = mmap(NULL, 4 * PAGE, RW, ANON, -1, 0);
    NEED(p == MAP_FAILED ? -1 : 0);
    NEED(munmap(p + 2 * PAGE, PAGE));
    YES("hint taken", mmap(p + 2 * PAGE, PAGE, RW, ANON, -1, 0) == p + 2 * PAGE);
    YES("hint in use", mmap(p, PAGE, RW, ANON, -1, 0) != p);
    fact_map("noreplace in use", mmap(p, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0));
    NEED(munmap(p + PAGE, PAGE));
    YES("noreplace free", mmap(p + PAGE, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0) == p + PAGE);
    strcpy(p + PAGE, "old");
    YES("fixed replaces",
        mmap(p + PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + PAGE && !p[PAGE]);
    char *low = mmap(NULL, PAGE, RW, ANON | MAP_32BIT, -1, 0);
    YES("32 bit", low != MAP_FAILED && (uintptr_t)low < (1ul << 31));
    strcpy(p, "abc");
    NEED(munmap(p, PAGE));
    say("load after munmap: %s", touch(p, false));
    say("load of neighbour: %s", touch(p + PAGE, false));
    FACT("munmap hole", munmap(p, 4 * PAGE));
    say("load of page 0: %s", touch(NULL, false));
    say("load of kernel: %s", touch((char *)(1ul << 47), false));
}

static void protection(void)
{
    char *p = mmap(NULL, 4 * PAGE, RW, ANON, -1, 0);
    p[2 * PAGE] = 7;
    FACT("mprotect read", mprotect(p + PAGE, 2 * PAGE, PROT_READ));
    say("store: %s", touch(p + PAGE, true));
    say("load: %d %s", p[2 * PAGE], touch(p + 2 * PAGE, false));
    say("store beside: %s %s", touch(p, true), touch(p + 3 * PAGE, true));
    FACT("mprotect none", mprotect(p, 4 * PAGE, PROT_NONE));
    say("load: %s", touch(p, false));
    FACT("read into none", read(open("data", O_RDONLY), p, 5));
    FACT("mprotect all", mprotect(p, 4 * PAGE, RW | PROT_EXEC));
    say("kept: %d", p[2 * PAGE]);
    FACT("unaligned", mprotect(p + 1, PAGE, RW));
    FACT("length 0", mprotect(p, 0, RW));
    FACT("bad prot", mprotect(p, PAGE, 0x40));
    FACT("wraps", mprotect(p, ~0ul - PAGE, RW));
    NEED(munmap(p + PAGE, PAGE));
    FACT("hole", mprotect(p, 3 * PAGE, PROT_READ));
    FACT("growsdown on plain", mprotect(p, PAGE, RW | PROT_GROWSDOWN));
    int ro = open("data", O_RDONLY);
    char *m = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, ro, 0);
    FACT("shared read-only file writable", mprotect(m, PAGE, RW));
    m = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, ro, 0);
    FACT("private read-only file writable", mprotect(m, PAGE, RW));
    m[0] = 'J';
    char b[6] = {0};
    NEED(pread(ro, b, 5, 0));
    say("file unchanged: %s", b);
}

static void files(void)
{
    int fd = make_file("shared", "");
    NEED(ftruncate(fd, 2 * PAGE + 100));
    char *s = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);
    char *p = mmap(NULL, 4 * PAGE, RW, MAP_PRIVATE, fd, 0);
    char b[16] = {0};
    strcpy(s, "through map");
    NEED(pread(fd, b, 11, 0));
    say("read sees map: %s", b);
    NEED(pwrite(fd, "WRITTEN", 7, PAGE));
    say("map sees write: %.7s %.7s", s + PAGE, p + PAGE);
    strcpy(p, "private");
    say("private apart: %s / %s", s, p);
    say("tail of last page: %d %s", s[2 * PAGE + 200], touch(s + 2 * PAGE + 200, true));
    say("beyond end: %s", touch(s + 3 * PAGE, false));
    NEED(ftruncate(fd, 100));
    say("after truncate: %s %s", touch(s + PAGE, false), touch(s, false));
    NEED(ftruncate(fd, 4 * PAGE));
    say("grown again: %s %d", touch(s + 3 * PAGE, false), s[PAGE]);
    NEED(unlink("shared"));
    NEED(close(fd));
    strcpy(s, "still there");
    say("after unlink and close: %s", s);
    pid_t pid = NEED(fork());
    if (!pid) {
        strcpy(s, "child wrote");
        strcpy(p, "child");
        _exit(0);
    }
    say_end("child", pid);
    say("after child: %s / %s", s, p);
    char *a = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = NEED(fork());
    if (!pid) {
        strcpy(a, "from child");
        _exit(0);
    }
    say_end("child", pid);
    say("shared anonymous: %s", a);
}

static void limits(void)
{
    char *now = sbrk(0);
    YES("brk grows", brk(now + 3 * PAGE) == 0 && sbrk(0) == now + 3 * PAGE);
    now[0] = now[2 * PAGE] = 1;
    YES("brk shrinks", brk(now) == 0);
    YES("brk grows zeroed", brk(now + 3 * PAGE) == 0 && now[2 * PAGE] == 0);
    FACT("brk absurd", brk((void *)(1ul << 46)));
    struct rlimit rl = {200u << 20, 200u << 20};
    NEED(setrlimit(RLIMIT_AS, &rl));
    fact_map("300 MiB in 200", mmap(NULL, 300u << 20, RW, ANON, -1, 0));
    fact_map("1 MiB in 200", mmap(NULL, 1u << 20, RW, ANON, -1, 0));
    fact_map("300 MiB reserved in 200",
             mmap(NULL, 300u << 20, PROT_NONE, ANON | MAP_NORESERVE, -1, 0));
    char *big = mmap(NULL, 100u << 20, PROT_NONE, ANON, -1, 0);
    fact_map("100 MiB twice over itself", mmap(big, 100u << 20, RW, ANON | MAP_FIXED, -1, 0));
    fact_map("another 100 MiB", mmap(NULL, 100u << 20, PROT_NONE, ANON, -1, 0));
}

int main(void)
{
    facts_start();
    errors();
    addresses();
    protection();
    files();
    limits();
    return 0;
}
