/* tries: reopen mappings for writing through /proc/self/map_files, reach the stub's and the vDSO's
   pages, and remap read-only image and stub pages writable with mprotect, mremap and
   remap_file_pages */
/* must fail because: map_files names only what the guest itself mapped; the stub and its data pages
   are outside of the guest's address range and no call of the guest changes them */
/* an escape would: write to an image file, or to the page of code that the sentry trusts to make
 * host calls */
/* source: ATTACKS.md F1, V12 */
#include <dirent.h>

#include <sys/mman.h>

#include "tricks.h"

static int reopen_all(void)
{
    static const int flags[] = {O_RDWR, O_WRONLY, O_RDONLY | O_TRUNC};
    char path[400];
    int n = 0, bad = 0;
    DIR *d = opendir("/proc/self/map_files");
    if (!d)
        step("/proc/self/map_files: %s", err_name(errno));
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        for (int i = 0; i < COUNT(flags); i++) {
            snprintf(path, sizeof(path), "/proc/self/map_files/%s", e->d_name);
            int fd = open(path, flags[i]);
            bad += fd >= 0;
            close(fd);
        }
        bad += truncate(path, 0) == 0 || chmod(path, 0777) == 0 || unlink(path) == 0;
    }
    if (d)
        closedir(d);
    step("%d mappings listed, %d opened for writing", n, bad);
    return bad;
}

/* Pages above and below what maps shows: where a stub could be. */
static int hidden_pages(void)
{
    int found = 0;
    uintptr_t probes[] = {0,
                          0x1000,
                          0x10000,
                          0x20000,
                          0x7ffff0000000,
                          0x7fffff000000,
                          0x7fffffffe000,
                          0x7ffffffff000,
                          0x7fff00000000,
                          0x700000000000,
                          0x600000000000};
    for (int i = 0; i < COUNT(probes); i++) {
        for (uintptr_t a = probes[i]; a < probes[i] + 0x40000 && a < 0x800000000000; a += 0x1000) {
            unsigned char vec;
            bool there = mincore((void *)a, 4096, &vec) == 0;
            int r = mprotect((void *)a, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
            if (r == 0 && !there)
                found++;
            mremap((void *)a, 4096, 8192, MREMAP_MAYMOVE);
            syscall(SYS_remap_file_pages, a, 4096, 0, 0, 0);
        }
    }
    return found;
}

static int probe_child(void)
{
    /* our own stack is in one of these ranges: whatever breaks, breaks here */
    int f = hidden_pages();
    return f ? 100 : 0;
}

static int attack(void)
{
    char maps[65536];
    int fd = open("/proc/self/maps", O_RDONLY);
    ssize_t n = read(fd, maps, sizeof(maps) - 1);
    maps[n < 0 ? 0 : n] = 0;
    int named = strstr(maps, "stub") || strstr(maps, "sentry") || strstr(maps, "memfd:");
    int bad = reopen_all(), r = in_child(probe_child);
    step("hidden pages by mprotect and mremap: %s", r == 0     ? "none"
                                                    : r == 100 ? "FOUND"
                                                               : "the child died of it");
    if (bad || named || r == 100)
        return escaped("%d files opened, maps %s the runtime's pages", bad,
                       named ? "names" : "does not name");
    return contained("mappings lead only to what the guest may have");
}

static int twin(void)
{
    int fd = open("/tmp/file", O_RDWR | O_CREAT, 0600);
    ftruncate(fd, 4096);
    char *m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED || mprotect(m, 4096, PROT_READ | PROT_WRITE) < 0)
        return broken("mprotect of a mapping of our own: %s", err_name(errno));
    m[0] = 'x';
    char *moved = mremap(m, 4096, 8192, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED || moved[0] != 'x')
        return broken("mremap: %s", err_name(errno));
    return works("mprotect and mremap work on our own mappings");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
