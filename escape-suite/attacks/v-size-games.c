/* tries: sizes at and beyond every border: iovecs whose sum wraps around, 1024 and 1025 of them,
   offsets at 2^63, xattr values and lists, getdents, readlink, getcwd, getgroups,
   sched_getaffinity, poll sets, select beyond the table, messages with control data that lies about
   its length, process_vm_readv */
/* must fail because: lengths are checked before they are added or multiplied, and copied results
   end where the caller's size ends */
/* an escape would: overflow a buffer of the supervisor, or return what lies behind one */
/* source: ATTACKS.md V15 B1 */
#include <fcntl.h>

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "child.h"

static const uint64_t sizes[] = {0,         1,          2,          7,           8,
                                 255,       256,        4095,       4096,        4097,
                                 65536,     0x7fffffff, 0x80000000, 0xffffffff,  1ul << 32,
                                 1ul << 47, ~0ul >> 1,  1ul << 63,  ~0ul - 4095, ~0ul};
enum {
    SIZES = sizeof(sizes) / sizeof(sizes[0]),
    ROOM = 8192
};
static uint8_t *room; /* followed by a page that is not there */
static int over;

/* What a call may fill is n bytes at the end of the room; before them nothing changes. */
static void fill(const char *name, long nr, long a, int at, uint64_t n)
{
    long v[6] = {a, a, a, 0, 0, 0};
    uint64_t have = n > ROOM / 2 ? ROOM / 2 : n;
    uint8_t *p = room + ROOM - have;
    memset(room, 0xa5, ROOM);
    v[at] = (long)(uintptr_t)p;
    v[at + 1] = (long)n;
    sys(nr, v[0], v[1], v[2], v[3], v[4], v[5]);
    for (uint8_t *q = room; q < p; q++)
        if (*q != 0xa5) {
            step("%s with size %#lx wrote before its buffer", name, n);
            over++;
            return;
        }
}

static void vectors(int fd)
{
    static struct iovec iov[1200];
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < SIZES; k++) {
            for (int j = 0; j < 1200; j++)
                iov[j] = (struct iovec){room, j % 2 ? sizes[i] : sizes[k]};
            static const int counts[] = {1, 2, 1023, 1024, 1025, -1};
            for (int c = 0; c < 6; c++) {
                sys(SYS_writev, fd, iov, counts[c]);
                sys(SYS_preadv2, fd, iov, counts[c], sizes[k], sizes[i] >> 32, 0);
                sys(SYS_process_vm_readv, getpid(), iov, counts[c], iov + 1, counts[5 - c], 0);
                sys(SYS_vmsplice, fd, iov, counts[c], 0);
            }
        }
}

static void messages(int fd)
{
    static uint64_t control[512];
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < SIZES; k++) {
            struct iovec iov = {"x", 1};
            struct msghdr m = {.msg_iov = &iov,
                               .msg_iovlen = 1,
                               .msg_control = control,
                               .msg_controllen = sizes[i]};
            control[0] = sizes[k];
            control[1] = SOL_SOCKET | 1ul << 32;
            control[2] = 0;
            sys(SYS_sendmsg, fd, &m, MSG_DONTWAIT);
            m.msg_namelen = (socklen_t)sizes[k];
            m.msg_name = room + ROOM - 8;
            sys(SYS_recvmsg, fd, &m, MSG_DONTWAIT);
        }
}

static int attack(void)
{
    int pair[2], dir = open("/", O_RDONLY), file = open("/tmp/f", O_RDWR | O_CREAT, 0644);
    long name = (long)(uintptr_t) "/tmp/f", link = (long)(uintptr_t) "/proc/self/exe";
    room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(room + ROOM, 4096);
    signal(SIGXFSZ, SIG_IGN);
    setxattr("/tmp/f", "user.a", "0123456789", 10, 0);
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
    for (int i = 0; i < SIZES; i++) {
        fill("getdents64", SYS_getdents64, dir, 1, sizes[i]);
        lseek(dir, 0, SEEK_SET);
        fill("readlink", SYS_readlink, link, 1, sizes[i]);
        fill("listxattr", SYS_listxattr, name, 1, sizes[i]);
        fill("getcwd", SYS_getcwd, 0, 0, sizes[i]);
        fill("read", SYS_read, file, 1, sizes[i]);
        fill("gethostname", SYS_sethostname, 0, 0, sizes[i]);
        sys(SYS_getxattr, name, "user.a", room + ROOM - 5, sizes[i]);
        sys(SYS_getgroups, sizes[i], room + ROOM - 8);
        sys(SYS_sched_getaffinity, 0, sizes[i], room);
        sys(SYS_poll, room, sizes[i], 0);
        sys(SYS_select, sizes[i], room, room, room, (long[]){0, 0});
        sys(SYS_mincore, room, sizes[i], room);
        sys(SYS_pwrite64, file, room, sizes[i], sizes[SIZES - 1 - i]);
        sys(SYS_copy_file_range, file, NULL, file, &sizes[i], sizes[i], 0);
        sys(SYS_fallocate, file, 0, sizes[i], sizes[SIZES - 1 - i]);
        ftruncate(file, 10);
    }
    vectors(pair[0]);
    messages(pair[0]);
    if (over)
        return escaped("%d results were longer than their buffer", over);
    return contained("every result ended where its buffer ends");
}

static int twin(void)
{
    char b[64];
    struct iovec iov[2] = {{"ab", 2}, {"cd", 2}};
    int p[2];
    if (pipe(p) < 0 || writev(p[1], iov, 2) != 4 || read(p[0], b, 64) != 4 || !getcwd(b, 64))
        return broken("writev, getcwd: %s", err_name(errno));
    return works("ordinary sizes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
