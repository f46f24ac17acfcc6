/* tries: System V shared memory: segments of 16 MiB, attached, touched, detached and left, and
 * shared anonymous mappings of many processes */
/* must fail because: memory of guests, sentry and gofer is charged to the run; reaching the limit
 * ends it as a whole; a segment lives in the sentry and ends with the run */
/* an escape would: take more of the host's memory than the run was given, or leave a segment behind
 * on the host */
/* source: ATTACKS.md R2, O5 */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "tricks.h"

static int attack(void)
{
    long mib = 0, shared = 0;
    for (int i = 0; i < 100; i++) {
        int id = shmget(IPC_PRIVATE, 16 << 20, IPC_CREAT | 0600);
        char *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
        if (p == (void *)-1) {
            step("segment %d: %s", i, err_name(errno));
            break;
        }
        memset(p, 1, 16 << 20);
        shmdt(p);
        mib += 16;
        step("%ld MiB in segments", mib);
    }
    for (int i = 0; i < 100; i++, shared += 16) {
        char *p = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            break;
        memset(p, 1, 16 << 20);
        step("%ld MiB shared", shared);
    }
    if (mib + shared > 400)
        return escaped("%ld MiB", mib + shared);
    return contained("%ld MiB in segments, %ld shared, then %s", mib, shared, err_name(errno));
}

static int twin(void)
{
    int id = shmget(IPC_PRIVATE, 65536, IPC_CREAT | 0600);
    char *p = shmat(id, NULL, 0);
    if (id < 0 || p == (void *)-1)
        return broken("shmget and shmat: %s", err_name(errno));
    p[100] = 'x';
    if (shmctl(id, IPC_RMID, NULL) < 0 || p[100] != 'x' || shmdt(p) < 0)
        return broken("IPC_RMID, then shmdt: %s", err_name(errno));
    return works("a segment of 64 KiB works and goes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
