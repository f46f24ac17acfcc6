/* semctl, shmctl, msgctl: statistics by index, all values at once, limits, who may, and the order
 * of checks. */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "facts.h"

#define BAD ((void *)8)
#ifndef MSG_COPY
#define MSG_COPY 040000
#endif

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
    struct seminfo *info;
};

/* The index in the kernel's table that an id stands for; -1: none, which says enough. */
static int index_of(int id, int kind)
{
    for (int i = 0; i < 32768; i++) {
        struct semid_ds sem;
        struct shmid_ds shm;
        struct msqid_ds msg;
        int r = kind == 0   ? semctl(i, 0, SEM_STAT, (union semun){.buf = &sem})
                : kind == 1 ? shmctl(i, SHM_STAT, &shm)
                            : msgctl(i, MSG_STAT, &msg);
        if (r == id)
            return i;
    }
    return -1;
}

static void say_values(int id)
{
    unsigned short v[3] = {9, 9, 9};
    FACT("GETALL", semctl(id, 0, GETALL, (union semun){.array = v}));
    say("values %u %u %u", v[0], v[1], v[2]);
}

static void undo_at_exit(int id)
{
    struct sembuf up[] = {{0, 5, SEM_UNDO}, {1, -2, SEM_UNDO}, {2, 1, 0}};
    pid_t pid = NEED(fork());
    if (pid == 0) {
        if (semop(id, up, 3) < 0)
            _exit(1);
        say_values(id);
        /* Below zero and above the most when it is taken back: kept within. */
        semctl(id, 0, SETVAL, (union semun){.val = 1});
        semop(id, up, 1);
        struct sembuf down = {0, -4, 0};
        _exit(semop(id, &down, 1) < 0);
    }
    say_end("child with undo", pid);
    say_values(id);
    pid = NEED(fork());
    if (pid == 0) {
        unsigned short big[] = {32767, 32767, 0};
        struct sembuf down = {0, -9, SEM_UNDO};
        if (semop(id, &down, 1) < 0)
            _exit(1);
        /* SETALL forgets what was to be undone. */
        _exit(semctl(id, 0, SETALL, (union semun){.array = big}) < 0);
    }
    semctl(id, 0, SETVAL, (union semun){.val = 20});
    say_end("child whose undo is forgotten", pid);
    say_values(id);
    pid = NEED(fork());
    if (pid == 0) {
        struct sembuf many[2] = {{0, -32767, SEM_UNDO}, {0, -1, SEM_UNDO | IPC_NOWAIT}};
        FACT("one too far", semop(id, many, 2));
        struct sembuf down = {0, -32767, SEM_UNDO}, up_again = {0, 32767, 0};
        FACT("down by all", semop(id, &down, 1));
        FACT("up without undo", semop(id, &up_again, 1));
        FACT("the undo would be too much", semop(id, &down, 1));
        _exit(0);
    }
    say_end("child with a large undo", pid);
    say_values(id);
}

static void semaphores(void)
{
    struct semid_ds ds = {0};
    struct seminfo si;
    unsigned short v[3] = {1, 2, 3}, high[3] = {1, 40000, 3};
    int id = NEED(semget(IPC_PRIVATE, 3, 0600 | IPC_CREAT));
    int at = index_of(id, 0);
    YES("found by its index", at >= 0);
    VALUE("SEM_STAT_ANY gives the id",
          semctl(at, 0, SEM_STAT_ANY, (union semun){.buf = &ds}) == id);
    say("semaphores %lu mode %o otime %d", (unsigned long)ds.sem_nsems, ds.sem_perm.mode,
        ds.sem_otime != 0);
    FACT("SETALL", semctl(id, 0, SETALL, (union semun){.array = v}));
    say_values(id);
    FACT("SETALL of too much", semctl(id, 0, SETALL, (union semun){.array = high}));
    FACT("SETALL from nowhere", semctl(id, 0, SETALL, (union semun){.array = BAD}));
    FACT("GETALL to nowhere", semctl(id, 0, GETALL, (union semun){.array = BAD}));
    say_values(id);
    YES("GETPID is ours", semctl(id, 1, GETPID) == getpid());
    FACT("SETVAL of too much", semctl(id, 0, SETVAL, (union semun){.val = 32768}));
    FACT("SETVAL of too much, no such semaphore",
         semctl(id, 7, SETVAL, (union semun){.val = 32768}));
    FACT("SETVAL of too much, no such set",
         semctl(0x7ffffff0, 0, SETVAL, (union semun){.val = -1}));
    FACT("SETVAL, no such semaphore", semctl(id, 7, SETVAL, (union semun){.val = 1}));
    FACT("SETVAL, negative number", semctl(id, -1, SETVAL, (union semun){.val = 1}));
    FACT("GETVAL, no such semaphore", semctl(id, 3, GETVAL));
    FACT("IPC_STAT to nowhere", semctl(id, 0, IPC_STAT, (union semun){.buf = BAD}));
    FACT("IPC_SET from nowhere", semctl(id, 0, IPC_SET, (union semun){.buf = BAD}));
    NEED(semctl(id, 0, IPC_STAT, (union semun){.buf = &ds}));
    ds.sem_perm.mode = 0200;
    FACT("IPC_SET", semctl(id, 0, IPC_SET, (union semun){.buf = &ds}));
    FACT("GETALL without permission", semctl(id, 0, GETALL, (union semun){.array = v}));
    FACT("GETVAL without permission", semctl(id, 0, GETVAL));
    FACT("IPC_STAT without permission", semctl(id, 0, IPC_STAT, (union semun){.buf = &ds}));
    FACT("SEM_STAT without permission", semctl(at, 0, SEM_STAT, (union semun){.buf = &ds}));
    YES("SEM_STAT_ANY needs none", semctl(at, 0, SEM_STAT_ANY, (union semun){.buf = &ds}) == id);
    FACT("SETALL with it", semctl(id, 0, SETALL, (union semun){.array = v}));
    ds.sem_perm.mode = 0600;
    NEED(semctl(id, 0, IPC_SET, (union semun){.buf = &ds}));
    YES("IPC_INFO", semctl(0, 0, IPC_INFO, (union semun){.info = &si}) >= at);
    say("semvmx %d", si.semvmx);
    YES("SEM_INFO", semctl(0, 0, SEM_INFO, (union semun){.info = &si}) >= at && si.semusz >= 1 &&
                        si.semaem >= 3);
    FACT("IPC_INFO to nowhere", semctl(0, 0, IPC_INFO, (union semun){.info = BAD}));
    FACT("IPC_INFO, negative id", semctl(-1, 0, IPC_INFO, (union semun){.info = &si}));
    FACT("no such command", semctl(id, 0, 99));
    FACT("no such command, no such set", semctl(0x7ffffff0, 0, 99));
    FACT("index out of range", semctl(0x7fffffff, 0, SEM_STAT, (union semun){.buf = &ds}));
    undo_at_exit(id);
    struct sembuf far[2] = {{0, 1, 0}, {3, 1, 0}};
    FACT("second semaphore does not exist", semop(id, far, 2));
    FACT("no operations", semop(id, far, 0));
    FACT("501 operations", semop(id, far, 501));
    FACT("operations from nowhere", semop(id, BAD, 1));
    say_values(id);
    FACT("remove", semctl(id, 0, IPC_RMID));
    FACT("GETALL after it", semctl(id, 0, GETALL, (union semun){.array = v}));
    FACT("no semaphores", semget(IPC_PRIVATE, 0, 0600 | IPC_CREAT));
    FACT("negative count", semget(IPC_PRIVATE, -1, 0600 | IPC_CREAT));
}

static void memory(void)
{
    struct shmid_ds ds;
    struct shm_info si;
    int id = NEED(shmget(IPC_PRIVATE, 8192, 0600 | IPC_CREAT));
    int at = index_of(id, 1);
    YES("found by its index", at >= 0);
    YES("SHM_STAT_ANY", shmctl(at, SHM_STAT_ANY, &ds) == id && ds.shm_segsz == 8192);
    FACT("index out of range", shmctl(0x7fffffff, SHM_STAT, &ds));
    YES("SHM_INFO", shmctl(0, SHM_INFO, (void *)&si) >= at && si.used_ids >= 1 && si.shm_tot >= 2);
    FACT("SHM_INFO to nowhere", shmctl(0, SHM_INFO, BAD));
    FACT("IPC_STAT to nowhere", shmctl(id, IPC_STAT, BAD));
    FACT("IPC_SET from nowhere", shmctl(id, IPC_SET, BAD));
    FACT("no such command", shmctl(id, 99, &ds));
    char *p = shmat(id, (void *)0x10000001234, SHM_RND);
    say("rounded down: %s", p == (void *)0x10000001000 ? "yes" : errno_name(errno));
    FACT("unaligned", shmat(id, (void *)0x20000001234, 0));
    FACT("over a mapping", shmat(id, p, 0));
    FACT("no such flag matters", shmdt(shmat(id, NULL, 0x10000)));
    char *again = shmat(id, p, SHM_REMAP);
    YES("replaced", again == p);
    FACT("detach within", shmdt(p + 4096));
    NEED(shmctl(id, IPC_STAT, &ds));
    say("attached %lu", (unsigned long)ds.shm_nattch);
    FACT("detach", shmdt(p));
    void *run = shmat(id, NULL, SHM_EXEC | SHM_RDONLY);
    YES("for running", run != (void *)-1);
    FACT("detach", shmdt(run));
    NEED(shmctl(id, IPC_STAT, &ds));
    ds.shm_perm.mode = 0400;
    FACT("IPC_SET", shmctl(id, IPC_SET, &ds));
    FACT("for writing without permission", shmat(id, NULL, 0));
    run = shmat(id, NULL, SHM_RDONLY);
    YES("for reading", run != (void *)-1);
    FACT("detach", shmdt(run));
    FACT("remove", shmctl(id, IPC_RMID, NULL));
    FACT("attach after it", shmat(id, NULL, 0));
    FACT("too large", shmget(IPC_PRIVATE, (size_t)-1, 0600 | IPC_CREAT));
}

struct message {
    long type;
    char text[16];
};

static void queues(void)
{
    struct msqid_ds ds;
    struct msginfo mi;
    struct message m = {3, "three"};
    int id = NEED(msgget(IPC_PRIVATE, 0600 | IPC_CREAT));
    int at = index_of(id, 2);
    YES("found by its index", at >= 0);
    YES("MSG_STAT_ANY", msgctl(at, MSG_STAT_ANY, &ds) == id);
    FACT("index out of range", msgctl(0x7fffffff, MSG_STAT, &ds));
    for (long type = 1; type <= 3; type++) {
        m.type = type;
        m.text[0] = (char)('a' + type);
        FACT("send", msgsnd(id, &m, 1, 0));
    }
    YES("MSG_INFO", msgctl(0, MSG_INFO, (void *)&mi) >= at && mi.msgpool >= 1 && mi.msgmap >= 3 &&
                        mi.msgtql >= 3);
    YES("IPC_INFO", msgctl(0, IPC_INFO, (void *)&mi) >= at);
    FACT("MSG_INFO to nowhere", msgctl(0, MSG_INFO, BAD));
    FACT("IPC_SET from nowhere", msgctl(id, IPC_SET, BAD));
    FACT("no such command", msgctl(id, 99, &ds));
    /* Copies by place, types up to one, all but one. */
    FACT("a copy of the second", msgrcv(id, &m, 16, 1, MSG_COPY | IPC_NOWAIT));
    FACT("a copy that may wait", msgrcv(id, &m, 16, 1, MSG_COPY));
    FACT("a copy of the ninth", msgrcv(id, &m, 16, 9, MSG_COPY | IPC_NOWAIT));
    VALUE("the least type up to 2", (msgrcv(id, &m, 16, -2, 0), m.type));
    VALUE("any but 2", (msgrcv(id, &m, 16, 2, MSG_EXCEPT), m.type));
    FACT("receive to nowhere", msgrcv(id, BAD, 16, 0, IPC_NOWAIT));
    FACT("and it is lost", msgrcv(id, &m, 16, 0, IPC_NOWAIT));
    FACT("send from nowhere", msgsnd(id, BAD, 1, 0));
    FACT("send too much", msgsnd(id, &m, 1u << 24, 0));
    FACT("send a negative size", msgsnd(id, &m, (size_t)-1, 0));
    FACT("receive a negative size", msgrcv(id, &m, (size_t)-1, 0, IPC_NOWAIT));
    NEED(msgctl(id, IPC_STAT, &ds));
    ds.msg_qbytes = 20;
    FACT("a small queue", msgctl(id, IPC_SET, &ds));
    m.type = 1;
    FACT("send 16", msgsnd(id, &m, 16, IPC_NOWAIT));
    FACT("send 16 more", msgsnd(id, &m, 16, IPC_NOWAIT));
    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(msgsnd(id, &m, 16, 0) == 0 ? 0 : 1);
    VALUE("receive", msgrcv(id, &m, 16, 0, 0));
    say_end("who waited to send", pid);
    VALUE("receive", msgrcv(id, &m, 16, 0, 0));
    ds.msg_qbytes = 1ul << 40;
    FACT("a huge queue", msgctl(id, IPC_SET, &ds));
    ds.msg_perm.mode = 0200;
    ds.msg_qbytes = 20;
    FACT("write only", msgctl(id, IPC_SET, &ds));
    FACT("receive", msgrcv(id, &m, 16, 0, IPC_NOWAIT));
    FACT("remove", msgctl(id, IPC_RMID, NULL));
}

int main(void)
{
    facts_start();
    say("semaphores");
    semaphores();
    say("memory");
    memory();
    say("queues");
    queues();
    remove_work_dir();
    return 0;
}
