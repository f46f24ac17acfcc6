/*
 * The program itself, as the monitor starts it: descriptors in their places, arguments, exit
 * status. It is found beside this test program; when it was not built there is nothing to test.
 */
#include "tests/unit/gofer/served.h"

static bool find_program(char ret[4096])
{
    ssize_t n = readlink("/proc/self/exe", ret, 4000);
    ck_assert_int_gt(n, 0);
    ret[n] = '\0';
    strcpy(strrchr(ret, '/') + 1, "sentry-gofer");
    return access(ret, X_OK) == 0;
}

/* Starts it with the tree as every root; its standard error is thrown away. */
static pid_t start(struct served *s, const char *program, const char *roots, int nroots, int sock)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        int image = fcntl(s->dir_fd, F_DUPFD, 40);
        int end = fcntl(sock, F_DUPFD, 40);
        for (int fd = 0; fd < 3; fd++)
            (void)dup2(null, fd);
        (void)dup2(image, 3);
        (void)dup2(end, 4);
        for (int i = 1; i < nroots; i++)
            (void)dup2(image, 4 + i);
        (void)execl(program, "sentry-gofer", "--roots", roots, NULL);
        _exit(99);
    }
    return pid;
}

static bool program_start(struct served *s, uint32_t nroots)
{
    char program[4096];
    char roots[16];
    int ends[2];
    struct error err;
    if (!find_program(program))
        return false;
    make_tree(s);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    (void)snprintf(roots, sizeof(roots), "%u", nroots);
    s->pid = start(s, program, roots, (int)nroots, ends[1]);
    s->sock = -1;
    fd_close(ends[1]);
    error_init(&err);
    int rc = gofer_client_new(ends[0], nroots, &s->client, &err);
    ck_assert_msg(rc == 0, "%s", err.text);
    return true;
}

TEST(image_and_volumes)
{
    struct served s;
    struct gofer_attr a;
    uint32_t node;
    int fd = -1;
    char text[8];
    if (!program_start(&s, 3))
        return;
    for (uint32_t root = 0; root < 3; root++) {
        ck_assert_int_eq(gofer_lookup(s.client, root, "plain", 5, &node, &a), 0);
        ck_assert_uint_eq(node, 3 + root);
        ck_assert_int_eq(gofer_open(s.client, node, &fd), 0);
        ck_assert_int_eq(read(fd, text, sizeof(text)), 6);
        fd_close(fd);
    }
    served_stop(&s);
}
END_TEST

TEST(donated_files_outlive_it)
{
    struct served s;
    struct gofer_walk w = {.flags = GOFER_WALK_OPEN, .n = 1, .names = {"plain"}, .lens = {5}};
    struct gofer_attr a;
    char text[8];
    if (!program_start(&s, 1))
        return;
    ck_assert_int_eq(gofer_walk(s.client, &w), 0);
    ck_assert_int_ge(w.fd, 0);
    ck_assert_int_eq(kill(s.pid, SIGKILL), 0);
    ck_assert_int_eq(gofer_getattr(s.client, 0, &a), -EIO);
    ck_assert(gofer_client_dead(s.client));
    ck_assert_int_eq(served_wait(&s), 128 + SIGKILL);
    ck_assert_int_eq(read(w.fd, text, sizeof(text)), 6);
    fd_close(w.fd);
    remove_tree(&s);
}
END_TEST

TEST(malformed_request_is_status_3)
{
    struct served s;
    int ends[2];
    char program[4096];
    char byte;
    if (!find_program(program))
        return;
    make_tree(&s);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    s.pid = start(&s, program, "1", 1, ends[1]);
    s.client = NULL;
    s.sock = ends[0];
    fd_close(ends[1]);
    ck_assert_int_eq(send(ends[0], "nonsense", 8, MSG_NOSIGNAL), 8);
    ck_assert_int_le(recv(ends[0], &byte, 1, 0), 0);
    ck_assert_int_eq(served_wait(&s), 3);
    remove_tree(&s);
}
END_TEST

TEST(bad_arguments_are_status_2)
{
    static const char *const bad[] = {"0", "65", "x", ""};
    struct served s;
    char program[4096];
    if (!find_program(program))
        return;
    make_tree(&s);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int status;
        pid_t pid = start(&s, program, bad[i], 1, s.dir_fd);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WEXITSTATUS(status), 2);
    }
    remove_tree(&s);
}
END_TEST

TEST_SUITE(gofer_program)
{
    TEST_ADD(image_and_volumes);
    TEST_ADD(donated_files_outlive_it);
    TEST_ADD(malformed_request_is_status_3);
    TEST_ADD(bad_arguments_are_status_2);
}
