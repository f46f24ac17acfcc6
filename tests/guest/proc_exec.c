/* execve: arguments, environment, auxv, scripts, errors, what survives. */
#include <sys/auxv.h>
#include <sys/mman.h>

#include "facts.h"

extern char **environ;

static int second_life(int argc, char **argv)
{
    sigset_t set;
    struct sigaction sa;
    if (argc < 2) {
        say("argc %d argv0 \"%s\"", argc, argc ? argv[0] : "none");
    } else if (strcmp(argv[1], "args") == 0) {
        say("argc %d argv0 \"%s\"", argc, argv[0]);
        for (int i = 2; i < argc; i++)
            say("argv[%d] \"%s\"", i, argv[i]);
        for (char **e = environ; *e; e++)
            say("env \"%s\"", *e);
    } else if (strcmp(argv[1], "auxv") == 0) {
        say("AT_PAGESZ %lu AT_CLKTCK %lu", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK));
        say("AT_UID ok %d AT_EGID ok %d AT_SECURE %lu", getauxval(AT_UID) == getuid(),
            getauxval(AT_EGID) == getegid(), getauxval(AT_SECURE));
        say("AT_EXECFN \"%s\"", (char *)getauxval(AT_EXECFN));
        say("AT_PLATFORM \"%s\"", (char *)getauxval(AT_PLATFORM));
        say("AT_RANDOM %d AT_ENTRY %d AT_PHDR %d", getauxval(AT_RANDOM) != 0,
            getauxval(AT_ENTRY) != 0, getauxval(AT_PHDR) != 0);
        say("AT_PHENT %lu", getauxval(AT_PHENT));
    } else if (strcmp(argv[1], "state") == 0) {
        sigprocmask(SIG_BLOCK, NULL, &set);
        say("blocked USR1 %d", sigismember(&set, SIGUSR1));
        sigpending(&set);
        say("pending USR1 %d", sigismember(&set, SIGUSR1));
        sigaction(SIGUSR2, NULL, &sa);
        say("ignored stays %d", sa.sa_handler == SIG_IGN);
        sigaction(SIGTERM, NULL, &sa);
        say("handler is gone %d", sa.sa_handler == SIG_DFL);
        stack_t ss;
        sigaltstack(NULL, &ss);
        say("alternate stack is gone %d", ss.ss_flags == SS_DISABLE);
        char name[16];
        prctl(PR_GET_NAME, name);
        say("name \"%s\"", name);
        say("umask %03o", umask(0));
    }
    return 0;
}

static void run(const char *label, const char *path, char *const argv[], char *const envp[])
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        execve(path, argv, envp);
        say("%s: %s", label, errno_name(errno));
        _exit(77);
    }
    int st;
    waitpid(pid, &st, 0);
    if (!WIFEXITED(st) || WEXITSTATUS(st) != 77)
        say("%s: %s", label, status_text(st));
}

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

int main(int argc, char **argv)
{
    static char big[131073], *many[40000];
    char *none[] = {NULL};
    if (argc > 1 || getenv("AGAIN"))
        return second_life(argc, argv);
    facts_start();
    char *self = "/proc/self/exe";
    run("arguments", self, ARGV("name", "args", "", "two words", "\xff\n"),
        ARGV("A=1", "B", "A=2"));
    run("auxv", self, ARGV("x", "auxv"), none);
    run("empty argv", self, none, ARGV("AGAIN=1"));

    signal(SIGUSR2, SIG_IGN);
    signal(SIGTERM, (void (*)(int))(void *)second_life);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    static char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    umask(077);
    pid_t pid = NEED(fork());
    if (pid == 0) {
        raise(SIGUSR1);
        prctl(PR_SET_NAME, "before");
        NEED(symlink("/proc/self/exe", "short"));
        execve("short", ARGV("x", "state"), none);
        _exit(1);
    }
    say_end("state", pid);
    umask(022);

    run("missing", "missing", none, none);
    run("directory", ".", none, none);
    close(make_file("noexec", "#!/bin/sh\n"));
    run("no x bit", "noexec", none, none);
    close(make_file("garbage", "\x01\x02\x03 not a program"));
    chmod("garbage", 0755);
    run("garbage", "garbage", none, none);
    close(make_file("empty", ""));
    chmod("empty", 0755);
    run("empty file", "empty", none, none);
    close(make_file("shortelf", "\x7f"
                                "ELF\x02\x01\x01"));
    chmod("shortelf", 0755);
    run("cut ELF header", "shortelf", none, none);
    close(make_file("script", "#! /bin/echo  one two \n"));
    chmod("script", 0755);
    run("script", "./script", ARGV("ignored", "three"), none);
    close(make_file("badscript", "#!/missing/interpreter\n"));
    chmod("badscript", 0755);
    run("script with a missing interpreter", "./badscript", none, none);
    close(make_file("emptyscript", "#!   \n"));
    chmod("emptyscript", 0755);
    run("script without interpreter", "./emptyscript", none, none);
    close(make_file("outer", "#!./script\n"));
    chmod("outer", 0755);
    run("script run by a script", "./outer", ARGV("x"), none);
    close(make_file("loop", "#!./loop\n"));
    chmod("loop", 0755);
    run("script that runs itself", "./loop", none, none);
    int w = NEED(open("script", O_WRONLY));
    run("open for writing", "./script", none, none);
    close(w);
    run("bad argv pointer", self, (char **)8, none);
    memset(big, 'x', 131072);
    run("argument of 128 KiB", self, ARGV("x", "args", big), none);
    for (int i = 0; i < 39999; i++)
        many[i] = "0123456789012345678901234567890123456789012345678901234567890123456789"
                  "0123456789012345678901234567890123456789012345678901234567890123456789";
    run("arguments beyond the limit", self, many, none);
    int fd = NEED(open("script", O_RDONLY | O_CLOEXEC));
    pid = NEED(fork());
    if (pid == 0) {
        syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH);
        say("execveat of a close-on-exec script: %s", errno_name(errno));
        _exit(0);
    }
    say_end("execveat", pid);
    pid = NEED(fork());
    if (pid == 0) {
        int exe = open(self, O_PATH | O_CLOEXEC);
        syscall(SYS_execveat, exe, "", ARGV("by fd", "args", "ok"), none, AT_EMPTY_PATH);
        _exit(1);
    }
    say_end("execveat", pid);
    remove_work_dir();
    return 0;
}
