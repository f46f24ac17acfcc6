/*
 * seccomp_filter.c: the profile of config.json as a program of seccomp(2), which the sentry runs
 * before each call of the guest, as the host's kernel would.
 *
 * libseccomp makes the program. Names that it does not know (calls of other architectures, or newer
 * than it) are left out, as runc does; the guest is x86-64, so other architectures of the profile
 * make no difference.
 */
#include "runsc-shim/seccomp_filter.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "abi/prctl.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/oci_config.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/boot.h"

enum {
    MAX_PROGRAM = 1 << 20
};

static int add_rule(scmp_filter_ctx ctx, const struct oci_seccomp_rule *rule, const char *name)
{
    struct scmp_arg_cmp args[6];
    int nr = seccomp_syscall_resolve_name(name);
    size_t n = 0;
    int r = 0;

    if (nr == __NR_SCMP_ERROR || nr < 0)
        return 0;
    /* Two conditions on one argument cannot stand in one rule: each is one of its own then. */
    bool apart = rule->nargs > 6;
    for (size_t i = 0; i < rule->nargs; i++) {
        for (size_t k = 0; k < i; k++)
            apart |= rule->args[i].index == rule->args[k].index;
    }
    for (size_t i = 0; i < rule->nargs; i++) {
        const struct oci_seccomp_arg *a = &rule->args[i];
        const struct scmp_arg_cmp cmp = {a->index, (enum scmp_compare)a->op, a->value,
                                         a->value_two};
        if (apart)
            r = seccomp_rule_add_array(ctx, rule->action, nr, 1, &cmp);
        else
            args[n++] = cmp;
        if (r < 0)
            return r;
    }
    return apart ? 0 : seccomp_rule_add_array(ctx, rule->action, nr, (unsigned)n, args);
}

static int add_rules(scmp_filter_ctx ctx, const struct oci_seccomp *s, struct error *err)
{
    for (size_t i = 0; i < s->nrules; i++) {
        const struct oci_seccomp_rule *rule = &s->rules[i];
        /* What is the default anyway is refused by the library. */
        if (rule->action == s->default_action)
            continue;
        for (size_t k = 0; k < rule->names.n; k++) {
            int r = add_rule(ctx, rule, rule->names.v[k]);
            if (r < 0)
                return error_errno(err, -r, "linux.seccomp.syscalls[%zu]: %s", i, rule->names.v[k]);
        }
    }
    return 0;
}

/* The library writes the program to a descriptor. */
static int export_program(scmp_filter_ctx ctx, struct boot *b, struct error *err)
{
    char *text;
    size_t len;
    int fd = memfd_create("seccomp", MFD_CLOEXEC);

    if (fd < 0)
        return error_errno(err, errno, "linux.seccomp");
    int r = seccomp_export_bpf(ctx, fd);
    if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
        r = -errno;
    if (r == 0)
        r = fd_read_all(fd, MAX_PROGRAM, &text, &len);
    (void)close(fd);
    if (r != 0)
        return error_errno(err, -r, "linux.seccomp");
    void *program = kmemdup(text, len);
    kfree(text);
    if (program == NULL)
        return error_set(err, ENOMEM, "no memory");
    kfree(b->seccomp);
    b->seccomp = program;
    b->nseccomp = len / sizeof(b->seccomp[0]);
    return 0;
}

int seccomp_filter_set(struct boot *b, const struct oci_seccomp *s, struct error *err)
{
    if (!s->present)
        return 0;
    scmp_filter_ctx ctx = seccomp_init(s->default_action);
    if (ctx == NULL)
        return error_set(err, EINVAL, "linux.seccomp: the default action is not possible");
    /* A foreign architecture never reaches the guest's filters: the sandbox ends it before. */
    (void)seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    /* By number rather than by importance: large profiles are searched in few steps. */
    (void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    int r = add_rules(ctx, s, err);
    if (r == 0)
        r = export_program(ctx, b, err);
    seccomp_release(ctx);
    return r;
}
