/* tries: speaks the words of the stub's signal handler itself, with every signal number 0..255 */
/* must fail because: only the signals that the stub has a handler for are believed, with a frame
   inside of the thread's own slot; anything else ends the process that said it */
/* an escape would: let the number index the supervisor's table of signal actions, and write its
   memory beyond the end of that table */
/* source: ATTACKS.md V12 */
#include "stub.h"

static int slot;
static char stack[65536];

static void landed(void)
{
    syscall(SYS_exit_group, 7);
}

static void speak(int signo)
{
    struct host_frame *f =
        frame_init(slot_at(slot) + 0x3000 - 8, landed, stack + sizeof(stack) - 64);
    sigset_t all;
    sigfillset(&all); /* a blocked signal is forced: the table is written */
    sigprocmask(SIG_SETMASK, signo & 1 ? &all : NULL, NULL);
    stub_jump(OFF_PARK, f, KIND_SIGNAL | (uint64_t)signo << 8, 0, 0, 0);
}

/* A frame that wraps around the end of the address space. */
static void speak_far(int signo)
{
    stub_jump(OFF_PARK, (void *)(~0ul - 7 - (unsigned)signo), KIND_SIGNAL | 11 << 8, 0, 0, 0);
}

static int attack(void)
{
    int killed = 0, other = 0, status = 0;
    slot = stub_slot();
    if (slot < 0)
        return cannot("the stub's slot of this thread was not found");
    for (int signo = 0; signo < 256; signo++) {
        status = in_child(speak, signo);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        if (WIFSIGNALED(status))
            killed++;
        else
            other++;
    }
    step("256 numbers: %d processes ended by a signal, %d went on", killed, other);
    status = in_child(speak_far, 0);
    step("frame at the end of the address space: %s", end_name(status));
    /* A supervisor whose memory is damaged does not fork and map as before. */
    for (int i = 0; i < 50; i++) {
        void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || munmap(p, 65536) < 0)
            return escaped("memory calls fail afterwards: %s", err_name(errno));
    }
    return contained("a forged fault hurts only who forged it");
}

static volatile sig_atomic_t seen;
static void handler(int signo)
{
    seen = signo;
}

static int twin(void)
{
    static const int signals[] = {SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSYS};
    for (size_t i = 0; i < 6; i++) {
        seen = 0;
        signal(signals[i], handler);
        raise(signals[i]);
        if (seen != signals[i])
            return broken("signal %d was not handled", signals[i]);
    }
    return works("handlers of six synchronous signals run");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
