/*
 * tool-neighbour: the run beside an attack. Reads its secret from standard input, keeps it in
 * memory, in files (/tmp/neighbour-secret, /dev/shm/neighbour-secret), in SysV shared memory (key
 * 0x5ec), and listens on the abstract unix socket `escape-neighbour`. Each further line is answered
 * with "intact", or with what has changed. NEIGHBOUR_DIR is the place of its files where it runs in
 * no box, in the test of the harness.
 */
#include <fcntl.h>
#include <signal.h>

#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "attack.h"

static char secret[128], copy[128];
static const char *files[] = {"/tmp/neighbour-secret", "/dev/shm/neighbour-secret"};
static int kept[2], listener;
static char *shared;

static void keep_file(int i)
{
    kept[i] = open(files[i], O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (kept[i] >= 0 && write(kept[i], secret, strlen(secret)) < 0)
        kept[i] = -1;
}

static const char *changed(void)
{
    for (int i = 0; i < 2; i++) {
        char text[128] = "";
        struct stat st;
        if (kept[i] < 0)
            continue;
        if (stat(files[i], &st) < 0)
            return "a file of mine is gone";
        if (pread(kept[i], text, sizeof(text) - 1, 0) < 0 || strcmp(text, secret) != 0)
            return "a file of mine has changed";
    }
    if (shared && strcmp(shared, secret) != 0)
        return "my shared memory has changed";
    if (listener >= 0 && accept4(listener, NULL, NULL, SOCK_NONBLOCK) >= 0)
        return "somebody connected to my abstract socket";
    return strcmp(secret, copy) == 0 ? "intact" : "my memory has changed";
}

int main(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0escape-neighbour"};
    char line[128];
    signal(SIGHUP, SIG_IGN);
    if (!fgets(secret, sizeof(secret), stdin))
        return 1;
    secret[strcspn(secret, "\n")] = '\0';
    strcpy(copy, secret);
    const char *dir = getenv("NEIGHBOUR_DIR");
    static char path[2][512];
    for (int i = 0; dir && i < 2; i++) {
        snprintf(path[i], sizeof(path[i]), "%s/neighbour-secret-%d", dir, i);
        files[i] = path[i];
    }
    keep_file(0);
    keep_file(1);
    int id = shmget(0x5ec, 4096, IPC_CREAT | 0666);
    shared = id >= 0 ? shmat(id, NULL, 0) : (void *)-1;
    if (shared == (void *)-1)
        shared = NULL;
    if (id >= 0)
        shmctl(id, IPC_RMID, NULL);
    if (shared)
        strcpy(shared, secret);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&un, offsetof(struct sockaddr_un, sun_path) + 17) < 0 ||
        listen(listener, 4) < 0)
        listener = -1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof(line), stdin))
        puts(changed());
    return 0;
}
