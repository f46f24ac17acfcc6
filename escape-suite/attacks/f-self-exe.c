/* tries: open the running program for writing through /proc/self/exe, /proc/1/exe, /proc/self/fd/N
   of an O_PATH descriptor and /proc/CHILD/exe while the child execs again and again */
/* must fail because: /proc/PID/exe names the guest's own file in the read-only image, never the
   runtime's binary, whatever moment it is looked at */
/* an escape would: hold a writable descriptor of the runtime's program, which then runs outside the
   box with the attacker's bytes in it (CVE-2019-5736) */
/* source: ATTACKS.md F1 */
#include <sys/mman.h>

#include "tricks.h"

static int writable(const char *name)
{
    static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND,
                                O_RDWR | O_CREAT};
    for (int i = 0; i < COUNT(flags); i++) {
        int fd = open(name, flags[i] | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd;
    }
    return -errno;
}

static int try_name(const char *name)
{
    char link[64], target[4096];
    ssize_t n = readlink(name, target, sizeof(target) - 1);
    step("%s -> %.*s: %s", name, (int)(n < 0 ? 0 : n), target, err_name(writable(name)));
    if (writable(name) >= 0)
        return 1;
    int p = open(name, O_PATH);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", p);
    if (p >= 0 && writable(link) >= 0)
        return 1;
    close(p);
    int fd = open(name, O_RDONLY);
    void *m = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (m == MAP_FAILED)
        return 0;
    return 1;
}

static int attack(void)
{
    char name[64];
    int tries = 0, foreign = 0;
    snprintf(name, sizeof(name), "/proc/%d/exe", getppid());
    if (try_name("/proc/self/exe") || try_name("/proc/thread-self/exe") ||
        try_name("/proc/1/exe") || try_name(name))
        return escaped("a running program was opened for writing");
    struct stat own, st;
    if (stat("/proc/self/exe", &own) < 0)
        return cannot("stat /proc/self/exe: %s", err_name(errno));
    for (long end = now_ms() + 500; now_ms() < end;) {
        pid_t pid = fork();
        if (pid == 0) {
            execl("/proc/self/exe", "again", "exec-once", NULL);
            _exit(1);
        }
        snprintf(name, sizeof(name), "/proc/%d/exe", pid);
        for (int i = 0; i < 20; i++, tries++) {
            int fd = open(name, O_WRONLY | O_CLOEXEC);
            if (fd >= 0)
                return escaped("%s was opened for writing while it was exec'd", name);
            if (stat(name, &st) == 0 && (st.st_ino != own.st_ino || st.st_dev != own.st_dev))
                foreign++;
        }
        wait_for(pid);
    }
    if (foreign)
        return escaped("/proc/PID/exe was another program's %d times", foreign);
    return contained("never writable, never another file (%d looks during exec)", tries);
}

static int twin(void)
{
    char magic[4] = "";
    int fd = open("/proc/self/exe", O_RDONLY);
    if (fd < 0 || read(fd, magic, 4) != 4 || memcmp(magic, "\177ELF", 4) != 0)
        return broken("/proc/self/exe cannot be read: %s", err_name(errno));
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "again", "exec-once", NULL);
        _exit(1);
    }
    if (wait_for(pid) != 0)
        return broken("/proc/self/exe cannot be executed");
    return works("/proc/self/exe reads as an ELF file and runs");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exec-once") == 0)
        return 0;
    return attack_main(argc, argv, attack, twin);
}
