/* tries: clone and clone3 with every single flag, every pair of them and random sets; stacks and
   TLS in the kernel's half and the stub; set_tid arrays, cgroup descriptors, structures of every
   size; unshare and setns with every namespace */
/* must fail because: the flags of the host's clone are one of two fixed sets; what the guest asked
   for is the supervisor's to emulate or refuse */
/* an escape would: make a namespace, a traced or parentless process of the host, or a task that no
   limit counts */
/* source: ATTACKS.md N9 R1; BUGS.md 3 */
#include <fcntl.h>
#include <sched.h>

#include <linux/sched.h>

#include "child.h"

static char stack[65536];
static int namespaces;

static void made(void)
{
    for (;;)
        syscall(SYS_exit, 0);
}

static uint64_t wild_stack(int i)
{
    static const uint64_t list[] = {0, 0x6fff00014000, 0xffff888000000000, 0x7ffffffff000, 1};
    uint64_t *top = (void *)(stack + sizeof(stack) - 64);
    top[0] = (uint64_t)(uintptr_t)made;
    return i % 3 ? (uint64_t)(uintptr_t)top : list[i / 3 % 5];
}

static void cloned(uint64_t flags, int i)
{
    flags = (flags & ~0xfful) | SIGCHLD; /* SIGSTOP as exit signal would only stop ourselves */
    uint64_t tls = i % 4 ? 0x10000 : 0xffff800000000000, sp = wild_stack(i);
    int tid = 0;
    register long r10 __asm__("r10") = (long)&tid, r8 __asm__("r8") = (long)tls;
    long ret = SYS_clone;
    /* The child returns to made(), or dies of a stack that is none. */
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tjmp *%5\n1:"
                     : "+a"(ret)
                     : "D"(flags), "S"(sp), "d"(&tid), "r"(r10), "r"(made), "r"(r8)
                     : "rcx", "r11", "memory");
    if (ret > 0 && (flags & (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID)))
        namespaces++;
}

static void clones(int arg)
{
    alarm(4);
    for (int b = 0; b < 32; b++)
        cloned((1ul << arg) | (1ul << b) | (b % 2 ? SIGCHLD : 0), b);
    for (int i = 0; i < 40; i++)
        cloned(rnd() & 0xffffffff & ~(uint64_t)CLONE_VFORK, i);
    uint64_t args[32];
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 32; k++)
            args[k] = rnd() % 4 ? 0 : rnd() >> rnd() % 64;
        args[0] = 1ul << (arg + i) % 64;
        args[4] = args[4] ? SIGCHLD : 0;
        if (syscall(SYS_clone3, args, (size_t[]){0, 64, 80, 88, 96, 255, 4096, ~0ul}[i % 8]) == 0)
            syscall(SYS_exit_group, 0);
    }
    syscall(SYS_exit_group, namespaces ? 99 : 0);
}

static int attack(void)
{
    static const uint64_t ns[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,    CLONE_NEWPID,
                                  CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80};
    int bad = 0;
    for (int i = 0; i < 32; i++) {
        int status = in_child(clones, i);
        if (status == -1)
            return escaped("no process after flag %d: %s", i, err_name(errno));
        bad += WIFEXITED(status) && WEXITSTATUS(status) == 99;
    }
    for (int i = 0; i < 8; i++) {
        long r = sys(SYS_unshare, ns[i]);
        char path[64];
        snprintf(
            path, sizeof(path), "/proc/1/ns/%s",
            ((const char *[]){"user", "mnt", "net", "pid", "ipc", "uts", "cgroup", "time"})[i]);
        int fd = open(path, O_RDONLY);
        long s = fd >= 0 ? sys(SYS_setns, fd, 0) : -errno;
        step("unshare %#lx: %s; setns: %s", ns[i], err_name(r < 0 ? r : 0),
             err_name(s < 0 ? s : 0));
        bad += r == 0 || s == 0;
    }
    if (bad)
        return escaped("%d namespaces were made or entered", bad);
    return contained("no flag makes a namespace, every process is still the run's own");
}

static int twin(void)
{
    int status;
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, 0, &status, 0, 0);
    if (pid == 0)
        _exit(3);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
        return broken("clone as fork: %s", err_name(errno));
    return works("clone as fork makes a process");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
