/* tries: looks for what others left: fresh anonymous memory, the heap, stacks of new threads,
   memfds, shared memory, tmpfs files grown by ftruncate and fallocate, pipe and socket buffers,
   structures that calls fill in, the stub's slots */
/* must fail because: every page that a run gets comes from the host zeroed; what the supervisor
   copies out it has cleared first */
/* an escape would: read another run's secret, or the supervisor's memory, in a page that was used
 * before */
/* source: ATTACKS.md S1; isolate NEWS 2.6 */
#include <fcntl.h>
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "child.h"

enum {
    BYTES = 8 << 20
};
static int dirty, secrets;

static void look(const char *name, const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == 0)
        i++;
    if (i < n) {
        step("%s: byte %zu is %#x", name, i, p[i]);
        dirty++;
    }
    secrets += has_canary(p, n);
}

static void look_file(const char *name, int fd)
{
    static uint8_t buf[BYTES];
    memset(buf, 0, sizeof(buf));
    if (fd < 0 || (ftruncate(fd, BYTES / 2) < 0 && fallocate(fd, 0, 0, BYTES / 2) < 0))
        return;
    ssize_t n = pread(fd, buf, sizeof(buf), 0);
    if (n > 0)
        look(name, buf, (size_t)n);
    void *p = mmap(NULL, BYTES / 2, PROT_READ, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED)
        look(name, p, BYTES / 2);
}

/* The unused ends of what calls fill in: nothing but zeros or what was there. */
static void structures(void)
{
    struct utsname u;
    struct msghdr m = {0};
    char control[512], name[200];
    int pair[2];
    memset(&u, 0, sizeof(u));
    uname(&u);
    for (char *f = u.sysname; f < (char *)(&u + 1); f += sizeof(u.sysname)) {
        size_t n = strnlen(f, sizeof(u.sysname));
        look("uname, behind a field's end", (uint8_t *)f + n, sizeof(u.sysname) - n);
    }
    memset(control, 0, sizeof(control));
    memset(name, 0, sizeof(name));
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    m.msg_name = name;
    m.msg_namelen = sizeof(name);
    m.msg_control = control;
    m.msg_controllen = sizeof(control);
    sys(SYS_recvmsg, pair[0], &m, MSG_DONTWAIT);
    look("recvmsg of nothing: name", (uint8_t *)name + 2, sizeof(name) - 2);
    look("recvmsg of nothing: control data", (uint8_t *)control, sizeof(control));
    struct stat st;
    memset(&st, 0, sizeof(st));
    stat("/", &st);
    look("stat, reserved", (uint8_t *)st.__glibc_reserved, sizeof(st.__glibc_reserved));
    struct statfs sf;
    memset(&sf, 0, sizeof(sf));
    statfs("/", &sf);
    look("statfs, spare", (uint8_t *)sf.f_spare, sizeof(sf.f_spare));
}

static int attack(void)
{
    uint8_t *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return cannot("64 MiB: %s", err_name(errno));
    look("anonymous memory", p, 64 << 20);
    munmap(p, 64 << 20);
    uint8_t *heap = sbrk(BYTES);
    if (heap != (void *)-1)
        look("heap", heap, BYTES);
    p = mmap(NULL, BYTES, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    look("shared memory", p, BYTES);
    int shm = shmget(IPC_PRIVATE, BYTES, 0600 | IPC_CREAT);
    p = shmat(shm, NULL, 0);
    shmctl(shm, IPC_RMID, NULL);
    if (p != (void *)-1)
        look("System V shared memory", p, BYTES);
    look_file("memfd", memfd_create("x", 0));
    look_file("/tmp", open("/tmp/fresh", O_RDWR | O_CREAT, 0600));
    look_file("/dev/shm", open("/dev/shm/fresh", O_RDWR | O_CREAT, 0600));
    structures();
    /* Slots hold frames of this program's own threads, so only a secret counts. */
    int mem = open("/proc/self/mem", O_RDONLY);
    static uint8_t slot[32768];
    for (uint64_t at = 0x6fff00010000; at < 0x6fff00210000; at += sizeof(slot))
        if (pread(mem, slot, sizeof(slot), (off_t)at) > 0)
            secrets += has_canary(slot, sizeof(slot));
    if (dirty || secrets)
        return escaped("%d places were not clean, %d held a secret", dirty, secrets);
    return contained("every fresh byte is zero");
}

static int twin(void)
{
    uint8_t *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = memfd_create("x", 0);
    memset(p, 7, 65536);
    if (write(fd, p, 65536) != 65536 || pread(fd, p, 65536, 0) != 65536 || p[65535] != 7)
        return broken("memory and a memfd: %s", err_name(errno));
    return works("memory keeps what was written to it");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
