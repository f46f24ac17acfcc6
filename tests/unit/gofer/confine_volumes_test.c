/* What a volume server that an attacker took over could still do; as root, who has the most to
 * lose. */
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "gofer/confine.h"
#include "gofer/volume.h"
#include "tests/unit/gofer/served.h"

enum {
    SOCK = 4,
    RW = 5,
    RO = 6
};

/* Runs attempt in a confined process over rw/ and ro/ of a temporary tree; what became of it. */
static int confined(struct served *s, bool writable, int (*attempt)(int top))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct confinement c;
        int top, rw = openat(s->dir_fd, "rw", O_PATH), ro = openat(s->dir_fd, "ro", O_PATH);
        struct volume_source roots[2] = {{.fd = RW, .writable = writable}, {.fd = RO}};
        int fds[3] = {fcntl(s->dir_fd, F_DUPFD, 20), fcntl(rw, F_DUPFD, 20),
                      fcntl(ro, F_DUPFD, 20)};
        for (int i = 0; i < 3; i++)
            (void)!dup2(fds[i], SOCK + i);
        if (confine_namespaces(&c, NULL, false, NULL) < 0 ||
            confine_volumes(&c, roots, 2, SOCK, 256, &top, NULL) < 0)
            _exit(51);
        _exit(attempt(top));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void make(struct served *s)
{
    strcpy(s->dir, "/tmp/volume-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(mkdirat(s->dir_fd, "rw", 0755) + mkdirat(s->dir_fd, "ro", 0755), 0);
    put_file(s->dir_fd, "outside", "secret", 0644);
    put_file(s->dir_fd, "rw/f", "", 0600);
    put_file(s->dir_fd, "ro/f", "", 0644);
    ck_assert_int_eq(symlinkat("../outside", s->dir_fd, "rw/up"), 0);
}

/* --- calls that kill -----------------------------------------------------------------------------
 */

static int try_openat(UNUSED int top)
{
    return (int)syscall(SYS_openat, RW, "f", O_RDONLY) & 1;
}

static int try_write(UNUSED int top)
{
    return (int)write(SOCK, "x", 1) & 1;
}

static int try_device(UNUSED int top)
{
    return mknodat(RW, "null", S_IFCHR | 0666, makedev(1, 3)) & 1;
}

static int try_regular_node(UNUSED int top)
{
    return mknodat(RW, "file", S_IFREG | 0666, 0) & 1;
}

static int try_chmod_by_name(UNUSED int top)
{
    return fchmodat(RW, "up", 0777, 0) & 1;
}

static int try_link_of_descriptor(UNUSED int top)
{
    return linkat(RW, "", RW, "x", AT_EMPTY_PATH) & 1;
}

static int try_socket(UNUSED int top)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) & 1;
}

static int try_mount(UNUSED int top)
{
    return mount("none", "/", "tmpfs", 0, NULL) & 1;
}

static int try_setuid(UNUSED int top)
{
    return (int)syscall(SYS_setresuid, 0, 0, 0) & 1;
}

static int try_mkdir(UNUSED int top)
{
    return mkdirat(RW, "made", 0755) == 0 ? 0 : errno;
}

TEST(forbidden_calls_kill)
{
    static int (*const attempts[])(int) = {
        try_openat,       try_write,         try_device,
        try_regular_node, try_chmod_by_name, try_link_of_descriptor,
        try_socket,       try_mount,         try_setuid};
    struct served s;
    if (geteuid() != 0)
        return;
    make(&s);
    for (size_t i = 0; i < ARRAY_LEN(attempts); i++)
        ck_assert_msg(confined(&s, true, attempts[i]) == 128 + SIGSYS, "attempt %zu", i);
    ck_assert_int_eq(confined(&s, true, try_mkdir), 0);
    ck_assert_int_eq(unlinkat(s.dir_fd, "rw/made", AT_REMOVEDIR), 0);
    /* Where nothing is writable, no call that writes is there. */
    ck_assert_int_eq(confined(&s, false, try_mkdir), 128 + SIGSYS);
    remove_tree(&s);
}
END_TEST

/* --- openat2 is allowed, and its arguments are out of the filter's sight -------------------------
 */

static int open_how(int dir, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags, .mode = flags & O_CREAT ? 0600 : 0};
    long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
    return fd >= 0 ? 0 : errno;
}

static int try_opens(int top)
{
    if (open_how(RW, "f", O_RDWR) != 0 || open_how(RW, "new", O_CREAT | O_WRONLY) != 0)
        return 1;
    if (open_how(RO, "f", O_RDONLY) != 0 || open_how(RO, "f", O_RDWR) != EROFS)
        return 2;
    if (open_how(RO, "new", O_CREAT | O_WRONLY) != EROFS)
        return 3;
    if (open_how(RW, "../../outside", O_RDONLY) != ENOENT ||
        open_how(RW, "/etc/passwd", O_RDONLY) != ENOENT)
        return 4;
    if (open_how(RW, "up", O_RDONLY) != ELOOP || open_how(RW, "../ro/../../etc", O_PATH) != ENOENT)
        return 5;
    if (open_how(top, "new", O_CREAT | O_WRONLY) != EROFS || open_how(top, "0/f", O_RDONLY) != 0)
        return 6;
    if (open_how(AT_FDCWD, "/proc/self/mem", O_RDWR) != ENOENT)
        return 7;
    return 0;
}

TEST(nothing_else_can_be_reached)
{
    struct served s;
    if (geteuid() != 0)
        return;
    make(&s);
    ck_assert_int_eq(confined(&s, true, try_opens), 0);
    ck_assert_int_eq(unlinkat(s.dir_fd, "rw/new", 0), 0);
    ck_assert_int_lt(unlinkat(s.dir_fd, "ro/new", 0), 0);
    remove_tree(&s);
}
END_TEST

static int try_caps(UNUSED int top)
{
    /* Owner, mode and names of what belongs to others: only inside of the writable root. */
    if (fchownat(RW, "f", 12, 34, AT_SYMLINK_NOFOLLOW) != 0)
        return 1;
    if (fchownat(RO, "f", 12, 34, AT_SYMLINK_NOFOLLOW) == 0 || errno != EROFS)
        return 2;
    if (syscall(SYS_renameat2, RW, "f", RO, "g", 0) == 0 ||
        syscall(SYS_renameat2, RO, "f", RW, "g", 0) == 0)
        return 3;
    if (linkat(RO, "f", RW, "g", 0) == 0 || unlinkat(RO, "f", 0) == 0)
        return 4;
    return 0;
}

TEST(capabilities_end_at_the_volume)
{
    struct served s;
    struct stat st;
    if (geteuid() != 0)
        return;
    make(&s);
    ck_assert_int_eq(confined(&s, true, try_caps), 0);
    ck_assert_int_eq(fstatat(s.dir_fd, "rw/f", &st, 0), 0);
    ck_assert_uint_eq(st.st_uid, 12);
    remove_tree(&s);
}
END_TEST

TEST_SUITE(gofer_confine_volumes)
{
    TEST_ADD(forbidden_calls_kill);
    TEST_ADD(nothing_else_can_be_reached);
    TEST_ADD(capabilities_end_at_the_volume);
}
