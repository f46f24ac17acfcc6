/* Each side alone against the other one's worst: raw packets instead of our encoder. */
#include <sys/mman.h>

#include "tests/unit/gofer/served.h"

struct packet {
    struct gofer_header h;
    uint8_t body[512];
};

static struct packet packet(uint16_t type, const void *body, size_t n)
{
    struct packet p = {.h = {.size = (uint32_t)(sizeof(p.h) + n), .type = type, .tag = 5}};
    if (body)
        memcpy(p.body, body, n);
    return p;
}

static void put(int sock, const struct packet *p, size_t size)
{
    ck_assert_int_eq(send(sock, p, size, MSG_NOSIGNAL), (ssize_t)size);
}

static struct packet hello_packet(void)
{
    struct gofer_hello hello = {.version = GOFER_PROTO_VERSION, .nroots = 1};
    return packet(GOFER_HELLO, &hello, sizeof(hello));
}

static void raw_start(struct served *s, bool greet)
{
    uint8_t reply[1024];
    make_tree(s);
    serve(s);
    struct packet p = hello_packet();
    if (!greet)
        return;
    put(s->sock, &p, p.h.size);
    ck_assert_int_eq(recv(s->sock, reply, sizeof(reply), 0),
                     sizeof(p.h) + sizeof(struct gofer_hello) + sizeof(struct gofer_attr));
}

/* Sends one packet to a greeted server and expects that it hangs up with status 3. */
static void expect_end(const struct packet *p, size_t size)
{
    struct served s;
    uint8_t reply[64];
    raw_start(&s, p->h.type != GOFER_HELLO);
    if (p->h.type == GOFER_HELLO) {
        struct packet other = packet(GOFER_GETATTR, "\0\0\0\0\0\0\0", 8);
        put(s.sock, &other, other.h.size);
    } else {
        put(s.sock, p, size);
    }
    ck_assert_int_le(recv(s.sock, reply, sizeof(reply), 0), 0);
    ck_assert_int_eq(served_wait(&s), 3);
    remove_tree(&s);
}

static void expect_end_body(uint16_t type, const void *body, size_t n)
{
    struct packet p = packet(type, body, n);
    expect_end(&p, p.h.size);
}

TEST(malformed_headers)
{
    struct packet good = packet(GOFER_GETATTR, "\0\0\0\0\0\0\0", 8);
    struct packet p = good;
    expect_end(&p, 1);             /* not even a header */
    expect_end(&p, sizeof(p.h));   /* half a message */
    expect_end(&p, p.h.size - 1u); /* one byte short */
    expect_end(&p, p.h.size + 1u); /* one too many */
    p.h.size = 0xffffffff;
    expect_end(&p, good.h.size);
    p = good;
    p.h.type = GOFER_MSG_END;
    expect_end(&p, p.h.size);
    p.h.type = 0xffff;
    expect_end(&p, p.h.size);
    p.h.type = 0;
    expect_end(&p, p.h.size);
    p = good;
    p.h.zero = 1;
    expect_end(&p, p.h.size);
    p = good;
    p.h.status = 1;
    expect_end(&p, p.h.size);
    p = hello_packet(); /* the request before HELLO */
    expect_end(&p, p.h.size);
}
END_TEST

TEST(malformed_bodies)
{
    expect_end_body(GOFER_GETATTR, "\0\0\0\0\1\0\0", 8);          /* reserved word */
    expect_end_body(GOFER_WALK, "\0\0\0\0\0\0\0", 8);             /* no name */
    expect_end_body(GOFER_WALK, "\0\0\0\0\21\0\0", 8);            /* 17 names */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\2\0\1\0a", 11);     /* unknown flag */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\2\0..", 12);    /* dot dot */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\3\0a/b", 13);   /* slash */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\3\0a\0b", 13);  /* NUL */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\0\0", 10);      /* empty */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\377\377a", 11); /* longer than the message */
    expect_end_body(GOFER_WALK, "\0\0\0\0\1\0\0\0\1\0ab", 12);    /* rest */
    expect_end_body(GOFER_WALK, "\0\0\0\0\2\0\0\0\1\0a", 11);     /* second name missing */
    expect_end_body(GOFER_GETXATTR, "\0\0\0\0\0\0\0\0\0\0", 10);
    expect_end_body(GOFER_FORGET, "\2\0\0\0\0\0\0\0\1\0\0\0", 12);
    expect_end_body(GOFER_FORGET, "\377\377\377\377\0\0\0\0\1\0\0\0", 12);
    expect_end_body(GOFER_READDIR, "\0\0\0\0\0\0\0", 8);
    expect_end_body(GOFER_OPEN, "", 0);
}
END_TEST

TEST(descriptors_are_not_taken)
{
    struct served s;
    uint8_t reply[64];
    raw_start(&s, true);
    struct packet p = packet(GOFER_GETATTR, "\0\0\0\0\0\0\0", 8);
    ck_assert_int_eq(fd_send(s.sock, &p, p.h.size, &s.dir_fd, 1, 0), p.h.size);
    ck_assert_int_le(recv(s.sock, reply, sizeof(reply), 0), 0);
    ck_assert_int_eq(served_wait(&s), 3);
    remove_tree(&s);
}
END_TEST

TEST(wrong_greeting)
{
    struct served s;
    struct error err;
    struct gofer_client *c;
    make_tree(&s);
    serve(&s);
    ck_assert_int_eq(gofer_client_new(s.sock, 2, &c, &err), -EPROTONOSUPPORT);
    s.sock = -1;
    ck_assert_int_eq(served_wait(&s), 0);
    int plain = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_lt(gofer_client_new(plain, 1, &c, &err), 0);
    ck_assert_int_eq(gofer_client_new(-1, 0, &c, &err), -EINVAL);
    remove_tree(&s);
}
END_TEST

/* A client that asks and never reads stops only itself, and the server ends when it goes. */
TEST(flood_without_reading)
{
    struct served s;
    raw_start(&s, true);
    struct packet p = packet(GOFER_READDIR, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    int sent = 0;
    while (sent < 100000 && send(s.sock, &p, p.h.size, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        sent++;
    ck_assert_int_lt(sent, 100000);
    ck_assert_int_eq(served_wait(&s), 0);
    remove_tree(&s);
}
END_TEST

TEST(random_packets)
{
    srandom(42);
    for (int round = 0; round < 40; round++) {
        struct served s;
        raw_start(&s, true);
        for (int i = 0; i < 50; i++) {
            struct packet p = packet((uint16_t)(2 + random() % 9), NULL, (size_t)random() % 40);
            for (size_t b = 0; b < 40; b++)
                p.body[b] = (uint8_t)(random() % 4 ? 0 : random() % 3);
            uint8_t reply[GOFER_MSG_MAX];
            if (send(s.sock, &p, p.h.size, MSG_NOSIGNAL) < 0 ||
                recv(s.sock, reply, sizeof(reply), 0) <= 0)
                break;
        }
        int status = served_wait(&s);
        ck_assert_msg(status == 0 || status == 3, "status %d", status);
        remove_tree(&s);
    }
}
END_TEST

/* --- a server that lies -------------------------------------------------------------------- */

struct lie {
    struct gofer_client *c;
    int sock;
    pid_t pid;
};

/* Answers the greeting well and the next request with the given body (and descriptor). */
static void lie_start(struct lie *l, struct packet answer, size_t size, int fd)
{
    int ends[2];
    struct error err;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    l->pid = fork();
    if (l->pid == 0) {
        struct packet p;
        uint8_t reply[16 + 8 + 128] = {0};
        struct gofer_hello hello = {.version = GOFER_PROTO_VERSION, .nroots = 1};
        struct gofer_attr root = {.mode = S_IFDIR | 0755};
        fd_close(ends[0]);
        (void)recv(ends[1], &p, sizeof(p), 0);
        p.h.size = sizeof(reply);
        memcpy(reply, &p.h, 16);
        memcpy(reply + 16, &hello, 8);
        memcpy(reply + 24, &root, sizeof(root));
        (void)send(ends[1], reply, sizeof(reply), MSG_NOSIGNAL);
        (void)recv(ends[1], &p, sizeof(p), 0);
        if (answer.h.tag == 5)
            answer.h.tag = p.h.tag;
        (void)!fd_send(ends[1], &answer, size, &fd, fd >= 0 ? 1 : 0, 0);
        (void)recv(ends[1], &p, sizeof(p), 0);
        _exit(0);
    }
    fd_close(ends[1]);
    ck_assert_int_eq(gofer_client_new(ends[0], 1, &l->c, &err), 0);
}

static void lie_stop(struct lie *l, bool dead)
{
    ck_assert(gofer_client_dead(l->c) == dead);
    gofer_client_free(l->c);
    ck_assert_int_eq(waitpid(l->pid, NULL, 0), l->pid);
}

static void expect_dead_walk(const void *body, size_t n, int fd)
{
    struct lie l;
    struct packet p = packet(GOFER_WALK, body, n);
    struct gofer_walk w = {.n = 1, .flags = GOFER_WALK_OPEN, .names = {"x"}, .lens = {1}};
    lie_start(&l, p, p.h.size, fd);
    ck_assert_int_eq(gofer_walk(l.c, &w), -EIO);
    lie_stop(&l, true);
}

/* The reply to a later request in the place of the first. */
TEST(walks_out_of_order)
{
    struct lie l;
    uint8_t body[sizeof(struct gofer_walk_rep)] = {0};
    struct gofer_walk_rep rep = {.error = ENOENT};
    static struct gofer_walk w[2];
    memcpy(body, &rep, sizeof(rep));
    struct packet p = packet(GOFER_WALK, body, sizeof(body));
    p.h.tag = 3;
    for (int i = 0; i < 2; i++)
        w[i] = (struct gofer_walk){.n = 1, .names = {"x"}, .lens = {1}};
    lie_start(&l, p, p.h.size, -1);
    ck_assert_int_eq(gofer_walks(l.c, w, 2), -EIO);
    ck_assert(w[0].done == 0 && w[1].done == 0 && w[0].error == -EIO && w[1].error == -EIO);
    lie_stop(&l, true);
}
END_TEST

TEST(lying_walks)
{
    uint8_t body[512] = {0};
    struct gofer_walk_rep rep = {.done = 1};
    struct gofer_step step = {.node = 7, .attr = {.mode = S_IFREG | 0644}};
    int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int memfd = memfd_create("rw", MFD_CLOEXEC);
    const size_t full = sizeof(rep) + sizeof(step);
#define BODY() (memcpy(body, &rep, sizeof(rep)), memcpy(body + sizeof(rep), &step, sizeof(step)))
    BODY();
    expect_dead_walk(body, full - 1, -1);
    expect_dead_walk(body, full + 1, -1);
    expect_dead_walk(body, 4, -1);
    expect_dead_walk(body, full, null); /* a descriptor that was not announced */
    rep.fds = 1;
    BODY();
    expect_dead_walk(body, full, -1);
    expect_dead_walk(body, full, dir);
    expect_dead_walk(body, full, null);
    expect_dead_walk(body, full, memfd); /* regular, but open for writing */
    rep = (struct gofer_walk_rep){.done = 2};
    BODY();
    expect_dead_walk(body, full + sizeof(step), -1);
    rep = (struct gofer_walk_rep){.done = 0};
    BODY();
    expect_dead_walk(body, sizeof(rep), -1); /* neither found nor failed */
    rep = (struct gofer_walk_rep){.done = 1, .link = 3};
    BODY();
    expect_dead_walk(body, full + 3, -1); /* a target of what is no symlink */
    step.attr.mode = S_IFLNK | 0777;
    BODY();
    expect_dead_walk(body, full + 3, -1); /* a target with NUL */
    rep.link = 0xffff;
    BODY();
    expect_dead_walk(body, full + 3, -1);
    rep = (struct gofer_walk_rep){.done = 1};
    step.node = GOFER_NODES_MAX;
    BODY();
    expect_dead_walk(body, full, -1);
    step.node = 0; /* a root */
    BODY();
    expect_dead_walk(body, full, -1);
    step.node = 7;
    step.attr.mtime.nsec = 1000000000;
    BODY();
    expect_dead_walk(body, full, -1);
#undef BODY
    fd_close(dir);
    fd_close(null);
    fd_close(memfd);
}
END_TEST

static bool never(UNUSED void *ctx, UNUSED const struct gofer_dirent *e)
{
    ck_abort_msg("a malformed listing was handed out");
    return false;
}

static void expect_dead_listing(uint32_t count, const char *name, uint16_t length, size_t bytes)
{
    struct lie l;
    uint8_t body[128] = {0};
    struct gofer_readdir_rep rep = {.count = count};
    struct gofer_dirent_wire wire = {.length = length, .type = DT_REG};
    memcpy(body, &rep, sizeof(rep));
    memcpy(body + sizeof(rep), &wire, sizeof(wire));
    memcpy(body + sizeof(rep) + sizeof(wire), name, bytes);
    struct packet p = packet(GOFER_READDIR, body, sizeof(rep) + sizeof(wire) + bytes);
    lie_start(&l, p, p.h.size, -1);
    ck_assert_int_eq(gofer_readdir(l.c, 0, 0, never, NULL), -EIO);
    lie_stop(&l, true);
}

TEST(lying_listings)
{
    expect_dead_listing(1, "..", 2, 3);
    expect_dead_listing(1, "a/b", 3, 4);
    expect_dead_listing(1, "abc", 3, 3);      /* no NUL */
    expect_dead_listing(1, "a\0c", 3, 4);     /* NUL inside */
    expect_dead_listing(1, "abc", 0xffff, 4); /* longer than the message */
    expect_dead_listing(2, "abc", 3, 4);
    expect_dead_listing(0xffffffff, "abc", 3, 4);
    expect_dead_listing(0, "abc", 3, 4);
}
END_TEST

TEST(lying_headers)
{
    struct lie l;
    struct gofer_attr a = {.mode = S_IFREG};
    struct packet p = packet(GOFER_GETATTR, &a, sizeof(a));
    const size_t size = p.h.size;
    for (int i = 0; i < 6; i++) {
        struct packet q = p;
        size_t n = size;
        if (i == 0)
            q.h.tag = 77;
        else if (i == 1)
            q.h.type = GOFER_OPEN;
        else if (i == 2)
            q.h.size--;
        else if (i == 3)
            n = 9;
        else if (i == 4)
            q.h.zero = 9;
        else
            q.h.status = ENOENT; /* with a body */
        lie_start(&l, q, n, -1);
        ck_assert_int_eq(gofer_getattr(l.c, 0, &a), -EIO);
        lie_stop(&l, true);
    }
    /* An error number of its own making is EIO, and nothing worse. */
    p = packet(GOFER_GETATTR, NULL, 0);
    p.h.status = 512;
    lie_start(&l, p, p.h.size, -1);
    ck_assert_int_eq(gofer_getattr(l.c, 0, &a), -EIO);
    lie_stop(&l, false);
}
END_TEST

TEST(failing_allocations)
{
    struct served s;
    make_tree(&s);
    for_each_failure {
        struct server *server;
        if (server_new(&s.dir_fd, 1, &server) == 0) {
            struct server_reply r;
            struct packet p = hello_packet();
            memcpy(server->request, &p, p.h.size);
            ck_assert_int_eq(server_handle(server, p.h.size, &r), 0);
            p = packet(GOFER_WALK, "\0\0\0\0\2\0\0\0\4\0deep\1\0a", 17);
            memcpy(server->request, &p, p.h.size);
            ck_assert_int_eq(server_handle(server, p.h.size, &r), 0);
            ck_assert(tree_check(&server->tree));
            server_free(server);
        }
    }
    for_each_failure {
        bool greeted = served_try(&s);
        int status = served_wait(&s);
        ck_assert(status == 0 || (!greeted && status == 1));
    }
    remove_tree(&s);
}
END_TEST

TEST_SUITE(gofer_hostile)
{
    TEST_ADD(malformed_headers);
    TEST_ADD(malformed_bodies);
    TEST_ADD(descriptors_are_not_taken);
    TEST_ADD(wrong_greeting);
    TEST_ADD(flood_without_reading);
    TEST_ADD(random_packets);
    TEST_ADD(walks_out_of_order);
    TEST_ADD(lying_walks);
    TEST_ADD(lying_listings);
    TEST_ADD(lying_headers);
    TEST_ADD(failing_allocations);
}
