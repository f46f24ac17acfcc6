/* tries: inodes and names: files, symbolic links with targets of 4095 bytes, names of 255 bytes,
 * xattrs of 64 KiB, hard links, FIFOs, devices, until ENOSPC, then the whole directory read again
 * and again */
/* must fail because: inodes, names, link targets and attributes are charged (ENOSPC); reading a
 * directory is work in proportion to what is read */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for */
/* source: ATTACKS.md R2, R4 */
#include <dirent.h>

#include <sys/xattr.h>

#include "tricks.h"

static char big[65536];

static int attack(void)
{
    char name[300], pad[256];
    long made = 0, attrs = 0, links = 0, start = now_ms();
    memset(pad, 'n', sizeof(pad));
    memset(big, 't', sizeof(big));
    big[4095] = 0;
    mkdir("/tmp/many", 0700);
    int err = 0;
    for (int i = 0; err < 40 && now_ms() - start < 1500; i++) {
        snprintf(name, sizeof(name), "/tmp/many/%07d%.240s", i, pad);
        int r = i % 4 == 0   ? symlink(big, name)
                : i % 4 == 1 ? mkdir(name, 0700)
                : i % 4 == 2 ? mknod(name, S_IFIFO | 0600, 0)
                             : open(name, O_WRONLY | O_CREAT, 0600);
        if (r < 0) {
            err++;
            continue;
        }
        made++;
        links += i % 4 == 0;
        if (i % 4 == 3) {
            big[4095] = 't';
            attrs += fsetxattr(r, "user.a", big, 65536, 0) == 0;
            attrs += fsetxattr(r, "user.b", big, 30000, 0) == 0;
            big[4095] = 0;
            close(r);
        }
    }
    step("%ld names, %ld long links, %ld attributes, %ld ms, then %s", made, links, attrs,
         now_ms() - start, err_name(errno));
    int listed = 0, rounds = 0;
    for (long end = now_ms() + 300; now_ms() < end; rounds++) {
        DIR *d = opendir("/tmp/many");
        for (struct dirent *e; d && (e = readdir(d)) && now_ms() < end;)
            listed++;
        if (d)
            closedir(d);
    }
    step("%d names listed in %d rounds", listed, rounds);
    if (links > 60000 || attrs > 3000)
        return escaped("%ld targets of 4 KiB, %ld attributes of 64 KiB are held", links, attrs);
    return contained("%ld names within the limits", made);
}

static int twin(void)
{
    char name[64], value[8] = "";
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "/tmp/f%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        if (fd < 0 || close(fd) < 0 || (i % 2 && unlink(name) < 0))
            return broken("file %d: %s", i, err_name(errno));
    }
    if (setxattr("/tmp/f0", "user.a", "value", 5, 0) < 0 ||
        getxattr("/tmp/f0", "user.a", value, 8) != 5)
        return broken("an attribute: %s", err_name(errno));
    return works("500 files and an attribute");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
