#pragma once
/*
 * A process from outside, from the words that describe it to what the kernel takes: users are
 * looked up, capabilities and environment completed.
 */
#include "lib/compiler.h"

#include "sentry/cli/boot.h"
#include "sentry/cli/mounts.h"
#include "sentry/kernel/kernel.h"

struct error;
struct file;

struct process_words {
    const char *const *argv, *const *env; /* NULL-terminated */
    const char *const *base_env;          /* what env adds to, or NULL */
    const char *cwd, *user;
    const struct boot_process *process;
    const struct user_ids *default_ids; /* when neither user nor ids are given; NULL: 65534 */
};

struct process {
    struct kernel_start start; /* stdio and console are the caller's to fill */
    struct user_ids ids;
    const char **env; /* owned; the strings are borrowed */
    char home[512];
    struct file *files[BOOT_MAX_PRESERVED]; /* counted */
};

int process_describe(const struct process_words *w, struct process *ret, struct error *err)
    MUST_CHECK;
/* Descriptors of the host that the process has as 3, 4 ...; fds[i] is -1 once it is a file's. */
int process_add_files(struct process *p, int *fds, size_t n, struct error *err) MUST_CHECK;
void process_done(struct process *p);
