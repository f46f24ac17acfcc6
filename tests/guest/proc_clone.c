/* clone: flags that must go together, shared tables, ids written, clone3, unshare. */
#include <poll.h>
#include <sched.h>

#include <linux/sched.h>
#include <sys/mman.h>

#include "facts.h"

static long raw_clone(unsigned long flags, void *stack, int *ptid, int *ctid)
{
    return syscall(SYS_clone, flags, stack, ptid, ctid, 0);
}

static char stack[65536] __attribute__((aligned(16)));
static volatile int value;

static int child_fs(void *arg)
{
    (void)arg;
    value = 5;
    umask(0123);
    if (chdir("/") < 0)
        return 1;
    close(100);
    return 3;
}

static long clone3_raw(struct clone_args *args, size_t size)
{
    long pid = syscall(435, args, size);
    if (pid == 0)
        _exit(7);
    return pid;
}

static void clone3_facts(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int pidfd = -1, tid = -1;

    say_end("clone3", (pid_t)NEED(clone3_raw(&args, sizeof(args))));
    say_end("clone3, first size", (pid_t)NEED(clone3_raw(&args, 64)));
    FACT("clone3 smaller", clone3_raw(&args, 63));
    FACT("clone3 huge", clone3_raw(&args, 4097));
    FACT("clone3 bad address", clone3_raw((void *)8, 64));
    args = (struct clone_args){.exit_signal = 65};
    FACT("clone3 exit signal 65", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = SIGCHLD};
    FACT("clone3 signal in the flags", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_DETACHED, .exit_signal = SIGCHLD};
    FACT("clone3 CLONE_DETACHED", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = 1ull << 40, .exit_signal = SIGCHLD};
    FACT("clone3 unknown flag", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_PARENT, .exit_signal = SIGCHLD};
    FACT("clone3 CLONE_PARENT with signal", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_VM | CLONE_SIGHAND | CLONE_CLEAR_SIGHAND};
    FACT("clone3 SIGHAND and CLEAR_SIGHAND", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.stack = (uintptr_t)stack, .exit_signal = SIGCHLD};
    FACT("clone3 stack without size", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.stack_size = 4096, .exit_signal = SIGCHLD};
    FACT("clone3 size without stack", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.stack = 1ull << 62, .stack_size = 4096, .exit_signal = SIGCHLD};
    FACT("clone3 stack nowhere", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.set_tid_size = 1, .exit_signal = SIGCHLD};
    FACT("clone3 set_tid_size alone", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_INTO_CGROUP, .cgroup = 0, .exit_signal = SIGCHLD};
    FACT("clone3 into what is no cgroup", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_NEWNET, .exit_signal = SIGCHLD};
    FACT("clone3 CLONE_NEWNET", clone3_raw(&args, sizeof(args)));
    args = (struct clone_args){.flags = CLONE_PIDFD | CLONE_PARENT_SETTID,
                               .pidfd = (uintptr_t)&pidfd,
                               .parent_tid = (uintptr_t)&tid,
                               .exit_signal = SIGCHLD};
    args.pidfd = 8;
    FACT("clone3 pidfd nowhere", clone3_raw(&args, sizeof(args)));
    args.pidfd = (uintptr_t)&pidfd;
    pid_t pid = (pid_t)NEED(clone3_raw(&args, sizeof(args)));
    say("pidfd %d tid %d", pidfd >= 0, tid == pid);
    struct pollfd p = {pidfd, POLLIN, 0};
    VALUE("it ends", poll(&p, 1, 10000));
    say_end("clone3 with a pidfd", pid);
    close(pidfd);
    signal(SIGUSR1, SIG_DFL);
    args = (struct clone_args){.flags = CLONE_VM | CLONE_VFORK,
                               .stack = (uintptr_t)stack,
                               .stack_size = sizeof(stack),
                               .exit_signal = SIGCHLD};
    say_end("clone3 on a stack", (pid_t)NEED(clone3_raw(&args, sizeof(args))));
}

int main(void)
{
    int ptid = -1, st;
    facts_start();
    FACT("CLONE_THREAD without SIGHAND", raw_clone(CLONE_THREAD | CLONE_VM, NULL, NULL, NULL));
    FACT("CLONE_SIGHAND without VM", raw_clone(CLONE_SIGHAND | SIGCHLD, NULL, NULL, NULL));
    FACT("CLONE_FS with NEWNS", raw_clone(CLONE_FS | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL));
    FACT("CLONE_NEWPID", raw_clone(CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL));
    FACT("CLONE_NEWNET", raw_clone(CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL));

    long pid = raw_clone(SIGCHLD | CLONE_PARENT_SETTID, NULL, &ptid, NULL);
    if (pid == 0)
        _exit(1);
    say("parent tid written: %d", ptid == pid);
    say_end("clone as fork", (pid_t)pid);

    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *shared = -1;
    pid = raw_clone(SIGCHLD | CLONE_CHILD_SETTID, NULL, NULL, shared);
    if (pid == 0)
        _exit(*shared == gettid() ? 0 : 1);
    say_end("child tid written in the child", (pid_t)pid);
    pid = raw_clone(SIGCHLD | CLONE_CHILD_CLEARTID, NULL, NULL, shared);
    if (pid == 0)
        _exit(0);
    say_end("cleared at exit", (pid_t)pid);
    say("cleared: %d", *shared == 0);

    NEED(dup2(0, 100));
    char before[256], after[256];
    NEED(getcwd(before, sizeof(before)) ? 0 : -1);
    pid = NEED(clone(child_fs, stack + sizeof(stack), SIGCHLD, NULL));
    say_end("nothing shared", (pid_t)pid);
    NEED(getcwd(after, sizeof(after)) ? 0 : -1);
    say("memory %d cwd same %d fd open %d umask %03o", value, strcmp(before, after) == 0,
        fcntl(100, F_GETFD) >= 0, umask(022));
    pid = NEED(
        clone(child_fs, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL));
    say_end("all shared", (pid_t)pid);
    NEED(getcwd(after, sizeof(after)) ? 0 : -1);
    say("memory %d cwd \"%s\" fd open %d umask %03o", value, after, fcntl(100, F_GETFD) >= 0,
        umask(022));
    NEED(chdir(before));

    pid = NEED(clone(child_fs, stack + sizeof(stack), 0, NULL));
    FACT("no exit signal: plain wait", waitpid((pid_t)pid, &st, 0));
    VALUE("no exit signal: __WCLONE", waitpid((pid_t)pid, &st, __WCLONE) == pid);

    /* A brother tells the common parent as its maker would, whatever exit signal was asked for. */
    pid = NEED(fork());
    if (pid == 0) {
        long brother = raw_clone(SIGUSR1 | CLONE_PARENT, NULL, NULL, NULL);
        _exit(brother >= 0 ? 0 : 1);
    }
    say_end("made a brother", (pid_t)pid);
    VALUE("the brother ended", waitpid(-1, &st, 0) > 0 && st == 0);

    int pidfd = -1;
    pid = raw_clone(SIGCHLD | CLONE_PIDFD, NULL, &pidfd, NULL);
    if (pid == 0) {
        nap(50);
        _exit(6);
    }
    say("pidfd: %d cloexec %d", pidfd >= 0, fcntl(pidfd, F_GETFD));
    struct pollfd p = {pidfd, POLLIN, 0};
    VALUE("poll until it ends", poll(&p, 1, 5000));
    siginfo_t si;
    NEED(waitid(3 /* P_PIDFD */, (id_t)pidfd, &si, WEXITED));
    say("waitid by pidfd: status %d", si.si_status);
    FACT("signal through it", syscall(424, pidfd, 0, NULL, 0));
    close(pidfd);
    pidfd = (int)syscall(434, getpid(), 0);
    FACT("pidfd_open of oneself", pidfd);
    FACT("pidfd_open of nobody", syscall(434, 99999999, 0));
    int got = (int)syscall(438, pidfd, 0, 0);
    FACT("pidfd_getfd of one's own", got);

    clone3_facts();
    FACT("unshare nothing", unshare(0));
    FACT("unshare files", unshare(CLONE_FILES | CLONE_FS));
    FACT("unshare net", unshare(CLONE_NEWNET));
    FACT("unshare unknown", unshare(1));
    remove_work_dir();
    return 0;
}
