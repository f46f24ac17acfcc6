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
        .image_use_fd = -1,
        .strace_fd = -1,
        .log_fd = -1,
        .listen_fd = -1,
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

void boot_init_oci(struct boot *b)
{
    boot_init(b);
    b->oci = true;
    b->mounts_given = true;
    b->process.find_home = true;
    b->limits = (struct boot_limits){
        .pids = BOOT_OCI_TASKS,
        .files = 1048576,
        .file_size = BOOT_UNLIMITED,
        .disk = BOOT_UNLIMITED,
        .output = BOOT_UNLIMITED,
    };
}

static void fd_done(int fd)
{
    if (fd > 2)
        (void)close(fd);
}

static void strings_done(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kfree(list[i]);
}

static void oci_done(struct boot *b)
{
    for (size_t i = 0; i < b->nmounts; i++) {
        fd_done(b->mounts[i].fd);
        kfree(b->mounts[i].guest);
        kfree(b->mounts[i].source);
    }
    for (size_t i = 0; i < b->nsysctls; i++) {
        kfree(b->sysctls[i].name);
        kfree(b->sysctls[i].value);
    }
    for (size_t i = 0; i < b->ndevices; i++)
        kfree(b->devices[i].path);
    strings_done(b->masked, b->nmasked);
    strings_done(b->readonly, b->nreadonly);
    strings_done(b->cgroups, b->ncgroups);
    kfree(b->domainname);
    kfree(b->seccomp);
    fd_done(b->listen_fd);
    for (size_t i = 0; i < b->npreserved; i++)
        fd_done(b->preserved[i]);
}

void boot_done(struct boot *b)
{
    oci_done(b);
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
    kfree(b->name);
    fd_done(b->image_fd);
    fd_done(b->image_use_fd);
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

/* -- lists ------------------------------------------------------------------------------------- */

static int no_memory(struct error *err)
{
    return error_set(err, ENOMEM, "no memory");
}

int boot_set_string(char **slot, const char *value, struct error *err)
{
    char *copy = kstrdup(value);
    if (copy == NULL)
        return no_memory(err);
    kfree(*slot);
    *slot = copy;
    return 0;
}

int boot_set_argv(struct boot *b, const char *const *argv, struct error *err)
{
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    char **copy = kalloc_array(n + 1, sizeof(*copy));
    bool good = copy != NULL;
    for (size_t i = 0; i < n && good; i++) {
        copy[i] = kstrdup(argv[i]);
        good = copy[i] != NULL;
    }
    if (!good) {
        for (size_t i = 0; copy != NULL && copy[i] != NULL; i++)
            kfree(copy[i]);
        kfree(copy);
        return no_memory(err);
    }
    for (size_t i = 0; b->argv != NULL && b->argv[i] != NULL; i++)
        kfree(b->argv[i]);
    kfree(b->argv);
    b->argv = copy;
    return 0;
}

static int add_string(char **list, size_t *n, size_t max, const char *s, const char *what,
                      struct error *err)
{
    if (*n >= max)
        return error_set(err, E2BIG, "more than %zu %s", max, what);
    char *copy = kstrdup(s);
    if (copy == NULL)
        return no_memory(err);
    list[(*n)++] = copy;
    return 0;
}

int boot_add_masked(struct boot *b, const char *path, struct error *err)
{
    return add_string(b->masked, &b->nmasked, BOOT_MAX_PATHS, path, "masked paths", err);
}

int boot_add_readonly(struct boot *b, const char *path, struct error *err)
{
    return add_string(b->readonly, &b->nreadonly, BOOT_MAX_PATHS, path, "read-only paths", err);
}

int boot_add_cgroup(struct boot *b, const char *dir, struct error *err)
{
    return add_string(b->cgroups, &b->ncgroups, BOOT_MAX_CGROUPS, dir, "cgroups", err);
}

int boot_add_mount(struct boot *b, const struct boot_mount *m, struct error *err)
{
    struct boot_mount copy = *m;
    if (b->nmounts >= BOOT_MAX_MOUNTS) {
        fd_done(m->fd);
        return error_set(err, E2BIG, "more than %d mounts", BOOT_MAX_MOUNTS);
    }
    copy.guest = kstrdup(m->guest);
    copy.source = m->source != NULL ? kstrdup(m->source) : NULL;
    if (copy.guest == NULL || (m->source != NULL && copy.source == NULL)) {
        kfree(copy.guest);
        kfree(copy.source);
        fd_done(m->fd);
        return no_memory(err);
    }
    b->mounts[b->nmounts++] = copy;
    return 0;
}

int boot_add_sysctl(struct boot *b, const char *name, const char *value, struct error *err)
{
    if (b->nsysctls >= BOOT_MAX_SYSCTLS)
        return error_set(err, E2BIG, "more than %d sysctls", BOOT_MAX_SYSCTLS);
    struct boot_sysctl s = {kstrdup(name), kstrdup(value)};
    if (s.name == NULL || s.value == NULL) {
        kfree(s.name);
        kfree(s.value);
        return no_memory(err);
    }
    b->sysctls[b->nsysctls++] = s;
    return 0;
}

int boot_add_device(struct boot *b, const struct boot_device *d, struct error *err)
{
    struct boot_device copy = *d;
    if (b->ndevices >= BOOT_MAX_DEVICES)
        return error_set(err, E2BIG, "more than %d devices", BOOT_MAX_DEVICES);
    copy.path = kstrdup(d->path);
    if (copy.path == NULL)
        return no_memory(err);
    b->devices[b->ndevices++] = copy;
    return 0;
}

bool boot_root_through(const struct boot *b)
{
    return b->writable && b->root_through;
}

size_t boot_volumes(const struct boot *b)
{
    size_t n = b->nvolumes + boot_root_through(b);
    for (size_t i = 0; i < b->nmounts; i++)
        n += b->mounts[i].type == BOOT_MOUNT_BIND;
    return n;
}
