/*
 * confine.c: what is left to the process that unpacks.
 *
 *   mounts      the target directory is the root, nodev, nosuid, noexec; a layout's directory is a
 *               detached read-only mount; everything else of the host is detached
 *   namespaces  no network, no other process to see, signal or trace
 *   ids         the caller's own user as root inside; for root all ids, to give files away
 *   capabilities
 *               chown, dac_override, fowner, fsetid, setfcap, and those in this user namespace only
 *   Landlock    making and removing below the root, reading the layout; no device, socket or exec
 *   filter      no call that makes a process or socket, opens other than by openat2, maps
 *               executable memory; open and friends are answered ENOENT, for the C library looks
 *               for tables of character sets, and what it would find is the image's
 *
 * Landlock is skipped where the host lacks it or knows no links between directories (ABI 1).
 */
#include "rootfs/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/confine/caps.h"
#include "platform/confine/landlock.h"

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"

enum {
    OPEN_FILES = 4096,
    ADDRESS_SPACE = 1 << 30,
};

/* --- the process
 * ----------------------------------------------------------------------------------- */

static int write_maps(pid_t pid, bool *ret_all)
{
    char path[32];
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    *ret_all = geteuid() == 0 && idmap_write_identity(AT_FDCWD, path) == 0;
    return *ret_all ? 0 : idmap_write_single(AT_FDCWD, path, 0, geteuid(), getegid());
}

pid_t unpack_box_fork(struct unpack_box *box, struct error *err)
{
    int ends[2];
    char go;
    unsigned long flags =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) {
        int code = errno;
        fd_close(ends[0]);
        fd_close(ends[1]);
        return error_errno(err, code, "new namespaces for unpacking");
    }
    if (pid == 0) {
        fd_close(ends[1]);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || fd_read_full(ends[0], &go, 1) != 1)
            _exit(1);
        fd_close(ends[0]);
        box->all_ids = go == 'a';
        return 0;
    }
    fd_close(ends[0]);
    int r = write_maps((pid_t)pid, &box->all_ids);
    if (r == 0)
        r = fd_write_full(ends[1], box->all_ids ? "a" : "s", 1);
    fd_close(ends[1]);
    if (r < 0) {
        (void)kill((pid_t)pid, SIGKILL);
        (void)waitpid((pid_t)pid, NULL, 0);
        return error_errno(err, -r, "mapping the user of the unpacking process");
    }
    return (pid_t)pid;
}

/* --- mounts
 * ---------------------------------------------------------------------------------------- */

static bool same_file(int a, int b)
{
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/*
 * Puts a private mount of the directory behind fd in its place. The descriptor belongs to the mount
 * namespace that it was opened in, so the directory is found again by its path, in ours.
 */
static int remount(int fd, uint64_t attributes, struct error *err)
{
    char link[32], path[4096];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return error_errno(err, errno, "finding the directory to unpack");
    path[n] = '\0';
    auto_fd int found = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (found < 0 || !same_file(fd, found))
        return error_set(err, ESTALE, "%.300s was moved", path);
    unsigned flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    auto_fd int tree = open_tree(found, "", flags);
    if (tree < 0)
        tree = open_tree(found, "", flags | AT_RECURSIVE);
    struct mount_attr attr = {.attr_set = attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                          MOUNT_ATTR_NOEXEC};
    if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        return error_errno(err, errno, "a private mount of %.300s", path);
    return dup3(tree, fd, O_CLOEXEC) < 0 ? error_errno(err, errno, "dup3") : 0;
}

static int enter_mounts(const struct unpack_box *box, struct error *err)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_errno(err, errno, "private mounts");
    int r = remount(box->target, 0, err);
    if (r == 0 && box->source >= 0)
        r = remount(box->source, MOUNT_ATTR_RDONLY, err);
    if (r == 0 && box->blobs >= 0)
        r = remount(box->blobs, MOUNT_ATTR_RDONLY, err);
    if (r < 0)
        return r;
    if (move_mount(box->target, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
        fchdir(box->target) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return error_errno(err, errno, "changing the root");
    return 0;
}

/* --- the rest
 * -------------------------------------------------------------------------------------- */

static int int_cmp(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void close_others(const struct unpack_box *box)
{
    int keep[] = {2,
                  box->target,
                  box->source,
                  box->blobs,
                  box->files[0],
                  box->files[1],
                  box->files[2],
                  box->files[3]};
    size_t n = ARRAY_LEN(keep);
    unsigned from = 0;
    qsort(keep, n, sizeof(keep[0]), int_cmp);
    for (size_t i = 0; i < n; i++) {
        if (keep[i] < 0 || (unsigned)keep[i] < from)
            continue;
        if ((unsigned)keep[i] > from)
            (void)syscall(SYS_close_range, from, (unsigned)keep[i] - 1, 0);
        from = (unsigned)keep[i] + 1;
    }
    (void)syscall(SYS_close_range, from, ~0u, 0);
}

static int set_limits(struct error *err)
{
    struct rlimit none = {0}, files, memory = {ADDRESS_SPACE, ADDRESS_SPACE};
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return error_errno(err, errno, "limits");
    files.rlim_max = MIN(files.rlim_max, (rlim_t)OPEN_FILES);
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ||
        (!SENTRY_SANITIZED && setrlimit(RLIMIT_AS, &memory) < 0))
        return error_errno(err, errno, "limits");
    return 0;
}

static int set_capabilities(struct error *err)
{
    const uint64_t keep = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER |
                          1u << CAP_FSETID | 1u << CAP_SETFCAP;
    int r = caps_keep(keep);
    if (r < 0)
        return error_errno(err, -r, "dropping capabilities");
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_errno(err, errno, "giving up privileges");
    return 0;
}

/* Before ABI 2 a domain could not rename or link from one directory to another. A file to read has
 * been opened already, and needs no rule. */
static int enter_landlock(const struct unpack_box *box, struct error *err)
{
    const uint64_t read = LANDLOCK_READ_FILE | LANDLOCK_READ_DIR;
    const uint64_t change = read | LANDLOCK_WRITE_FILE | LANDLOCK_REMOVE_DIR |
                            LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_REG |
                            LANDLOCK_MAKE_FIFO | LANDLOCK_MAKE_SYM | LANDLOCK_REFER |
                            LANDLOCK_TRUNCATE;
    const struct landlock_path all[] = {
        {box->target, change}, {box->source, read}, {box->blobs, read}};
    struct landlock_path paths[ARRAY_LEN(all)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i].fd >= 0)
            paths[n++] = all[i];
    }
    int r = landlock_abi() >= 2 ? landlock_enter(paths, n) : 0;
    return r < 0 ? error_errno(err, -r, "entering a Landlock domain") : 0;
}

static const int allowed_calls[] = {
    /* the image, and what is reported */
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(lseek),
    /* the tree */
    SCMP_SYS(openat2), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(getdents64), SCMP_SYS(pwrite64), SCMP_SYS(ftruncate), SCMP_SYS(mkdirat),
    SCMP_SYS(symlinkat), SCMP_SYS(linkat), SCMP_SYS(unlinkat), SCMP_SYS(renameat2),
    SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(utimensat),
    SCMP_SYS(fsetxattr), SCMP_SYS(flistxattr), SCMP_SYS(fremovexattr),
    /* memory (mmap: see below), time, the end */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
    SCMP_SYS(getrandom), SCMP_SYS(geteuid), SCMP_SYS(clock_gettime), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

static const int absent_calls[] = {SCMP_SYS(open),  SCMP_SYS(openat),    SCMP_SYS(access),
                                   SCMP_SYS(stat),  SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
                                   SCMP_SYS(lstat), SCMP_SYS(readlinkat)};

static const int sanitizer_calls[] = {SCMP_SYS(mprotect),
                                      SCMP_SYS(sigaltstack),
                                      SCMP_SYS(sched_yield),
                                      SCMP_SYS(getpid),
                                      SCMP_SYS(gettid),
                                      SCMP_SYS(tgkill),
                                      SCMP_SYS(prctl),
                                      SCMP_SYS(mmap),
                                      SCMP_SYS(clone),
                                      SCMP_SYS(ptrace),
                                      SCMP_SYS(wait4),
                                      SCMP_SYS(readlink),
                                      SCMP_SYS(getrlimit),
                                      SCMP_SYS(prlimit64),
                                      SCMP_SYS(rt_sigaction),
                                      SCMP_SYS(rt_sigprocmask),
                                      SCMP_SYS(rseq),
                                      SCMP_SYS(set_robust_list),
                                      SCMP_SYS(sched_getaffinity)};

static int add_rules(scmp_filter_ctx f, uint32_t action, const int *calls, size_t n)
{
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = seccomp_rule_add(f, action, calls[i], 0);
    return r;
}

/* The thread that decompresses (ahead.c): a thread of this process and nothing else. */
static int add_thread_rules(scmp_filter_ctx f)
{
    static const int calls[] = {SCMP_SYS(rt_sigaction),    SCMP_SYS(rseq),
                                SCMP_SYS(set_robust_list), SCMP_SYS(rt_sigprocmask),
                                SCMP_SYS(sched_yield),     SCMP_SYS(sched_getaffinity)};
    static const unsigned thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM |
                                   CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                                   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    int r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (r == 0 && !SENTRY_SANITIZED)
        r = add_rules(f, SCMP_ACT_ALLOW, calls, ARRAY_LEN(calls));
    if (r == 0 && !SENTRY_SANITIZED)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_EQ, thread, 0));
    if (r == 0 && !SENTRY_SANITIZED)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return r;
}

static int add_argument_rules(scmp_filter_ctx f)
{
    static const unsigned fcntls[] = {F_DUPFD_CLOEXEC, F_GETFL, F_SETFD};
    int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mknodat), 1,
                             SCMP_A2_32(SCMP_CMP_MASKED_EQ, S_IFMT, S_IFIFO));
    for (size_t i = 0; i < ARRAY_LEN(fcntls) && r == 0; i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                             SCMP_A1_32(SCMP_CMP_EQ, fcntls[i], 0));
    if (r == 0 && !SENTRY_SANITIZED)
        r = seccomp_rule_add(
            f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
            SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_PRIVATE, MAP_ANONYMOUS | MAP_PRIVATE));
    return r;
}

static int enter_filter(struct error *err)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (f == NULL)
        return error_set(err, ENOMEM, "no memory for the syscall filter");
    int r = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (r == 0)
        r = add_rules(f, SCMP_ACT_ALLOW, allowed_calls, ARRAY_LEN(allowed_calls));
    if (r == 0)
        r = add_rules(f, SCMP_ACT_ERRNO(ENOENT), absent_calls, ARRAY_LEN(absent_calls));
    if (r == 0)
        r = add_argument_rules(f);
    if (r == 0)
        r = add_thread_rules(f);
    if (r == 0 && SENTRY_SANITIZED)
        r = add_rules(f, SCMP_ACT_ALLOW, sanitizer_calls, ARRAY_LEN(sanitizer_calls));
    if (r == 0)
        r = seccomp_load(f);
    seccomp_release(f);
    return r < 0 ? error_errno(err, -r, "installing the syscall filter") : 0;
}

int unpack_box_enter(struct unpack_box *box, struct error *err)
{
    int r = enter_mounts(box, err);
    if (r < 0)
        return r;
    (void)umask(0);
    close_others(box);
    r = set_limits(err);
    if (r == 0)
        r = set_capabilities(err);
    if (r == 0)
        r = enter_landlock(box, err);
    return r < 0 ? r : enter_filter(err);
}
