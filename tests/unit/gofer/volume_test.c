/*
 * The volume server and its client over a temporary directory of the host: what may be asked, what
 * is refused, what happens when the host changes things in between; then raw packets of either
 * side.
 */
#include "gofer/volume_client.h"
#include "gofer/volume_server.h"
#include "tests/unit/gofer/served.h"

enum {
    RW = 0, /* roots */
    RO = 1,
    FILE_ROOT = 2,
    ROOTS = 3,
    NODES = 40
};

struct vol {
    struct served s; /* dir: rw/ ro/ top/2 outside */
    int rw;          /* O_RDONLY of rw/ */
    struct volume_client *c;
};

static int path_fd(const struct vol *v, const char *name)
{
    int fd = openat(v->s.dir_fd, name, O_PATH | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void vol_tree(struct vol *v)
{
    strcpy(v->s.dir, "/tmp/volume-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(v->s.dir));
    int d = open(v->s.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(d, 0);
    v->s.dir_fd = d;
    ck_assert_int_eq(mkdirat(d, "rw", 0755) + mkdirat(d, "ro", 0755) + mkdirat(d, "top", 0755), 0);
    ck_assert_int_eq(mkdirat(d, "rw/sub", 0755), 0);
    put_file(d, "rw/plain", "hello\n", 0644);
    put_file(d, "ro/plain", "fixed\n", 0644);
    put_file(d, "top/2", "single\n", 0644);
    put_file(d, "outside", "secret\n", 0600);
    ck_assert_int_eq(symlinkat("../outside", d, "rw/up"), 0);
    ck_assert_int_eq(mkfifoat(d, "rw/fifo", 0644), 0);
    v->rw = openat(d, "rw", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void vol_serve(struct vol *v, bool writable, int ret_ends[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends), 0);
    struct volume_source roots[ROOTS] = {{.fd = path_fd(v, "rw"), .writable = writable},
                                         {.fd = path_fd(v, "ro")},
                                         {.fd = path_fd(v, "top/2"), .writable = writable}};
    int top = path_fd(v, "top");
    v->s.pid = fork();
    ck_assert_int_ge(v->s.pid, 0);
    if (v->s.pid == 0) {
        struct volume_server *server;
        kalloc_fail_after(0); /* our failures are not its */
        fd_close(ret_ends[0]);
        (void)umask(0);
        if (volume_server_new(roots, ROOTS, top, NODES, &server) < 0)
            _exit(1);
        server->volumes.uid = geteuid();
        int rc = volume_server_run(server, &(struct gofer_port){.sock = ret_ends[1]});
        bool good = volumes_check(&server->volumes);
        volume_server_free(server);
        _exit(!good ? 9 : rc == 0 ? 0 : rc == -EPROTO ? 3 : 1);
    }
    fd_close(ret_ends[1]);
    for (int r = 0; r < ROOTS; r++)
        fd_close(roots[r].fd);
    fd_close(top);
}

static void vol_start(struct vol *v)
{
    int ends[2];
    struct error err;
    vol_tree(v);
    vol_serve(v, true, ends);
    error_init(&err);
    int rc = volume_client_new(ends[0], ROOTS, &v->c, &err);
    ck_assert_msg(rc == 0, "%s", err.text);
}

static void vol_stop(struct vol *v)
{
    int status;
    volume_client_free(v->c);
    ck_assert_int_eq(waitpid(v->s.pid, &status, 0), v->s.pid);
    ck_assert_int_eq(status, 0);
    fd_close(v->rw);
    remove_tree(&v->s);
}

static int look(struct vol *v, uint32_t dir, const char *name, struct gofer_step *ret)
{
    const char *link;
    return volume_client_lookup(v->c, dir, name, ret, &link);
}

static uint32_t node(struct vol *v, uint32_t dir, const char *name)
{
    struct gofer_step step;
    ck_assert_int_eq(look(v, dir, name, &step), 0);
    return step.node;
}

static int make(struct vol *v, uint32_t dir, const char *name, uint32_t mode, const char *target)
{
    struct gofer_step step;
    struct volume_create_req req = {.dir = dir, .mode = mode, .uid = geteuid(), .gid = getegid()};
    int fd = -1;
    int rc = volume_client_create(v->c, &req, name, target, &step, &fd);
    /* A file brings the descriptor that it was made with. */
    ck_assert_int_eq(fd >= 0, rc == 0 && S_ISREG(mode));
    if (fd >= 0) {
        struct stat st;
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_uint_eq(st.st_ino, step.attr.ino);
        ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
    }
    fd_close(fd);
    return rc;
}

static int open_as(struct vol *v, struct volume_ref ref, uint32_t flags)
{
    int fd;
    int rc = volume_client_open(v->c, &ref, flags, &fd);
    if (rc == 0)
        fd_close(fd);
    return rc;
}

TEST(nodes_are_files)
{
    struct vol v;
    struct gofer_step step;
    const char *link;
    vol_start(&v);
    uint32_t plain = node(&v, RW, "plain");
    ck_assert_int_eq(linkat(v.rw, "plain", v.rw, "again", 0), 0);
    ck_assert_uint_eq(node(&v, RW, "again"), plain);
    ck_assert_uint_ne(node(&v, RO, "plain"), plain);
    ck_assert_int_eq(volume_client_lookup(v.c, RW, "up", &step, &link), 0);
    ck_assert_str_eq(link, "../outside");
    ck_assert_int_eq(look(&v, step.node, "x", &step), -ENOTDIR);
    ck_assert_int_eq(look(&v, RW, "none", &step), -ENOENT);
    ck_assert_int_eq(look(&v, 99, "plain", &step), -ESTALE);
    static const char *const bad[] = {"", ".", "..", "a/b", "/"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(look(&v, RW, bad[i], &step), -EINVAL);
    /* While it is known its numbers are its own, whatever becomes of its names. */
    ck_assert_int_eq(unlinkat(v.rw, "plain", 0) + unlinkat(v.rw, "again", 0), 0);
    put_file(v.rw, "plain", "new", 0644);
    ck_assert_uint_ne(node(&v, RW, "plain"), plain);
    struct gofer_attr a;
    ck_assert_int_eq(volume_client_getattr(v.c, plain, &a), 0);
    ck_assert_uint_eq(a.nlink, 0);
    ck_assert_int_eq(volume_client_forget(v.c, &plain, 1), 0);
    ck_assert_int_eq(volume_client_getattr(v.c, plain, &a), -ESTALE);
    vol_stop(&v);
}
END_TEST

TEST(several_names_at_once)
{
    static const char *const deep[] = {"sub", "a", "f", "x"};
    static const char *const up[] = {"up", "x"};
    static const char *const bad[] = {"sub", ".."};
    struct vol v;
    struct volume_walk w;
    vol_start(&v);
    ck_assert_int_eq(mkdirat(v.rw, "sub/a", 0755), 0);
    put_file(v.rw, "sub/a/f", "", 0644);
    ck_assert_int_eq(volume_client_walk(v.c, RW, deep, 3, &w), 0);
    ck_assert_uint_eq(w.done, 3);
    ck_assert_int_eq(w.error, 0);
    struct gofer_attr start;
    ck_assert_int_eq(volume_client_getattr(v.c, RW, &start), 0);
    ck_assert(w.dir.ino == start.ino && w.dir.mode == start.mode);
    ck_assert_uint_eq(w.steps[2].node, node(&v, node(&v, node(&v, RW, "sub"), "a"), "f"));
    ck_assert_int_eq(volume_client_walk(v.c, RW, deep, 4, &w), 0); /* a file ends it */
    ck_assert_uint_eq(w.done, 3);
    ck_assert_int_eq(w.error, 0);
    ck_assert_int_eq(volume_client_walk(v.c, RW, deep + 1, 2, &w), 0);
    ck_assert_uint_eq(w.done, 0);
    ck_assert_int_eq(w.error, -ENOENT);
    ck_assert_int_eq(volume_client_walk(v.c, RW, up, 2, &w), 0);
    ck_assert_uint_eq(w.done, 1);
    ck_assert_str_eq(w.link, "../outside");
    ck_assert_int_eq(volume_client_walk(v.c, FILE_ROOT, up, 2, &w), 0);
    ck_assert_int_eq(w.error, -ENOTDIR);
    ck_assert_int_eq(volume_client_walk(v.c, RW, bad, 2, &w), -EINVAL);
    ck_assert_int_eq(volume_client_walk(v.c, RW, deep, 0, &w), -EINVAL);
    ck_assert_int_eq(volume_client_walk(v.c, RW, deep, 9, &w), -EINVAL);
    ck_assert_int_eq(volume_client_walk(v.c, 99, deep, 1, &w), -ESTALE);
    vol_stop(&v);
}
END_TEST

TEST(access_is_as_asked)
{
    struct vol v;
    vol_start(&v);
    struct volume_ref plain = {RW, node(&v, RW, "plain"), "plain"};
    struct volume_ref fixed = {RO, node(&v, RO, "plain"), "plain"};
    struct volume_ref single = {FILE_ROOT, FILE_ROOT, ""};
    struct volume_ref fifo = {RW, node(&v, RW, "fifo"), "fifo"};
    struct volume_ref sub = {RW, node(&v, RW, "sub"), "sub"};
    struct volume_ref up = {RW, node(&v, RW, "up"), "up"};
    for (uint32_t flags = VOLUME_READ; flags <= (VOLUME_READ | VOLUME_WRITE); flags++) {
        ck_assert_int_eq(open_as(&v, plain, flags), 0);
        ck_assert_int_eq(open_as(&v, single, flags), 0);
        ck_assert_int_eq(open_as(&v, fixed, flags), flags & VOLUME_WRITE ? -EROFS : 0);
        ck_assert_int_eq(open_as(&v, fifo, flags), -ENXIO);
        ck_assert_int_eq(open_as(&v, sub, flags), -EISDIR);
        ck_assert_int_eq(open_as(&v, up, flags), -ELOOP);
    }
    ck_assert_int_eq(open_as(&v, plain, 0), -EINVAL);
    /* A place of another root, and a root that is none. */
    ck_assert_int_eq(open_as(&v, (struct volume_ref){RO, plain.node, "plain"}, 1), -ESTALE);
    ck_assert_int_eq(open_as(&v, (struct volume_ref){RW, plain.node, ""}, 1), -ESTALE);
    vol_stop(&v);
}
END_TEST

TEST(another_file_in_its_place)
{
    struct vol v;
    struct gofer_attr a;
    char buf[8];
    vol_start(&v);
    struct volume_ref plain = {RW, node(&v, RW, "plain"), "plain"};
    put_file(v.rw, "other", "other", 0644);
    ck_assert_int_eq(renameat(v.rw, "other", v.rw, "plain"), 0);
    ck_assert_int_eq(open_as(&v, plain, VOLUME_READ), -ESTALE);
    ck_assert_int_eq(volume_client_link(v.c, &plain, RW, "l", &a), -ESTALE);
    ck_assert_int_eq(volume_client_setxattr(v.c, &plain, "user.a", "v", 1, 0), -ESTALE);
    ck_assert_int_eq(volume_client_getxattr(v.c, &plain, "user.a", buf, 8), -ESTALE);
    ck_assert_int_eq(unlinkat(v.rw, "plain", 0), 0);
    ck_assert_int_eq(open_as(&v, plain, VOLUME_READ), -ENOENT);
    ck_assert_int_eq(symlinkat("../outside", v.rw, "plain"), 0);
    ck_assert_int_eq(open_as(&v, plain, VOLUME_WRITE), -ESTALE);
    /* What needs no name goes on. */
    struct volume_setattr_req req = {.valid = VOLUME_SET_MODE, .mode = 0600};
    ck_assert_int_eq(volume_client_setattr(v.c, &plain, &req, &a), 0);
    ck_assert_uint_eq(a.mode, S_IFREG | 0600);
    struct stat st;
    ck_assert_int_eq(fstatat(v.s.dir_fd, "outside", &st, 0), 0);
    ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
    ck_assert_int_eq(st.st_size, 7);
    vol_stop(&v);
}
END_TEST

TEST(things_are_made)
{
    struct vol v;
    struct stat st;
    char target[64] = "";
    vol_start(&v);
    ck_assert_int_eq(make(&v, RW, "f", S_IFREG | 04751, NULL), 0);
    ck_assert_int_eq(fstatat(v.rw, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
    ck_assert_uint_eq(st.st_mode, S_IFREG | 04751);
    ck_assert_int_eq(make(&v, RW, "d", S_IFDIR | 01777, NULL), 0);
    ck_assert_int_eq(make(&v, RW, "p", S_IFIFO | 0622, NULL), 0);
    ck_assert_int_eq(make(&v, RW, "s", S_IFSOCK | 0700, NULL), 0);
    ck_assert_int_eq(make(&v, RW, "l", S_IFLNK | 0777, "../../etc/passwd"), 0);
    ck_assert_int_gt(readlinkat(v.rw, "l", target, sizeof(target) - 1), 0);
    ck_assert_str_eq(target, "../../etc/passwd");
    ck_assert_int_eq(make(&v, RW, "f", S_IFREG | 0644, NULL), -EEXIST);
    ck_assert_int_eq(make(&v, RW, "l", S_IFREG | 0644, NULL), -EEXIST);
    ck_assert_int_eq(make(&v, RW, "c", S_IFCHR | 0666, NULL), -EPERM);
    ck_assert_int_eq(make(&v, RW, "b", S_IFBLK | 0666, NULL), -EPERM);
    ck_assert_int_eq(make(&v, RO, "f", S_IFREG | 0644, NULL), -EROFS);
    ck_assert_int_eq(make(&v, FILE_ROOT, "f", S_IFREG | 0644, NULL), -ENOTDIR);
    ck_assert_int_eq(make(&v, RW, "x/y", S_IFREG | 0644, NULL), -EINVAL);
    if (geteuid() == 0) {
        struct gofer_step step;
        struct volume_create_req req = {.dir = RW, .mode = S_IFDIR | 0700, .uid = 12, .gid = 34};
        int fd;
        ck_assert_int_eq(volume_client_create(v.c, &req, "owned", NULL, &step, &fd), 0);
        ck_assert_uint_eq(step.attr.uid, 12);
        ck_assert_uint_eq(step.attr.gid, 34);
    }
    vol_stop(&v);
}
END_TEST

static int move(struct vol *v, uint32_t dir, const char *name, uint32_t new_dir, const char *to,
                uint32_t flags)
{
    struct volume_rename_req req = {.dir = dir, .new_dir = new_dir, .flags = flags};
    return volume_client_rename(v->c, &req, name, to);
}

TEST(names_change)
{
    struct vol v;
    struct gofer_attr a;
    vol_start(&v);
    uint32_t sub = node(&v, RW, "sub");
    struct volume_ref plain = {RW, node(&v, RW, "plain"), "plain"};
    ck_assert_int_eq(volume_client_link(v.c, &plain, sub, "l", &a), 0);
    ck_assert_uint_eq(a.nlink, 2);
    ck_assert_int_eq(volume_client_link(v.c, &plain, RO, "l", &a), -EXDEV);
    ck_assert_int_eq(volume_client_link(v.c, &(struct volume_ref){RW, sub, "sub"}, RW, "l", &a),
                     -EPERM);
    ck_assert_int_eq(move(&v, RW, "plain", sub, "l2", 0), 0);
    ck_assert_int_eq(move(&v, sub, "l", sub, "l2", VOLUME_NOREPLACE), -EEXIST);
    ck_assert_int_eq(move(&v, sub, "l", RW, "none", VOLUME_EXCHANGE), -ENOENT);
    ck_assert_int_eq(move(&v, RW, "fifo", sub, "l", VOLUME_EXCHANGE), 0);
    ck_assert_int_eq(move(&v, sub, "l", RO, "x", 0), -EROFS);
    ck_assert_int_eq(move(&v, RO, "plain", RO, "x", 0), -EROFS);
    ck_assert_int_eq(move(&v, RW, "sub", sub, "x", 0), -EINVAL);
    ck_assert_int_eq(volume_client_remove(v.c, RW, "sub", true), -ENOTEMPTY);
    ck_assert_int_eq(volume_client_remove(v.c, RW, "sub", false), -EISDIR);
    ck_assert_int_eq(volume_client_remove(v.c, RO, "plain", false), -EROFS);
    ck_assert_int_eq(volume_client_remove(v.c, sub, "l2", false), 0);
    ck_assert_int_eq(volume_client_remove(v.c, sub, "l2", false), -ENOENT);
    ck_assert_int_eq(volume_client_sync(v.c, sub), 0);
    ck_assert_int_eq(volume_client_sync(v.c, RO), -EROFS);
    vol_stop(&v);
}
END_TEST

TEST(attributes_of_a_symlink_are_its_own)
{
    struct vol v;
    struct gofer_attr a;
    struct stat st;
    vol_start(&v);
    struct volume_ref up = {RW, node(&v, RW, "up"), "up"};
    struct volume_setattr_req req = {.valid = VOLUME_SET_MTIME, .mtime = {.sec = 77, .nsec = 5}};
    ck_assert_int_eq(volume_client_setattr(v.c, &up, &req, &a), 0);
    ck_assert_int_eq(a.mtime.sec, 77);
    req = (struct volume_setattr_req){.valid = VOLUME_SET_MODE, .mode = 0777};
    ck_assert_int_eq(volume_client_setattr(v.c, &up, &req, &a), -EOPNOTSUPP);
    ck_assert_int_eq(volume_client_setxattr(v.c, &up, "user.a", "v", 1, 0), -EPERM);
    if (geteuid() == 0) {
        req = (struct volume_setattr_req){.valid = VOLUME_SET_UID, .uid = 9};
        ck_assert_int_eq(volume_client_setattr(v.c, &up, &req, &a), 0);
        ck_assert_uint_eq(a.uid, 9);
    }
    ck_assert_int_eq(fstatat(v.s.dir_fd, "outside", &st, 0), 0);
    ck_assert_uint_eq(st.st_uid, geteuid());
    ck_assert_int_ne(st.st_mtim.tv_sec, 77);
    ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
    struct volume_ref plain = {RW, node(&v, RW, "plain"), "plain"};
    ck_assert_int_eq(volume_client_setxattr(v.c, &plain, "security.capability", "v", 1, 0),
                     -EOPNOTSUPP);
    ck_assert_int_eq(volume_client_setxattr(v.c, &plain, "trusted.a", "v", 1, 0), -EOPNOTSUPP);
    struct volume_ref fixed = {RO, node(&v, RO, "plain"), "plain"};
    req = (struct volume_setattr_req){.valid = VOLUME_SET_MODE};
    ck_assert_int_eq(volume_client_setattr(v.c, &fixed, &req, &a), -EROFS);
    ck_assert_int_eq(volume_client_setxattr(v.c, &fixed, "user.a", "v", 1, 0), -EROFS);
    vol_stop(&v);
}
END_TEST

TEST(nodes_are_bounded)
{
    struct vol v;
    struct gofer_step step;
    char name[16];
    int rc = 0;
    uint32_t ids[NODES], n = 0;
    vol_start(&v);
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof(name), "m%d", i);
        put_file(v.rw, name, "", 0644);
    }
    for (int i = 0; i < NODES && rc == 0; i++) {
        (void)snprintf(name, sizeof(name), "m%d", i);
        rc = look(&v, RW, name, &step);
        ids[n++] = step.node;
    }
    ck_assert_int_eq(rc, -ENFILE);
    ck_assert_int_eq(volume_client_forget(v.c, ids, n - 1), 0);
    ck_assert_int_eq(look(&v, RW, name, &step), 0);
    vol_stop(&v);
}
END_TEST

/* --- raw packets ---------------------------------------------------------------------------------
 */

struct packet {
    struct gofer_header h;
    uint8_t body[600];
};

static struct packet packet(uint16_t type, const void *body, size_t n)
{
    struct packet p = {.h = {.size = (uint32_t)(sizeof(p.h) + n), .type = type, .tag = 5}};
    if (n > 0)
        memcpy(p.body, body, n);
    return p;
}

/* Greets, sends one packet, and returns the server's end: 0 if it answered. */
static int end_after(bool writable, const struct packet *p)
{
    struct vol v;
    int ends[2], status;
    uint8_t reply[1024];
    struct gofer_hello hello = {.version = VOLUME_PROTO_VERSION, .nroots = ROOTS};
    struct packet greeting = packet(VOLUME_HELLO, &hello, sizeof(hello));
    vol_tree(&v);
    vol_serve(&v, writable, ends);
    ck_assert_int_gt(send(ends[0], &greeting, greeting.h.size, MSG_NOSIGNAL), 0);
    ck_assert_int_gt(recv(ends[0], reply, sizeof(reply), 0), 0);
    ck_assert_int_gt(send(ends[0], p, p->h.size, MSG_NOSIGNAL), 0);
    (void)!recv(ends[0], reply, sizeof(reply), 0);
    fd_close(ends[0]);
    ck_assert_int_eq(waitpid(v.s.pid, &status, 0), v.s.pid);
    fd_close(v.rw);
    remove_tree(&v.s);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int end_after_body(bool writable, uint16_t type, const void *body, size_t n)
{
    struct packet p = packet(type, body, n);
    return end_after(writable, &p);
}

TEST(malformed_requests_end_it)
{
    static const struct {
        uint16_t type;
        uint8_t body[24];
        size_t n;
        int end;
    } cases[] = {
        {VOLUME_LOOKUP, {[8] = 1, [10] = 'a'}, 11, 0},
        {VOLUME_LOOKUP, {[8] = 1, [10] = '/'}, 11, 3},
        {VOLUME_LOOKUP, {[8] = 2, [10] = '.', '.'}, 12, 3},
        {VOLUME_LOOKUP, {[8] = 0}, 10, 3},
        {VOLUME_LOOKUP, {[4] = 1, [8] = 1, [10] = 'a'}, 11, 3},
        {VOLUME_LOOKUP, {[8] = 1, [10] = 'a', 'b'}, 12, 3},
        {VOLUME_WALK, {[4] = 1, [8] = 1, [10] = 'a'}, 11, 0},
        {VOLUME_WALK, {[4] = 2, [8] = 1, [10] = 'a', [11] = 2, [13] = '.', '.'}, 15, 3},
        {VOLUME_WALK, {[4] = 9, [8] = 1, [10] = 'a'}, 11, 3},
        {VOLUME_WALK, {[8] = 1, [10] = 'a'}, 11, 3},
        {VOLUME_WALK, {[4] = 1, [6] = 1, [8] = 1, [10] = 'a'}, 11, 3},
        {VOLUME_GETATTR, {0}, 8, 0},
        {VOLUME_GETATTR, {[4] = 1}, 8, 3},
        {VOLUME_GETATTR, {0}, 7, 3},
        {VOLUME_OPEN, {[8] = 4}, 18, 3},
        {VOLUME_OPEN, {[8] = 0}, 18, 3},
        {VOLUME_REMOVE, {[4] = 2, [8] = 1, [10] = 'a'}, 11, 3},
        {VOLUME_REMOVE, {[8] = 2, [10] = '.', '.'}, 12, 3},
        {VOLUME_RENAME, {[8] = 4, [16] = 1, [18] = 'a', [19] = 1, [21] = 'b'}, 22, 3},
        {VOLUME_CREATE,
         {[4] = 0, 0xa0, [16] = 1, [18] = 'a'},
         19,
         3}, /* a symlink without target */
        {VOLUME_CREATE, {[4] = 0, 0x80, 1, [16] = 1, [18] = 'a'}, 19, 3},
        {VOLUME_WRITES, {0}, 8, 3},
        {VOLUME_MSG_END, {0}, 8, 3},
        {VOLUME_HELLO, {[0] = 1, [4] = 3}, 8, 3}, /* once only */
        {GOFER_GETATTR, {0}, 8, 3},               /* the other server's */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int end = end_after_body(true, cases[i].type, cases[i].body, cases[i].n);
        ck_assert_msg(end == cases[i].end, "case %zu: %d", i, end);
    }
    /* Where nothing is writable there are no such requests. */
    static const uint8_t remove[11] = {[8] = 1, [10] = 'a'};
    ck_assert_int_eq(end_after_body(true, VOLUME_REMOVE, remove, 11), 0);
    ck_assert_int_eq(end_after_body(false, VOLUME_REMOVE, remove, 11), 3);
}
END_TEST

/* A server that lies: after a good greeting it gives this reply to a lookup. */
static int lied_to(const void *body, size_t n, int fd)
{
    uint8_t request[512];
    int ends[2];
    struct volume_client *c;
    struct gofer_step step;
    const char *link;
    struct {
        struct gofer_hello hello;
        struct volume_root root;
    } PACKED hello = {.hello = {VOLUME_PROTO_VERSION, 1}, .root = {.attr.mode = S_IFDIR | 0755}};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    struct packet p = packet(VOLUME_HELLO, &hello, sizeof(hello));
    p.h.tag = 1;
    ck_assert_int_gt(send(ends[1], &p, p.h.size, 0), 0);
    ck_assert_int_eq(volume_client_new(ends[0], 1, &c, NULL), 0);
    p = packet(VOLUME_LOOKUP, body, n);
    p.h.tag = 2;
    ck_assert_int_gt(fd_send(ends[1], &p, p.h.size, &fd, fd >= 0, 0), 0);
    int rc = volume_client_lookup(c, 0, "a", &step, &link);
    bool dead = volume_client_dead(c);
    ck_assert(rc == 0 || dead);
    (void)!recv(ends[1], request, sizeof(request), MSG_DONTWAIT);
    volume_client_free(c);
    fd_close(ends[1]);
    return rc;
}

TEST(lies_end_the_connection)
{
    struct {
        struct gofer_step step;
        char link[8];
    } PACKED r = {.step = {.node = 1, .attr = {.mode = S_IFREG | 0644}}, .link = "target"};
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), -1), 0);
    ck_assert_int_eq(lied_to(&r, sizeof(r.step) - 1, -1), -EIO);
    ck_assert_int_eq(lied_to(&r, sizeof(r.step) + 6, -1), -EIO); /* a target of no symlink */
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), STDIN_FILENO), -EIO);
    r.step.attr.mode = S_IFLNK | 0777;
    ck_assert_int_eq(lied_to(&r, sizeof(r.step) + 6, -1), 0);
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), -1), -EIO);     /* without one */
    ck_assert_int_eq(lied_to(&r, sizeof(r.step) + 7, -1), -EIO); /* with a NUL in it */
    r.step.attr.mode = S_IFREG | 0644;
    r.step.node = GOFER_NODES_MAX;
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), -1), -EIO);
    r.step.node = 1;
    r.step.attr.size = UINT64_MAX;
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), -1), -EIO);
    r.step.attr.size = 0;
    r.step.attr.mtime.nsec = 1000000000;
    ck_assert_int_eq(lied_to(&r, sizeof(r.step), -1), -EIO);
}
END_TEST

TEST(failing_allocations)
{
    struct volume_server *server;
    struct vol v;
    vol_tree(&v);
    struct volume_source root = {.fd = v.rw, .writable = true};
    for_each_failure {
        if (volume_server_new(&root, 1, -1, NODES, &server) == 0) {
            struct vnode *n;
            struct gofer_attr a;
            (void)!volume_lookup(&server->volumes, server->volumes.by_id[0], "plain", &n, &a);
            ck_assert(volumes_check(&server->volumes));
            volume_server_free(server);
        }
    }
    fd_close(v.rw);
    remove_tree(&v.s);
}
END_TEST

TEST_SUITE(volume)
{
    TEST_ADD(nodes_are_files);
    TEST_ADD(several_names_at_once);
    TEST_ADD(access_is_as_asked);
    TEST_ADD(another_file_in_its_place);
    TEST_ADD(things_are_made);
    TEST_ADD(names_change);
    TEST_ADD(attributes_of_a_symlink_are_its_own);
    TEST_ADD(nodes_are_bounded);
    TEST_ADD(malformed_requests_end_it);
    TEST_ADD(lies_end_the_connection);
    TEST_ADD(failing_allocations);
}
