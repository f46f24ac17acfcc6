/* tries: the environment, arguments and auxiliary vector of itself and of process 1, the memory
   above the stack, for anything of the caller's: its variables, paths, secrets, descriptors */
/* must fail because: the environment is a list that the caller gives; nothing is passed on by
 * itself */
/* an escape would: read the harness's tokens, home, display or working directory */
/* source: ATTACKS.md S3; pipelock #267 */
#include <elf.h>
#include <fcntl.h>

#include <sys/auxv.h>

#include "attack.h"

extern char **environ;

static int leaks;

static void judge(const char *where, const char *var)
{
    static const char *const known[] = {
        "PATH=", "HOME=", "SENTRY_SUITE=", "HOSTNAME=", "TERM=",     "PWD=",
        "LANG=", "USER=", "SHLVL=",        "OLDPWD=",   "container="};
    static const char *const bad[] = {"ESCAPE_", "SSH_",    "SUDO_",  "XDG_",     "DBUS_",
                                      "AWS_",    "TOKEN",   "SECRET", "PASSWORD", "RUNTIME",
                                      "ATTACKS", "SCRATCH", "LD_",    "LS_COLORS"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (strncmp(var, bad[i], strlen(bad[i])) == 0) {
            step("%s has %.60s", where, var);
            leaks++;
            return;
        }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(var, known[i], strlen(known[i])) == 0)
            return;
    if (*var)
        step("%s: %.60s", where, var);
}

static void file(const char *path)
{
    static char buf[1 << 20];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : 0;
    if (n <= 0)
        return;
    leaks += has_canary(buf, (size_t)n);
    buf[n] = 0;
    for (char *p = buf; p < buf + n; p += strlen(p) + 1)
        judge(path, p);
    close(fd);
}

static int attack(void)
{
    const char *run_dir = fact("run_dir"), *home = "/root/";
    for (char **e = environ; *e; e++)
        judge("environment", *e);
    file("/proc/self/environ");
    file("/proc/1/environ");
    file("/proc/1/cmdline");
    /* Everything from the first string to the end of the stack. */
    const char *p = (const char *)getauxval(AT_EXECFN), *end = p;
    if (!p)
        return cannot("no AT_EXECFN");
    while ((uintptr_t)end % 4096 || end == p)
        end++;
    leaks += has_canary(p - 2048, (size_t)(end - p) + 2048);
    for (const char *q = p; q + 64 < end; q++)
        if ((run_dir && strncmp(q, run_dir, strlen(run_dir)) == 0) || strncmp(q, home, 6) == 0) {
            step("above the stack: %.60s", q);
            leaks++;
        }
    step("executed as %.60s, platform %s", p, (const char *)getauxval(AT_PLATFORM));
    if (leaks)
        return escaped("%d things of the caller's", leaks);
    return contained("the environment is what was given");
}

static int twin(void)
{
    if (!getenv("PATH") || setenv("A", "b", 1) < 0 || strcmp(getenv("A"), "b") != 0)
        return broken("PATH or setenv");
    return works("PATH is %s", getenv("PATH"));
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
