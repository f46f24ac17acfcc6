/*
 * tool-channel: half of a channel between two runs. `tool-channel leave` makes every object that
 * another run could notice, says "ready" and waits for the end of its input; `tool-channel look`
 * tries to notice them and prints a line for each.
 */
#include <fcntl.h>
#include <signal.h>

#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static const char *const locks[] = {"/bin/busybox", "/etc/passwd", "/attack/tool-channel"};

static struct sockaddr_un name(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0channel-of-runs"};
    return un;
}

static int leave(void)
{
    struct sockaddr_un un = name();
    struct {
        long type;
        char text[8];
    } msg = {1, "channel"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(s, (void *)&un, 18) < 0 || listen(s, 5) < 0)
        return 1;
    int shm = shmget(0x1234, 4096, IPC_CREAT | 0666);
    char *p = shmat(shm, NULL, 0);
    if (p != (char *)-1)
        strcpy(p, "channel");
    int q = msgget(0x1234, IPC_CREAT | 0666);
    msgsnd(q, &msg, 8, 0);
    semget(0x1234, 1, IPC_CREAT | 0666);
    close(open("/tmp/channel", O_CREAT | O_RDWR, 0666));
    close(open("/dev/shm/channel", O_CREAT | O_RDWR, 0666));
    for (int i = 0; i < 3; i++)
        flock(open(locks[i], O_RDONLY), LOCK_EX);
    for (int i = 0; i < 40; i++)
        if (fork() == 0) {
            pause();
            _exit(0);
        }
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    kill(0, 9);
    return 0;
}

static int look(void)
{
    struct sockaddr_un un = name();
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(s, (void *)&un, 18) == 0)
        printf("abstract socket\n");
    if (bind(s, (void *)&un, 18) < 0)
        printf("the name of the abstract socket is taken\n");
    if (shmget(0x1234, 0, 0) >= 0 || msgget(0x1234, 0) >= 0 || semget(0x1234, 0, 0) >= 0)
        printf("System V object\n");
    if (access("/tmp/channel", F_OK) == 0 || access("/dev/shm/channel", F_OK) == 0)
        printf("a file\n");
    for (int i = 0; i < 3; i++)
        if (flock(open(locks[i], O_RDONLY), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
            printf("a lock on %s\n", locks[i]);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 30)
        printf("process ids of the other (%d)\n", pid);
    printf("looked\n");
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "leave") == 0 ? leave() : look();
}
