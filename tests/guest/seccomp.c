/* seccomp(2): strict mode, filters and their actions, chains, threads, what is refused. */
#include <pthread.h>
#include <ucontext.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "facts.h"

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(v)      BPF_STMT(BPF_RET | BPF_K, (v))
#define IS(v, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (yes), (no))

static long install(unsigned flags, struct sock_filter *code, size_t n)
{
    struct sock_fprog prog = {(unsigned short)n, code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}
#define INSTALL(flags, code) install(flags, code, sizeof(code) / sizeof(code[0]))

/* Says v for one call number, allows all others. */
static long install_for(long nr, unsigned v)
{
    struct sock_filter code[] = {LOAD(nr), IS((unsigned)nr, 0, 1), RETURN(v),
                                 RETURN(SECCOMP_RET_ALLOW)};
    return INSTALL(0, code);
}

static void in_child(const char *what, void (*fn)(void))
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        fn();
        _exit(0);
    }
    say_end(what, pid);
}

/* -- strict mode */

static void strict(void)
{
    FACT("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    say("may write");
    syscall(SYS_getppid);
    say("not here");
}

static void strict_exit(void)
{
    FACT("strict by seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL));
    syscall(SYS_exit, 9);
}

/* -- actions */

static void refuse_errno(void)
{
    FACT("getppid is EDOM", install_for(SYS_getppid, SECCOMP_RET_ERRNO | EDOM));
    FACT("getppid", syscall(SYS_getppid));
    VALUE("mode", prctl(PR_GET_SECCOMP));
    FACT("errno 0", install_for(SYS_getuid, SECCOMP_RET_ERRNO | 0));
    VALUE("getuid", syscall(SYS_getuid));
    FACT("errno 5000", install_for(SYS_getgid, SECCOMP_RET_ERRNO | 5000));
    errno = 0;
    long r = syscall(SYS_getgid);
    say("getgid %ld errno %d", r, errno);
    FACT("log", install_for(SYS_geteuid, SECCOMP_RET_LOG));
    say("geteuid works: %d", syscall(SYS_geteuid) == 65534);
    FACT("trace without a tracer", install_for(SYS_getegid, SECCOMP_RET_TRACE | 7));
    FACT("getegid", syscall(SYS_getegid));
    FACT("notification without a listener", install_for(SYS_sync, SECCOMP_RET_USER_NOTIF));
    FACT("sync", syscall(SYS_sync));
    pid_t pid = fork();
    if (pid == 0) {
        FACT("the child's getppid", syscall(SYS_getppid));
        execl("/proc/self/exe", "seccomp", "executed", (char *)NULL);
        _exit(1);
    }
    say_end("child", pid);
}

static void on_sys(int signo, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;
    say("signal %d code %d errno %d syscall is getppid %d arch ok %d address is rip %d rax is nr %d",
        signo, si->si_code, si->si_errno, si->si_syscall == SYS_getppid,
        si->si_arch == AUDIT_ARCH_X86_64,
        (uintptr_t)si->si_call_addr == (uintptr_t)uc->uc_mcontext.gregs[REG_RIP],
        uc->uc_mcontext.gregs[REG_RAX] == SYS_getppid);
    uc->uc_mcontext.gregs[REG_RAX] = 77;
}

static void trap(void)
{
    struct sigaction sa = {.sa_sigaction = on_sys, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &sa, NULL);
    FACT("trap", install_for(SYS_getppid, SECCOMP_RET_TRAP | 33));
    VALUE("getppid as the handler has it", syscall(SYS_getppid));
}

static void trap_unhandled(void)
{
    FACT("trap", install_for(SYS_getppid, SECCOMP_RET_TRAP));
    syscall(SYS_getppid);
}

static void kill_process(void)
{
    FACT("kill process", install_for(SYS_getppid, SECCOMP_RET_KILL_PROCESS));
    syscall(SYS_getppid);
}

static void kill_thread_alone(void)
{
    FACT("kill thread", install_for(SYS_getppid, SECCOMP_RET_KILL_THREAD));
    syscall(SYS_getppid);
}

static void unknown_action(void)
{
    FACT("unknown action", install_for(SYS_getppid, 0x12340000));
    syscall(SYS_getppid);
}

static volatile pid_t dying;
static void *dies(void *arg)
{
    dying = (pid_t)syscall(SYS_gettid);
    syscall(SYS_getppid);
    say("not here");
    return arg;
}

static void kill_thread(void)
{
    pthread_t th;
    FACT("kill thread", install_for(SYS_getppid, SECCOMP_RET_KILL_THREAD));
    NEED(-pthread_create(&th, NULL, dies, NULL));
    while (dying == 0 || syscall(SYS_tgkill, getpid(), dying, 0) == 0)
        usleep(1000);
    say("the process goes on without that thread");
}

/* -- chains and arguments */

static void precedence(void)
{
    FACT("allow", install_for(SYS_getppid, SECCOMP_RET_ALLOW));
    FACT("first errno", install_for(SYS_getppid, SECCOMP_RET_ERRNO | EDOM));
    FACT("second errno", install_for(SYS_getppid, SECCOMP_RET_ERRNO | ERANGE));
    FACT("log", install_for(SYS_getppid, SECCOMP_RET_LOG));
    FACT("the newest of equals", syscall(SYS_getppid));
    FACT("kill", install_for(SYS_getppid, SECCOMP_RET_KILL_PROCESS));
    FACT("errno again", install_for(SYS_getppid, SECCOMP_RET_ERRNO | EDOM));
    syscall(SYS_getppid);
}

/* A sum over the arguments by every kind of instruction, as the errno of a call. */
static void arithmetic(void)
{
    struct sock_filter code[] = {
        LOAD(nr),
        IS(SYS_sched_yield, 0, 28),
        LOAD(args[0]),
        BPF_STMT(BPF_ST, 3),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 7),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        LOAD(args[1]),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0x5a5a5a5a),
        BPF_STMT(BPF_STX, 4),
        BPF_STMT(BPF_LDX | BPF_MEM, 3),
        BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_NEG, 0),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 3),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0),
        BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x100, 0, 1),
        BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_X, 0, 0, 1),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x80, 1, 0),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1),
        BPF_STMT(BPF_JMP | BPF_JA, 0),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x7f),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_MISC | BPF_TXA, 0),
        BPF_STMT(BPF_LDX | BPF_IMM, 5),
        BPF_STMT(BPF_RET | BPF_A, 0),
        RETURN(SECCOMP_RET_ALLOW),
    };
    FACT("arithmetic", INSTALL(0, code));
    for (unsigned i = 0; i < 40; i++) {
        errno = 0;
        long r = syscall(SYS_sched_yield, (unsigned long)i * 2654435761u, i * 40503u + 17);
        say("%u: %ld %d", i, r, errno);
    }
}

static void divides(void)
{
    struct sock_filter code[] = {LOAD(nr),
                                 IS(SYS_getppid, 0, 3),
                                 BPF_STMT(BPF_LDX | BPF_IMM, 0),
                                 BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
                                 BPF_STMT(BPF_RET | BPF_A, 0),
                                 RETURN(SECCOMP_RET_ALLOW)};
    FACT("division by a register", INSTALL(0, code));
    syscall(SYS_getppid);
}

static void upper_half(void)
{
    struct sock_filter code[] = {
        LOAD(nr),
        IS(SYS_lseek, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
        IS(0x1234, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | EDOM),
        RETURN(SECCOMP_RET_ALLOW)};
    FACT("upper half", INSTALL(0, code));
    FACT("lseek 0x1234 in the upper half", syscall(SYS_lseek, -1, 0x123400000000ul, 0));
    FACT("lseek 0x1235 in the upper half", syscall(SYS_lseek, -1, 0x123500000000ul, 0));
}

/* -- threads */

static pthread_barrier_t meet;
static void *waits(void *arg)
{
    bool own = arg != NULL;
    if (own)
        NEED(install_for(SYS_sync, SECCOMP_RET_ERRNO | EDOM));
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    FACT("the other thread's getppid", syscall(SYS_getppid));
    return NULL;
}

static void sync_threads(void)
{
    struct sock_filter code[] = {LOAD(nr), IS(SYS_getppid, 0, 1), RETURN(SECCOMP_RET_ERRNO | EDOM),
                                 RETURN(SECCOMP_RET_ALLOW)};
    for (int own = 0; own < 2; own++) {
        pthread_t th;
        pthread_barrier_init(&meet, NULL, 2);
        NEED(-pthread_create(&th, NULL, waits, own ? &meet : NULL));
        pthread_barrier_wait(&meet);
        if (!own) {
            FACT("sync", INSTALL(SECCOMP_FILTER_FLAG_TSYNC, code));
        } else {
            say("sync with a thread of another chain names it: %d",
                INSTALL(SECCOMP_FILTER_FLAG_TSYNC, code) > 0);
            FACT("the same as an errno",
                 INSTALL(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH, code));
        }
        pthread_barrier_wait(&meet);
        pthread_join(th, NULL);
    }
}

/* -- refusals */

static void refused(void)
{
    struct sock_filter allow[] = {RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter no_return[] = {LOAD(nr)};
    struct sock_filter far[] = {IS(1, 1, 0), RETURN(0)};
    struct sock_filter byte[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RETURN(0)};
    struct sock_filter odd[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(0)};
    struct sock_filter beyond[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RETURN(0)};
    struct sock_filter zero[] = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(0)};
    struct sock_filter modulo[] = {BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), RETURN(0)};
    struct sock_filter shift[] = {BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RETURN(0)};
    struct sock_filter word[] = {BPF_STMT(BPF_ST, 16), RETURN(0)};
    struct sock_filter unset[] = {BPF_STMT(BPF_LD | BPF_MEM, 2), RETURN(0)};
    struct sock_filter half[] = {LOAD(nr), IS(1, 0, 1), BPF_STMT(BPF_ST, 2),
                                 BPF_STMT(BPF_LD | BPF_MEM, 2), RETURN(0)};
    struct sock_filter ret_x[] = {BPF_STMT(BPF_RET | BPF_X, 0)};
    static struct sock_filter large[5000];
    for (size_t i = 0; i < 5000; i++)
        large[i] = allow[0];

    FACT("no return", INSTALL(0, no_return));
    FACT("jump beyond the end", INSTALL(0, far));
    FACT("load of a byte", INSTALL(0, byte));
    FACT("load of an odd word", INSTALL(0, odd));
    FACT("load beyond the data", INSTALL(0, beyond));
    FACT("division by 0", INSTALL(0, zero));
    FACT("modulo", INSTALL(0, modulo));
    FACT("shift by 32", INSTALL(0, shift));
    FACT("word 16", INSTALL(0, word));
    FACT("word never written", INSTALL(0, unset));
    FACT("word written on one way only", INSTALL(0, half));
    FACT("return X", INSTALL(0, ret_x));
    FACT("empty", install(0, allow, 0));
    FACT("too long", install(0, large, 5000));
    FACT("longest", install(0, large, 4096));
    FACT("bad program address", install(0, (void *)8, 1));
    FACT("bad address", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8));
    FACT("unknown flag", INSTALL(1u << 10, allow));
    FACT("unknown operation", syscall(SYS_seccomp, 9, 0, 0));
    FACT("strict with a flag", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0));
    FACT("strict after a filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    FACT("prctl of mode 3", prctl(PR_SET_SECCOMP, 3, 0));
    unsigned action = SECCOMP_RET_ERRNO, no_action = 0x00040000;
    FACT("errno is there", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
    FACT("0x40000 is not", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &no_action));
    FACT("a flag", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 1, &action));
    FACT("a bad address", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, 8));
    struct seccomp_notif_sizes sizes;
    FACT("sizes", syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes));
    say("%d %d", sizes.seccomp_notif_resp, sizes.seccomp_data);
}

static void too_many(void)
{
    static struct sock_filter large[4096];
    int n = 0;
    for (size_t i = 0; i < 4096; i++)
        large[i] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    while (n < 100 && install(0, large, 4096) == 0)
        n++;
    say("%d of the longest programs, then %s", n, errno_name(errno));
}

static void without_privilege(void)
{
    struct sock_filter allow[] = {RETURN(SECCOMP_RET_ALLOW)};
    FACT("without no_new_privs", INSTALL(0, allow));
    FACT("by prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){1, allow}));
}

static void status(const char *when)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, "Seccomp", 7) == 0)
            say("%s: %s", when, strtok(line, "\n"));
    }
    if (f != NULL)
        fclose(f);
}

static void in_status(void)
{
    status("before");
    NEED(install_for(SYS_sync, SECCOMP_RET_ERRNO | EDOM));
    NEED(install_for(SYS_sync, SECCOMP_RET_ERRNO | EDOM));
    status("after");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        FACT("getppid after execve", syscall(SYS_getppid));
        return strcmp(argv[1], "executed") == 0 ? 3 : 4;
    }
    facts_start();
    in_child("without privilege", without_privilege);
    NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    in_child("strict", strict);
    in_child("strict exit", strict_exit);
    in_child("errno", refuse_errno);
    in_child("trap", trap);
    in_child("trap unhandled", trap_unhandled);
    in_child("kill process", kill_process);
    in_child("kill thread, alone", kill_thread_alone);
    in_child("kill thread", kill_thread);
    in_child("unknown action", unknown_action);
    in_child("precedence", precedence);
    in_child("arithmetic", arithmetic);
    in_child("division", divides);
    in_child("upper half", upper_half);
    in_child("threads", sync_threads);
    in_child("refused", refused);
    in_child("too many", too_many);
    in_child("status", in_status);
    return 0;
}
