/* Calls under a storm of signals: close, dup, pipe and fork never fail with EINTR; nothing is lost.
 */
#include <pthread.h>

#include <sys/mman.h>
#include <sys/time.h>

#include "facts.h"

static volatile sig_atomic_t hits;

static void on_signal(int signo)
{
    (void)signo;
    hits++;
}

static void storm(int usec)
{
    struct itimerval it = {{0, usec}, {0, usec}};
    setitimer(ITIMER_REAL, &it, NULL);
}

static void *brief(void *arg)
{
    (void)arg;
    getppid();
    return NULL;
}

int main(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    int bad = 0, p[2];
    facts_start();
    sigaction(SIGALRM, &sa, NULL);
    storm(700);
    for (int i = 0; i < 2000; i++) {
        int fd = dup(0);
        bad += fd < 0;
        bad += close(fd) < 0;
    }
    say("dup and close: %d failures", bad);
    bad = 0;
    for (int i = 0; i < 500; i++) {
        void *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        bad += m == MAP_FAILED;
        bad += mprotect(m, 4096, PROT_READ) < 0;
        bad += munmap(m, 8192) < 0;
        bad += pipe(p) < 0 || close(p[0]) < 0 || close(p[1]) < 0;
    }
    say("mmap, mprotect, munmap, pipe: %d failures", bad);
    storm(20000);
    bad = 0;
    for (int i = 0; i < 30; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(7);
        int st = 0;
        pid_t r;
        while ((r = waitpid(pid, &st, 0)) < 0 && errno == EINTR)
            ;
        bad += pid < 0 || r != pid || WEXITSTATUS(st) != 7;
    }
    storm(0);
    say("fork and wait: %d failures", bad);
    say("signals came: %d", hits > 0);

    /* SIGURG is ignored by default but must be delivered to a handler, every time. */
    sigaction(SIGURG, &sa, NULL);
    hits = 0;
    for (int i = 0; i < 3000; i++)
        syscall(SYS_tgkill, getpid(), gettid(), SIGURG);
    say("SIGURG to oneself: %d", hits);

    /* Threads that end during a call, and a group that is killed during calls. */
    bad = 0;
    for (int i = 0; i < 20; i++) {
        pid_t pid = NEED(fork());
        if (pid == 0) {
            pthread_t t;
            for (int k = 0; k < 4; k++)
                pthread_create(&t, NULL, brief, NULL);
            _exit(5);
        }
        int st;
        waitpid(pid, &st, 0);
        bad += !WIFEXITED(st) || WEXITSTATUS(st) != 5;
    }
    say("exit_group while threads call: %d failures", bad);
    remove_work_dir();
    return 0;
}
