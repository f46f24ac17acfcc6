/* /proc/self: exe after rename and removal, mem, environ, smaps_rollup; shared memory directory. */
#include <semaphore.h>

#include <sys/mman.h>

#include "facts.h"

static void copy_self(const char *to)
{
    static char buf[65536];
    int in = NEED(open("/proc/self/exe", O_RDONLY));
    int out = NEED(open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755));
    for (ssize_t n; (n = NEED(read(in, buf, sizeof(buf)))) > 0;)
        NEED(write(out, buf, (size_t)n));
    close(in);
    close(out);
}

static void show_exe(const char *label)
{
    char link[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", link, sizeof(link) - 1);
    const char *slash = n > 0 ? strrchr(link, '/') : NULL;
    say("%s: %s", label, slash ? slash : errno_name(errno));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "environ") == 0) {
        char env[64] = "";
        VALUE("read environ", read(open("/proc/self/environ", O_RDONLY), env, sizeof(env)));
        say("\"%s\" \"%s\"", env, env + strlen(env) + 1);
        return 0;
    }
    if (argc > 1) {
        struct stat st;
        show_exe("exe");
        NEED(rename("copy", "renamed"));
        show_exe("after rename");
        NEED(unlink("renamed"));
        show_exe("after removal");
        FACT("it can still be opened", open("/proc/self/exe", O_RDONLY));
        FACT("stat follows it", stat("/proc/self/exe", &st));
        YES("it has no name", st.st_nlink == 0);
        FACT("write to it", open("/proc/self/exe", O_WRONLY));
        return 0;
    }
    facts_start();
    copy_self("copy");
    char cwd[PATH_MAX], path[PATH_MAX + 8];
    NEED(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
    snprintf(path, sizeof(path), "%s/copy", cwd);
    pid_t pid = NEED(fork());
    if (pid == 0) {
        execl(path, path, "second", (char *)NULL);
        _exit(1);
    }
    say_end("copy", pid);

    volatile int value = 1234;
    int got = 0;
    int mem = open("/proc/self/mem", O_RDWR);
    FACT("open /proc/self/mem", mem);
    VALUE("read the own stack", pread(mem, &got, sizeof(got), (off_t)(intptr_t)&value));
    say("value %d", got);
    FACT("read an unmapped address", pread(mem, &got, sizeof(got), 16));
    FACT("open smaps_rollup", open("/proc/self/smaps_rollup", O_RDONLY));
    FACT("open smaps", open("/proc/self/smaps", O_RDONLY));
    pid = NEED(fork());
    if (pid == 0) {
        char *env[] = {"ONE=1", "TWO=2", NULL};
        execle("/proc/self/exe", "x", "environ", (char *)NULL, env);
        _exit(1);
    }
    say_end("environ", pid);

    struct statfs fs;
    NEED(statfs("/dev/shm", &fs));
    say("/dev/shm is a tmpfs: %d", fs.f_type == 0x01021994);
    int s = shm_open("/facts-shm", O_RDWR | O_CREAT | O_EXCL, 0600);
    FACT("shm_open", s);
    FACT("shm_unlink", shm_unlink("/facts-shm"));
    sem_t *sem = sem_open("/facts-sem", O_CREAT | O_EXCL, 0600, 1);
    YES("sem_open", sem != SEM_FAILED);
    if (sem != SEM_FAILED) {
        FACT("sem_wait", sem_wait(sem));
        FACT("sem_trywait", sem_trywait(sem));
    }
    FACT("sem_unlink", sem_unlink("/facts-sem"));
    remove_work_dir();
    return 0;
}
