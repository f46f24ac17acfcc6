/* AF_UNIX without a guest: streams, packets, names, shutdown, descriptors in flight and their
 * cycles. */
#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/anon/eventfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct thread_group group = {.pid = 7};
static struct cred cred = {.ref = 1, .euid = 1000, .egid = 100};
static struct task task = {.group = &group, .cred = &cred};
static struct file *a, *b;
static char big[400000];

static void pair(int type)
{
    limits_init();
    ck_assert_int_eq(unix_socket_new(type, 0, &a), 0);
    ck_assert_int_eq(unix_socket_new(type, 0, &b), 0);
    unix_pair(file_socket(a), file_socket(b), &task);
}

static void end(void)
{
    file_put(a);
    file_put(b);
    a = b = NULL;
    ck_assert_uint_eq(limit_used(LIMIT_SOCK_BYTES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_FILES), 0);
    ck_assert_uint_eq(scm_inflight(), 0);
    anon_super_done();
}

static int64_t send_fds(struct file *f, const void *p, size_t n, struct file *fd)
{
    struct unix_send s = {.flags = 0};
    struct uio u;
    int64_t r;

    unix_cred_of(&task, &s.cred);
    if (fd) {
        s.fds = kalloc(sizeof(*s.fds));
        ck_assert_ptr_nonnull(s.fds);
        s.fds->n = 1;
        s.fds->files[0] = file_get(fd);
    }
    uio_init_kernel_const(&u, p, n);
    r = unix_send(file_socket(f), &u, &s);
    scm_fds_put(s.fds);
    return r;
}

static int64_t put(struct file *f, const void *p, size_t n)
{
    return send_fds(f, p, n, NULL);
}

static int64_t get_flags(struct file *f, void *p, size_t n, struct unix_recv *r)
{
    struct uio u;

    uio_init_kernel(&u, p, n);
    return unix_recv(file_socket(f), &u, r);
}

static int64_t get(struct file *f, void *p, size_t n)
{
    struct unix_recv r = {.flags = 0};
    int64_t v = get_flags(f, p, n, &r);

    unix_recv_done(&r);
    return v;
}

static struct lx_sockaddr_un abstract(const char *name, int *ret_len)
{
    struct lx_sockaddr_un sun = {.sun_family = LX_AF_UNIX};

    memcpy(sun.sun_path + 1, name, strlen(name));
    *ret_len = 3 + (int)strlen(name);
    return sun;
}

TEST(streams_join_writes_and_stop_at_the_buffer)
{
    char buf[16];
    int64_t n, total = 0;

    pair(LX_SOCK_STREAM);
    ck_assert_int_eq(get(b, buf, 10), -EAGAIN);
    ck_assert_int_eq(put(a, "abc", 3), 3);
    ck_assert_int_eq(put(a, "def", 3), 3);
    ck_assert_int_eq(get(b, buf, 4), 4);
    ck_assert_mem_eq(buf, "abcd", 4);
    ck_assert_int_eq(get(b, buf, 10), 2);
    while ((n = put(a, big, sizeof(big))) > 0)
        total += n;
    ck_assert_int_eq(n, -EAGAIN);
    ck_assert_int_ge(total, 200000);
    ck_assert(!(vfs_poll(a, NULL) & LX_POLLOUT));
    while (total > 0 && (n = get(b, big, 50000)) > 0)
        total -= n;
    ck_assert_int_eq(total, 0);
    ck_assert(vfs_poll(a, NULL) & LX_POLLOUT);
    end();
}

TEST(closing_ends_the_stream)
{
    char buf[4];

    pair(LX_SOCK_STREAM);
    ck_assert_int_eq(put(a, "xy", 2), 2);
    ck_assert_int_eq(unix_shutdown(file_socket(a), LX_SHUT_WR), 0);
    ck_assert_int_eq(put(a, "z", 1), -EPIPE);
    ck_assert_int_eq(get(b, buf, 4), 2);
    ck_assert_int_eq(get(b, buf, 4), 0);
    ck_assert(vfs_poll(b, NULL) & LX_POLLRDHUP);
    ck_assert_int_eq(put(b, "q", 1), 1);
    file_put(a); /* unread data is lost: a reset */
    a = NULL;
    ck_assert(vfs_poll(b, NULL) & (LX_POLLERR | LX_POLLHUP));
    ck_assert_int_eq(get(b, buf, 4), -ECONNRESET);
    ck_assert_int_eq(get(b, buf, 4), 0);
    ck_assert_int_eq(put(b, "z", 1), -EPIPE);
    end();
}

TEST(packets_are_whole)
{
    struct unix_recv r = {.flags = LX_MSG_TRUNC};
    char buf[8];

    pair(LX_SOCK_SEQPACKET);
    ck_assert_int_eq(put(a, "hello", 5), 5);
    ck_assert_int_eq(put(a, "", 0), 0);
    ck_assert_int_eq(put(a, "bye", 3), 3);
    ck_assert_int_eq(put(a, big, sizeof(big)), -EMSGSIZE);
    ck_assert_int_eq(get_flags(b, buf, 2, &r), 5);
    ck_assert_uint_eq(r.ret_flags, LX_MSG_TRUNC);
    unix_recv_done(&r);
    ck_assert_int_eq(get(b, buf, 8), 0);
    r = (struct unix_recv){.flags = LX_MSG_PEEK};
    ck_assert_int_eq(get_flags(b, buf, 8, &r), 3);
    unix_recv_done(&r);
    ck_assert_int_eq(get(b, buf, 8), 3);
    ck_assert_int_eq(get(b, buf, 8), -EAGAIN);
    end();
}

TEST(connections_through_an_abstract_name)
{
    struct unix_sock *full = NULL, *conn;
    struct lx_sockaddr_un sun;
    struct file *c, *accepted, *extra;
    char buf[8];
    int len;

    limits_init();
    sun = abstract("service", &len);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_STREAM, 0, &a), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_STREAM, 0, &c), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_STREAM, 0, &extra), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &b), 0);
    ck_assert_int_eq(unix_listen(&task, file_socket(a), 1), -EINVAL);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(c), &sun, len, &full), -ECONNREFUSED);
    ck_assert_int_eq(unix_bind(&task, file_socket(a), &sun, len), 0);
    ck_assert_int_eq(unix_bind(&task, file_socket(a), &sun, len), -EINVAL);
    ck_assert_int_eq(unix_bind(&task, file_socket(c), &sun, len), -EADDRINUSE);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(c), &sun, len, &full), -ECONNREFUSED);
    ck_assert_int_eq(unix_listen(&task, file_socket(a), 0), 0);
    ck_assert_int_eq(unix_dgram_connect(&task, file_socket(b), &sun, len), -EPROTOTYPE);
    ck_assert_int_eq(unix_accept(file_socket(a), &conn), -EAGAIN);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(c), &sun, len, &full), 0);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(c), &sun, len, &full), -EISCONN);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(extra), &sun, len, &full), -EAGAIN);
    ck_assert_ptr_eq(full, file_socket(a));
    unix_sock_put(full);
    ck_assert_int_eq(put(c, "early", 5), 5);
    ck_assert_int_eq(unix_accept(file_socket(a), &conn), 0);
    ck_assert_int_eq(unix_sock_file(conn, 0, &accepted), 0);
    ck_assert_int_eq(get(accepted, buf, 8), 5);
    ck_assert_int_eq(conn->peercred.pid, 7);
    ck_assert_uint_eq(file_socket(c)->peercred.uid, 1000);
    ck_assert_uint_eq(conn->addr->len, (uint32_t)len);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(extra), &sun, len, &full), 0);
    file_put(a); /* extra was never accepted */
    a = NULL;
    ck_assert_int_eq(get(extra, buf, 8), -ECONNRESET);
    ck_assert_int_eq(put(c, "x", 1), 1);
    file_put(accepted);
    file_put(c);
    file_put(extra);
    end();
}

TEST(datagrams_find_their_way)
{
    struct unix_send s = {.flags = 0};
    struct lx_sockaddr_un sun;
    struct unix_recv r = {.flags = 0};
    char buf[8];
    struct uio u;
    int len, n = 0;

    limits_init();
    ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &a), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &b), 0);
    sun = abstract("box", &len);
    ck_assert_int_eq(unix_bind(&task, file_socket(b), &sun, len), 0);
    ck_assert_int_eq(unix_autobind(file_socket(a)), 0);
    ck_assert_uint_eq(file_socket(a)->addr->len, 8);
    ck_assert_int_eq(put(a, "x", 1), -ENOTCONN);
    ck_assert_int_eq(unix_find(&task, &sun, len, LX_SOCK_DGRAM, &s.to), 0);
    uio_init_kernel_const(&u, "hi", 2);
    ck_assert_int_eq(unix_send(file_socket(a), &u, &s), 2);
    unix_sock_put(s.to);
    ck_assert_int_eq(get_flags(b, buf, 8, &r), 2);
    ck_assert_ptr_eq(r.addr, file_socket(a)->addr);
    unix_recv_done(&r);
    ck_assert_int_eq(unix_dgram_connect(&task, file_socket(a), &sun, len), 0);
    while (put(a, "x", 1) == 1)
        n++;
    ck_assert_int_eq(n, UNIX_DGRAM_QLEN + 1);
    ck_assert(!(vfs_poll(a, NULL) & LX_POLLOUT));
    ck_assert_int_eq(get(b, buf, 8), 1);
    ck_assert(vfs_poll(a, NULL) & LX_POLLOUT);
    file_put(b);
    b = NULL;
    ck_assert_int_eq(put(a, "x", 1), -ECONNREFUSED);
    ck_assert_int_eq(put(a, "x", 1), -ENOTCONN);
    end();
}

TEST(descriptors_travel)
{
    struct unix_recv r = {.flags = LX_MSG_PEEK};
    struct file *e;
    char buf[16];

    pair(LX_SOCK_STREAM);
    ck_assert_int_eq(eventfd_new(0, 0, &e), 0);
    ck_assert_int_eq(put(a, "ab", 2), 2);
    ck_assert_int_eq(send_fds(a, "cd", 2, e), 2);
    ck_assert_int_eq(put(a, "ef", 2), 2);
    ck_assert_uint_eq(e->inflight, 1);
    ck_assert_int_eq(get_flags(b, buf, 16, &r), 4);
    ck_assert_ptr_nonnull(r.fds);
    unix_recv_done(&r);
    ck_assert_uint_eq(e->inflight, 1);
    r = (struct unix_recv){.flags = 0};
    ck_assert_int_eq(get_flags(b, buf, 16, &r), 4); /* a read ends with descriptors */
    ck_assert_uint_eq(r.fds->n, 1);
    ck_assert_ptr_eq(r.fds->files[0], e);
    ck_assert_uint_eq(e->inflight, 0);
    unix_recv_done(&r);
    ck_assert_int_eq(get(b, buf, 16), 2);
    ck_assert_int_eq(send_fds(a, "x", 1, e), 1);
    file_put(e); /* lives in the queue */
    end();
}

TEST(cycles_are_collected)
{
    struct file *c, *d, *e;

    pair(LX_SOCK_STREAM);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &c), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &d), 0);
    unix_pair(file_socket(c), file_socket(d), &task);
    ck_assert_int_eq(eventfd_new(0, 0, &e), 0);
    /* a holds b, b holds a, and an eventfd; c holds a, and stays reachable through d. */
    ck_assert_int_eq(send_fds(a, "x", 1, a), 1);
    ck_assert_int_eq(send_fds(b, "x", 1, b), 1);
    ck_assert_int_eq(send_fds(b, "x", 1, e), 1);
    ck_assert_int_eq(send_fds(d, "x", 1, a), 1);
    file_put(e);
    file_put(a);
    file_put(b);
    scm_collect();
    ck_assert_uint_eq(scm_inflight(), 4); /* c's queue leads to all of them */
    file_put(d);
    ck_assert_uint_eq(scm_inflight(), 4);
    file_put(c); /* the message is dropped; then only the cycle is left */
    scm_collect();
    ck_assert_uint_eq(scm_inflight(), 0);
    a = b = NULL;
    end();
}

TEST(a_cycle_through_a_backlog_is_collected)
{
    struct unix_sock *full = NULL;
    struct lx_sockaddr_un sun;
    struct file *c;
    int len;

    limits_init();
    sun = abstract("cycle", &len);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_STREAM, 0, &a), 0);
    ck_assert_int_eq(unix_socket_new(LX_SOCK_STREAM, 0, &c), 0);
    ck_assert_int_eq(unix_bind(&task, file_socket(a), &sun, len), 0);
    ck_assert_int_eq(unix_listen(&task, file_socket(a), 5), 0);
    ck_assert_int_eq(unix_stream_connect(&task, file_socket(c), &sun, len, &full), 0);
    ck_assert_int_eq(send_fds(c, "x", 1, a), 1);
    file_put(a);
    file_put(c);
    scm_collect();
    a = NULL;
    end();
}

TEST(long_chains_do_not_recurse)
{
    struct file *prev, *x, *y;

    limits_init();
    ck_assert_int_eq(eventfd_new(0, 0, &prev), 0);
    for (int i = 0; i < 20000; i++) {
        ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &x), 0);
        ck_assert_int_eq(unix_socket_new(LX_SOCK_DGRAM, 0, &y), 0);
        unix_pair(file_socket(x), file_socket(y), &task);
        ck_assert_int_eq(send_fds(x, "x", 1, prev), 1);
        file_put(prev);
        prev = y;
        if (i == 0)
            a = x;
        else
            file_put(x);
    }
    file_put(prev);
    end();
}

TEST(memory_may_run_out)
{
    limits_init();
    for_each_failure {
        char buf[8];

        if (unix_socket_new(LX_SOCK_STREAM, 0, &a) == 0) {
            if (unix_socket_new(LX_SOCK_STREAM, 0, &b) == 0) {
                unix_pair(file_socket(a), file_socket(b), &task);
                int64_t n = put(a, "abc", 3);

                ck_assert(n == 3 || n == -ENOMEM);
                if (n == 3)
                    ck_assert_int_eq(get(b, buf, 8), 3);
                file_put(b);
            }
            file_put(a);
        }
        ck_assert_uint_eq(limit_used(LIMIT_SOCK_BYTES), 0);
        anon_super_done();
    }
}

TEST_SUITE(socket)
{
    TEST_ADD(streams_join_writes_and_stop_at_the_buffer);
    TEST_ADD(closing_ends_the_stream);
    TEST_ADD(packets_are_whole);
    TEST_ADD(connections_through_an_abstract_name);
    TEST_ADD(datagrams_find_their_way);
    TEST_ADD(descriptors_travel);
    TEST_ADD(cycles_are_collected);
    TEST_ADD(a_cycle_through_a_backlog_is_collected);
    TEST_ADD(long_chains_do_not_recurse);
    TEST_ADD(memory_may_run_out);
}
