/* tries: returns from signal handlers through frames with random contents: selectors, flags, kernel
   and non-canonical addresses, extended state with wrong magic, sizes and reserved bits, masks,
   alternate stacks; the same through the stub's own rt_sigreturn */
/* must fail because: the supervisor cleans what it hands on, and the host's kernel checks the rest
   as for any program; a bad frame ends the process that made it */
/* an escape would: return into the kernel's half, keep the host's signals blocked, or let the
   supervisor read beyond the frame */
/* source: ATTACKS.md V12; BUGS.md 24 */
#include <sys/ucontext.h>

#include "stub.h"

static int how;
static char stack[65536];
static char copy[32768] __attribute__((aligned(64)));

static uint64_t wild(void)
{
    static const uint64_t list[] = {0,
                                    1,
                                    0x800000000000,
                                    0xffffffff81000000,
                                    0xffffffffff600000,
                                    STUB_CODE,
                                    STUB_SLOTS + 0x4000,
                                    0x7ffffffff000,
                                    ~0ul,
                                    64};
    return rnd() % 2 ? rnd() : list[rnd() % 10];
}

static void handler(int signo, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    greg_t *g = uc->uc_mcontext.gregs;
    uint32_t *fp = (void *)uc->uc_mcontext.fpregs;
    (void)signo;
    (void)info;
    switch (how % 10) {
    case 0:
        g[REG_CSGSFS] = (greg_t)wild();
        break;
    case 1:
        g[REG_EFL] = (greg_t)wild();
        break;
    case 2:
        g[REG_RIP] = (greg_t)wild();
        break;
    case 3:
        g[REG_RSP] = (greg_t)wild();
        break;
    case 4:
        uc->uc_mcontext.fpregs = (void *)wild();
        break;
    case 5:
        fp[116 + rnd() % 12] = (uint32_t)wild(); /* the software's words: magic, sizes, features */
        break;
    case 6:
        for (int i = 0; i < 40; i++)
            fp[rnd() % 640] = (uint32_t)rnd(); /* mxcsr, the xsave header, registers */
        break;
    case 7:
        memset(&uc->uc_sigmask, 0xff, 8);
        uc->uc_stack.ss_sp = (void *)wild();
        uc->uc_stack.ss_flags = (int)rnd();
        uc->uc_stack.ss_size = wild();
        break;
    case 8:
        uc->uc_flags = wild();
        uc->uc_link = (void *)wild();
        break;
    default:
        for (int i = 0; i < 23; i++)
            if (rnd() % 4 == 0)
                g[i] = (greg_t)wild();
    }
}

static void guest_frame(int arg)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    how = arg;
    for (int i = 0; i < arg; i++)
        rnd();
    mute();
    alarm(2);
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
}

static void landed(void)
{
    syscall(SYS_getpid);
    syscall(SYS_exit_group, 7);
}

static void host_frame(int arg)
{
    struct host_frame *f = frame_init(copy, landed, stack + sizeof(stack));
    uint64_t *words = (void *)f;
    for (int i = 0; i < arg * 3; i++)
        rnd();
    alarm(2);
    for (int i = 0; i < 1 + arg % 4; i++)
        words[rnd() % (sizeof(*f) / 8 - 16)] = wild();
    stub_return(f);
}

static int attack(void)
{
    int died[2] = {0}, n = 300;
    for (int i = 0; i < n; i++) {
        int a = in_child(guest_frame, i), b = in_child(host_frame, i);
        if (a == -1 || b == -1)
            return escaped("no process after frame %d: %s", i, err_name(errno));
        died[0] += WIFSIGNALED(a);
        died[1] += WIFSIGNALED(b);
    }
    return contained("%d frames of each kind: %d and %d processes died, the others went on", n,
                     died[0], died[1]);
}

static void keep(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RBX] ^= 0;
}

static int twin(void)
{
    struct sigaction sa = {.sa_sigaction = keep, .sa_flags = SA_SIGINFO};
    double x = 1.5;
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < 100; i++) {
        raise(SIGUSR1);
        x = x * 1.5 - 0.75;
    }
    return x == 1.5 ? works("a hundred handlers return, registers are kept")
                    : broken("registers changed");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
