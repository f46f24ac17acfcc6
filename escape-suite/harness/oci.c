/*
 * oci.c: the bundle that an OCI runtime gets: what `runc spec` writes, made stricter where an
 * honest operator would (no capability for an ordinary user, no network, a read-only root, limits).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "escape-suite/harness/runtime.h"
#include "lib/error.h"
#include "lib/parse.h"

enum {
    BOX_ID = 61184, /* not the host's nobody: what is counted per user would be counted for him */
    DEFAULT_PIDS = 256,
    DEFAULT_MEMORY = 512 << 20
};

static json_t *mount(const char *at, const char *type, const char *source, json_t *options)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "destination", at, "type", type, "source", source,
                     "options", options);
}

static json_t *bind(const char *at, const char *source)
{
    return mount(at, "bind", source, json_pack("[s,s,s,s]", "rbind", "ro", "nosuid", "nodev"));
}

/* Mounts on the image's entries, on directories made in root: so the image itself is not written
 * even by a runtime that makes its mount points. */
static int mount_entries(const char *image, const char *root, json_t *mounts)
{
    DIR *d = opendir(image);
    int r = 0;
    if (d == NULL)
        return -errno;
    for (struct dirent *e; r == 0 && (e = readdir(d)) != NULL;) {
        static char from[PATH_MAX], to[PATH_MAX], link[PATH_MAX], at[PATH_MAX]; /* large */
        struct stat st;
        (void)snprintf(from, sizeof(from), "%s/%s", image, e->d_name);
        (void)snprintf(to, sizeof(to), "%s/%s", root, e->d_name);
        (void)snprintf(at, sizeof(at), "/%s", e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(from, &st) < 0)
            continue;
        ssize_t n = S_ISLNK(st.st_mode) ? readlink(from, link, sizeof(link) - 1) : -1;
        if (n > 0) {
            link[n] = '\0';
            r = symlink(link, to) < 0 ? -errno : 0;
        } else if (S_ISDIR(st.st_mode)) {
            /* Runtimes take the mode of a mount from the directory below it. */
            r = mkdir(to, 0755) < 0 || chmod(to, st.st_mode & 07777) < 0 ? -errno : 0;
            if (r == 0 && !word_in("proc dev tmp sys", ' ', e->d_name))
                r = json_array_append_new(mounts, bind(at, from));
        }
    }
    (void)closedir(d);
    return r;
}

static json_t *standard_mounts(void)
{
    json_t *m = json_array();
    (void)json_array_append_new(
        m, mount("/proc", "proc", "proc", json_pack("[s,s,s]", "nosuid", "noexec", "nodev")));
    (void)json_array_append_new(
        m, mount("/dev", "tmpfs", "tmpfs",
                 json_pack("[s,s,s,s]", "nosuid", "strictatime", "mode=755", "size=65536k")));
    (void)json_array_append_new(m, mount("/dev/pts", "devpts", "devpts",
                                         json_pack("[s,s,s,s,s]", "nosuid", "noexec", "newinstance",
                                                   "ptmxmode=0666", "mode=0620")));
    (void)json_array_append_new(m, mount("/dev/shm", "tmpfs", "shm",
                                         json_pack("[s,s,s,s,s]", "nosuid", "noexec", "nodev",
                                                   "mode=1777", "size=65536k")));
    (void)json_array_append_new(
        m,
        mount("/sys", "sysfs", "sysfs", json_pack("[s,s,s,s]", "nosuid", "noexec", "nodev", "ro")));
    (void)json_array_append_new(
        m, mount("/tmp", "tmpfs", "tmpfs",
                 json_pack("[s,s,s,s]", "nosuid", "nodev", "mode=1777", "size=65536k")));
    return m;
}

/* What container engines give their root. */
static json_t *capabilities(bool user0)
{
    json_t *set =
        user0 ? json_pack("[s,s,s,s,s,s,s,s,s,s]", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID",
                          "CAP_FOWNER", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
                          "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL")
              : json_array();
    return json_pack("{s:O, s:O, s:o}", "bounding", set, "effective", set, "permitted", set);
}

static json_t *process(const struct job *j)
{
    const struct attack *a = j->attack;
    bool user0 = a != NULL && a->user0;
    int id = user0 ? 0 : BOX_ID;
    json_t *argv = json_array();
    for (size_t i = 0; j->argv[i] != NULL; i++)
        (void)json_array_append_new(argv, json_string(j->argv[i]));
    return json_pack("{s:b, s:{s:i, s:i}, s:o, s:[s,s,s], s:s, s:o, s:b, s:[{s:s, s:i, s:i}]}",
                     "terminal", a != NULL && a->tty, "user", "uid", id, "gid", id, "args", argv,
                     "env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/tmp",
                     "SENTRY_SUITE=1", "cwd", "/tmp", "capabilities", capabilities(user0),
                     "noNewPrivileges", 1, "rlimits", "type", "RLIMIT_NOFILE", "hard", 1024, "soft",
                     1024);
}

static json_t *linux_part(const struct job *j)
{
    char text[64];
    uint64_t memory = DEFAULT_MEMORY, pids = DEFAULT_PIDS;
    if (limit_value(j->attack, "--memory", text, sizeof(text)) != NULL &&
        parse_size(text, &memory, NULL) < 0)
        memory = DEFAULT_MEMORY;
    if (limit_value(j->attack, "--pids", text, sizeof(text)) != NULL &&
        parse_u64(text, 1, 1 << 20, &pids, NULL) < 0)
        pids = DEFAULT_PIDS;
    return json_pack("{s:s, s:[{s:s},{s:s},{s:s},{s:s},{s:s},{s:s}], s:{s:{s:I, s:I}, s:{s:I}}, "
                     "s:[s,s,s,s,s,s,s], s:[s,s,s,s,s]}",
                     "cgroupsPath", j->id, "namespaces", "type", "pid", "type", "network", "type",
                     "ipc", "type", "uts", "type", "mount", "type", "cgroup", "resources", "memory",
                     "limit", (json_int_t)memory, "swap", (json_int_t)memory, "pids", "limit",
                     (json_int_t)pids, "maskedPaths", "/proc/acpi", "/proc/kcore", "/proc/keys",
                     "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug",
                     "/sys/firmware", "readonlyPaths", "/proc/bus", "/proc/fs", "/proc/irq",
                     "/proc/sys", "/proc/sysrq-trigger");
}

int oci_bundle(const struct runtime *r, const struct job *j, char *ret_dir, size_t cap,
               struct error *err)
{
    char root[600], config[600];
    bool writable = j->attack != NULL && j->attack->writable;
    bool direct = !writable && (j->mount == NULL || r->own_shim);
    json_t *mounts = standard_mounts();
    (void)snprintf(ret_dir, cap, "%s/%s", j->scratch, j->id);
    (void)snprintf(root, sizeof(root), "%s/rootfs", ret_dir);
    int rc = mkdir(ret_dir, 0755) < 0 || mkdir(root, 0755) < 0 ? -errno : 0;
    if (rc == 0 && !direct)
        rc = mount_entries(j->image, root, mounts);
    if (rc == 0 && j->mount != NULL) {
        (void)snprintf(config, sizeof(config), "%s/attack", root);
        if (!direct)
            (void)mkdir(config, 0755);
        rc = json_array_append_new(mounts, bind("/attack", j->mount));
    }
    json_t *doc =
        json_pack("{s:s, s:o, s:{s:s, s:b}, s:s, s:o, s:o}", "ociVersion", "1.0.2", "process",
                  process(j), "root", "path", direct ? j->image : root, "readonly", !writable,
                  "hostname", "sandbox", "mounts", mounts, "linux", linux_part(j));
    (void)snprintf(config, sizeof(config), "%s/config.json", ret_dir);
    if (rc == 0 && (doc == NULL || json_dump_file(doc, config, JSON_INDENT(1)) < 0))
        rc = -EIO;
    json_decref(doc);
    return rc < 0 ? error_errno(err, -rc, "bundle %s", ret_dir) : 0;
}
