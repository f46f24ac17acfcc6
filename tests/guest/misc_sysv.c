/* System V shared memory, semaphores and message queues. */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "facts.h"

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

struct message {
    long type;
    char text[16];
};

static int op(int id, int num, int n, int flags)
{
    struct sembuf b = {(unsigned short)num, (short)n, (short)flags};
    return semop(id, &b, 1);
}

/* Until somebody waits on semaphore 0. */
static int waiting(int id)
{
    for (int i = 0; i < 500 && semctl(id, 0, GETNCNT) == 0; i++)
        nap(5);
    return semctl(id, 0, GETNCNT);
}

/* The line of an object in /proc/sysvipc without what differs from run to run: the first column
 * is the key, the second the id. */
static void say_line(const char *table, int id, int columns)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/sysvipc/%s", table);
    FILE *f = fopen(path, "r");
    if (!f) {
        say("%s: %s", path, errno_name(errno));
        return;
    }
    bool first = true;
    while (fgets(line, sizeof(line), f)) {
        int key, n, at;
        line[strcspn(line, "\n")] = 0;
        if (first)
            say("%s", line);
        first = false;
        if (sscanf(line, "%d %d%n", &key, &n, &at) != 2 || n != id)
            continue;
        char *end = line + at;
        for (int i = 0; i < columns; i++)
            end += strspn(end, " "), end += strcspn(end, " ");
        *end = 0;
        say("key %d:%s", key, line + at);
    }
    fclose(f);
}

int main(void)
{
    struct shmid_ds ds;
    facts_start();
    int shm = NEED(shmget(IPC_PRIVATE, 10000, 0600 | IPC_CREAT));
    char *p = shmat(shm, NULL, 0);
    YES("shmat", p != (char *)-1);
    strcpy(p, "shared");
    pid_t pid = NEED(fork());
    if (pid == 0) {
        strcat(p, " memory");
        _exit(0);
    }
    say_end("child", pid);
    say("%s", p);
    NEED(shmctl(shm, IPC_STAT, &ds));
    say("size %zu attached %lu", ds.shm_segsz, (unsigned long)ds.shm_nattch);
    say_line("shm", shm, 2);
    struct rlimit locked = {0, 0}, old;
    getrlimit(RLIMIT_MEMLOCK, &old);
    locked.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_MEMLOCK, &locked);
    FACT("lock without a limit for it", shmctl(shm, SHM_LOCK, NULL));
    setrlimit(RLIMIT_MEMLOCK, &old);
    FACT("lock", shmctl(shm, SHM_LOCK, NULL));
    NEED(shmctl(shm, IPC_STAT, &ds));
    say("mode %o", ds.shm_perm.mode);
    FACT("unlock", shmctl(shm, SHM_UNLOCK, NULL));
    NEED(shmctl(shm, IPC_STAT, &ds));
    say("mode %o", ds.shm_perm.mode);
    char *ro = shmat(shm, NULL, SHM_RDONLY);
    YES("shmat for reading", ro != (char *)-1 && strcmp(ro, p) == 0);
    FACT("made writable", mprotect(ro, 4096, PROT_READ | PROT_WRITE));
    FACT("made executable", mprotect(ro, 4096, PROT_READ | PROT_EXEC));
    FACT("a hole", madvise(ro, 4096, MADV_REMOVE));
    FACT("shmdt", shmdt(ro));
    FACT("remove while attached", shmctl(shm, IPC_RMID, NULL));
    say("still there: %s", p);
    FACT("shmdt", shmdt(p));
    FACT("shmdt again", shmdt(p));
    FACT("gone", shmctl(shm, IPC_STAT, &ds));
    FACT("get what is not there", shmget(0x12345, 100, 0));
    FACT("size 0", shmget(IPC_PRIVATE, 0, 0600 | IPC_CREAT));

    int sem = NEED(semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT));
    say_line("sem", sem, 2);
    FACT("SETVAL", semctl(sem, 0, SETVAL, (union semun){.val = 1}));
    VALUE("GETVAL", semctl(sem, 0, GETVAL));
    FACT("down", op(sem, 0, -1, 0));
    FACT("down again, no wait", op(sem, 0, -1, IPC_NOWAIT));
    struct sembuf b = {0, -1, 0};
    FACT("down with time-out", semtimedop(sem, &b, 1, &(struct timespec){0, 20000000}));
    FACT("wait for zero", op(sem, 0, 0, IPC_NOWAIT));
    pid = NEED(fork());
    if (pid == 0)
        _exit(op(sem, 0, -1, 0) == 0 ? 0 : 1);
    VALUE("waiting", waiting(sem));
    FACT("up", op(sem, 0, 1, 0));
    say_end("child got it", pid);
    pid = NEED(fork());
    if (pid == 0) {
        op(sem, 1, 3, SEM_UNDO);
        _exit(0);
    }
    say_end("child with undo", pid);
    VALUE("undone", semctl(sem, 1, GETVAL));
    FACT("bad number", op(sem, 9, 1, 0));
    pid = NEED(fork());
    if (pid == 0) {
        _exit(op(sem, 0, -1, 0) < 0 && errno == EIDRM ? 0 : 1);
    }
    waiting(sem);
    FACT("remove", semctl(sem, 0, IPC_RMID));
    say_end("removed while waiting: EIDRM", pid);

    int q = NEED(msgget(IPC_PRIVATE, 0600 | IPC_CREAT));
    struct message m = {2, "two"};
    FACT("send", msgsnd(q, &m, 4, 0));
    m = (struct message){1, "one"};
    FACT("send", msgsnd(q, &m, 4, 0));
    say_line("msg", q, 3);
    struct msqid_ds qds;
    NEED(msgctl(q, IPC_STAT, &qds));
    qds.msg_perm.mode = 0;
    NEED(msgctl(q, IPC_SET, &qds));
    FACT("stat without permission", msgctl(q, IPC_STAT, &qds));
    qds.msg_perm.mode = 0600;
    NEED(msgctl(q, IPC_SET, &qds));
    m.type = 0;
    FACT("send type 0", msgsnd(q, &m, 4, 0));
    VALUE("receive type 1", msgrcv(q, &m, 16, 1, 0));
    say("%s", m.text);
    FACT("too long", msgrcv(q, &m, 2, 0, 0));
    VALUE("cut", msgrcv(q, &m, 2, 0, MSG_NOERROR));
    FACT("empty", msgrcv(q, &m, 16, 0, IPC_NOWAIT));
    FACT("remove", msgctl(q, IPC_RMID, NULL));
    FACT("receive from a removed queue", msgrcv(q, &m, 16, 0, IPC_NOWAIT));
    remove_work_dir();
    return 0;
}
