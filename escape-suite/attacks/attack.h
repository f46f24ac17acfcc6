#pragma once
/*
 * What every attack program includes: its two roles, the transcript, the facts. Plain libc; nothing
 * from the tree, so that one file can be compiled and read alone.
 *
 *      static int attack(void) { ...; return contained("socket: %s", err_name(errno)); }
 *      static int twin(void) { ...; return works("a pair of sockets talks"); }
 *      int main(int argc, char **argv) { return attack_main(argc, argv, attack, twin); }
 *
 * Transcript on standard output: `step TEXT` as often as wanted, then exactly one last line:
 * contained, ESCAPED or cannot (attack); works or broken (twin). Each line is one write(2), so
 * processes that share the output do not mix theirs.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/syscall.h>

/* What canaries hold on the host is this mark and 32 hexadecimal digits. */
#define CANARY_MARK "escape-canary:"

/* A call or a process that takes this long hangs. Whatever takes less may be the fault of a machine
 * that has fifty others to serve, and is no finding. */
enum {
    HANG_MS = 30000
};

static char **attack_facts;

/* The value of the fact key=value, or NULL. See escape-suite/README.md for the list. */
__attribute__((unused)) static const char *fact(const char *key)
{
    size_t n = strlen(key);
    for (char **f = attack_facts; f && *f; f++)
        if (strncmp(*f, key, n) == 0 && (*f)[n] == '=')
            return *f + n + 1;
    return NULL;
}

__attribute__((unused)) static long fact_number(const char *key, long otherwise)
{
    const char *v = fact(key);
    return v ? strtol(v, NULL, 0) : otherwise;
}

/* Is the runtime one with a kernel of its own, whose promises are stricter? Others share the host's
 * kernel: there an empty network namespace is as good as no network. */
__attribute__((unused)) static bool own_kernel(void)
{
    const char *kernel = fact("kernel");
    return !kernel || strcmp(kernel, "own") == 0;
}

/* "EPERM"; "0" for no error. Takes errno or -errno. */
__attribute__((unused)) static const char *err_name(long e)
{
    const char *name = strerrorname_np((int)(e < 0 ? -e : e));
    return e == 0 ? "0" : name ? name : "an unknown error";
}

/* A raw call: the result, or -errno. */
#define sys(...)                              \
    ({                                        \
        long sys_r_ = syscall(__VA_ARGS__);   \
        sys_r_ == -1 ? -(long)errno : sys_r_; \
    })

/* Does the buffer hold what a canary holds? */
__attribute__((unused)) static bool has_canary(const void *buf, size_t n)
{
    size_t mark = sizeof(CANARY_MARK) - 1;
    for (const char *p = buf; n >= mark + 32; p++, n--)
        if (*p == CANARY_MARK[0] && memcmp(p, CANARY_MARK, mark) == 0) {
            size_t i = 0;
            while (i < 32 && strchr("0123456789abcdef", p[mark + i]) && p[mark + i])
                i++;
            if (i == 32)
                return true;
        }
    return false;
}

/* One line: word, text. Bytes that would end the line become blanks. */
__attribute__((unused)) static void say_line(const char *word, const char *fmt, va_list ap)
{
    char line[2048];
    int n = snprintf(line, sizeof(line), "%s ", word);
    int m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
    size_t len = (size_t)n + (m < 0 ? 0 : (size_t)m);
    if (len > sizeof(line) - 2)
        len = sizeof(line) - 2;
    for (size_t i = 0; i < len; i++)
        if (line[i] == '\n' || line[i] == '\r' || line[i] == '\0')
            line[i] = ' ';
    line[len++] = '\n';
    for (size_t off = 0; off < len;) {
        ssize_t w = write(1, line + off, len - off);
        if (w < 0 && errno != EINTR)
            return;
        off += w > 0 ? (size_t)w : 0;
    }
}

#define ATTACK_SAYS(name, word, result)                                                 \
    __attribute__((unused, format(printf, 1, 2))) static int name(const char *fmt, ...) \
    {                                                                                   \
        va_list ap;                                                                     \
        va_start(ap, fmt);                                                              \
        say_line(word, fmt, ap);                                                        \
        va_end(ap);                                                                     \
        return result;                                                                  \
    }
/* What was tried and what came. */
ATTACK_SAYS(step, "step", 0)
/* The last lines; each returns the exit status for main. */
ATTACK_SAYS(contained, "contained", 0)
ATTACK_SAYS(escaped, "ESCAPED", 1)
ATTACK_SAYS(cannot, "cannot", 2)
ATTACK_SAYS(works, "works", 0)
ATTACK_SAYS(broken, "broken", 1)

/* Runs the role that argv names. Outside of the suite's box the attack is not made. */
__attribute__((unused)) static int attack_main(int argc, char **argv, int (*attack)(void),
                                               int (*twin)(void))
{
    const char *in_suite = getenv("SENTRY_SUITE");
    const char *role = argc > 1 ? argv[1] : "";
    attack_facts = argc > 2 ? argv + 2 : NULL;
    if (strcmp(role, "twin") == 0)
        return twin();
    if (strcmp(role, "attack") != 0)
        return cannot("usage: %s attack|twin [fact=value...]", argc > 0 ? argv[0] : "PROG");
    if (!in_suite || strcmp(in_suite, "1") != 0)
        return cannot("not run by escape-suite (SENTRY_SUITE is not 1)");
    return attack();
}
