/* lib/fdio.h and the descriptor half of lib/cleanup.h, over real sockets and pipes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"
#include "tests/support/test.h"

TEST(descriptors_travel)
{
    int pair[2], got[2];
    size_t ngot = 0;
    char text[16];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    auto_fd int a = pair[0];
    auto_fd int b = pair[1];
    auto_fd int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int sent[2] = {null_fd, a};
    ck_assert_int_eq(fd_send(a, "hi", 2, sent, 2, 0), 2);
    ck_assert_int_eq(fd_recv(b, text, sizeof(text), got, 2, &ngot, 0), 2);
    ck_assert_uint_eq(ngot, 2);
    ck_assert_mem_eq(text, "hi", 2);
    ck_assert_int_eq(fcntl(got[0], F_GETFD), FD_CLOEXEC);
    fd_close(got[0]);
    fd_close(got[1]);

    /* Too many descriptors, and a message that is cut: refused, nothing stays open. */
    ck_assert_int_eq(fd_send(a, "hi", 2, sent, 2, 0), 2);
    ck_assert_int_eq(fd_recv(b, text, sizeof(text), got, 1, &ngot, 0), -EMSGSIZE);
    ck_assert_int_eq(fd_send(a, "hello", 5, sent, 1, 0), 5);
    ck_assert_int_eq(fd_recv(b, text, 2, got, 1, &ngot, 0), -EMSGSIZE);

    fd_close(take_fd(a));
    ck_assert_int_eq(a, -1);
    ck_assert_int_eq(fd_recv(b, text, 2, got, 1, &ngot, 0), 0);
    ck_assert_int_eq(fd_send(b, "x", 1, NULL, 0, 0), -EPIPE);
}

TEST(whole_files)
{
    for_each_failure {
        int fds[2];
        char *data = NULL;
        size_t len = 0;
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(fd_write_full(fds[1], "0123456789", 10), 0);
        fd_close(fds[1]);
        int r = fd_read_all(fds[0], 100, &data, &len);
        if (r == 0) {
            ck_assert_uint_eq(len, 10);
            ck_assert_str_eq(data, "0123456789");
            kfree(data);
        } else {
            ck_assert_int_eq(r, -ENOMEM);
        }
        fd_close(fds[0]);
    }
}

TEST(too_large_a_file)
{
    int fds[2];
    char *data = NULL;
    size_t len = 0;

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    ck_assert_int_eq(fd_write_full(fds[1], "0123456789", 10), 0);
    fd_close(fds[1]);
    ck_assert_int_eq(fd_read_all(fds[0], 9, &data, &len), -EFBIG);
    fd_close(fds[0]);
    ck_assert_ptr_null(data);
}

TEST(flags)
{
    auto_fd int fd = open("/dev/null", O_RDONLY);

    ck_assert_int_eq(fd_set_cloexec(fd, true), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(fd_set_nonblock(fd, true), 0);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    ck_assert_int_eq(fd_set_nonblock(-1, true), -EBADF);
}

TEST_SUITE(fdio)
{
    TEST_ADD(descriptors_travel);
    TEST_ADD(whole_files);
    TEST_ADD(too_large_a_file);
    TEST_ADD(flags);
}
