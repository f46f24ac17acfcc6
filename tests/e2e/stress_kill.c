/*
 * For stress_kill.sh: makes processes, threads, pipes and images, and kills whatever it has made at
 * random moments, for so many seconds. At the end nothing of its own is left and it says so.
 *
 *      stress_kill SECONDS SEED
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
    WORKERS = 12
};

static uint64_t state;

static unsigned rnd(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static void *thread_work(void *arg)
{
    volatile unsigned *word = arg;
    for (;;) {
        syscall(SYS_futex, word, 128, *word, &(struct timespec){0, 1000000}, NULL, 0);
        ++*word;
        free(malloc(1000));
    }
    return NULL;
}

static void threads(void)
{
    static unsigned word;
    pthread_t th;
    for (int i = 0; i < 3; i++) {
        if (pthread_create(&th, NULL, thread_work, &word) != 0)
            _exit(1);
    }
    thread_work(&word);
}

static void pipes(void)
{
    int p[2];
    char buf[5000] = {0};
    if (pipe(p) < 0)
        _exit(1);
    if (fork() == 0) {
        while (read(p[0], buf, sizeof(buf)) > 0)
            continue;
        _exit(0);
    }
    for (;;) {
        if (write(p[1], buf, sizeof(buf)) < 0)
            _exit(1);
    }
}

static void forks(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(3);
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
}

static void execs(void)
{
    for (;;) {
        pid_t pid = rnd(2) ? fork() : vfork();
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(4);
        }
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
}

static void memory(void)
{
    for (;;) {
        size_t n = (1 + rnd(64)) * 4096;
        char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                       (rnd(2) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            _exit(1);
        memset(p, 1, n);
        munmap(p, n);
    }
}

static void alarm_handler(int signo)
{
    (void)signo;
}

static void signals(void)
{
    struct sigaction sa = {.sa_handler = alarm_handler};
    struct itimerval itv = {{0, 2000}, {0, 2000}};
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &itv, NULL);
    for (;;)
        pause();
}

static void (*const work[])(void) = {threads, pipes, forks, execs, memory, signals};

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void reap_all(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static pid_t start(void)
{
    unsigned kind = rnd(sizeof(work) / sizeof(work[0]));
    uint64_t seed = state + kind + 1;
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        state = seed;
        work[kind]();
        _exit(5);
    }
    if (pid > 0)
        setpgid(pid, pid);
    return pid;
}

static void end(pid_t pid)
{
    static const int how[] = {SIGKILL, SIGKILL, SIGTERM, SIGSEGV, SIGSTOP};
    int signo = how[rnd(5)];
    kill(-pid, signo);
    if (signo == SIGSTOP || signo == SIGSEGV) {
        usleep(rnd(2000));
        kill(-pid, SIGCONT);
        kill(-pid, SIGKILL);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    pid_t pids[WORKERS] = {0};
    long kills = 0;

    state = argc > 2 ? strtoull(argv[2], NULL, 0) * 2 + 1 : 12345;
    for (double stop = now() + seconds; now() < stop;) {
        unsigned i = rnd(WORKERS);
        if (pids[i] > 0) {
            end(pids[i]);
            kills++;
        }
        pids[i] = start();
        reap_all();
        usleep(rnd(8000));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        if (pids[i] > 0)
            kill(-pids[i], SIGKILL);
    }
    /* Orphans end, and are ours to reap, a little later. */
    for (int i = 0; i < 200 && (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD); i++)
        usleep(10000);
    printf("%ld kills, %s\n", kills,
           kill(-1, 0) < 0 && errno == ESRCH ? "nothing left" : "something left");
    fflush(stdout);
    (void)getchar(); /* whoever looks from outside looks now */
    return 0;
}
