/* Resource limits: rules of setrlimit, and what crossing them does. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "facts.h"

static int set(int what, rlim_t soft, rlim_t hard)
{
    struct rlimit rl = {soft, hard};
    return setrlimit(what, &rl);
}

/* The soft limit alone. */
static int soft(int what, rlim_t value)
{
    struct rlimit rl;
    return getrlimit(what, &rl) < 0 ? -1 : set(what, value, rl.rlim_max);
}

static void in_child(const char *label, void (*fn)(void))
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        fn();
        _exit(0);
    }
    say_end(label, pid);
}

static void file_size(void)
{
    static char big[8192];
    int fd = make_file("f", "");
    NEED(soft(RLIMIT_FSIZE, 4096));
    signal(SIGXFSZ, SIG_IGN);
    VALUE("write is cut at the limit", write(fd, big, sizeof(big)));
    FACT("write at the limit", write(fd, "x", 1));
    FACT("ftruncate beyond", ftruncate(fd, 10000));
    FACT("pwrite beyond", pwrite(fd, "x", 1, 5000));
    FACT("fallocate beyond", fallocate(fd, 0, 0, 10000));
    signal(SIGXFSZ, SIG_DFL);
    (void)!write(fd, "x", 1);
}

static void address_space(void)
{
    NEED(soft(RLIMIT_AS, 512 << 20));
    void *p = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mmap beyond RLIMIT_AS: %s", p == MAP_FAILED ? errno_name(errno) : "ok");
    p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mmap below it: %s", p == MAP_FAILED ? errno_name(errno) : "ok");
    void *q = mremap(p, 1 << 20, 1 << 30, MREMAP_MAYMOVE);
    say("mremap beyond it: %s", q == MAP_FAILED ? errno_name(errno) : "ok");
}

static void data_segment(void)
{
    NEED(soft(RLIMIT_DATA, 32 << 20));
    void *before = sbrk(0);
    say("brk beyond RLIMIT_DATA: %s", sbrk(64 << 20) == (void *)-1 ? errno_name(errno) : "ok");
    say("brk stays: %d", sbrk(0) == before);
}

static void cpu_time(void)
{
    NEED(set(RLIMIT_CPU, 1, 2));
    for (volatile unsigned long i = 0;; i++)
        ;
}

static void use_stack(int n)
{
    volatile char part[65536];
    part[0] = (char)n;
    if (n > 0)
        use_stack(n - 1);
    part[1] = part[0];
}

static void stack_limit(void)
{
    char *argv[] = {"x", "stack", NULL};
    NEED(soft(RLIMIT_STACK, 1 << 20));
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    struct rlimit rl;
    (void)argv;
    if (argc > 1) {
        use_stack(8);
        say("half of the stack is fine");
        use_stack(20);
        say("more than the limit is fine");
        return 0;
    }
    facts_start();
    FACT("bad resource", getrlimit(99, &rl));
    FACT("bad address", syscall(SYS_getrlimit, RLIMIT_NOFILE, (void *)8));
    FACT("soft above hard", set(RLIMIT_NOFILE, 100, 50));
    FACT("lower", set(RLIMIT_NOFILE, 50, 100));
    FACT("raise soft to hard", set(RLIMIT_NOFILE, 100, 100));
    FACT("raise hard", set(RLIMIT_NOFILE, 100, 101));
    getrlimit(RLIMIT_NOFILE, &rl);
    say("now %lu %lu", (unsigned long)rl.rlim_cur, (unsigned long)rl.rlim_max);
    VALUE("sysconf(_SC_OPEN_MAX)", sysconf(_SC_OPEN_MAX));
    rl = (struct rlimit){60, 100};
    struct rlimit old;
    FACT("prlimit of oneself", prlimit(0, RLIMIT_NOFILE, &rl, &old));
    say("old %lu", (unsigned long)old.rlim_cur);
    FACT("prlimit of nobody", prlimit(99999999, RLIMIT_NOFILE, NULL, &old));
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur == 60 ? 0 : 1);
    say_end("inherited", pid);
    in_child("file size", file_size);
    in_child("address space", address_space);
    in_child("data segment", data_segment);
    in_child("cpu time", cpu_time);
    in_child("stack", stack_limit);
    set(RLIMIT_CORE, 0, 0);
    getrlimit(RLIMIT_STACK, &rl);
    YES("stack limit is 8 MiB or more", rl.rlim_cur >= 8 << 20);
    remove_work_dir();
    return 0;
}
