/* The line discipline and ptys: echo, editing, signals' characters, modes, flow control, hang-up.
 */
#include <errno.h>
#include <string.h>

#include "abi/poll.h"

#include "sentry/fs/dev/tty_priv.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct tty *tty;
static struct file master, slave;

static void begin(void)
{
    memset(&master, 0, sizeof(master));
    memset(&slave, 0, sizeof(slave));
    master.flags = slave.flags = LX_O_RDWR | LX_O_NOCTTY;
    ck_assert_int_eq(tty_open_ptmx(NULL, &master), 0);
    tty = tty_file_of(&master)->tty;
    tty->locked = false;
    ck_assert_int_eq(tty_open_pts(tty->index, &slave), 0);
}

static void end(void)
{
    if (slave.priv)
        slave.ops->release(&slave);
    if (master.priv)
        master.ops->release(&master);
}

static int64_t put(struct file *f, const char *s)
{
    struct uio u;

    uio_init_kernel_const(&u, s, strlen(s));
    return f->ops->write(f, &u, NULL);
}

static const char *get(struct file *f, size_t cap)
{
    static char buf[8192];
    struct uio u;
    int64_t n;

    uio_init_kernel(&u, buf, cap);
    n = f->ops->read(f, &u, NULL);
    if (n == -EAGAIN)
        return "EAGAIN";
    if (n == -EIO)
        return "EIO";
    ck_assert_int_ge(n, 0);
    buf[n] = 0;
    return buf;
}

TEST(lines_are_cooked)
{
    begin();
    ck_assert_int_eq(put(&master, "hello"), 5);
    ck_assert_str_eq(get(&slave, 100), "EAGAIN");
    ck_assert_int_eq(put(&master, "\rworld\r"), 7);
    ck_assert_str_eq(get(&slave, 100), "hello\n");
    ck_assert_str_eq(get(&slave, 3), "wor");
    ck_assert_str_eq(get(&slave, 100), "ld\n");
    ck_assert_str_eq(get(&slave, 100), "EAGAIN");
    ck_assert_str_eq(get(&master, 100), "hello\r\nworld\r\n");
    end();
}

TEST(output_is_processed)
{
    begin();
    ck_assert_int_eq(put(&slave, "a\nb"), 3);
    ck_assert_str_eq(get(&master, 100), "a\r\nb");
    tty->termios.c_oflag |= LX_XTABS;
    tty->column = 0;
    ck_assert_int_eq(put(&slave, "ab\tc"), 4);
    ck_assert_str_eq(get(&master, 100), "ab      c");
    tty->termios.c_oflag = 0;
    ck_assert_int_eq(put(&slave, "a\nb"), 3);
    ck_assert_str_eq(get(&master, 100), "a\nb");
    end();
}

TEST(editing)
{
    begin();
    put(&master, "abx\177c\r");
    ck_assert_str_eq(get(&slave, 100), "abc\n");
    ck_assert_str_eq(get(&master, 100), "abx\b \bc\r\n");
    put(&master, "one two\027three\r");
    ck_assert_str_eq(get(&slave, 100), "one three\n");
    get(&master, 1000);
    put(&master, "junk\025ok\r");
    ck_assert_str_eq(get(&slave, 100), "ok\n");
    get(&master, 1000);
    put(&master, "a\026\003b\r");
    ck_assert_str_eq(get(&slave, 100), "a\003b\n");
    ck_assert_str_eq(get(&master, 100), "a^\b^Cb\r\n");
    /* Nothing to erase. */
    put(&master, "\177\177\025\027\r");
    ck_assert_str_eq(get(&slave, 100), "\n");
    end();
}

TEST(utf8_is_erased_whole)
{
    begin();
    tty->termios.c_iflag |= LX_IUTF8;
    put(&master, "\303\244\303\266\177\r");
    ck_assert_str_eq(get(&slave, 100), "\303\244\n");
    end();
}

TEST(end_of_file)
{
    begin();
    put(&master, "\004");
    ck_assert_str_eq(get(&slave, 100), "");
    ck_assert_str_eq(get(&slave, 100), "EAGAIN");
    put(&master, "ab\004");
    ck_assert_str_eq(get(&slave, 100), "ab");
    ck_assert_str_eq(get(&slave, 100), "EAGAIN");
    put(&master, "ab\004");
    ck_assert_str_eq(get(&slave, 2), "ab");
    ck_assert_str_eq(get(&slave, 2), "EAGAIN");
    end();
}

static void raw(uint8_t min, uint8_t time)
{
    struct lx_termios2 t = tty->termios;

    t.c_lflag = 0;
    t.c_iflag = 0;
    t.c_cc[LX_VMIN] = min;
    t.c_cc[LX_VTIME] = time;
    ldisc_set_termios(tty, &t);
}

TEST(character_mode)
{
    begin();
    raw(1, 0);
    ck_assert_str_eq(get(&slave, 10), "EAGAIN");
    put(&master, "x\r\003");
    ck_assert_str_eq(get(&slave, 10), "x\r\003");
    ck_assert_str_eq(get(&master, 10), "EAGAIN");
    raw(3, 0);
    put(&master, "ab");
    ck_assert_str_eq(get(&slave, 10), "EAGAIN");
    ck_assert_str_eq(get(&slave, 2), "ab");
    put(&master, "abc");
    ck_assert_str_eq(get(&slave, 10), "abc");
    raw(0, 0);
    ck_assert_str_eq(get(&slave, 10), "");
    end();
}

TEST(mode_changes_keep_input)
{
    begin();
    put(&master, "half");
    raw(1, 0);
    ck_assert_str_eq(get(&slave, 2), "ha");
    struct lx_termios2 t = tty->termios;
    t.c_lflag = LX_ICANON;
    ldisc_set_termios(tty, &t);
    ck_assert_str_eq(get(&slave, 10), "lf");
    end();
}

TEST(flow_control)
{
    begin();
    put(&master, "\023");
    ck_assert_int_eq(put(&slave, "x"), -EAGAIN);
    ck_assert_uint_eq(slave.ops->poll(&slave, NULL) & LX_POLLOUT, 0);
    put(&master, "\021");
    ck_assert_int_eq(put(&slave, "x"), 1);
    ck_assert_str_eq(get(&master, 10), "x");
    end();
}

TEST(buffers_are_bounded)
{
    static char big[20000];
    int64_t n, total = 0;

    memset(big, 'a', sizeof(big) - 1);
    begin();
    n = put(&slave, big);
    ck_assert_int_gt(n, 0);
    ck_assert_int_lt(n, (int64_t)sizeof(big) - 1);
    ck_assert_int_eq(put(&slave, big), -EAGAIN);
    while (strcmp(get(&master, 4000), "EAGAIN") != 0)
        total++;
    ck_assert_int_gt(total, 0);
    /* A line that never ends is cut, and its end still comes. */
    tty->termios.c_lflag &= ~(uint32_t)LX_ECHO;
    ck_assert_int_eq(put(&master, big), (int64_t)sizeof(big) - 1);
    ck_assert_int_eq(put(&master, "\r"), 1);
    total = 0;
    do
        total += (int64_t)strlen(get(&slave, 1000));
    while (ldisc_line_ready(tty));
    ck_assert_int_le(total, TTY_INPUT);
    /* In character mode the master has to wait. */
    raw(1, 0);
    n = put(&master, big);
    ck_assert_int_lt(n, TTY_INPUT);
    ck_assert_int_eq(put(&master, "x"), -EAGAIN);
    end();
}

TEST(packet_mode)
{
    begin();
    tty->packet = true;
    put(&slave, "x");
    struct uio u;
    char buf[8];
    uio_init_kernel(&u, buf, sizeof(buf));
    ck_assert_int_eq(master.ops->read(&master, &u, NULL), 2);
    ck_assert_int_eq(buf[0], LX_TIOCPKT_DATA);
    ck_assert_int_eq(buf[1], 'x');
    put(&master, "\023");
    ck_assert_uint_ne(master.ops->poll(&master, NULL) & LX_POLLPRI, 0);
    uio_init_kernel(&u, buf, sizeof(buf));
    ck_assert_int_eq(master.ops->read(&master, &u, NULL), 1);
    ck_assert_int_eq(buf[0], LX_TIOCPKT_STOP);
    end();
}

TEST(hangups)
{
    begin();
    put(&slave, "last");
    slave.ops->release(&slave);
    ck_assert_str_eq(get(&master, 10), "last");
    ck_assert_str_eq(get(&master, 10), "EIO");
    ck_assert_int_eq(tty_open_pts(tty->index, &slave), 0);
    ck_assert_str_eq(get(&master, 10), "EAGAIN");
    master.ops->release(&master);
    ck_assert_str_eq(get(&slave, 10), "");
    ck_assert_int_eq(put(&slave, "x"), -EIO);
    ck_assert_uint_ne(slave.ops->poll(&slave, NULL) & LX_POLLHUP, 0);
    end();
}

TEST(a_locked_slave_does_not_open)
{
    struct file other = {.flags = LX_O_RDWR | LX_O_NOCTTY};

    begin();
    tty->locked = true;
    ck_assert_int_eq(tty_open_pts(tty->index, &other), -EIO);
    ck_assert_int_eq(tty_open_pts(200, &other), -EIO);
    end();
}

TEST(failing_allocations)
{
    for_each_failure {
        struct file m = {.flags = LX_O_RDWR}, s = {.flags = LX_O_RDWR | LX_O_NOCTTY};

        if (tty_open_ptmx(NULL, &m) == 0) {
            tty_file_of(&m)->tty->locked = false;
            if (tty_open_pts(tty_file_of(&m)->tty->index, &s) == 0)
                s.ops->release(&s);
            m.ops->release(&m);
        }
    }
}

TEST_SUITE(tty)
{
    TEST_ADD(lines_are_cooked);
    TEST_ADD(output_is_processed);
    TEST_ADD(editing);
    TEST_ADD(utf8_is_erased_whole);
    TEST_ADD(end_of_file);
    TEST_ADD(character_mode);
    TEST_ADD(mode_changes_keep_input);
    TEST_ADD(flow_control);
    TEST_ADD(buffers_are_bounded);
    TEST_ADD(packet_mode);
    TEST_ADD(hangups);
    TEST_ADD(a_locked_slave_does_not_open);
    TEST_ADD(failing_allocations);
}
