/* tries: one thread overwrites the stub's command blocks, frames and stacks of every slot without
   pause, with calls of its own choice, foreign call numbers, loops and wild pointers, while others
   map memory and files, fork, make threads and take signals */
/* must fail because: what a parked thread then calls is compared at the gate with what it was told;
   the difference ends the process, and the call is never made */
/* an escape would: let a helper thread make a call that the attacker wrote into its block, or the
   supervisor believe in a result that never was */
/* source: ATTACKS.md V12 V1 */
#include <fcntl.h>
#include <pthread.h>

#include "stub.h"

static uint64_t *page;
static int how;

/* Blocks: nr, six arguments, next, token. */
static void *spoil(void *arg)
{
    for (uint64_t round = 0;; round++) {
        for (int s = 0; s < 12; s++) {
            volatile uint64_t *b = (void *)slot_at(s);
            switch ((how + (round >> 12)) % 6) {
            case 0:
                b[0] = SYS_uname;
                b[1] = (uint64_t)(uintptr_t)page;
                break;
            case 1:
                b[7] = (uint64_t)(uintptr_t)b; /* a loop */
                break;
            case 2:
                b[9] = 0x40000000 | 39; /* the second call of a chain: a foreign one */
                break;
            case 3:
                b[7] = 0xdead000;
                break;
            case 4:
                b[8] = rnd();
                break;
            default:
                for (size_t k = 0; k < 120; k++)
                    b[(SLOT_SIZE - 4096) / 8 + rnd() % 512] = rnd() % 3 ? rnd() : ~0ul << 47;
            }
        }
    }
    return arg;
}

static void *nothing(void *arg)
{
    return arg;
}

static void hostile(int arg)
{
    pthread_t t;
    int fd = open("/proc/self/exe", O_RDONLY);
    how = arg;
    signal(SIGUSR2, stub_handler);
    pthread_create(&t, NULL, spoil, NULL);
    for (long end = now_ms() + 300; now_ms() < end;) {
        void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        void *q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (q != MAP_FAILED)
            q = mremap(q, 8192, 16384, MREMAP_MAYMOVE);
        raise(SIGUSR2);
        if (pthread_create(&t, NULL, nothing, NULL) == 0)
            pthread_join(t, NULL);
        if (fork() == 0)
            _exit(0);
        if (p != MAP_FAILED)
            munmap(p, 8192);
        if (q != MAP_FAILED)
            munmap(q, 16384);
    }
    syscall(SYS_exit_group, 9);
}

static int attack(void)
{
    int killed = 0, rounds = 18;
    page = shared_pages(1);
    for (int i = 0; page && i < rounds; i++) {
        long start = now_ms();
        int status = in_child(hostile, i);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        killed += WIFSIGNALED(status);
        if (now_ms() - start > HANG_MS)
            return escaped("the supervisor waited %ld ms for a spoilt slot", now_ms() - start);
        for (int k = 0; k < 512; k++)
            if (page[k])
                return escaped("a call out of a spoilt slot wrote memory");
    }
    return contained("%d of %d processes ended, no call of a spoilt slot was made", killed, rounds);
}

static int twin(void)
{
    pthread_t t;
    for (int i = 0; i < 50; i++) {
        void *q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (q == MAP_FAILED || mremap(q, 8192, 16384, MREMAP_MAYMOVE) == MAP_FAILED)
            return broken("mmap, mremap: %s", err_name(errno));
        if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
            return broken("a thread");
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        if (waitpid(pid, NULL, 0) != pid)
            return broken("a process");
    }
    return works("mappings, threads and processes where nobody touches the slots");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
