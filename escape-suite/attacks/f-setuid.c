/* tries: become root by a setuid-root and a setgid copy of this program in every file system, then
   use that root on the host: read the canary, make devices, mount, raise limits, set the host's
   name and clock */
/* must fail because: uids and setuid bits are emulated; the host process behind the guest keeps one
   uid that nobody else has, no capability and no_new_privs */
/* an escape would: act on the host as uid 0 */
/* source: ATTACKS.md F13 */
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "tricks.h"

/* What root could do to the host; the number of things that worked. */
static int powers(void)
{
    struct rlimit rl = {RLIM_INFINITY, RLIM_INFINITY};
    const char *file = fact("host_file");
    int n = 0;
    if (file && (reach(AT_FDCWD, file) == 1 || reach_by(AT_FDCWD, "/proc/1/root", file) == 1))
        n++, step("the canary can be read");
    mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1));
    if (open("/tmp/mem", O_RDONLY) >= 0)
        n++, step("/dev/mem opens");
    if (mount("/", "/mnt", NULL, MS_BIND, NULL) == 0 && file &&
        reach_by(AT_FDCWD, "/mnt", file) == 1)
        n++, step("mount shows the host");
    if (syscall(SYS_open_by_handle_at, AT_FDCWD, (int[]){8, 1, 2, 0}, O_RDONLY) >= 0)
        n++, step("open_by_handle_at opens inode 2");
    if (syscall(SYS_iopl, 3) == 0 || syscall(SYS_ioperm, 0x80, 1, 1) == 0)
        n++, step("I/O ports are open");
    if (open("/etc/written", O_WRONLY | O_CREAT, 0600) >= 0)
        n++, step("the image can be written");
    if (setrlimit(RLIMIT_NOFILE, &rl) == 0)
        n++, step("RLIMIT_NOFILE is infinite");
    return n;
}

static int copy_self(const char *to, mode_t mode)
{
    char buf[65536];
    int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    for (ssize_t n; out >= 0 && (n = read(in, buf, sizeof(buf))) > 0;)
        write(out, buf, (size_t)n);
    close(in);
    if (out < 0)
        return -1;
    fchown(out, 0, 0);
    int r = fchmod(out, mode);
    close(out);
    return r;
}

static int as_nobody(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        setgid(65534);
        setuid(65534);
        char arg[4300];
        snprintf(arg, sizeof(arg), "host_file=%s", fact("host_file") ? fact("host_file") : "/none");
        execl(path, "f-setuid", "inner", arg, NULL);
        _exit(99);
    }
    int status = wait_for(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int attack(void)
{
    static const char *const at[] = {"/tmp/su", "/dev/shm/su", "/run/su", "/su"};
    int ran = 0, won = powers();
    for (int i = 0; i < COUNT(at); i++) {
        for (int k = 0; k < 2; k++) {
            if (copy_self(at[i], k ? 06755 : 04755) < 0)
                continue;
            int r = as_nobody(at[i]);
            ran += r != 99;
            won += r > 0 && r < 99;
        }
    }
    if (won)
        return escaped("root in the box has power over the host");
    return contained("%d setuid programs ran, none with power over the host", ran);
}

static int twin(void)
{
    /* EINVAL: a user namespace that has no such uid */
    if (setresuid(1000, 1000, 1000) < 0 && errno != EPERM && errno != EINVAL)
        return broken("setresuid: %s", err_name(errno));
    if (getuid() == 1000 && (setuid(0) == 0 || open("/proc/1/environ", O_RDWR) >= 0))
        return broken("uid 1000 went back to 0");
    return works("a program that gives up root has given it up");
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "inner") == 0) {
        attack_facts = argv + 2;
        step("setuid copy: uid %d, effective %d, gid %d", getuid(), geteuid(), getegid());
        return powers();
    }
    return attack_main(argc, argv, attack, twin);
}
