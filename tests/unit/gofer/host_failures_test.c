/*
 * Host calls that fail, one after the other, in a server that a client asks for everything: each
 * request is answered, with an error or without, the server goes on, its nodes stay consistent,
 * and it ends well when the client hangs up. The C library's functions that the servers call are
 * ours in this program; the counters are shared with the server's process.
 */
#include <stdarg.h>

#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "gofer/volume_client.h"
#include "tests/support/volume_serve.h"
#include "tests/unit/gofer/served.h"

static struct {
    uint64_t left; /* the one that makes it 0 fails */
    bool happened;
    pid_t asker; /* whose own calls are not counted */
} * shared;

static void host_fail_after(uint64_t n)
{
    shared->left = n;
    shared->happened = false;
    shared->asker = getpid();
}

static bool host_failed(void)
{
    return shared->happened;
}

static const struct failure_source source = {host_fail_after, host_failed};

__attribute__((constructor)) static void add(void)
{
    void *p =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    shared = p;
    failure_add_source(&source);
}

static bool fails(void)
{
    if (!shared || shared->left == 0 || getpid() == shared->asker || --shared->left > 0)
        return false;
    shared->happened = true;
    errno = EIO;
    return true;
}

static long raw(long nr, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    long ret;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    if (ret < 0 && ret > -4096) {
        errno = (int)-ret;
        return -1;
    }
    return ret;
}

/* The calls that have no function of their own; none of them has more than five arguments. */
long syscall(long nr, ...)
{
    long a[5];
    va_list ap;
    va_start(ap, nr);
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    bool counted = nr == SYS_openat2 || nr == SYS_getdents64 || nr == SYS_renameat2 ||
                   nr == 452; /* fchmodat2 */
    return counted && fails() ? -1 : raw(nr, a[0], a[1], a[2], a[3], a[4]);
}

int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
    return fails() ? -1 : (int)raw(SYS_statx, dir, (long)path, flags, mask, (long)st);
}

int fstatfs(int fd, struct statfs *st)
{
    return fails() ? -1 : (int)raw(SYS_fstatfs, fd, (long)st, 0, 0, 0);
}

ssize_t readlinkat(int dir, const char *restrict path, char *restrict buf, size_t cap)
{
    return fails() ? -1 : raw(SYS_readlinkat, dir, (long)path, (long)buf, (long)cap, 0);
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t cap)
{
    return fails() ? -1 : raw(SYS_lgetxattr, (long)path, (long)name, (long)value, (long)cap, 0);
}

ssize_t llistxattr(const char *path, char *list, size_t cap)
{
    return fails() ? -1 : raw(SYS_llistxattr, (long)path, (long)list, (long)cap, 0, 0);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return fails() ? -1 : (int)raw(SYS_mkdirat, dir, (long)path, mode, 0, 0);
}

int symlinkat(const char *to, int dir, const char *path)
{
    return fails() ? -1 : (int)raw(SYS_symlinkat, (long)to, dir, (long)path, 0, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
    return fails() ? -1 : (int)raw(SYS_unlinkat, dir, (long)path, flags, 0, 0);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
    return fails() ? -1 : (int)raw(SYS_linkat, from, (long)path, to, (long)name, flags);
}

int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
    return fails() ? -1 : (int)raw(SYS_fchownat, dir, (long)path, uid, gid, flags);
}

int utimensat(int dir, const char *path, const struct timespec ts[2], int flags)
{
    return fails() ? -1 : (int)raw(SYS_utimensat, dir, (long)path, (long)ts, flags, 0);
}

/* -- the image server -------------------------------------------------------------------------- */

static bool see(UNUSED void *ctx, UNUSED const struct gofer_dirent *e)
{
    return true;
}

static void ask_walk(struct gofer_client *c)
{
    static const char *const names[] = {"deep", "a", "b", "c", "leaf"};
    struct gofer_walk w = {.flags = GOFER_WALK_OPEN, .n = ARRAY_LEN(names), .fd = -1};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        w.names[i] = names[i];
        w.lens[i] = (uint16_t)strlen(names[i]);
    }
    if (gofer_walk(c, &w) == 0)
        fd_close(w.fd);
}

static void ask_image(struct gofer_client *c)
{
    struct gofer_attr a;
    struct gofer_statfs sfs;
    uint32_t plain = 0, link = 0, deep = 0;
    int fd = -1;
    char buf[256];

    (void)!gofer_lookup(c, 0, "plain", 5, &plain, &a);
    (void)!gofer_lookup(c, 0, "ok", 2, &link, &a);
    (void)!gofer_lookup(c, 0, "deep", 4, &deep, &a);
    (void)!gofer_lookup(c, 0, "none", 4, &deep, &a);
    (void)!gofer_getattr(c, plain, &a);
    if (gofer_open(c, plain, &fd) == 0)
        fd_close(fd);
    (void)!gofer_readlink(c, link, buf, sizeof(buf));
    (void)!gofer_readdir(c, 0, 0, see, NULL);
    (void)!gofer_statfs(c, 0, &sfs);
    (void)!gofer_getxattr(c, plain, "user.x", buf, sizeof(buf));
    (void)!gofer_listxattr(c, plain, buf, sizeof(buf));
    ask_walk(c);
    (void)!gofer_forget(c, &plain, 1);
}

TEST(an_image_server_whose_host_calls_fail)
{
    struct served s;
    make_tree(&s);
    for_each_failure {
        bool greeted = served_try(&s);
        if (greeted) {
            ask_image(s.client);
            ck_assert(!gofer_client_dead(s.client));
        }
        /* A server that could not look at its root does not start. */
        int status = served_wait(&s);
        ck_assert_msg(status == 0 || (!greeted && status == 1), "status %d", status);
    }
    remove_tree(&s);
}
END_TEST

/* -- the volume server ------------------------------------------------------------------------- */

static uint32_t make_node(struct volume_client *c, const char *name, uint32_t mode,
                          const char *target)
{
    struct volume_create_req req = {.mode = mode, .uid = geteuid(), .gid = getegid()};
    struct gofer_step step = {0};
    int fd = -1;
    (void)!volume_client_create(c, &req, name, target, &step, &fd);
    fd_close(fd);
    return step.node;
}

static void ask_about_file(struct volume_client *c, uint32_t node)
{
    struct volume_ref ref = {.dir = 0, .node = node, .name = "new"};
    struct volume_setattr_req set = {.valid = ~0u & 7u, .mode = 0600, .uid = geteuid()};
    struct gofer_attr a;
    char buf[256];
    int fd = -1;

    set.gid = getegid();
    (void)!volume_client_getattr(c, node, &a);
    if (volume_client_open(c, &ref, VOLUME_READ | VOLUME_WRITE, &fd) == 0)
        fd_close(fd);
    (void)!volume_client_setattr(c, &ref, &set, &a);
    (void)!volume_client_setxattr(c, &ref, "user.x", "v", 1, 0);
    (void)!volume_client_getxattr(c, &ref, "user.x", buf, sizeof(buf));
    (void)!volume_client_listxattr(c, &ref, buf, sizeof(buf));
    (void)!volume_client_removexattr(c, &ref, "user.x");
    (void)!volume_client_link(c, &ref, 0, "other", &a);
}

static void ask_volume(struct volume_client *c)
{
    static const char *const names[] = {"deep", "a", "b"};
    struct volume_rename_req mv = {0};
    struct volume_walk w;
    struct gofer_step step;
    struct gofer_statfs sfs;
    const char *link;

    (void)!volume_client_lookup(c, 0, "ok", &step, &link);
    (void)!volume_client_lookup(c, 0, "plain", &step, &link);
    (void)!volume_client_walk(c, 0, names, ARRAY_LEN(names), &w);
    (void)!volume_client_readdir(c, 0, 0, see, NULL);
    (void)!volume_client_statfs(c, 0, &sfs);
    ask_about_file(c, make_node(c, "new", S_IFREG | 0644, NULL));
    (void)make_node(c, "dir", S_IFDIR | 0755, NULL);
    (void)make_node(c, "sym", S_IFLNK | 0777, "new");
    (void)!volume_client_rename(c, &mv, "new", "newer");
    (void)!volume_client_remove(c, 0, "newer", false);
    (void)!volume_client_remove(c, 0, "dir", true);
    (void)!volume_client_sync(c, 0);
}

/* Whatever a turn could not remove. */
static void sweep(int dir)
{
    static const char *const left[] = {"new", "newer", "other", "sym"};
    for (size_t i = 0; i < ARRAY_LEN(left); i++)
        (void)unlinkat(dir, left[i], 0);
    (void)unlinkat(dir, "dir", AT_REMOVEDIR);
}

TEST(a_volume_server_whose_host_calls_fail)
{
    struct served s;
    make_tree(&s);
    for_each_failure {
        struct volume_client *c = NULL;
        struct error err;
        int sock, status;
        s.pid = serve_volume(s.dir_fd, &sock);
        bool greeted = volume_client_new(sock, 1, &c, &err) == 0;
        if (greeted) {
            ask_volume(c);
            ck_assert(!volume_client_dead(c));
            volume_client_free(c);
        }
        ck_assert_int_eq(waitpid(s.pid, &status, 0), s.pid);
        ck_assert_msg(status == 0 || (!greeted && status == 1 << 8), "status %#x",
                      (unsigned)status);
        sweep(s.dir_fd);
    }
    remove_tree(&s);
}
END_TEST

TEST_SUITE(gofer_host_failures)
{
    TEST_ADD(an_image_server_whose_host_calls_fail);
    TEST_ADD(a_volume_server_whose_host_calls_fail);
}
