/*
 * to_boot.c: the container that config.json describes, as a boot description.
 *
 * What the host would do for a container is here done by the sentry for its guest: capabilities,
 * limits, masked paths, devices and sysctl are emulated. Host paths that are touched: the root file
 * system (relative: strictly below the bundle) and the sources of bind mounts, each opened once,
 * with O_PATH.
 */
#include "runsc-shim/to_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "lib/error.h"
#include "runsc-shim/mount_options.h"
#include "runsc-shim/seccomp_filter.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/boot.h"

#define STORAGE_ANNOTATION "org.sentry.root-storage"

/* -- process --------------------------------------------------------------------------------------
 */

void boot_process_from(struct boot_process *out, const struct oci_process *p)
{
    *out = (struct boot_process){
        .ids_given = true,
        .uid = p->uid,
        .gid = p->gid,
        .ngroups = p->ngroups,
        .caps_given = true,
        .cap_bounding = p->caps[OCI_CAP_BOUNDING],
        .cap_effective = p->caps[OCI_CAP_EFFECTIVE],
        .cap_permitted = p->caps[OCI_CAP_PERMITTED],
        .cap_inheritable = p->caps[OCI_CAP_INHERITABLE],
        .cap_ambient = p->caps[OCI_CAP_AMBIENT],
        .no_new_privs = p->no_new_privileges,
        .umask_given = p->has_umask,
        .umask = p->umask,
        .oom_given = p->has_oom_score_adj,
        .oom_score_adj = p->oom_score_adj,
        .find_home = true,
    };
    memcpy(out->groups, p->groups, p->ngroups * sizeof(p->groups[0]));
    for (size_t i = 0; i < OCI_RLIMITS; i++) {
        if (!p->rlimits[i].set)
            continue;
        out->rlimits_given |= 1u << i;
        out->rlimit[i].cur = p->rlimits[i].soft;
        out->rlimit[i].max = p->rlimits[i].hard;
    }
}

static int set_process(struct boot *b, const struct oci_process *p, struct error *err)
{
    int r = boot_set_argv(b, p->args.v, err);

    if (r == 0)
        r = boot_set_string(&b->cwd, p->cwd, err);
    for (size_t i = 0; r == 0 && i < p->env.n; i++) {
        const char *eq = strchr(p->env.v[i], '=');
        if (eq == NULL || eq == p->env.v[i])
            shim_note(SHIM_WARNING, "process.env[%zu]: not KEY=VALUE, ignored", i);
        else
            r = boot_env_set(b, p->env.v[i], err);
    }
    b->tty = p->terminal;
    boot_process_from(&b->process, p);
    return r;
}

/* -- root -----------------------------------------------------------------------------------------
 */

/*
 * Whether the root directory itself is written. An annotation alone does not decide that: engines
 * copy those of an image, which is a stranger's, into config.json.
 */
static int set_storage(struct boot *b, const struct oci_config *c, struct error *err)
{
    const char *said = NULL;

    for (size_t i = 0; i < c->annotations.n; i++) {
        if (strcmp(c->annotations.v[i].key, STORAGE_ANNOTATION) == 0)
            said = c->annotations.v[i].value;
    }
    bool bundle = said != NULL && strcmp(said, "bundle") == 0;
    if (shim.root_storage == ROOT_ANNOTATION && said != NULL && !bundle &&
        strcmp(said, "memory") != 0)
        return error_set(err, EINVAL,
                         "annotations[\"" STORAGE_ANNOTATION "\"]: must be memory or bundle");
    if (shim.root_storage == ROOT_MEMORY && bundle)
        shim_note(SHIM_WARNING, "annotations[\"" STORAGE_ANNOTATION
                                "\"]: ignored without --root-storage annotation");
    b->root_through =
        shim.root_storage == ROOT_BUNDLE || (shim.root_storage == ROOT_ANNOTATION && bundle);
    return 0;
}

static int set_root(struct boot *b, const struct oci_config *c, int bundle_fd, struct error *err)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_MAGICLINKS};

    /* An absolute path is the engine's (its storage mounts it there); a relative one belongs to the
     * bundle and stays in it. */
    if (c->root_path[0] != '/')
        how.resolve |= RESOLVE_BENEATH;
    b->image_fd = (int)syscall(SYS_openat2, bundle_fd, c->root_path, &how, sizeof(how));
    if (b->image_fd < 0 && errno == EXDEV)
        return error_set(err, EXDEV, "root.path: %s leads out of the bundle", c->root_path);
    if (b->image_fd < 0)
        return error_errno(err, errno, "root.path: %s", c->root_path);
    b->writable = !c->root_readonly;
    return set_storage(b, c, err);
}

/* -- mounts ---------------------------------------------------------------------------------------
 */

static const struct {
    const char *type;
    enum boot_mount_type kind;
} mount_types[] = {
    {"proc", BOOT_MOUNT_PROC},      {"sysfs", BOOT_MOUNT_SYSFS},   {"tmpfs", BOOT_MOUNT_TMPFS},
    {"devpts", BOOT_MOUNT_DEVPTS},  {"mqueue", BOOT_MOUNT_MQUEUE}, {"cgroup", BOOT_MOUNT_CGROUP},
    {"cgroup2", BOOT_MOUNT_CGROUP},
};

static int bind_source(struct boot_mount *m, const struct oci_mount *om, int bundle_fd,
                       struct error *err)
{
    struct stat st;

    if (om->source[0] == '\0')
        return error_set(err, EINVAL, "a bind mount needs a source");
    m->fd = openat(bundle_fd, om->source, O_PATH | O_CLOEXEC);
    if (m->fd < 0)
        return error_errno(err, errno, "%s", om->source);
    if (fstat(m->fd, &st) < 0)
        return error_errno(err, errno, "%s", om->source);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return error_set(err, EINVAL, "%s: only directories and files can be mounted", om->source);
    return 0;
}

static int mount_kind(const struct oci_mount *om, const struct mount_options *o,
                      enum boot_mount_type *ret_kind, struct error *err)
{
    if (o->bind || strcmp(om->type, "bind") == 0) {
        *ret_kind = BOOT_MOUNT_BIND;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(mount_types); i++) {
        if (strcmp(mount_types[i].type, om->type) == 0) {
            *ret_kind = mount_types[i].kind;
            return 0;
        }
    }
    return error_set(err, ENODEV, "file system type '%s' is not supported", om->type);
}

/* A path without "." and ".." and double slashes: the sandbox's root is the top. */
static bool plain_path(const char *path, char *out)
{
    char *to = out;

    for (const char *s = path; *s != '\0';) {
        size_t n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.') {
            while (to > out && *--to != '/')
                continue;
        } else if (n > 0 && !(n == 1 && s[0] == '.')) {
            *to++ = '/';
            memcpy(to, s, n);
            to += n;
        }
        s += n + (s[n] == '/');
    }
    *to = '\0';
    return to > out;
}

static int add_mount(struct boot *b, const struct oci_mount *om, int bundle_fd, struct error *err)
{
    char guest[4097];
    struct mount_options o;
    struct boot_mount m = {.fd = -1};
    int r = mount_options_parse(&om->options, &o, err);

    if (r == 0)
        r = mount_kind(om, &o, &m.type, err);
    if (r < 0)
        return r;
    if (strlen(om->destination) >= sizeof(guest) || !plain_path(om->destination, guest))
        return error_set(err, EINVAL, "the root itself cannot be mounted over");
    if (m.type == BOOT_MOUNT_TMPFS && strcmp(guest, "/dev") == 0)
        m.type = BOOT_MOUNT_DEV;
    if (m.type == BOOT_MOUNT_BIND)
        r = bind_source(&m, om, bundle_fd, err);
    if (r < 0) {
        if (m.fd >= 0)
            (void)close(m.fd);
        return r;
    }
    m.guest = guest;
    m.source = om->source[0] != '\0' ? mount_source_word(om->source) : NULL;
    m.flags = o.flags;
    m.size = o.size;
    m.mode_given = o.mode_given;
    m.mode = o.mode;
    m.recursive = o.recursive;
    m.copy_up = o.copy_up && m.type == BOOT_MOUNT_TMPFS;
    m.uid = m.type == BOOT_MOUNT_TMPFS ? o.uid : 0;
    m.gid = m.type == BOOT_MOUNT_TMPFS ? o.gid : 0;
    m.max_inodes = o.max_inodes;
    return boot_add_mount(b, &m, err);
}

static int add_mounts(struct boot *b, const struct oci_config *c, int bundle_fd, struct error *err)
{
    for (size_t i = 0; i < c->nmounts; i++) {
        int r = add_mount(b, &c->mounts[i], bundle_fd, err);
        if (r < 0)
            return error_prefix(err, "mounts[%zu] (%s)", i, c->mounts[i].destination);
    }
    return 0;
}

/* -- devices, paths, sysctl -----------------------------------------------------------------------
 */

static const struct {
    uint32_t major, minor;
} devices_we_have[] = {
    {1, 3}, {1, 5}, {1, 7}, {1, 8}, {1, 9}, {5, 0}, {5, 1}, {5, 2},
};

static int add_device(struct boot *b, const struct oci_device *d, struct error *err)
{
    if (strcmp(d->type, "c") == 0 || strcmp(d->type, "u") == 0) {
        for (size_t i = 0; i < ARRAY_LEN(devices_we_have); i++) {
            if (d->major != devices_we_have[i].major || d->minor != devices_we_have[i].minor)
                continue;
            struct boot_device dev = {.major = devices_we_have[i].major,
                                      .minor = devices_we_have[i].minor,
                                      .mode = d->mode != 0 ? d->mode & 07777 : 0666};
            char path[4097];
            if (strlen(d->path) >= sizeof(path) || !plain_path(d->path, path))
                return error_set(err, EINVAL, "%s is not a place for a device", d->path);
            dev.path = path;
            return boot_add_device(b, &dev, err);
        }
    }
    return error_set(err, EPERM,
                     "%s (%s %lld:%lld): there is no such device in a sandbox, only null, zero, "
                     "full, random, urandom, tty",
                     d->path, d->type, (long long)d->major, (long long)d->minor);
}

static int add_devices(struct boot *b, const struct oci_config *c, struct error *err)
{
    for (size_t i = 0; i < c->ndevices; i++) {
        int r = add_device(b, &c->devices[i], err);
        if (r < 0)
            return error_prefix(err, "linux.devices[%zu]", i);
    }
    return 0;
}

static int add_paths(struct boot *b, const struct oci_strings *paths,
                     int (*add)(struct boot *, const char *, struct error *), struct error *err)
{
    char path[4097];

    for (size_t i = 0; i < paths->n; i++) {
        if (!plain_path(paths->v[i], path))
            return error_set(err, EINVAL, "the root itself cannot be masked");
        int r = add(b, path, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Those of the namespaces that a container has; the rest would be the host's. */
static bool sysctl_allowed(const char *name)
{
    static const char *const names[] = {"kernel.hostname", "kernel.domainname", "kernel.sem"};
    static const char *const prefixes[] = {"kernel.shm", "kernel.msg", "fs.mqueue.", "net."};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static int add_sysctls(struct boot *b, const struct oci_config *c, struct error *err)
{
    for (size_t i = 0; i < c->sysctl.n; i++) {
        const struct oci_pair *p = &c->sysctl.v[i];
        char name[256];
        if (strlen(p->key) >= sizeof(name))
            return error_set(err, EINVAL, "linux.sysctl: the name is too long");
        (void)snprintf(name, sizeof(name), "%s", p->key);
        for (char *s = name; *s != '\0'; s++)
            *s = (char)(*s == '/' ? '.' : *s);
        if (!sysctl_allowed(name) || strstr(name, "..") != NULL)
            return error_set(err, EINVAL, "linux.sysctl: '%s' is not one of a container's own",
                             name);
        if (strncmp(name, "net.", 4) == 0) {
            shim_note(SHIM_DEBUG, "linux.sysctl: %s: the guest has no network, ignored", name);
            continue;
        }
        int r = boot_add_sysctl(b, name, p->value, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* -- all ------------------------------------------------------------------------------------------
 */

static void note_what_differs(const struct oci_config *c)
{
    const struct oci_namespace *net = &c->namespaces[OCI_NS_NETWORK];

    shim_note(SHIM_INFO, "the guest has no network (config.json names %s%s)",
              !net->named         ? "the host's namespace"
              : net->path != NULL ? ""
                                  : "a new namespace",
              net->path != NULL ? net->path : "");
    if (c->has_id_mappings)
        shim_note(SHIM_WARNING,
                  "linux.uidMappings, gidMappings: ids of files are shown as they are "
                  "on the host");
}

static void set_limits(struct boot *b, const struct oci_config *c)
{
    const struct oci_resources *r = &c->resources;

    if (r->has_memory_limit && r->memory_limit > 0)
        b->limits.memory = (uint64_t)r->memory_limit;
    if (r->has_pids && r->pids > 0)
        b->limits.pids = MIN((uint64_t)r->pids, b->limits.pids);
    if (r->has_cpu_quota && r->cpu_quota > 0) {
        uint64_t period = r->has_cpu_period && r->cpu_period > 0 ? r->cpu_period : 100000;
        uint64_t milli = (uint64_t)r->cpu_quota / MAX(period / 1000, (uint64_t)1);
        b->limits.cpus_milli = (uint32_t)MIN(MAX(milli, (uint64_t)1), (uint64_t)1000000);
    }
}

int boot_from_config(struct boot *b, const struct oci_config *c, int bundle_fd, struct error *err)
{
    if (!c->process.present)
        return error_set(err, EINVAL, "config.json: needs the key \"process\"");
    int r = set_process(b, &c->process, err);
    if (r == 0)
        r = set_root(b, c, bundle_fd, err);
    if (r == 0 && c->hostname != NULL)
        r = boot_set_string(&b->hostname, c->hostname, err);
    if (r == 0 && c->hostname == NULL)
        r = boot_set_string(&b->hostname, "sentry", err);
    if (r == 0 && c->domainname != NULL)
        r = boot_set_string(&b->domainname, c->domainname, err);
    if (r == 0)
        r = add_mounts(b, c, bundle_fd, err);
    if (r == 0)
        r = add_devices(b, c, err);
    if (r == 0)
        r = add_paths(b, &c->masked_paths, boot_add_masked, err);
    if (r == 0)
        r = add_paths(b, &c->readonly_paths, boot_add_readonly, err);
    if (r == 0)
        r = add_sysctls(b, c, err);
    if (r == 0)
        r = seccomp_filter_set(b, &c->seccomp, err);
    if (r < 0)
        return r;
    set_limits(b, c);
    note_what_differs(c);
    return 0;
}
