/* tries: leave a core file, or have the host's core handler run: RLIMIT_CORE infinite, dumpable,
   then crashes by every fault signal in every writable directory, from threads, with handlers
   blocked and the stack gone */
/* must fail because: a fault is taken by the stub and becomes the sentry's own signal; the host
   process has RLIMIT_CORE 0 and is not dumpable, so the host's core_pattern never runs */
/* an escape would: start the host's core handler (a root program on many machines) with
   attacker-made input, or put a file of the attacker's making into a host directory */
/* source: ATTACKS.md F14 */
#include <dirent.h>
#include <pthread.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include "tricks.h"

static int way;

static void *thread_crash(void *arg)
{
    *(volatile int *)8 = 1;
    return arg;
}

static int recurse(int n)
{
    volatile char a[4096];
    a[0] = (char)n;
    return recurse(n + 1) + a[0];
}

static void crash(void)
{
    sigset_t all;
    pthread_t t;
    sigfillset(&all);
    /* clang-format off */
    switch (way) {
    case 0: *(volatile int *)8 = 1; break;
    case 1: __asm__ volatile("ud2"); break;
    case 2: __asm__ volatile("int3"); break;
    case 3: __asm__ volatile("xor %%ecx,%%ecx; mov $1,%%eax; cltd; idiv %%ecx" ::: "eax", "ecx", "edx"); break;
    case 4: __asm__ volatile("hlt"); break;
    case 5: *(volatile long *)0x8000000000000000ul = 1; break;
    case 6: abort();
    case 7: sigprocmask(SIG_SETMASK, &all, NULL); *(volatile int *)8 = 1; break;
    case 8: recurse(0); break;
    case 9: __asm__ volatile("xor %%esp,%%esp; push %%rax" ::: "memory"); break;
    case 10: pthread_create(&t, NULL, thread_crash, NULL); pthread_join(t, NULL); break;
    case 11: raise(SIGQUIT); break;
    case 12: raise(SIGSYS); break;
    case 13: ((void (*)(void))mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))(); break;
    default: raise(SIGXCPU); break;
    }
    /* clang-format on */
}

static int attack(void)
{
    static const char *const dirs[] = {"/tmp",    "/dev/shm",        ".",   "/",
                                       "/attack", "/proc/self/root", "/run"};
    struct rlimit rl = {RLIM_INFINITY, RLIM_INFINITY};
    int crashed = 0, dumped = 0, cores = 0;
    if (setrlimit(RLIMIT_CORE, &rl) < 0)
        step("RLIMIT_CORE: %s", err_name(errno));
    for (int i = 0; i < 15 * COUNT(dirs); i++) {
        if (i >= 15 && i % 15 > 2)
            continue;
        way = i % 15;
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            chdir(dirs[i / 15]);
            crash();
            _exit(0);
        }
        int status = wait_for(pid);
        crashed += WIFSIGNALED(status);
        dumped += WIFSIGNALED(status) && WCOREDUMP(status);
    }
    for (int d = 0; d < COUNT(dirs); d++) {
        DIR *dir = opendir(dirs[d]);
        for (struct dirent *e; dir && (e = readdir(dir));)
            cores += strncmp(e->d_name, "core", 4) == 0;
        if (dir)
            closedir(dir);
    }
    step("%d crashes, %d say that a core was written, %d core files", crashed, dumped, cores);
    if (dumped)
        return escaped("the host's kernel wrote or piped %d cores", dumped);
    return contained("%d crashes, no core", crashed);
}

static int twin(void)
{
    way = 0;
    pid_t pid = fork();
    if (pid == 0) {
        crash();
        _exit(0);
    }
    int status = wait_for(pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        return broken("a bad pointer gives status %#x", status);
    return works("a crash is reported to the parent as SIGSEGV");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
