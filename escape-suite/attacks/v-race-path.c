/* tries: a second thread rewrites the path while open, stat, readlink, access, link and execve
   are pending, between a harmless file and the host's secret or a name of 4095 bytes */
/* must fail because: the path is copied once; what was checked is what is opened */
/* an escape would: check the harmless name and open the other */
/* source: ATTACKS.md V1; sandlock #27, #28 */
#include <fcntl.h>
#include <pthread.h>

#include <sys/stat.h>

#include "child.h"

static char path[4096], safe[256] = "/tmp/a-harmless-file", other[4096];
static volatile int stop;

static void *rewrite(void *arg)
{
    for (unsigned i = 0; !stop; i++) {
        memcpy(path, i & 1 ? other : safe, 256);
        for (volatile int k = rnd() % 4000; k > 0; k--)
            ;
    }
    return arg;
}

static int secrets, opened;

static void once(int how)
{
    char buf[128], *argv[] = {"x", NULL};
    struct stat st;
    int fd;
    switch (how % 5) {
    case 0:
        fd = open(path, O_RDONLY);
        if (fd >= 0) {
            ssize_t n = read(fd, buf, sizeof(buf));
            opened++;
            secrets += n > 0 && has_canary(buf, (size_t)n);
            close(fd);
        }
        break;
    case 1:
        if (stat(path, &st) == 0)
            secrets += st.st_size != 4;
        break;
    case 2:
        readlink(path, buf, sizeof(buf));
        access(path, R_OK);
        break;
    case 3:
        link(path, "/tmp/another-name");
        unlink("/tmp/another-name");
        break;
    default:
        execve(path, argv, argv + 1);
    }
}

static int attack(void)
{
    pthread_t t;
    const char *secret = fact("host_file");
    int fd = open(safe, O_WRONLY | O_CREAT, 0644);
    if (fd < 0 || write(fd, "safe", 4) != 4)
        return cannot("a file in /tmp: %s", err_name(errno));
    close(fd);
    memset(other, 'x', 255);
    if (secret)
        snprintf(other, sizeof(other), "%s", secret);
    pthread_create(&t, NULL, rewrite, NULL);
    long end = now_ms() + 1500;
    int n = 0;
    while (now_ms() < end)
        once(n++);
    stop = 1;
    pthread_join(t, NULL);
    step("%d calls, %d of them opened a file", n, opened);
    if (secrets)
        return escaped("%d calls reached another file than the harmless one", secrets);
    return contained("every call saw one of the two names, whole");
}

static int twin(void)
{
    char buf[8];
    strcpy(path, safe);
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || write(fd, "safe", 4) != 4 || pread(fd, buf, 8, 0) != 4 || access(path, R_OK) < 0)
        return broken("a file in /tmp: %s", err_name(errno));
    return works("a path that nobody changes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
