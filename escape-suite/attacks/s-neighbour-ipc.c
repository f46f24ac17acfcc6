/* tries: the neighbour's traces in every name space that runs could share: System V keys and ids
   0..2000, POSIX queues, abstract and bound unix sockets, /tmp, /dev/shm, /var/tmp, record locks
   and flock on files of the image, ptys */
/* must fail because: each run has its own supervisor, which has its own of all of these */
/* an escape would: find what a second run keeps, and read its secret or talk to it */
/* source: ATTACKS.md S2 S1; isolate, system call restrictions */
#include <dirent.h>
#include <fcntl.h>

#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static int found;

static void hit(const char *what)
{
    step("found: %s", what);
    found++;
}

static void sysv(void)
{
    static const int keys[] = {0x5ec, 1, 0x1234, 0xdead, 0x53534553};
    struct shmid_ds ds;
    struct msqid_ds ms;
    for (size_t i = 0; i < 5; i++) {
        int id = shmget(keys[i], 0, 0);
        char *p = id >= 0 ? shmat(id, NULL, SHM_RDONLY) : (char *)-1;
        if (id >= 0)
            hit(p != (char *)-1 && has_canary(p, 128) ? "shared memory with a secret"
                                                      : "a shm key");
        if (semget(keys[i], 0, 0) >= 0 || msgget(keys[i], 0) >= 0)
            hit("a semaphore or queue of another");
    }
    for (int id = 0; id < 2000; id++) {
        if (shmctl(id, SHM_STAT, &ds) >= 0 || shmctl(id, IPC_STAT, &ds) >= 0)
            hit("a shared memory id");
        if (msgctl(id, MSG_STAT, &ms) >= 0 || semctl(id, 0, GETVAL) >= 0)
            hit("a semaphore or queue id");
    }
    for (const char *const *f = (const char *const[]){"/proc/sysvipc/shm", "/proc/sysvipc/sem",
                                                      "/proc/sysvipc/msg", NULL};
         *f; f++) {
        char buf[4096];
        int fd = open(*f, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : 0;
        buf[n > 0 ? n : 0] = 0;
        char *line = strchr(buf, '\n');
        if (line && line[1])
            hit(*f);
        close(fd);
    }
}

static void sockets(void)
{
    static const char *const names[] = {"escape-neighbour", "/tmp/.X11-unix/X0", "neighbour"};
    for (size_t i = 0; i < 3; i++) {
        for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
            struct sockaddr_un un = {.sun_family = AF_UNIX};
            int fd = socket(AF_UNIX, type, 0);
            strcpy(un.sun_path + 1, names[i]);
            if (connect(fd, (void *)&un, (socklen_t)(3 + strlen(names[i]))) == 0)
                hit("an abstract socket answers");
            close(fd);
        }
    }
}

static void directory(const char *path)
{
    char name[512], buf[256];
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        int fd = open(name, O_RDONLY | O_NONBLOCK);
        ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf)) : -1;
        step("%s", name);
        if (strstr(e->d_name, "neighbour") || (n > 0 && has_canary(buf, (size_t)n)))
            hit(name);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

static int attack(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    sysv();
    sockets();
    directory("/tmp");
    directory("/dev/shm");
    directory("/var/tmp");
    directory("/dev/mqueue");
    for (const char *const *f =
             (const char *const[]){"/bin/busybox", "/etc/passwd", "/proc/self/exe", NULL};
         *f; f++) {
        int fd = open(*f, O_RDONLY);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
            hit("a lock that another holds");
        if (fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
            hit("a record lock of another");
    }
    if (found)
        return escaped("%d traces of others", found);
    return contained("nothing here is another's");
}

static int twin(void)
{
    int id = shmget(0x77, 4096, 0600 | IPC_CREAT), q = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    char *p = shmat(id, NULL, 0);
    if (p == (char *)-1 || q < 0 || shmget(0x77, 0, 0) != id)
        return broken("System V objects: %s", err_name(errno));
    strcpy(p, "mine");
    shmctl(id, IPC_RMID, NULL);
    msgctl(q, IPC_RMID, NULL);
    return works("objects of one's own are found by their key");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
