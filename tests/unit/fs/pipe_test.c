/* Pipes: atomicity, packets, sizes, hang-up, tee, FIFOs; and what splice needs. */
#include <errno.h>
#include <string.h>

#include "sentry/fs/anon/anon.h"
#include "sentry/fs/anon/pipe.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct file *rd, *wr;
static char big[1 << 20];

static void begin(uint32_t flags)
{
    limits_init();
    ck_assert_int_eq(pipe_new(flags, &rd, &wr), 0);
}

static void end(void)
{
    file_put(rd);
    file_put(wr);
    ck_assert_uint_eq(limit_used(LIMIT_PIPE_BYTES), 0);
    ck_assert_uint_eq(limit_used(LIMIT_FILES), 0);
    anon_super_done();
}

static int64_t put(struct file *f, const void *p, size_t n)
{
    struct uio u;

    uio_init_kernel_const(&u, p, n);
    return f->ops->write(f, &u, NULL);
}

static int64_t get(struct file *f, void *p, size_t n)
{
    struct uio u;

    uio_init_kernel(&u, p, n);
    return f->ops->read(f, &u, NULL);
}

TEST(bytes_come_in_order)
{
    char buf[16] = {0};

    begin(0);
    ck_assert_int_eq(get(rd, buf, 8), -EAGAIN);
    ck_assert_int_eq(put(wr, "abc", 3), 3);
    ck_assert_int_eq(put(wr, "defg", 4), 4);
    ck_assert_int_eq(get(rd, buf, 5), 5);
    ck_assert_mem_eq(buf, "abcde", 5);
    ck_assert_int_eq(get(rd, buf, 16), 2);
    ck_assert_int_eq(get(rd, buf, 16), -EAGAIN);
    end();
}

TEST(capacity_is_64k_and_writes_up_to_pipe_buf_are_whole)
{
    begin(0);
    ck_assert_int_eq(put(wr, big, 70000), 65536);
    ck_assert_int_eq(put(wr, big, 1), -EAGAIN);
    ck_assert(!(vfs_poll(wr, NULL) & LX_POLLOUT));
    ck_assert_int_eq(get(rd, big, 4095), 4095);
    ck_assert_int_eq(put(wr, big, 1), -EAGAIN); /* the page is not free yet */
    ck_assert_int_eq(get(rd, big, 1), 1);
    ck_assert(vfs_poll(wr, NULL) & LX_POLLOUT);
    ck_assert_int_eq(put(wr, big, 4096), 4096);
    ck_assert_int_eq(put(wr, big, 4096), -EAGAIN);
    ck_assert_int_eq(get(rd, big, sizeof(big)), 65536);
    end();
}

TEST(random_traffic_keeps_every_byte)
{
    uint32_t seed = 1, in = 0, out = 0;
    static uint8_t buf[20000];

    begin(0);
    for (int i = 0; i < 5000; i++) {
        seed = seed * 1103515245 + 12345;
        size_t n = (seed >> 8) % 9000 + 1;
        int64_t r;

        if (seed & 0x10000) {
            for (size_t k = 0; k < n; k++)
                buf[k] = (uint8_t)((in + k) * 7);
            r = put(wr, buf, n);
            if (r > 0)
                in += (uint32_t)r;
            ck_assert(r == -EAGAIN || (r > 0 && (n > 4096 || r == (int64_t)n)));
        } else {
            r = get(rd, buf, n);
            ck_assert(r == -EAGAIN ? in == out : r > 0);
            bool same = true;

            for (int64_t k = 0; k < r; k++, out++)
                same = same && buf[k] == (uint8_t)(out * 7);
            ck_assert(same);
        }
        ck_assert_uint_le(in - out, 1u << 17);
        if (i % 1000 == 500)
            ck_assert_int_ne(pipe_set_size(file_pipe(wr), (seed >> 4) & 0x1ffff, false), -ENOMEM);
    }
    end();
}

TEST(packets_keep_their_borders)
{
    char buf[8192];

    begin(LX_O_DIRECT);
    ck_assert_int_eq(put(wr, "one", 3), 3);
    ck_assert_int_eq(put(wr, "three", 5), 5);
    ck_assert_int_eq(put(wr, big, 5000), 5000);
    ck_assert_int_eq(get(rd, buf, sizeof(buf)), 3);
    ck_assert_int_eq(get(rd, buf, 2), 2); /* the rest is lost */
    ck_assert_int_eq(get(rd, buf, sizeof(buf)), 4096);
    ck_assert_int_eq(get(rd, buf, sizeof(buf)), 904);
    end();
}

TEST(closed_ends_are_seen)
{
    char c;

    begin(0);
    ck_assert_int_eq(put(wr, "x", 1), 1);
    file_put(wr);
    ck_assert_uint_eq(vfs_poll(rd, NULL), LX_POLLIN | LX_POLLRDNORM | LX_POLLHUP);
    ck_assert_int_eq(get(rd, &c, 1), 1);
    ck_assert_int_eq(get(rd, &c, 1), 0);
    ck_assert_uint_eq(vfs_poll(rd, NULL), LX_POLLHUP);
    wr = NULL;
    end();
    begin(0);
    file_put(rd);
    rd = NULL;
    ck_assert_int_eq(put(wr, "x", 1), -EPIPE);
    ck_assert(vfs_poll(wr, NULL) & LX_POLLERR);
    end();
}

TEST(the_size_can_be_changed)
{
    struct pipe *p;

    begin(0);
    p = file_pipe(rd);
    ck_assert_int_eq(pipe_set_size(p, 5000, false), 8192);
    ck_assert_int_eq(put(wr, big, 10000), 8192);
    ck_assert_int_eq(pipe_set_size(p, 4096, false), -EBUSY);
    ck_assert_int_eq(pipe_set_size(p, 1ull << 32, false), -EINVAL);
    ck_assert_int_eq(pipe_set_size(p, 2 << 20, false), -EPERM);
    ck_assert_int_eq(pipe_set_size(p, 1 << 20, false), 1 << 20);
    ck_assert_int_eq(put(wr, big, sizeof(big)), (1 << 20) - 8192);
    ck_assert_int_eq(get(rd, big, sizeof(big)), 1 << 20);
    end();
}

TEST(tee_copies_without_taking)
{
    struct file *rd2, *wr2;
    char buf[16];
    bool full;

    begin(0);
    ck_assert_int_eq(pipe_new(0, &rd2, &wr2), 0);
    ck_assert_int_eq(pipe_tee(file_pipe(rd), file_pipe(wr2), 10, &full), -EAGAIN);
    ck_assert(!full);
    ck_assert_int_eq(put(wr, "hello", 5), 5);
    ck_assert_int_eq(pipe_tee(file_pipe(rd), file_pipe(wr2), 3, &full), 3);
    ck_assert_int_eq(get(rd2, buf, 16), 3);
    ck_assert_int_eq(get(rd, buf, 16), 5);
    file_put(rd2);
    file_put(wr2);
    end();
}

TEST(splice_between_pipes_loses_nothing)
{
    struct file *rd2, *wr2;
    enum copy_wait wait;

    begin(0);
    ck_assert_int_eq(pipe_new(0, &rd2, &wr2), 0);
    ck_assert_int_eq(put(wr, big, 65536), 65536);
    ck_assert_int_eq(put(wr2, big, 40000), 40000);
    ck_assert_int_eq(vfs_splice(NULL, rd, NULL, wr2, NULL, 1 << 20, &wait), 24576);
    ck_assert_int_eq(vfs_splice(NULL, rd, NULL, wr2, NULL, 1 << 20, &wait), -EAGAIN);
    ck_assert_int_eq(wait, COPY_WAIT_OUT);
    ck_assert_int_eq(get(rd, big, sizeof(big)), 65536 - 24576);
    ck_assert_int_eq(get(rd2, big, sizeof(big)), 40000 + 24576);
    ck_assert_int_eq(vfs_splice(NULL, rd, NULL, wr2, NULL, 10, &wait), -EAGAIN);
    ck_assert_int_eq(wait, COPY_WAIT_IN);
    file_put(rd2);
    file_put(wr2);
    end();
}

TEST(a_fifo_waits_for_both_ends)
{
    static const struct super_ops sops;
    static const struct inode_ops iops;
    struct file r1 = {.ref = 1, .flags = LX_O_RDONLY}, w1 = {.ref = 1, .flags = LX_O_WRONLY};
    struct file w2 = {.ref = 1, .flags = LX_O_WRONLY | LX_O_NONBLOCK};
    struct inode *ino;
    struct super *sb;

    limits_init();
    ck_assert_int_eq(super_new(&sops, "test", 1, &sb), 0);
    ck_assert_int_eq(inode_new(sb, &iops, LX_S_IFIFO | 0600, &ino), 0);
    r1.inode = w1.inode = w2.inode = ino;
    ck_assert_int_eq(fifo_open(ino, &w2), -ENXIO);
    ck_assert_int_eq(fifo_open(ino, &r1), -EAGAIN);
    ck_assert_ptr_nonnull(fifo_wait_queue(ino));
    ck_assert_int_eq(fifo_open(ino, &r1), -EAGAIN);
    ck_assert_int_eq(fifo_open(ino, &w1), 0);
    /* Even if the writer has gone again, its coming counts. */
    w1.ops->release(&w1);
    ck_assert_int_eq(fifo_open(ino, &r1), 0);
    ck_assert_int_eq(fifo_open(ino, &w2), 0);
    ck_assert_int_eq(put(&w2, "x", 1), 1);
    w2.ops->release(&w2);
    r1.ops->release(&r1);
    ck_assert_ptr_null(ino->pipe);
    inode_put(ino);
    super_put(sb);
}

TEST(memory_may_run_out)
{
    limits_init();
    for_each_failure {
        if (pipe_new(0, &rd, &wr) == 0) {
            int64_t n = put(wr, big, 65536);

            ck_assert(n > 0 || n == -ENOMEM);
            if (n > 0)
                ck_assert_int_eq(get(rd, big, sizeof(big)), n);
            file_put(rd);
            file_put(wr);
        }
        ck_assert_uint_eq(limit_used(LIMIT_PIPE_BYTES), 0);
        anon_super_done();
    }
}

TEST_SUITE(pipe)
{
    TEST_ADD(bytes_come_in_order);
    TEST_ADD(capacity_is_64k_and_writes_up_to_pipe_buf_are_whole);
    TEST_ADD(random_traffic_keeps_every_byte);
    TEST_ADD(packets_keep_their_borders);
    TEST_ADD(closed_ends_are_seen);
    TEST_ADD(the_size_can_be_changed);
    TEST_ADD(tee_copies_without_taking);
    TEST_ADD(splice_between_pipes_loses_nothing);
    TEST_ADD(a_fifo_waits_for_both_ends);
    TEST_ADD(memory_may_run_out);
}
