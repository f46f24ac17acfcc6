/* The bounded reader and writer, and what is a name. */
#include <errno.h>
#include <string.h>

#include <sys/socket.h>

#include "gofer/proto.h"
#include "lib/fdio.h"
#include "tests/support/test.h"

TEST(names)
{
    char longest[GOFER_NAME_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    ck_assert(gofer_name_valid("a", 1));
    ck_assert(gofer_name_valid("...", 3));
    ck_assert(gofer_name_valid(".a", 2));
    ck_assert(gofer_name_valid("\xff\x01", 2));
    ck_assert(gofer_name_valid(longest, GOFER_NAME_MAX));
    ck_assert(!gofer_name_valid(longest, GOFER_NAME_MAX + 1));
    ck_assert(!gofer_name_valid("", 0));
    ck_assert(!gofer_name_valid(".", 1));
    ck_assert(!gofer_name_valid("..", 2));
    ck_assert(!gofer_name_valid("a/b", 3));
    ck_assert(!gofer_name_valid("/", 1));
    ck_assert(!gofer_name_valid("a\0b", 3));
    ck_assert(!gofer_link_valid("", 0));
    ck_assert(gofer_link_valid("../x", 4));
    ck_assert(gofer_xattr_name_valid("user.a/b", 8));
}
END_TEST

TEST(reader_stops_at_the_end)
{
    static const uint8_t bytes[] = {3, 0, 'a', 'b', 'c', 9, 0, 'd'};
    struct gofer_in in;
    size_t len;
    gofer_in_init(&in, bytes, sizeof(bytes));
    const char *name = gofer_get_name(&in, &len);
    ck_assert_ptr_nonnull(name);
    ck_assert(len == 3 && memcmp(name, "abc", 3) == 0);
    ck_assert_ptr_null(gofer_get_name(&in, &len));
    ck_assert_uint_eq(len, 0);
    ck_assert(in.bad);
    uint32_t v = 7;
    gofer_get(&in, &v, sizeof(v));
    ck_assert_uint_eq(v, 0);
    ck_assert_ptr_null(gofer_get_bytes(&in, 0));
    ck_assert(!gofer_in_done(&in));
}
END_TEST

TEST(reader_wants_everything_read)
{
    struct gofer_in in;
    uint16_t v;
    gofer_in_init(&in, "abc", 3);
    gofer_get(&in, &v, sizeof(v));
    ck_assert(!gofer_in_done(&in));
    ck_assert_ptr_nonnull(gofer_get_bytes(&in, 1));
    ck_assert(gofer_in_done(&in));
}
END_TEST

TEST(writer_stays_in_its_buffer)
{
    uint8_t buf[8] = {[7] = 0x5a};
    struct gofer_out out;
    gofer_out_init(&out, buf, 7);
    gofer_put(&out, "abcd", 4);
    gofer_put_name(&out, "x", 1);
    ck_assert(!out.full && out.size == 7);
    gofer_put(&out, "y", 1);
    ck_assert(out.full && out.size == 7 && buf[7] == 0x5a);
    ck_assert_ptr_null(gofer_put_space(&out, 0));
}
END_TEST

TEST(waiting_is_bounded)
{
    int ends[2];
    char byte;
    size_t nfds = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    struct gofer_port p = {.sock = ends[0], .spins = 3, .timeout_ms = 20};
    ck_assert_int_eq(gofer_recv(&p, &byte, 1, NULL, 0, &nfds), -ETIMEDOUT);
    ck_assert_int_eq(send(ends[1], "x", 1, 0), 1);
    ck_assert_int_eq(gofer_recv(&p, &byte, 1, NULL, 0, &nfds), 1);
    fd_close(ends[1]);
    ck_assert_int_eq(gofer_recv(&p, &byte, 1, NULL, 0, &nfds), 0);
    fd_close(ends[0]);
}
END_TEST

TEST_SUITE(gofer_proto)
{
    TEST_ADD(waiting_is_bounded);
    TEST_ADD(names);
    TEST_ADD(reader_stops_at_the_end);
    TEST_ADD(reader_wants_everything_read);
    TEST_ADD(writer_stays_in_its_buffer);
}
