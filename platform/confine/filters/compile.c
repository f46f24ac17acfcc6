/*
 * A program of the build: prints the filters as C arrays for ../filter.h.
 *
 * Exit status: 0, or 1 with a line that says which filter libseccomp would not make.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/filter.h>
#include <sys/mman.h>

#include "platform/confine/filters/filters.h"

#include "lib/cleanup.h"

struct filter {
    const char *name;
    int (*rules)(scmp_filter_ctx f);
    /* A sanitizer's report tries a lot; there it must go on to print what it found. */
    uint32_t otherwise;
};

static const struct filter filters[] = {
    {"sentry", filter_sentry_rules,
     SENTRY_SANITIZED ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS},
    {"gofer", filter_gofer_rules, SCMP_ACT_KILL_PROCESS},
    {"volumes", filter_volumes_rules, SCMP_ACT_KILL_PROCESS},
};

int filter_allow(scmp_filter_ctx f, const int *calls, size_t n)
{
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    return r;
}

static void print_program(const char *name, const struct sock_filter *code, size_t n)
{
    (void)printf("\nstatic const struct sock_filter code_%s[] = {\n", name);
    for (size_t i = 0; i < n; i++)
        (void)printf("    {0x%02x, %u, %u, 0x%x},\n", code[i].code, code[i].jt, code[i].jf,
                     code[i].k);
    (void)printf("};\nconst struct confine_filter confine_filter_%s = {code_%s, %zu};\n", name,
                 name, n);
}

/* libseccomp writes programs to descriptors only. */
static int print_exported(scmp_filter_ctx ctx, const char *name)
{
    struct sock_filter code[1024];
    auto_fd int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = seccomp_export_bpf(ctx, fd);
    if (r < 0)
        return r;
    ssize_t size = pread(fd, code, sizeof(code), 0);
    if (size <= 0 || size == (ssize_t)sizeof(code) || (size_t)size % sizeof(code[0]) != 0)
        return -EINVAL;
    print_program(name, code, (size_t)size / sizeof(code[0]));
    return 0;
}

static int print_filter(const struct filter *f)
{
    scmp_filter_ctx ctx = seccomp_init(f->otherwise);
    if (ctx == NULL)
        return -ENOMEM;
    int r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    /* A tree of comparisons. The kernel runs a new filter once for each call that there is. */
    if (r == 0)
        r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (r == 0)
        r = f->rules(ctx);
    if (r == 0)
        r = print_exported(ctx, f->name);
    seccomp_release(ctx);
    return r;
}

int main(void)
{
    (void)printf("/* Made by platform/confine/filters. */\n"
                 "#include <linux/filter.h>\n\n#include \"platform/confine/filter.h\"\n");
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        int r = print_filter(&filters[i]);
        if (r < 0) {
            (void)fprintf(stderr, "filter %s: %s\n", filters[i].name, strerror(-r));
            return EXIT_FAILURE;
        }
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
