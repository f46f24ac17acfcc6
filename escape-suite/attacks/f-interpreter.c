/* tries: have the exec path open what the guest cannot: ELF files whose PT_INTERP, and scripts
   whose #! line, name the canary, its way through /proc/1/root and "..", /proc/self/exe of the
   runtime, endless and 4 KiB names; execveat and fexecve of descriptors */
/* must fail because: the sentry resolves interpreters with the same walk as every path, in the
   guest's tree, and reads headers only */
/* an escape would: map or execute a host file in the box; a different errno for a host file that
   exists tells that the host was asked */
/* source: ATTACKS.md F1, I5 */
#include <elf.h>

#include "tricks.h"

extern char **environ;

static long run(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {"x", NULL};
        execve(path, argv, environ);
        int e = errno;
        syscall(SYS_execveat, AT_FDCWD, path, argv, environ, 0);
        int fd = open(path, O_PATH);
        syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
        _exit(e);
    }
    int status = wait_for(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void write_file(const char *path, const void *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    write(fd, data, n);
    close(fd);
}

static long as_script(const char *interp)
{
    char line[9000];
    int n = snprintf(line, sizeof(line), "#!%s -x\nexit 77\n", interp);
    write_file("/tmp/script", line, (size_t)n);
    return run("/tmp/script");
}

static long as_elf(const char *interp)
{
    struct {
        Elf64_Ehdr e;
        Elf64_Phdr p[2];
        char name[8192];
    } f = {.e = {.e_type = ET_DYN,
                 .e_machine = EM_X86_64,
                 .e_version = 1,
                 .e_phoff = sizeof(Elf64_Ehdr),
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 2}};
    memcpy(f.e.e_ident, ELFMAG "\2\1\1", 7);
    snprintf(f.name, sizeof(f.name), "%s", interp);
    f.p[0] = (Elf64_Phdr){.p_type = PT_INTERP,
                          .p_flags = PF_R,
                          .p_offset = offsetof(typeof(f), name),
                          .p_filesz = strlen(f.name) + 1};
    f.p[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                          .p_flags = PF_R,
                          .p_filesz = sizeof(f),
                          .p_memsz = sizeof(f),
                          .p_align = 4096};
    write_file("/tmp/elf", &f, sizeof(f));
    return run("/tmp/elf");
}

static int attack(void)
{
    static const char *const prefix[] = {"", "/..", "/proc/1/root", "/proc/self/root/.."};
    const char *file = fact("host_file"), *dir = fact("host_dir");
    char real[8192], fake[8192];
    int differ = 0, tried = 0;
    if (!file || !dir)
        return cannot("no host_file, no host_dir");
    for (int i = 0; i < COUNT(prefix); i++) {
        snprintf(real, sizeof(real), "%s%s", prefix[i], file);
        snprintf(fake, sizeof(fake), "%s%s-no-such", prefix[i], file);
        long a = as_script(real), b = as_script(fake), c = as_elf(real), d = as_elf(fake),
             e = run(real);
        step("\"%s\": script %s, ELF %s, direct %s", prefix[i], err_name(a), err_name(c),
             err_name(e));
        differ += a != b || c != d || a == 77;
        tried++;
    }
    memset(real, 'a', 5000);
    real[0] = '/';
    real[5000] = 0;
    step("5000 bytes: script %s, ELF %s", err_name(as_script(real)), err_name(as_elf(real)));
    step("itself: script %s, ELF %s", err_name(as_script("/tmp/script")),
         err_name(as_elf("/tmp/elf")));
    if (differ)
        return escaped("%d of %d names behave unlike names that do not exist", differ, tried);
    return contained("a name on the host is like a name that does not exist");
}

static int twin(void)
{
    char script[] = "#!/bin/sh\nexit 42\n";
    write_file("/tmp/script", script, sizeof(script) - 1);
    long r = run("/tmp/script");
    if (r != 42)
        return broken("a script of ours ends with %ld", r);
    return works("a script runs by its interpreter");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
