/*
 * boot.c: the boot description as an object.
 */
#include "sentry/cli/boot.h"

#include "lib/compiler.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"

void boot_init(struct boot *b)
{
    *b = (struct boot){
        .image_fd = -1,
        .strace_fd = -1,
        .log_fd = -1,
        .limits =
            {
                .wall_ns = 60ull * 1000000000u,
                .cpu_ns = 60ull * 1000000000u,
                .memory = 512ull << 20,
                .pids = 256,
                .files = 1024,
                .file_size = 64ull << 20,
                .disk = 64ull << 20,
                .output = 8ull << 20,
            },
    };
}

static void fd_done(int fd)
{
    if (fd > 2)
        (void)close(fd);
}

void boot_done(struct boot *b)
{
    for (size_t i = 0; i < b->nenv; i++)
        kfree(b->env[i]);
    for (size_t i = 0; i < b->nvolumes; i++) {
        fd_done(b->volumes[i].fd);
        kfree(b->volumes[i].guest);
    }
    for (size_t i = 0; i < b->ntmpfs; i++)
        kfree(b->tmpfs[i].path);
    for (size_t i = 0; b->argv != NULL && b->argv[i] != NULL; i++)
        kfree(b->argv[i]);
    kfree(b->argv);
    kfree(b->cwd);
    kfree(b->hostname);
    kfree(b->user);
    kfree(b->log_spec);
    kfree(b->report_path);
    fd_done(b->image_fd);
    fd_done(b->strace_fd);
    fd_done(b->log_fd);
}

static size_t key_len(const char *assignment)
{
    return strcspn(assignment, "=");
}

bool boot_env_has(const struct boot *b, const char *key)
{
    for (size_t i = 0; i < b->nenv; i++) {
        size_t n = key_len(b->env[i]);
        if (n == strlen(key) && strncmp(b->env[i], key, n) == 0)
            return true;
    }
    return false;
}

int boot_env_set(struct boot *b, const char *assignment, struct error *err)
{
    size_t n = key_len(assignment);
    if (n == 0 || assignment[n] != '=')
        return error_set(err, EINVAL, "'%s' is not KEY=VALUE", assignment);
    char *copy = kstrdup(assignment);
    if (copy == NULL)
        return error_set(err, ENOMEM, "no memory");
    for (size_t i = 0; i < b->nenv; i++) {
        if (key_len(b->env[i]) == n && strncmp(b->env[i], assignment, n) == 0) {
            kfree(b->env[i]);
            b->env[i] = copy;
            return 0;
        }
    }
    if (b->nenv >= BOOT_MAX_ENV) {
        kfree(copy);
        return error_set(err, E2BIG, "more than %d environment variables", BOOT_MAX_ENV);
    }
    b->env[b->nenv++] = copy;
    b->env[b->nenv] = NULL;
    return 0;
}
