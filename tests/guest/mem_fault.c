/* Stack growth, executable memory, memory changed by other threads and processes. */
#include <pthread.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "tests/guest/facts.h"

#define PAGE 4096ul
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW   (PROT_READ | PROT_WRITE)

static __attribute__((noinline)) unsigned descend(unsigned kib)
{
    volatile char block[1024];
    memset((char *)block, (int)kib, sizeof(block));
    return kib ? descend(kib - 1) + block[kib % 1024] : block[0];
}

static void in_child(const char *label, void (*fn)(void))
{
    pid_t pid = NEED(fork());
    if (!pid) {
        fn();
        _exit(0);
    }
    say_end(label, pid);
}

static void stack_6m(void)
{
    descend(6 << 10);
}

static void stack_9m(void)
{
    descend(9 << 10);
}

static void stack_raised(void)
{
    struct rlimit rl;
    NEED(getrlimit(RLIMIT_STACK, &rl));
    rl.rlim_cur = 20u << 20;
    NEED(setrlimit(RLIMIT_STACK, &rl));
    descend(16 << 10);
}

static void code(void)
{
    static const unsigned char five[] = {0xb8, 5, 0, 0, 0, 0xc3};
    unsigned char *p = mmap(NULL, PAGE, RW, ANON, -1, 0);
    memcpy(p, five, sizeof(five));
    NEED(mprotect(p, PAGE, PROT_READ | PROT_EXEC));
    say("made executable: %d", ((int (*)(void))p)());
    NEED(mprotect(p, PAGE, RW | PROT_EXEC));
    p[1] = 6;
    say("changed: %d", ((int (*)(void))p)());
    NEED(mprotect(p, PAGE, RW));
}

static void not_executable(void)
{
    unsigned char *p = mmap(NULL, PAGE, RW, ANON, -1, 0);
    p[0] = 0xc3;
    ((void (*)(void))p)();
}

static void *map_and_unmap(void *arg)
{
    unsigned char mark = (unsigned char)(uintptr_t)arg;
    for (int i = 0; i < 300; i++) {
        unsigned char *p = mmap(NULL, 3 * PAGE, RW, ANON, -1, 0);
        if (p == MAP_FAILED || p[0] || p[2 * PAGE])
            return "memory is not fresh";
        memset(p, mark, 3 * PAGE);
        if (i & 1)
            mprotect(p + PAGE, PAGE, PROT_READ);
        if (p[PAGE] != mark || p[3 * PAGE - 1] != mark)
            return "memory of another thread";
        if (munmap(p, 3 * PAGE) < 0)
            return "munmap failed";
    }
    return NULL;
}

static void threads(void)
{
    pthread_t th[4];
    void *res;
    for (uintptr_t i = 0; i < 4; i++)
        NEED(-pthread_create(&th[i], NULL, map_and_unmap, (void *)(i + 1)));
    for (int i = 0; i < 4; i++) {
        pthread_join(th[i], &res);
        say("thread: %s", res ? (char *)res : "ok");
    }
}

static ssize_t vm_read(pid_t pid, void *to, size_t n, void *from, size_t m)
{
    struct iovec l = {to, n}, r = {from, m};
    return process_vm_readv(pid, &l, 1, &r, 1, 0);
}

static void other_process(void)
{
    char *p = mmap(NULL, 4 * PAGE, RW, ANON, -1, 0);
    char b[64] = {0};
    int go[2];
    NEED(munmap(p + 2 * PAGE, PAGE));
    NEED(pipe(go));
    pid_t pid = NEED(fork());
    if (!pid) {
        strcpy(p, "child's own");
        NEED(write(go[1], "x", 1));
        pause();
    }
    NEED(read(go[0], b, 1));
    prctl(PR_SET_DUMPABLE, 1);
    VALUE("process_vm_readv", vm_read(pid, b, 12, p, 12));
    say("%s", b);
    char big[4 * PAGE];
    VALUE("into a hole", vm_read(pid, big, sizeof(big), p, sizeof(big)));
    VALUE("only a hole", vm_read(pid, big, 10, p + 2 * PAGE, 10));
    VALUE("nothing", vm_read(pid, big, 0, p, 10));
    VALUE("bad target", vm_read(pid, (void *)8, 10, p, 10));
    VALUE("no process", vm_read(0x3ffffff, b, 10, p, 10));
    struct iovec l[2] = {{(void *)"wri", 3}, {(void *)"tten", 5}}, r[2] = {{p, 4}, {p + 4, 4}};
    VALUE("process_vm_writev", process_vm_writev(pid, l, 2, r, 2, 0));
    VALUE("process_vm_readv", vm_read(pid, b, 12, p, 12));
    say("%s", b);
    VALUE("flags", process_vm_readv(pid, l, 2, r, 2, 1));
    VALUE("too many", process_vm_readv(pid, l, 2, r, 1025, 0));
    NEED(kill(pid, SIGKILL));
    say_end("child", pid);
}

int main(void)
{
    facts_start();
    in_child("stack of 6 MiB", stack_6m);
    in_child("stack of 9 MiB", stack_9m);
    in_child("stack of 16 MiB, limit raised", stack_raised);
    code();
    in_child("not executable", not_executable);
    threads();
    other_process();
    return 0;
}
