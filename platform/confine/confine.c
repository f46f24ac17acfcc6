/*
 * confine.c: the steps by which the sentry gives up what it does not need.
 *
 * Order matters: mounts first (they need CAP_SYS_ADMIN in our user namespace), then capabilities,
 * and the seccomp filter last, since it allows none of the calls used here.
 *
 * Landlock comes before the first guest is made: a process in a domain may not reach the memory of
 * processes outside of it, and reaching the guests' memory is what the sentry does.
 */
#include "platform/confine/confine.h"

#include <errno.h>
#include <unistd.h>

#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "platform/confine/caps.h"
#include "platform/confine/filter.h"
#include "platform/confine/landlock.h"

#include "lib/error.h"

/*
 * A tmpfs over some directory that every host has becomes the root; the host's tree is let go. It
 * holds one inode, so that nothing could be made in it even if it were writable.
 */
int confine_empty_root(struct error *err)
{
    static const char *const places[] = {"/tmp", "/proc", "/run", "/dev"};
    const char *at = NULL;
    for (size_t i = 0; i < ARRAY_LEN(places) && at == NULL; i++) {
        if (mount("none", places[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                  "size=4k,nr_inodes=1,mode=0555") == 0)
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

int confine_landlock(int proc_fd, struct error *err)
{
    const struct landlock_path proc = {.fd = proc_fd,
                                       .rights = LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE};
    int r = landlock_enter(&proc, 1);
    return r < 0 ? error_errno(err, -r, "entering a Landlock domain") : 0;
}

int confine_no_capabilities(struct error *err)
{
    int r = caps_keep(0);
    return r < 0 ? error_errno(err, -r, "dropping capabilities") : 0;
}

int confine_sentry(struct error *err)
{
    struct rlimit none = {0};
    int r = confine_no_capabilities(err);
    if (r < 0)
        return r;
    if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_errno(err, errno, "giving up privileges");
    r = confine_filter_enter(&confine_filter_sentry);
    return r < 0 ? error_errno(err, -r, "installing the syscall filter") : 0;
}
