/* tries: every system call 0..460 with bad pointers in each argument in turn: null, no access, the
   last bytes before a hole, the kernel's half, not canonical, the stub's code and slots, vvar,
   vsyscall */
/* must fail because: guest memory is copied by the host's own rules, and ranges of the platform
   never; a bad pointer is EFAULT */
/* an escape would: crash the supervisor, make it wait for memory, or make it write where the
   program could not */
/* source: ATTACKS.md V4 */
#include <sys/mman.h>

#include "child.h"

static uint64_t bad[12];
static int *progress;

/* Calls that end or stop the caller, or make another one, are others' subject. */
static int skipped(int nr)
{
    static const int list[] = {SYS_exit,   SYS_exit_group, SYS_fork,         SYS_vfork,
                               SYS_clone,  SYS_clone3,     SYS_pause,        SYS_kill,
                               SYS_tkill,  SYS_tgkill,     SYS_rt_sigreturn, SYS_rt_sigqueueinfo,
                               SYS_munmap, SYS_mprotect,   SYS_mremap,       SYS_brk,
                               SYS_mmap,   SYS_alarm,      SYS_shmat,        SYS_rt_tgsigqueueinfo,
                               SYS_ptrace, SYS_arch_prctl, SYS_madvise};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (list[i] == nr)
            return 1;
    return nr == 335 || nr == 336;
}

static void sweep(int nr)
{
    alarm(2);
    mute();
    for (int where = 0; where < 6; where++) {
        for (int k = 0; k < 12; k++) {
            long v[6] = {1, 1, 1, 1, 1, 1};
            v[where] = (long)bad[k];
            if (where < 5 && k % 3 == 0)
                v[where + 1] = 0x1000;
            syscall(nr, v[0], v[1], v[2], v[3], v[4], v[5]);
            progress[0]++;
        }
    }
    for (int k = 0; k < 12; k++)
        syscall(nr, bad[k], bad[k], bad[k], bad[k], bad[k], bad[k]);
}

static int attack(void)
{
    int died = 0;
    char *hole = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    progress = shared_pages(1);
    if (hole == MAP_FAILED || !progress)
        return cannot("mmap: %s", err_name(errno));
    mprotect(hole, 4096, PROT_NONE);
    munmap(hole + 8192, 4096);
    const uint64_t all[12] = {0,
                              1,
                              (uint64_t)(uintptr_t)hole,
                              (uint64_t)(uintptr_t)hole + 8190,
                              0xffff800000000000,
                              0x8000000000000000,
                              0x6fff00000000,
                              0x6fff00010000,
                              0x7ffffffff000 - 3,
                              0xffffffffff600000,
                              0x6fff00000000 - 2,
                              ~0ul};
    memcpy(bad, all, sizeof(bad));
    for (int nr = 0; nr <= 460; nr++) {
        if (skipped(nr))
            continue;
        int status = in_child(sweep, nr);
        if (status == -1)
            return escaped("after call %d no process can be made: %s", nr, err_name(errno));
        died += WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
    }
    return contained("%d calls, %d processes died of a signal, the rest went on", progress[0],
                     died);
}

static int twin(void)
{
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + 4096, 4096);
    if (sys(SYS_getcwd, p + 4094, 2) != 2 && sys(SYS_uname, p) != 0)
        return broken("getcwd at the end of a page: %s", err_name(errno));
    if (sys(SYS_uname, p + 4090) != -EFAULT)
        return broken("uname across the end of a page is not EFAULT");
    return works("results end exactly where memory ends");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
