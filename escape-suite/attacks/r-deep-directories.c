/* tries: directories in directories, as deep as the limit of inodes lets it, then getcwd, '..' from
 * the bottom, a walk with nftw, rename of the top and removal */
/* must fail because: the sentry walks and frees trees in loops, not by recursion; names and depth
 * are bounded */
/* an escape would: overflow the sentry's stack, or hold it in one call */
/* source: ATTACKS.md R2, V19 */
#include "tricks.h"

static int dig(const char *top, int max)
{
    int depth = 0;
    if (chdir(top) < 0)
        return 0;
    while (depth < max && mkdir("d", 0700) == 0 && chdir("d") == 0)
        depth++;
    step("%s: %d deep, then %s", top, depth, err_name(errno));
    return depth;
}

static int attack(void)
{
    char cwd[8192], path[4096] = "";
    int depth = dig("/tmp", 60000);
    step("getcwd: %s", getcwd(cwd, sizeof(cwd)) ? "a path" : err_name(errno));
    for (int i = 0; i < 1300; i++)
        strcat(path, "../");
    long t = now_ms();
    struct stat st;
    for (int i = 0; i < 20; i++)
        stat(path, &st);
    step("20 paths of 1300 steps up: %ld ms", now_ms() - t);
    t = now_ms();
    int r = rename("/tmp/d", "/tmp/e") < 0 ? -errno : 0;
    int loop = rename("/tmp/e", "./inside") < 0 ? -errno : 0;
    step("rename of the top: %s; into itself: %s; %ld ms", err_name(r), err_name(loop),
         now_ms() - t);
    if (loop == 0)
        return escaped("a directory was moved into itself");
    /* a path of full length from the top, again and again */
    strcpy(path, "/tmp/e");
    while (strlen(path) < 4000)
        strcat(path, "/d");
    for (int i = 0; i < 20; i++)
        stat(path, &st);
    int removed = 0;
    for (; removed < 2000 && chdir("..") == 0 && rmdir("d") == 0; removed++)
        continue;
    step("%d of them removed again", removed);
    return contained("%d directories deep, the rest goes with the run", depth);
}

static int twin(void)
{
    char cwd[8192];
    if (chdir("/tmp") < 0)
        return broken("/tmp: %s", err_name(errno));
    for (int i = 0; i < 500; i++)
        if (mkdir("d", 0700) < 0 || chdir("d") < 0)
            return broken("directory %d: %s", i, err_name(errno));
    if (!getcwd(cwd, sizeof(cwd)) || strlen(cwd) != 1004)
        return broken("getcwd at depth 500: %s", err_name(errno));
    return works("500 directories deep, and getcwd says so");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
