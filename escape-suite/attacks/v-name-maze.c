/* tries: paths that are as expensive as possible: forty links that each name the next one many
   times over, loops, a path of 4095 bytes of ./ and ../, directories a thousand deep, names of 255
   bytes, from many threads at once */
/* must fail because: a walk is bounded (forty links, 4095 bytes); where the limit is reached the
   call fails, it is never let through */
/* an escape would: hold the supervisor in a walk of exponential length, or have a decision time out
   and be taken for a yes */
/* source: ATTACKS.md V19; sandlock #80 */
#include <fcntl.h>
#include <pthread.h>

#include <sys/stat.h>

#include "child.h"

static char maze[4096], dots[4096];

static void build(void)
{
    char name[32], target[4096];
    mkdir("/tmp/m", 0755);
    chdir("/tmp/m");
    close(open("end", O_CREAT | O_WRONLY, 0644));
    /* l0 -> dir/../dir/../... ; each further one goes through the last several times */
    mkdir("d0", 0755);
    for (int i = 1; i <= 60; i++) {
        target[0] = 0;
        for (int k = 0; k < 100; k++) {
            snprintf(name, sizeof(name), "d%d/../", i - 1);
            strcat(target, name);
        }
        strcat(target, "d0");
        snprintf(name, sizeof(name), "d%d", i);
        symlink(target, name);
    }
    symlink("loop2", "loop1");
    symlink("loop1", "loop2");
    for (int i = 0; i < 40; i++)
        strcat(maze, "d39/../d38/../");
    strcat(maze, "end");
    for (int i = 0; i < 1000; i++)
        strcat(dots, i % 2 ? "../" : "d0/");
    strcat(dots, "end");
    for (int i = 0; i < 1000; i++)
        if (mkdir("deep", 0755) < 0 || chdir("deep") < 0)
            break;
    chdir("/tmp/m");
}

static int results[200];

static void *walk(void *arg)
{
    static const char *const paths[] = {"loop1/x", "d59", "d39/end", "d1/../end", maze, dots};
    struct stat st;
    for (int i = 0; i < 12; i++) {
        int r = stat(paths[i % 6], &st) < 0 ? errno : 0;
        __sync_fetch_and_add(&results[r < 200 ? r : 199], 1);
    }
    return arg;
}

static int attack(void)
{
    pthread_t t[16];
    struct stat st;
    long start, worst = 0;
    build();
    for (int i = 0; i < 16; i++)
        pthread_create(&t[i], NULL, walk, NULL);
    for (int i = 0; i < 50; i++) {
        start = now_ms();
        if (stat("end", &st) < 0)
            return escaped("a plain file is gone: %s", err_name(errno));
        if (now_ms() - start > worst)
            worst = now_ms() - start;
    }
    for (int i = 0; i < 16; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 200; i++)
        if (results[i])
            step("%d walks: %s", results[i], err_name(i));
    if (worst > HANG_MS)
        return escaped("somebody else's stat took %ld ms", worst);
    if (!results[ELOOP])
        return escaped("no walk was too long");
    return contained("walks are bounded, somebody else's stat took %ld ms at most", worst);
}

static int twin(void)
{
    struct stat st;
    build();
    if (stat("d1", &st) < 0 || stat("d0/../end", &st) < 0)
        return broken("a link and a path with dots: %s", err_name(errno));
    return works("links and paths of ordinary length lead where they should");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
