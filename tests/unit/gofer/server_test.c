/* A real client against a real server on a tree that has one of everything. */
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "tests/unit/gofer/served.h"

static uint32_t lookup(struct served *s, uint32_t dir, const char *name, struct gofer_attr *a)
{
    uint32_t node;
    struct gofer_attr attr;
    int rc = gofer_lookup(s->client, dir, name, strlen(name), &node, &attr);
    ck_assert_msg(rc == 0, "%s: %d", name, rc);
    if (a)
        *a = attr;
    return node;
}

static int lookup_error(struct served *s, uint32_t dir, const char *name)
{
    uint32_t node;
    struct gofer_attr attr;
    return gofer_lookup(s->client, dir, name, strlen(name), &node, &attr);
}

TEST(attributes_are_the_hosts)
{
    struct served s;
    struct gofer_attr a;
    struct gofer_attr again;
    struct stat st;
    served_start(&s);
    uint32_t plain = lookup(&s, 0, "plain", &a);
    ck_assert_int_eq(fstatat(s.dir_fd, "plain", &st, 0), 0);
    ck_assert_uint_eq(a.mode, st.st_mode);
    ck_assert_uint_eq(a.ino, st.st_ino);
    ck_assert_uint_eq(a.size, 6);
    ck_assert_uint_eq(a.nlink, 1);
    ck_assert_uint_eq(a.uid, st.st_uid);
    ck_assert_uint_eq(a.dev_major, major(st.st_dev));
    ck_assert_uint_eq(a.dev_minor, minor(st.st_dev));
    ck_assert_int_eq(a.mtime.sec, st.st_mtim.tv_sec);
    ck_assert_uint_eq(a.mtime.nsec, (unsigned)st.st_mtim.tv_nsec);
    ck_assert_int_eq(gofer_getattr(s.client, plain, &again), 0);
    ck_assert_int_eq(memcmp(&a, &again, sizeof(a)), 0);
    ck_assert_uint_eq(lookup(&s, 0, "plain", NULL), plain);
    ck_assert_int_eq(gofer_root_attr(s.client, 0, &a), 0);
    ck_assert(S_ISDIR(a.mode));
    ck_assert_int_eq(gofer_root_attr(s.client, 1, &a), -ENOENT);
    served_stop(&s);
}
END_TEST

TEST(names_that_are_refused)
{
    struct served s;
    char name[300];
    served_start(&s);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ck_assert_int_eq(lookup_error(&s, 0, name), -ENAMETOOLONG);
    name[GOFER_NAME_MAX] = '\0';
    ck_assert_int_eq(lookup_error(&s, 0, name), -ENOENT);
    ck_assert_int_eq(lookup_error(&s, 0, ".."), -EINVAL);
    ck_assert_int_eq(lookup_error(&s, 0, "."), -EINVAL);
    ck_assert_int_eq(lookup_error(&s, 0, ""), -EINVAL);
    ck_assert_int_eq(lookup_error(&s, 0, "deep/a"), -EINVAL);
    ck_assert_int_eq(lookup_error(&s, 0, "missing"), -ENOENT);
    ck_assert_int_eq(lookup_error(&s, lookup(&s, 0, "plain", NULL), "x"), -ENOTDIR);
    ck_assert_int_eq(lookup_error(&s, lookup(&s, 0, "abs", NULL), "passwd"), -ENOTDIR);
    ck_assert_int_eq(lookup_error(&s, 4711, "x"), -ESTALE);
    ck_assert(!gofer_client_dead(s.client));
    served_stop(&s);
}
END_TEST

static void walk_to(struct gofer_walk *w, const char *const *names, uint16_t n, uint16_t flags)
{
    *w = (struct gofer_walk){.node = 0, .flags = flags, .n = n, .fd = -1};
    for (uint16_t i = 0; i < n; i++) {
        w->names[i] = names[i];
        w->lens[i] = (uint16_t)strlen(names[i]);
    }
}

TEST(walk)
{
    static const char *const leaf[] = {"deep", "a", "b", "c", "leaf"};
    static const char *const gone[] = {"deep", "a", "nope", "c"};
    static const char *const through[] = {"abs", "passwd"};
    struct served s;
    struct gofer_walk w;
    char text[8];
    served_start(&s);
    walk_to(&w, leaf, 5, GOFER_WALK_OPEN);
    ck_assert_int_eq(gofer_walk(s.client, &w), 0);
    ck_assert(w.done == 5 && w.error == 0 && w.fd >= 0 && !w.link);
    ck_assert_int_eq(read(w.fd, text, sizeof(text)), 4);
    ck_assert_int_eq(fcntl(w.fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(write(w.fd, "x", 1), -1);
    fd_close(w.fd);
    walk_to(&w, leaf, 4, GOFER_WALK_OPEN);
    ck_assert_int_eq(gofer_walk(s.client, &w), 0);
    ck_assert(w.done == 4 && w.error == 0 && w.fd == -1);
    walk_to(&w, gone, 4, 0);
    ck_assert_int_eq(gofer_walk(s.client, &w), 0);
    ck_assert(w.done == 2 && w.error == -ENOENT);
    walk_to(&w, through, 2, GOFER_WALK_OPEN);
    ck_assert_int_eq(gofer_walk(s.client, &w), 0);
    ck_assert(w.done == 1 && w.error == 0 && w.fd == -1);
    ck_assert_str_eq(w.link, "/etc");
    ck_assert_uint_eq(w.link_len, 4);
    served_stop(&s);
}
END_TEST

TEST(walks_at_once)
{
    static const char *const leaf[] = {"deep", "a", "b", "c", "leaf"};
    static const char *const gone[] = {"nope"};
    static const char *const link[] = {"abs"};
    static const char *const bad[] = {".."};
    struct served s;
    static struct gofer_walk w[GOFER_WALKS_MAX];
    served_start(&s);
    for (uint16_t last = 1; last <= 2; last++) {
        walk_to(&w[0], gone, 1, 0);
        walk_to(&w[1], link, 1, 0);
        walk_to(&w[2], bad, 1, 0);
        walk_to(&w[3], leaf, 5, GOFER_WALK_OPEN);
        if (last == 2)
            walk_to(&w[3], link, 1, GOFER_WALK_OPEN);
        ck_assert_int_eq(gofer_walks(s.client, w, 4), 0);
        ck_assert(w[0].done == 0 && w[0].error == -ENOENT);
        ck_assert(w[1].done == 1 && w[1].error == 0 && w[1].link == NULL);
        ck_assert(w[2].done == 0 && w[2].error == -EINVAL);
        if (last == 1)
            ck_assert(w[3].done == 5 && w[3].fd >= 0);
        else
            ck_assert_str_eq(w[3].link, "/etc");
        fd_close(w[3].fd);
    }
    served_stop(&s);
}
END_TEST

TEST(open_regular_files_only)
{
    struct served s;
    int fd = -1;
    served_start(&s);
    ck_assert_int_eq(gofer_open(s.client, lookup(&s, 0, "plain", NULL), &fd), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    fd_close(fd);
    ck_assert_int_eq(gofer_open(s.client, 0, &fd), -EISDIR);
    ck_assert_int_eq(gofer_open(s.client, lookup(&s, 0, "deep", NULL), &fd), -EISDIR);
    ck_assert_int_eq(gofer_open(s.client, lookup(&s, 0, "up", NULL), &fd), -ELOOP);
    ck_assert_int_eq(gofer_open(s.client, lookup(&s, 0, "fifo", NULL), &fd), -ENXIO);
    ck_assert_int_eq(gofer_open(s.client, lookup(&s, 0, "sock", NULL), &fd), -ENXIO);
    if (lookup_error(&s, 0, "null") == 0) {
        struct gofer_attr a;
        uint32_t node = lookup(&s, 0, "null", &a);
        ck_assert(S_ISCHR(a.mode) && a.rdev_major == 1 && a.rdev_minor == 3);
        ck_assert_int_eq(gofer_open(s.client, node, &fd), -ENXIO);
    }
    ck_assert_int_eq(gofer_open(s.client, 99999, &fd), -ESTALE);
    served_stop(&s);
}
END_TEST

/* The tree changes under the server: what was a file must not be opened as something else. */
TEST(files_that_change)
{
    struct served s;
    int fd = -1;
    served_start(&s);
    uint32_t plain = lookup(&s, 0, "plain", NULL);
    uint32_t leaf_dir = lookup(&s, lookup(&s, 0, "deep", NULL), "a", NULL);
    ck_assert_int_eq(unlinkat(s.dir_fd, "plain", 0), 0);
    ck_assert_int_eq(gofer_open(s.client, plain, &fd), -ENOENT);
    ck_assert_int_eq(symlinkat("/etc/passwd", s.dir_fd, "plain"), 0);
    ck_assert_int_eq(gofer_open(s.client, plain, &fd), -ELOOP);
    ck_assert_int_eq(unlinkat(s.dir_fd, "plain", 0), 0);
    ck_assert_int_eq(mkfifoat(s.dir_fd, "plain", 0644), 0);
    ck_assert_int_eq(gofer_open(s.client, plain, &fd), -ESTALE);
    ck_assert_int_eq(renameat(s.dir_fd, "deep/a", s.dir_fd, "deep/z"), 0);
    ck_assert_int_eq(symlinkat("/", s.dir_fd, "deep/a"), 0);
    ck_assert_int_lt(lookup_error(&s, leaf_dir, "etc"), 0);
    served_stop(&s);
}
END_TEST

TEST(symlinks)
{
    struct served s;
    char buf[64];
    served_start(&s);
    ck_assert_int_eq(gofer_readlink(s.client, lookup(&s, 0, "up", NULL), buf, sizeof(buf)), 22);
    ck_assert_int_eq(memcmp(buf, "../../../../etc/passwd", 22), 0);
    ck_assert_int_eq(gofer_readlink(s.client, lookup(&s, 0, "up", NULL), buf, 3), 3);
    ck_assert_int_eq(gofer_readlink(s.client, lookup(&s, 0, "loop", NULL), buf, sizeof(buf)), 4);
    ck_assert_int_eq(gofer_readlink(s.client, lookup(&s, 0, "plain", NULL), buf, 3), -EINVAL);
    served_stop(&s);
}
END_TEST

struct listing {
    unsigned count;
    unsigned stop_at;
    uint64_t cookie;
    bool seen[MANY_FILES];
};

static bool take_entry(void *ctx, const struct gofer_dirent *e)
{
    struct listing *l = ctx;
    unsigned i = 0;
    ck_assert_int_eq(sscanf(e->name, "a-file-of-many-%u", &i), 1);
    ck_assert_uint_eq(e->name_len, strlen(e->name));
    ck_assert(i < MANY_FILES && !l->seen[i]);
    l->seen[i] = true;
    l->count++;
    l->cookie = e->cookie;
    return l->count != l->stop_at;
}

TEST(huge_directory)
{
    struct served s;
    struct listing l = {.stop_at = 700};
    int64_t n;
    unsigned batches = 0;
    served_start(&s);
    make_many(&s);
    uint32_t many = lookup(&s, 0, "many", NULL);
    while ((n = gofer_readdir(s.client, many, l.cookie, take_entry, &l)) > 0)
        batches++;
    ck_assert_int_eq(n, 0);
    ck_assert_uint_eq(l.count, MANY_FILES);
    ck_assert_uint_ge(batches, 3);
    /* From the start again, and a cookie from nowhere. */
    l = (struct listing){.stop_at = 1};
    ck_assert_int_eq(gofer_readdir(s.client, many, 0, take_entry, &l), 1);
    ck_assert_int_eq(gofer_readdir(s.client, many, UINT64_MAX, take_entry, &l), -EINVAL);
    ck_assert_int_eq(gofer_readdir(s.client, lookup(&s, 0, "plain", NULL), 0, take_entry, &l),
                     -ENOTDIR);
    served_stop(&s);
}
END_TEST

static bool count_types(void *ctx, const struct gofer_dirent *e)
{
    unsigned *seen = ctx;
    ck_assert(strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0);
    seen[e->type]++;
    return true;
}

TEST(directory_entries_have_types)
{
    struct served s;
    unsigned seen[16] = {0};
    served_start(&s);
    ck_assert_int_ge(gofer_readdir(s.client, 0, 0, count_types, seen), 9);
    if (seen[DT_UNKNOWN] == 0) {
        ck_assert_uint_eq(seen[DT_LNK], 4);
        ck_assert_uint_eq(seen[DT_DIR], 1);
        ck_assert_uint_eq(seen[DT_FIFO], 1);
    }
    served_stop(&s);
}
END_TEST

/* More directories than the cache holds, and a path longer than one open can say. */
TEST(many_and_deep_directories)
{
    struct served s;
    char name[201];
    struct gofer_attr a;
    enum {
        DEPTH = 60,
        WIDTH = TREE_DIRS + 20
    };
    uint32_t wide[WIDTH];
    served_start(&s);
    memset(name, 'd', 200);
    name[200] = '\0';
    int at = dup(s.dir_fd);
    for (int i = 0; i < DEPTH; i++) {
        ck_assert_int_eq(mkdirat(at, name, 0755), 0);
        int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd_close(at);
        at = next;
    }
    put_file(at, "bottom", "b", 0644);
    uint32_t dir = 0;
    for (int i = 0; i < DEPTH; i++)
        dir = lookup(&s, dir, name, NULL);
    uint32_t bottom = lookup(&s, dir, "bottom", NULL);
    for (unsigned i = 0; i < WIDTH; i++) {
        char w[16];
        (void)snprintf(w, sizeof(w), "w%u", i);
        ck_assert_int_eq(mkdirat(s.dir_fd, w, 0755), 0);
        wide[i] = lookup(&s, 0, w, NULL);
        ck_assert_int_eq(lookup_error(&s, wide[i], "x"), -ENOENT);
    }
    ck_assert_int_eq(gofer_getattr(s.client, bottom, &a), 0);
    ck_assert_uint_eq(a.size, 1);
    for (unsigned i = 0; i < WIDTH; i++)
        ck_assert_int_eq(lookup_error(&s, wide[i], "x"), -ENOENT);
    ck_assert_int_eq(gofer_forget(s.client, wide, WIDTH), 0);
    ck_assert_int_eq(gofer_getattr(s.client, wide[0], &a), -ESTALE);
    ck_assert_int_eq(gofer_getattr(s.client, bottom, &a), 0);
    /* nftw cannot remove what is deeper than a path. */
    for (int i = 0; i < DEPTH; i++) {
        int up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_eq(i == 0 ? unlinkat(at, "bottom", 0) : unlinkat(at, name, AT_REMOVEDIR), 0);
        fd_close(at);
        at = up;
    }
    fd_close(at);
    served_stop(&s);
}
END_TEST

TEST(extended_attributes)
{
    struct served s;
    char buf[256];
    served_start(&s);
    uint32_t plain = lookup(&s, 0, "plain", NULL);
    int fd = openat(s.dir_fd, "plain", O_RDONLY | O_CLOEXEC);
    bool can = fsetxattr(fd, "user.color", "red", 3, 0) == 0;
    fd_close(fd);
    if (can) {
        ck_assert_int_eq(gofer_getxattr(s.client, plain, "user.color", buf, sizeof(buf)), 3);
        ck_assert_int_eq(memcmp(buf, "red", 3), 0);
        ck_assert_int_eq(gofer_getxattr(s.client, plain, "user.color", NULL, 0), 3);
        ck_assert_int_eq(gofer_getxattr(s.client, plain, "user.color", buf, 2), -ERANGE);
        ck_assert_int_eq(gofer_listxattr(s.client, plain, buf, sizeof(buf)), 11);
        ck_assert_str_eq(buf, "user.color");
        ck_assert_int_eq(gofer_getxattr(s.client, plain, "user.none", buf, 9), -ENODATA);
    }
    ck_assert_int_eq(gofer_getxattr(s.client, plain, "trusted.x", buf, 9), -ENODATA);
    ck_assert_int_eq(gofer_getxattr(s.client, plain, "", buf, 9), -ERANGE);
    ck_assert_int_eq(gofer_listxattr(s.client, 0, buf, sizeof(buf)), 0);
    served_stop(&s);
}
END_TEST

TEST(statfs_of_a_node)
{
    struct served s;
    struct gofer_statfs st;
    struct statfs host;
    served_start(&s);
    ck_assert_int_eq(gofer_statfs(s.client, lookup(&s, 0, "plain", NULL), &st), 0);
    ck_assert_int_eq(fstatfs(s.dir_fd, &host), 0);
    ck_assert_uint_eq(st.type, (uint64_t)host.f_type);
    ck_assert_uint_eq(st.bsize, (uint64_t)host.f_bsize);
    ck_assert_uint_eq(st.namelen, (uint64_t)host.f_namelen);
    served_stop(&s);
}
END_TEST

TEST(killed_server)
{
    struct served s;
    struct gofer_attr a;
    int fd = -1;
    served_start(&s);
    ck_assert_int_eq(kill(s.pid, SIGKILL), 0);
    ck_assert_int_eq(gofer_getattr(s.client, 0, &a), -EIO);
    ck_assert(gofer_client_dead(s.client));
    ck_assert_int_eq(gofer_open(s.client, 0, &fd), -EIO);
    ck_assert_int_eq(served_wait(&s), 128 + SIGKILL);
    remove_tree(&s);
}
END_TEST

TEST_SUITE(gofer_server)
{
    TEST_ADD(attributes_are_the_hosts);
    TEST_ADD(names_that_are_refused);
    TEST_ADD(walk);
    TEST_ADD(walks_at_once);
    TEST_ADD(open_regular_files_only);
    TEST_ADD(files_that_change);
    TEST_ADD(symlinks);
    TEST_ADD(huge_directory);
    TEST_ADD(directory_entries_have_types);
    TEST_ADD(many_and_deep_directories);
    TEST_ADD(extended_attributes);
    TEST_ADD(statfs_of_a_node);
    TEST_ADD(killed_server);
}
