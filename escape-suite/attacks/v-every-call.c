/* tries: every call number 0..600 and some far ones with random arguments, in a child each, among
   150 others, so that what one call left is met by the next */
/* must fail because: an unknown or malformed call is an errno; nothing that a guest says reaches an
   assertion of the supervisor */
/* an escape would: crash, hang or fill the supervisor */
/* source: ATTACKS.md V15 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "child.h"

static unsigned char *buf;

static uint64_t argument(void)
{
    switch (rnd() % 11) {
    case 0:
    case 1:
        return rnd() % 16;
    case 2:
        return rnd() % 2 ? rnd() % 4096 : rnd() % 16 * 4096;
    case 3:
        return ~0ul - rnd() % 3 * 99;
    case 4:
    case 5:
    case 6:
        return (uint64_t)(uintptr_t)buf + rnd() % 64 * 64;
    case 7:
        return 1ul << rnd() % 64;
    case 8:
        return 0x6fff00000000ul + rnd() % 0x100000;
    case 9:
        return (uint64_t)(uintptr_t)&argument - rnd() % 65536;
    default:
        return rnd();
    }
}

/* What is done to the process that a call names is done to the caller itself: the parent, whose
 * limits would be lowered and who would be stopped, has to go on. */
static uint64_t whom(int nr, uint64_t pid)
{
    static const int list[] = {SYS_prlimit64,
                               SYS_tkill,
                               SYS_tgkill,
                               SYS_rt_sigqueueinfo,
                               SYS_rt_tgsigqueueinfo,
                               SYS_sched_setaffinity,
                               SYS_sched_setscheduler,
                               SYS_sched_setparam,
                               SYS_sched_setattr,
                               SYS_pidfd_open};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (list[i] == nr && (pid_t)pid == getppid())
            return (uint64_t)getpid();
    return pid;
}

static void calls(int nr)
{
    int fds[2];
    mute();
    for (int i = 0; i < 700 + nr % 97; i++)
        rnd();
    for (int i = 0; i < 65536; i += 8)
        *(uint64_t *)(buf + i) = rnd() % 3 ? rnd() % 256 : rnd();
    pipe(fds);
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    epoll_create1(0);
    memfd_create("x", 2);
    alarm(2);
    for (int i = 0; i < 150; i++) {
        int n = i % 5 ? (int)(rnd() % 470) : nr;
        if (n == SYS_fork || n == SYS_vfork || n == SYS_clone || n == SYS_clone3 ||
            n == SYS_alarm || n == SYS_pause || n == SYS_kill || n == SYS_setitimer ||
            n == SYS_write || n == 335)
            n = SYS_getpid;
        uint64_t a[6];
        for (int k = 0; k < 6; k++)
            a[k] = argument();
        if (n == SYS_ptrace)
            a[1] = a[1] == (uint64_t)getppid() ? 0 : a[1];
        syscall(n, whom(n, a[0]), a[1], a[2], a[3], a[4], a[5]);
    }
}

static int attack(void)
{
    int ended[3] = {0};
    buf = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int nr = 0; nr < 608; nr++) {
        int status = in_child(calls, nr < 600 ? nr : (1 << (nr - 600 + 22)));
        if (status == -1)
            return escaped("after call %d no process can be made: %s", nr, err_name(errno));
        ended[!WIFSIGNALED(status) ? 0 : WTERMSIG(status) == SIGALRM ? 1 : 2]++;
    }
    return contained("608 processes: %d came to their end, %d were stopped in a call, %d died",
                     ended[0], ended[1], ended[2]);
}

static int twin(void)
{
    if (sys(SYS_getpid) <= 0 || sys(SYS_getppid) < 0 || sys(1 << 28) != -ENOSYS ||
        sys(599) != -ENOSYS)
        return broken("getpid or an unknown number");
    return works("known calls are answered, unknown ones are ENOSYS");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
