/*
 * confine.c: the steps by which the sentry gives up what it does not need.
 *
 * Order matters: mounts first (they need CAP_SYS_ADMIN in our user namespace), then capabilities, then
 * Landlock (needs no_new_privs), and the seccomp filter last, since it allows none of the calls used here.
 */
#include "platform/confine/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/error.h"

/* A tmpfs over some directory that every host has becomes the root; the host's tree is let go. */
int confine_empty_root(struct error *err)
{
    static const char *const places[] = {"/tmp", "/proc", "/run", "/dev"};
    const char *at = NULL;
    for (size_t i = 0; i < ARRAY_LEN(places) && at == NULL; i++) {
        if (mount("none", places[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=0,mode=0555") == 0)
            at = places[i];
    }
    if (at == NULL)
        return error_errno(err, errno, "mounting an empty root");
    if (chdir(at) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
        chdir("/") < 0)
        return error_errno(err, errno, "changing to an empty root");
    if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              NULL) < 0)
        return error_errno(err, errno, "making the empty root read-only");
    return 0;
}

int confine_no_capabilities(struct error *err)
{
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
        continue;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &h, none) < 0)
        return error_errno(err, errno, "dropping capabilities");
    return 0;
}

int confine_no_paths(void)
{
    /* Every access right of the ABI that the host knows, and no rule: nothing is reachable. */
    static const uint8_t fs_bits[] = {0, 13, 14, 15, 15};
    struct {
        uint64_t fs, net, scoped;
    } attr = {0};
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return -EOPNOTSUPP;
    unsigned bits = abi < (long)ARRAY_LEN(fs_bits) ? fs_bits[abi] : 16;
    attr.fs = (1ull << bits) - 1;
    size_t size = sizeof(attr.fs);
    if (abi >= 4) {
        attr.net = 3;
        size = 2 * sizeof(uint64_t);
    }
    if (abi >= 6) {
        attr.scoped = 3;
        size = sizeof(attr);
    }
    int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (fd < 0)
        return -errno;
    long r = syscall(SYS_landlock_restrict_self, fd, 0);
    int e = errno;
    (void)close(fd);
    return r < 0 ? -e : 0;
}

int confine_sentry(struct error *err)
{
    struct rlimit none = {0};
    int r = confine_empty_root(err);
    if (r == 0)
        r = confine_no_capabilities(err);
    if (r < 0)
        return r;
    if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_errno(err, errno, "giving up privileges");
    (void)confine_no_paths();
    return confine_sentry_filter(err);
}
