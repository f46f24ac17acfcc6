/*
 * The zygote: a tiny static program without a C library, run from a memfd as pid 1 of the guests.
 * It installs the signal handlers and the slots, sends its memory map through descriptor 0, sets
 * the filter and enters the stub for good. From then on the sentry tells it what to do (first of
 * all: to close and unmap everything but the stub), and every new address space is a fork of it.
 *
 * Descriptors: 0 the pipe to the sentry, 1 the directory /proc of outside. The listener that
 * seccomp(2) makes is therefore 2, which the sentry knows. Messages before the filter are text: the
 * memory map, or "!name number" for a failed call.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "platform/stub/page.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum {
    FD_PIPE = 0,
    FD_PROC = 1,
    ENOSYS_NR = 38,
    SIG_KILL = 9
};

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long ret;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

#define CALL(nr, a, b, c, d) call6((nr), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static void die(const char *what, long err)
{
    char text[64];
    unsigned long n = 0, v = (unsigned long)-err, div = 1000;

    text[n++] = '!';
    while (*what)
        text[n++] = *what++;
    text[n++] = ' ';
    for (; div; div /= 10)
        text[n++] = (char)('0' + v / div % 10);
    CALL(SYS_write, FD_PIPE, text, n, 0);
    CALL(SYS_exit_group, 1, 0, 0, 0);
    for (;;)
        ;
}

static void check(const char *what, long ret)
{
    if (ret < 0 && ret >= -4095)
        die(what, ret);
}

/* struct sigaction of the host kernel */
struct host_sigaction {
    unsigned long handler, flags, restorer, mask;
};

static void set_handlers(void)
{
    static const unsigned char signals[] = {11, 7, 8, 4, 5, 31, STUB_KICK_SIGNAL};
    struct host_sigaction sa;

    sa.handler = STUB_CODE + STUB_OFF_SIGNAL;
    sa.flags = 0x4 | 0x08000000 | 0x10000000 | 0x04000000; /* SIGINFO ONSTACK RESTART RESTORER */
    sa.restorer = STUB_CODE + STUB_OFF_RESUME;
    sa.mask = ~0ul;
    for (unsigned long i = 0; i < sizeof(signals); i++)
        check("rt_sigaction", CALL(SYS_rt_sigaction, signals[i], &sa, 0, 8));
}

static void block_signals(void)
{
    unsigned long all = ~0ul;

    check("rt_sigprocmask", CALL(SYS_rt_sigprocmask, 2, &all, 0, 8));
}

static void map_slots(const char *count)
{
    unsigned long n = 0;

    while (*count >= '0' && *count <= '9')
        n = n * 10 + (unsigned long)(*count++ - '0');
    check("slots", call6(SYS_mmap, (long)STUB_SLOTS, (long)(n * STUB_SLOT_SIZE), 3,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));
}

static void send_maps(void)
{
    char text[8192];
    long fd = CALL(SYS_openat, FD_PROC, "self/maps", 0, 0);
    unsigned long n = 0;

    check("maps", fd);
    for (;;) {
        long got = CALL(SYS_read, fd, text + n, sizeof(text) - n, 0);

        check("maps", got);
        if (!got || n == sizeof(text))
            break;
        n += (unsigned long)got;
    }
    CALL(SYS_close, fd, 0, 0, 0);
    check("write", CALL(SYS_write, FD_PIPE, text, n, 0));
}

#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (field))
#define EQ(v, t, f)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (t), (f))
#define SET(v, t, f) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (v), (t), (f))
#define RETURN(v)    BPF_STMT(BPF_RET | BPF_K, (v))
#define DATA(member) ((unsigned int)__builtin_offsetof(struct seccomp_data, member))

/* Everything asks the sentry, except the stub's own return from a signal; foreign ABIs get ENOSYS.
 */
static void set_filter(void)
{
    static const struct sock_filter code[] = {
        LOAD(DATA(arch)),
        EQ(AUDIT_ARCH_X86_64, 1, 0),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS_NR),
        LOAD(DATA(nr)),
        SET(0x40000000, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS_NR),
        EQ(SYS_rt_sigreturn, 0, 5),
        LOAD(DATA(instruction_pointer)),
        EQ((unsigned int)(STUB_CODE + STUB_IP_RETURN), 0, 3),
        LOAD(DATA(instruction_pointer) + 4),
        EQ((unsigned int)((STUB_CODE + STUB_IP_RETURN) >> 32), 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog prog;
    long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

    prog.len = sizeof(code) / sizeof(code[0]);
    prog.filter = unconst(code);
    check("seccomp", CALL(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog, 0));
}

/* sp: argc, argv[0], argv[1] ... as the host leaves them on the stack. */
void zygote_main(const char *const *sp);
void zygote_main(const char *const *sp)
{
    const char *count = sp[2];

    block_signals();
    set_handlers();
    map_slots(count);
    send_maps();
    set_filter();
    __asm__ volatile("mov $1, %%r12d\n\t"
                     "xor %%esi, %%esi\n\t"
                     "xor %%r8d, %%r8d\n\t"
                     "jmp *%0"
                     :
                     : "r"(STUB_CODE + STUB_OFF_PARK), "D"((long)STUB_KIND_DONE)
                     : "rsi", "r8", "r12");
    __builtin_unreachable();
}

__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call zygote_main\n"
        "    ud2\n");
