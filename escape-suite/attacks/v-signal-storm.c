/* tries: a signal every fifty microseconds, with and without SA_RESTART, around close, dup, fork,
   open, munmap and writes to a pipe that fills up */
/* must fail because: nothing takes effect before the answer is certain; a call that was begun twice
   has one effect, and calls that Linux never interrupts are not interrupted */
/* an escape would: write a byte twice, lose one, or fail close and fork with EINTR, which leaves
   descriptors and children behind that the program does not know of */
/* source: ATTACKS.md V7; sandlock #241; gvisor #12820 */
#include <pthread.h>

#include <sys/time.h>

#include "child.h"

static volatile sig_atomic_t signals;
static void handler(int signo)
{
    (void)signo;
    signals++;
}

static void storm(int flags, long us)
{
    struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval it = {{0, us}, {0, us}};
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &it, NULL);
}

/* Numbered words through a pipe: none twice, none missing. */
static void *reader(void *arg)
{
    uint32_t want = 0, got[512];
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (ssize_t n; (n = read(*(int *)arg, got, sizeof(got))) > 0;)
        for (ssize_t i = 0; i < n / 4; i++)
            if (got[i] != want++)
                return (void *)1;
    return NULL;
}

static int numbers(long ms)
{
    int pipes[2];
    pthread_t t;
    void *bad;
    uint32_t at = 0, block[300];
    pipe(pipes);
    pthread_create(&t, NULL, reader, &pipes[0]);
    for (long end = now_ms() + ms; now_ms() < end;) {
        for (uint32_t i = 0; i < 300; i++)
            block[i] = at + i;
        ssize_t n = write(pipes[1], block, sizeof(block));
        if (n > 0)
            at += (uint32_t)(n / 4);
        if (n > 0 && n % 4)
            return -1;
    }
    close(pipes[1]);
    pthread_join(t, &bad);
    return bad ? -1 : (int)at;
}

static int attack(void)
{
    int errors = 0, rounds = 0, words, status;
    for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
        storm(flags, 50);
        for (long end = now_ms() + 700; now_ms() < end; rounds++) {
            int fd = open("/proc/self/exe", O_RDONLY), other = dup(0);
            errors += other < 0 && errno == EINTR;
            errors += fd >= 0 && close(fd) < 0;
            errors += other >= 0 && close(other) < 0;
            void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            errors += p == MAP_FAILED || munmap(p, 4096) < 0;
            pid_t pid = fork();
            if (pid == 0)
                _exit(5);
            if (pid < 0)
                errors++;
            while (pid > 0 && waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                    return escaped("a child is lost: %s", err_name(errno));
        }
        words = numbers(700);
        storm(flags, 0);
        if (words < 0)
            return escaped("a word was written twice or lost");
        step("flags %#x: %d rounds, %d words, %d signals", flags, rounds, words, (int)signals);
    }
    if (errors)
        return escaped("%d calls failed that are never interrupted", errors);
    if (signals == 0)
        return cannot("no signal came");
    return contained("every call had one effect");
}

static int twin(void)
{
    int words = numbers(100);
    if (words <= 0)
        return broken("words through a pipe");
    storm(SA_RESTART, 1000);
    while (signals < 10)
        ;
    storm(0, 0);
    return works("%d words through a pipe; an interval timer ticks", words);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
