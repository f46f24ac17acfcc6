/* The end of threads and groups: main thread first, exit_group, execve and fork from a thread. */
#include <pthread.h>

#include "facts.h"

static void *late(void *arg)
{
    nap(50);
    exit((int)(intptr_t)arg);
    return NULL;
}

static void *exec_thread(void *arg)
{
    (void)arg;
    execl("/proc/self/exe", "x", "second", (char *)NULL);
    _exit(1);
    return NULL;
}

static void *fork_thread(void *arg)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(gettid() == getpid() ? 21 : 22);
    int st;
    waitpid(pid, &st, 0);
    *(int *)arg = WEXITSTATUS(st);
    return NULL;
}

static void *wait_thread(void *arg)
{
    int st;
    waitpid(*(pid_t *)arg, &st, 0);
    return (void *)(intptr_t)WEXITSTATUS(st);
}

static volatile pid_t raw_tid;

static void *raw_exit(void *arg)
{
    (void)arg;
    raw_tid = gettid();
    syscall(SYS_exit, 5);
    return NULL;
}

static void *segfault(void *arg)
{
    (void)arg;
    *(volatile int *)8 = 1;
    return NULL;
}

static void *idle(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void in_child(const char *label, void (*fn)(void))
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        fn();
        _exit(90);
    }
    say_end(label, pid);
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    NEED(-pthread_create(&t, NULL, fn, arg));
    return t;
}

static void main_first(void)
{
    start(late, (void *)11);
    pthread_exit(NULL);
}

static void main_raw_exit(void)
{
    start(late, (void *)12);
    syscall(SYS_exit, 99);
}

static void all_raw_exit(void)
{
    start(raw_exit, NULL);
    /* The last one to leave says the status (since Linux 5.17). */
    while (raw_tid == 0 || syscall(SYS_tgkill, getpid(), raw_tid, 0) == 0)
        nap(1);
    syscall(SYS_exit, 6);
}

static void group_exit(void)
{
    for (int i = 0; i < 5; i++)
        start(idle, NULL);
    nap(20);
    _exit(13);
}

static void crash_in_thread(void)
{
    start(segfault, NULL);
    for (;;)
        pause();
}

static void exec_in_thread(void)
{
    for (int i = 0; i < 3; i++)
        start(idle, NULL);
    start(exec_thread, NULL);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        int threads = 0;
        char path[64];
        for (int i = 0; i < 1; i++) {
            snprintf(path, sizeof(path), "/proc/self/task/%d", getpid());
            threads += access(path, F_OK) == 0;
        }
        say("after execve: tid is pid %d, task entry %d", gettid() == getpid(), threads);
        return 14;
    }
    facts_start();
    in_child("main thread leaves first", main_first);
    in_child("main thread leaves by exit(2)", main_raw_exit);
    in_child("all leave by exit(2)", all_raw_exit);
    in_child("exit_group with idle threads", group_exit);
    in_child("fault in a thread", crash_in_thread);
    in_child("execve in a thread", exec_in_thread);

    int code = 0;
    pthread_join(start(fork_thread, &code), NULL);
    say("fork in a thread: child is its own leader %d", code == 21);
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(31);
    void *r;
    pthread_join(start(wait_thread, &pid), &r);
    say("another thread may wait: %d", (int)(intptr_t)r);
    pid = NEED(fork());
    if (pid == 0) {
        for (int i = 0; i < 4; i++)
            start(idle, NULL);
        for (;;)
            pause();
    }
    nap(50);
    kill(pid, SIGKILL);
    say_end("SIGKILL of a threaded process", pid);
    pid = NEED(fork());
    if (pid == 0) {
        start(idle, NULL);
        for (;;)
            pause();
    }
    nap(50);
    kill(pid, SIGSTOP);
    int st;
    waitpid(pid, &st, WUNTRACED);
    say("stop of a threaded process: %s", status_text(st));
    kill(pid, SIGCONT);
    waitpid(pid, &st, WCONTINUED);
    say("continue: %s", status_text(st));
    kill(pid, SIGTERM);
    say_end("SIGTERM", pid);
    remove_work_dir();
    return 0;
}
