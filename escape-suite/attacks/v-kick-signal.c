/* tries: the host signal that the supervisor reserves for itself (64): handlers, masks, ignoring
   it, floods of it by tgkill, sigqueue and timers, SIGSYS handlers, sigaltstack inside the stub's
   slots */
/* must fail because: guest signals are the supervisor's own numbers; none is ever a host signal */
/* an escape would: take the supervisor's kick for a signal of the program, or stop kicks */
/* source: ATTACKS.md V12 */
#include <time.h>

#include "stub.h"

static volatile sig_atomic_t count;
static void handler(int signo, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    count += signo == 64;
}

static void on_slots(int arg)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t ss = {.ss_sp = slot_at(arg), .ss_size = SLOT_SIZE};
    if (arg == 7)
        ss.ss_sp = (void *)STUB_CODE;
    sigaltstack(&ss, NULL);
    sigaction(64, &sa, NULL);
    for (int i = 0; i < 50; i++)
        syscall(SYS_tkill, syscall(SYS_gettid), 64);
    syscall(SYS_exit_group, 4);
}

static int attack(void)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct itimerspec its = {{0, 100000}, {0, 100000}};
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 64};
    timer_t timer;
    sigset_t set;
    sigfillset(&set);
    for (int i = 0; i < 9; i++) {
        int status = in_child(on_slots, i);
        step("alternate stack in slot %d: %s", i, end_name(status));
    }
    if (sigaction(64, &sa, NULL) < 0)
        return cannot("a handler for signal 64: %s", err_name(errno));
    /* Blocked, ignored, flooded; every round needs kicks: fork, a handler, memory. */
    timer_create(CLOCK_MONOTONIC, &ev, &timer);
    timer_settime(timer, 0, &its, NULL);
    for (int i = 0; i < 200; i++) {
        sigprocmask(i % 3 == 0 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
        if (i % 5 == 0) {
            sa.sa_handler = i % 2 ? SIG_IGN : SIG_DFL;
            sigprocmask(SIG_BLOCK, &set, NULL);
            sigaction(64, &sa, NULL);
            sa.sa_sigaction = handler;
            sigaction(64, &sa, NULL);
        }
        sigqueue(getpid(), 64, (union sigval){.sival_int = i});
        void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return escaped("no memory in round %d: %s", i, err_name(errno));
        munmap(p, 4096);
        pid_t pid = fork();
        if (pid == 0)
            syscall(SYS_exit_group, 3);
        while (pid > 0 && waitpid(pid, NULL, 0) != pid)
            if (errno != EINTR)
                return escaped("no child in round %d: %s", i, err_name(errno));
        if (pid < 0)
            return escaped("no child in round %d: %s", i, err_name(errno));
    }
    timer_delete(timer);
    return contained("signal 64 is the program's own, %d of them handled, kicks still work",
                     (int)count);
}

static int twin(void)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static char stack[65536];
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
    if (sigaltstack(&ss, NULL) < 0 || sigaction(64, &sa, NULL) < 0)
        return broken("sigaltstack, sigaction: %s", err_name(errno));
    for (int i = 0; i < 10; i++)
        raise(64);
    return count == 10 ? works("ten signals 64 on an alternate stack")
                       : broken("%d of ten signals", (int)count);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
