/* tries: readers of /proc: maps, smaps, status and mounts with tens of thousands of lines, opened a
 * thousand times and read one byte each, so that each holds its text */
/* must fail because: a generated text is limited in size and in number, and charged to the run */
/* an escape would: make the sentry hold gigabytes of text */
/* source: ATTACKS.md R2 */
#include <sys/mman.h>

#include "tricks.h"

static int attack(void)
{
    static const char *const names[] = {
        "/proc/self/maps",   "/proc/self/smaps",     "/proc/self/numa_maps", "/proc/self/status",
        "/proc/self/mounts", "/proc/self/mountinfo", "/proc/locks",          "/proc/net/unix"};
    long pages = 60000;
    char *base = mmap(NULL, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0),
         c;
    for (long i = 0; i < pages; i += 2)
        mprotect(base + i * 4096, 4096, PROT_READ);
    int open_ = 0, held = 0;
    long start = now_ms(), worst = 0;
    for (int i = 0; i < 900 && now_ms() - start < 1500; i++) {
        int fd = open(names[i % (i < 400 ? 2 : COUNT(names))], O_RDONLY);
        if (fd < 0)
            continue;
        open_++;
        long t = now_ms();
        held += read(fd, &c, 1) == 1;
        lseek(fd, 1000000, SEEK_SET);
        held += read(fd, &c, 1) == 1;
        worst = now_ms() - t > worst ? now_ms() - t : worst;
    }
    step("%d files, %d bytes read, %ld ms, the slowest %ld ms", open_, held, now_ms() - start,
         worst);
    if (worst > HANG_MS)
        return escaped("one read took %ld ms", worst);
    return contained("%d texts of a MiB and more asked for", open_);
}

static int twin(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof(line), f))
        n++;
    return n >= 4 ? works("/proc/self/maps has %d lines", n)
                  : broken("/proc/self/maps has %d lines", n);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
