/* tries: a thread makes a range writable over and over while another replaces it by a mapping of a
   file that is sealed against writing; more threads compute, so that the host delays the first */
/* must fail because: a range whose protection a thread has still to change on the host is not given
   to another mapping before that thread has been seen again */
/* an escape would: apply a protection that was checked for one mapping to another one, and write to
   a sealed or read-only file */
/* source: ATTACKS.md V1 V12; found while this suite was written */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>

#include "child.h"

static char *at;
static volatile int stop;
static sigjmp_buf back;

static void *protector(void *arg)
{
    while (!stop)
        mprotect(at, 4096, PROT_READ | PROT_WRITE);
    return arg;
}

static void *computer(void *arg)
{
    while (!stop)
        ;
    return arg;
}

static void handler(int signo)
{
    (void)signo;
    siglongjmp(back, 1);
}

static int sealed_file(void)
{
    int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, 4096) < 0 || write(fd, "original", 8) != 8 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        return -1;
    return fd;
}

static int attack(void)
{
    char buf[9] = "";
    int fd = sealed_file();
    volatile int hits = 0, rounds = 0;
    pthread_t t;
    at = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || at == MAP_FAILED)
        return cannot("a sealed memfd: %s", err_name(errno));
    signal(SIGSEGV, handler);
    for (int i = 0; i < 6; i++)
        pthread_create(&t, NULL, i < 2 ? protector : computer, NULL);
    for (long end = now_ms() + 6000; now_ms() < end && !hits; rounds++) {
        if (mmap(at, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != at)
            return cannot("a shared mapping: %s", err_name(errno));
        for (volatile int i = 0; i < 50; i++)
            if (sigsetjmp(back, 1) == 0) {
                *(volatile char *)at = 'X';
                hits++;
                break;
            }
        mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    stop = 1;
    pread(fd, buf, 8, 0);
    if (hits || strcmp(buf, "original") != 0)
        return escaped("the sealed file now holds \"%s\"", buf);
    return contained("%d rounds, the sealed file is what it was", rounds);
}

static int twin(void)
{
    int fd = sealed_file();
    char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED || memcmp(p, "original", 8) != 0)
        return broken("a mapping of a sealed memfd: %s", err_name(errno));
    if (mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0)
        return broken("a sealed file was made writable");
    char *q = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(q, 4096, PROT_READ | PROT_WRITE) < 0 || (*q = 1) != 1)
        return broken("mprotect of private memory: %s", err_name(errno));
    return works("private memory becomes writable, a sealed file does not");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
