/* tries: makes memory writable that was given for reading: shared memory attached with SHM_RDONLY,
   a file opened for reading, a sealed memfd, the program's own text on the image; by mprotect,
   mremap of length 0, MADV_REMOVE, fallocate, process_vm_writev and /proc/self/mem */
/* must fail because: what may become writable is decided when the mapping is made, and kept with it
 */
/* an escape would: change another user's memory, or a file of the image that all runs share */
/* source: ATTACKS.md V21 F16; found while this suite was written */
#include <fcntl.h>

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/uio.h>

#include "child.h"

static int hits;

static void writable(const char *name, char *p, int shared)
{
    char old = *(volatile char *)p, x = (char)(old ^ 1);
    struct iovec local = {&x, 1}, remote = {p, 1};
    int mem = open("/proc/self/mem", O_RDWR);
    long got[7] = {
        sys(SYS_mprotect, p, 4096, PROT_READ | PROT_WRITE),
        shared ? sys(SYS_madvise, p, 4096, MADV_REMOVE) : -EACCES,
        sys(SYS_process_vm_writev, getpid(), &local, 1, &remote, 1, 0),
        sys(SYS_pwrite64, mem, &x, 1, p),
        sys(SYS_mprotect, p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC),
        sys(SYS_pkey_mprotect, p, 4096, PROT_READ | PROT_WRITE, -1),
        shared ? sys(SYS_mremap, p, 0, 4096, MREMAP_MAYMOVE) : -EINVAL,
    };
    if (got[6] > 0 && sys(SYS_mprotect, got[6], 4096, PROT_READ | PROT_WRITE) == 0)
        hits++;
    step("%s: mprotect %s, MADV_REMOVE %s, process_vm_writev %s, /proc/self/mem %s", name,
         err_name(got[0]), err_name(got[1]), err_name(got[2] < 0 ? got[2] : 0),
         err_name(got[3] < 0 ? got[3] : 0));
    if (shared && *(volatile char *)p != old)
        hits++;
    for (int i = 0; shared && i < 2; i++)
        hits += got[i] >= 0;
    close(mem);
}

static int attack(void)
{
    int shm = shmget(IPC_PRIVATE, 4096, 0400 | IPC_CREAT);
    char *p = shmat(shm, NULL, SHM_RDONLY);
    shmctl(shm, IPC_RMID, NULL);
    if (p != (char *)-1)
        writable("shared memory attached for reading", p, 1);
    int fd = open("/tmp/mine", O_RDWR | O_CREAT, 0644), ro = open("/tmp/mine", O_RDONLY);
    ftruncate(fd, 4096);
    p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ro, 0);
    if (p != MAP_FAILED)
        writable("a file opened for reading", p, 1);
    int mfd = memfd_create("sealed", MFD_ALLOW_SEALING);
    ftruncate(mfd, 4096);
    fcntl(mfd, F_ADD_SEALS, F_SEAL_WRITE);
    p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, mfd, 0);
    if (p != MAP_FAILED)
        writable("a sealed memfd", p, 1);
    int exe = open("/proc/self/exe", O_RDONLY);
    p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, exe, 0);
    if (p != MAP_FAILED)
        writable("this program's file", p, 1);
    /* Private text may be changed; the file behind it may not. */
    char first[64], later[64];
    pread(exe, first, 64, 0);
    p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, exe, 0);
    writable("a private copy of it", p, 0);
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    memset(p, 0, 64);
    pread(exe, later, 64, 0);
    if (memcmp(first, later, 64) != 0)
        hits++;
    if (hits)
        return escaped("%d times what was for reading was written", hits);
    return contained("what was given for reading stays so");
}

static int twin(void)
{
    int shm = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
    char *rw = shmat(shm, NULL, 0), *ro = shmat(shm, NULL, SHM_RDONLY);
    shmctl(shm, IPC_RMID, NULL);
    if (rw == (char *)-1 || ro == (char *)-1)
        return broken("shmat: %s", err_name(errno));
    strcpy(rw, "hello");
    return strcmp(ro, "hello") == 0 ? works("shared memory is written here and read there")
                                    : broken("shared memory is not shared");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
