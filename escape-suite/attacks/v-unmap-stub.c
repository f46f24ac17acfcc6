/* tries: munmap, mprotect, mremap, madvise, mmap MAP_FIXED, mlock, shmat, brk, MAP_GROWSDOWN over
   the stub's code, its slots, vvar, vdso and the pages beside them; ranges that begin before and
   end inside; lengths that wrap around */
/* must fail because: ranges of the platform are no mappings of the program's; the supervisor
   refuses them, and the list of host calls once more */
/* an escape would: replace the stub's code, from which the host lets a call through */
/* source: ATTACKS.md V12 */
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "stub.h"

static int done;

static void try_range(uint64_t at, uint64_t len, const char *name)
{
    long shm = sys(SYS_shmget, IPC_PRIVATE, 65536, 0600 | IPC_CREAT);
    const long got[] = {
        sys(SYS_munmap, at, len),
        sys(SYS_mprotect, at, len, PROT_READ | PROT_WRITE | PROT_EXEC),
        sys(SYS_mprotect, at, len, PROT_WRITE | PROT_GROWSDOWN),
        sys(SYS_mremap, at, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, 0x10000000000),
        sys(SYS_mremap, at, 0, len, MREMAP_MAYMOVE),
        sys(SYS_mremap, at, len, len, 4 | MREMAP_MAYMOVE, 0),
        sys(SYS_madvise, at, len, MADV_DONTNEED),
        sys(SYS_madvise, at, len, MADV_DONTFORK),
        sys(SYS_madvise, at, len, MADV_WIPEONFORK),
        sys(SYS_madvise, at, len, MADV_REMOVE),
        sys(SYS_mmap, at, len, PROT_READ | PROT_WRITE | PROT_EXEC,
            MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        sys(SYS_mmap, at, len, PROT_READ | PROT_EXEC, MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1,
            0),
        sys(SYS_shmat, shm, at, SHM_REMAP),
        sys(SYS_process_madvise, -1, at, len, 4, 0),
        sys(SYS_pkey_mprotect, at, len, 7, -1),
        sys(SYS_remap_file_pages, at, len, 0, 0, 0),
        sys(SYS_brk, at + len),
    };
    sys(SYS_shmctl, shm, IPC_RMID, 0);
    for (size_t i = 0; i < sizeof(got) / sizeof(got[0]); i++)
        if (got[i] >= 0 && i != 6 && i < 16 && (i != 12 || at > 0x10000)) {
            step("operation %zu on %s: %#lx", i, name, got[i]);
            done++;
        }
    step("%s: munmap %s, mprotect %s, mmap %s", name, err_name(got[0]), err_name(got[1]),
         err_name(got[10] < 0 ? got[10] : 0));
}

static uint64_t code[512];

static int attack(void)
{
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    memcpy(code, (void *)STUB_CODE, 4096);
    try_range(STUB_CODE, 4096, "code");
    try_range(STUB_CODE - 4096, 8192, "before and code");
    try_range(STUB_SLOTS, SLOT_SIZE, "first slot");
    try_range(STUB_CODE, STUB_END - STUB_CODE, "all");
    try_range(STUB_END - 4096, 8192, "end and behind");
    try_range(0x10000, STUB_CODE, "from the beginning on");
    try_range(STUB_CODE, ~0ul - STUB_CODE + 0x20001000, "wrapped around");
    if (vdso) {
        try_range(vdso - 4096, 4096, "vvar");
        try_range(vdso - 0x10000, 0x10000, "vvar and what is before it");
    }
    /* Writing by the kernel's hand: read() into the code. */
    int pipes[2];
    pipe(pipes);
    write(pipes[1], code, 64);
    long r = sys(SYS_read, pipes[0], STUB_CODE + 0x200, 64);
    step("read() into the code: %s", err_name(r < 0 ? r : 0));
    if (memcmp(code, (void *)STUB_CODE, 4096))
        return escaped("the stub's code has changed");
    if (done || r >= 0)
        return escaped("%d operations on the platform's ranges worked", done + (r >= 0));
    return contained("nothing moved, the code is the same");
}

static int twin(void)
{
    char *p = mmap((void *)(STUB_CODE - 65536), 65536, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (p == MAP_FAILED || (p[65535] = 1, mprotect(p, 65536, PROT_READ) < 0) ||
        munmap(p, 65536) < 0)
        return broken("memory right below the stub: %s", err_name(errno));
    return works("memory right below the stub is the program's own");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
