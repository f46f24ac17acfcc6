/* tries: give an unnamed or foreign file a name, or a read-only one a writable name: O_TMPFILE in
   every directory, linkat with AT_EMPTY_PATH and through /proc/self/fd, hard links of image files
   into /tmp and back, rename across */
/* must fail because: image inodes belong to a read-only file system of the sentry; a link across
   file systems is EXDEV, a link into the image EROFS */
/* an escape would: own a writable name of an image file, which all sandboxes of that image share */
/* source: ATTACKS.md F12, F16 */
#include "tricks.h"

static const char *const image[] = {"/etc/passwd", "/bin/busybox", "/attack/f-link-descriptor",
                                    "/proc/self/exe"};
static const char *const into[] = {"/tmp", "/dev/shm", "/etc", "/",
                                   "/bin", "/attack",  "/run", "/dev"};

static int writable(const char *path)
{
    int fd = open(path, O_WRONLY);
    close(fd);
    return fd >= 0;
}

static int links_of(const char *file, int k)
{
    char name[128], proc[64];
    int made = 0, bad = 0;
    static const int how[] = {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW};
    for (int d = 0; d < COUNT(into); d++) {
        for (int i = 0; i < COUNT(how); i++) {
            int fd = open(file, how[i]);
            snprintf(name, sizeof(name), "%s/named-%d-%d", into[d], k, i);
            snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
            made += linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0;
            made += linkat(AT_FDCWD, proc, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
            made += link(file, name) == 0;
            made += rename(file, name) == 0;
            bad += made && writable(name);
            close(fd);
        }
    }
    if (made)
        step("%s got %d new names, %d writable", file, made, bad);
    return made;
}

static int attack(void)
{
    int bad = 0, tmp = 0;
    char proc[64];
    for (int i = 0; i < COUNT(image); i++)
        bad += links_of(image[i], i);
    for (int d = 0; d < COUNT(into); d++) {
        int fd = open(into[d], O_TMPFILE | O_RDWR, 0600);
        if (fd < 0) {
            step("O_TMPFILE in %s: %s", into[d], err_name(errno));
            continue;
        }
        tmp++;
        write(fd, "x", 1);
        snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
        static const char *const over[] = {"/etc/new", "/bin/new", "/etc/passwd", "/attack/new"};
        for (int i = 0; i < COUNT(over); i++)
            bad += linkat(AT_FDCWD, proc, AT_FDCWD, over[i], AT_SYMLINK_FOLLOW) == 0 ||
                   linkat(fd, "", AT_FDCWD, over[i], AT_EMPTY_PATH) == 0;
        close(fd);
    }
    if (bad)
        return escaped("%d names across the border of the image", bad);
    return contained("%d unnamed files, no name in or out of the image", tmp);
}

static int twin(void)
{
    char proc[64], c = 0;
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (fd < 0 || write(fd, "k", 1) != 1)
        return broken("O_TMPFILE in /tmp: %s", err_name(errno));
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, proc, AT_FDCWD, "/tmp/named", AT_SYMLINK_FOLLOW) < 0)
        return broken("linkat of it: %s", err_name(errno));
    if (read(open("/tmp/named", O_RDONLY), &c, 1) != 1 || c != 'k' ||
        link("/tmp/named", "/tmp/two") < 0)
        return broken("reading it by name, a second name: %s", err_name(errno));
    return works("an unnamed file of our own gets a name");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
