/* tries: make sockets through the host's other system call tables: int 0x80 (socket, socketcall)
   and the x32 numbers (0x40000029), where a filter that looks at the 64-bit number only is blind */
/* must fail because: the filter refuses every foreign ABI with ENOSYS or ends the program */
/* an escape would: get a descriptor or a pid from the host's kernel behind the sentry's back */
/* source: ATTACKS.md N1, seccomp(2) on audit architectures */
#include <signal.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "attack.h"

static long int80(long nr, long a, long b, long c)
{
    long r;
    __asm__ volatile("int $0x80"
                     : "=a"(r)
                     : "a"(nr), "b"(a), "c"(b), "d"(c)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)r;
}

static long x32(long nr, long a, long b, long c)
{
    return syscall(0x40000000 + nr, a, b, c) == -1 ? -errno : 1;
}

/* Each in a child: a signal is an answer too. Returns what came. */
static long in_child(int which)
{
    unsigned *args =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    int status, pipes[2];
    long r = -EPIPE;
    if (args == MAP_FAILED || pipe(pipes) < 0)
        return -EAGAIN;
    args[0] = AF_INET;
    args[1] = SOCK_STREAM;
    args[2] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        switch (which) {
        case 0:
            r = int80(359, AF_INET, SOCK_STREAM, 0);
            break; /* socket */
        case 1:
            r = int80(102, 1, (long)args, 0);
            break; /* socketcall */
        case 2:
            r = int80(20, 0, 0, 0);
            break; /* getpid */
        case 3:
            r = int80(5, (long)strcpy((char *)args, "/etc/passwd"), 0, 0);
            break; /* open */
        case 4:
            r = x32(41, AF_INET, SOCK_STREAM, 0);
            break; /* socket */
        case 5:
            r = x32(39, 0, 0, 0);
            break; /* getpid */
        case 6:
            r = x32(53, AF_INET, SOCK_STREAM, 0);
            break; /* socketpair */
        default:
            r = x32(520, 0, 0, 0);
            break; /* x32 execve */
        }
        (void)!write(pipes[1], &r, sizeof(r));
        _exit(0);
    }
    close(pipes[1]);
    if (read(pipes[0], &r, sizeof(r)) != sizeof(r))
        r = -EPIPE;
    close(pipes[0]);
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        r = -10000 - WTERMSIG(status);
    return r;
}

static int attack(void)
{
    static const char *const names[] = {"int 0x80 socket", "int 0x80 socketcall", "int 0x80 getpid",
                                        "int 0x80 open",   "x32 socket",          "x32 getpid",
                                        "x32 socketpair",  "x32 execve"};
    int got = 0;
    for (int i = 0; i < 8; i++) {
        long r = in_child(i);
        step("%s: %s", names[i],
             r <= -10000 ? strsignal((int)(-10000 - r))
             : r < 0     ? err_name(r)
                         : "it worked");
        got += r >= 0;
    }
    if (got && own_kernel())
        return escaped("%d calls of a foreign ABI were answered by the host", got);
    return contained(got ? "answered, by the kernel that answers the native calls"
                         : "no foreign call works");
}

static int twin(void)
{
    int pair[2];
    if (sys(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair) < 0 || sys(SYS_getpid) <= 0)
        return broken("native calls by number: %s", err_name(errno));
    return works("native calls by number");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
