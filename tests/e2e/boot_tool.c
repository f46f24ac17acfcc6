/*
 * boot-tool: runs a boot description that `sentry run` cannot express, as the OCI command makes it.
 *
 *      boot-tool [OPTION...] IMAGE PROG ARGS...
 *      --mount TYPE:HOST:GUEST[:OPTION,OPTION...]   in order; HOST is empty but for binds
 *      --oci             no mounts but those given; limits as a container has them
 *      --writable        an overlay as the root
 *      --through         the root is IMAGE itself, written through
 *      --masked PATH     --readonly PATH     --sysctl NAME=VALUE     --user UID[:GID]
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "runsc-shim/mount_options.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/monitor.h"

static int mount_type(const char *name, enum boot_mount_type *ret, struct error *err)
{
    static const char *const names[] = {"proc",   "sysfs",  "tmpfs",  "dev",
                                        "devpts", "mqueue", "cgroup", "bind"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = (enum boot_mount_type)i;
            return 0;
        }
    }
    return error_set(err, EINVAL, "unknown type %s", name);
}

static int parse_options(char *text, struct mount_options *ret, struct error *err)
{
    const char *words[32];
    struct oci_strings list = {.v = words};

    while (text && list.n < ARRAY_LEN(words))
        words[list.n++] = strsep(&text, ",");
    return mount_options_parse(&list, ret, err);
}

static int add_mount(struct boot *b, char *text, struct error *err)
{
    char *type = strsep(&text, ":"), *host = strsep(&text, ":"), *guest = strsep(&text, ":");
    struct boot_mount m = {.fd = -1, .guest = guest, .source = host && host[0] ? host : NULL};
    struct mount_options o;
    int r = guest ? mount_type(type, &m.type, err)
                  : error_set(err, EINVAL, "a mount is TYPE:HOST:GUEST[:OPTIONS]");

    if (r == 0)
        r = parse_options(text, &o, err);
    if (r != 0)
        return r;
    if (m.type == BOOT_MOUNT_BIND && host)
        m.fd = open(host, O_PATH | O_CLOEXEC);
    m.flags = o.flags;
    m.size = o.size;
    m.mode_given = o.mode_given;
    m.mode = o.mode;
    m.recursive = o.recursive;
    m.copy_up = o.copy_up;
    m.uid = o.uid;
    m.gid = o.gid;
    m.max_inodes = o.max_inodes;
    return boot_add_mount(b, &m, err);
}

static int add_sysctl(struct boot *b, char *text, struct error *err)
{
    char *name = strsep(&text, "=");

    return text ? boot_add_sysctl(b, name, text, err)
                : error_set(err, EINVAL, "a setting is NAME=VALUE");
}

static int add_option(struct boot *b, const char *name, char *value, struct error *err)
{
    if (strcmp(name, "--mount") == 0)
        return add_mount(b, value, err);
    if (strcmp(name, "--masked") == 0)
        return boot_add_masked(b, value, err);
    if (strcmp(name, "--readonly") == 0)
        return boot_add_readonly(b, value, err);
    if (strcmp(name, "--sysctl") == 0)
        return add_sysctl(b, value, err);
    if (strcmp(name, "--user") == 0)
        return boot_set_string(&b->user, value, err);
    return error_set(err, EINVAL, "unknown option %s", name);
}

static int parse(struct boot *b, int argc, char **argv, struct error *err)
{
    int i = 1, r = 0;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0 && r == 0; i++) {
        if (strcmp(argv[i], "--oci") == 0) {
            boot_init_oci(b);
        } else if (strcmp(argv[i], "--writable") == 0) {
            b->writable = true;
        } else if (strcmp(argv[i], "--through") == 0) {
            b->writable = b->root_through = true;
        } else if (i + 1 < argc) {
            r = add_option(b, argv[i], argv[i + 1], err);
            i++;
        }
    }
    if (r < 0)
        return r;
    if (argc - i < 2)
        return error_set(err, EINVAL, "usage: boot-tool [OPTION...] IMAGE PROG ARGS...");
    b->image_fd = open(argv[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (b->image_fd < 0)
        return error_errno(err, errno, "%s", argv[i]);
    r = boot_set_argv(b, (const char *const *)argv + i + 1, err);
    if (r == 0)
        r = boot_set_string(&b->hostname, "box", err);
    if (r == 0)
        r = boot_set_string(&b->cwd, "/", err);
    if (r == 0)
        r = boot_env_set(b, "PATH=/bin:/usr/bin:/sbin:/usr/sbin", err);
    return r;
}

int main(int argc, char **argv)
{
    struct boot *b = kalloc(sizeof(*b));
    struct monitor_result result = {.exit_code = 125};
    struct error err;

    error_init(&err);
    if (!b)
        return 125;
    boot_init(b);
    if (parse(b, argc, argv, &err) < 0) {
        (void)fprintf(stderr, "boot-tool: %s\n", err.text);
    } else {
        monitor_run(b, NULL, &result);
        if (result.exit_code >= 124)
            (void)fprintf(stderr, "boot-tool: %s\n", result.text);
    }
    boot_done(b);
    kfree(b);
    return result.exit_code;
}
