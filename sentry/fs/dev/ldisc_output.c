/*
 * The line discipline's output side: ONLCR and its like, tabs and the column, echo, flow control.
 */
#include "abi/poll.h"

#include "sentry/fs/dev/ldisc_private.h"
#include "sentry/kernel/task.h"

uint32_t ldisc_output_used(const struct tty *tty)
{
    return tty->out_head - tty->out_tail;
}

void ldisc_put_raw(struct tty *tty, uint8_t c)
{
    if (ldisc_output_used(tty) < TTY_OUTPUT)
        tty->output[tty->out_head++ % TTY_OUTPUT] = c;
}

size_t ldisc_output_room(const struct tty *tty)
{
    uint32_t used = ldisc_output_used(tty),
             room = used < TTY_OUTPUT_WRITE ? TTY_OUTPUT_WRITE - used : 0;

    if (tty->stopped)
        return 0;
    if (!TTY_O(tty, LX_OPOST))
        return room;
    return room / ((tty->termios.c_oflag & LX_TABDLY) == LX_XTABS ? 8 : 2);
}

static void output_newline(struct tty *tty)
{
    if (TTY_O(tty, LX_ONLRET))
        tty->column = 0;
    if (TTY_O(tty, LX_ONLCR)) {
        tty->canon_column = tty->column = 0;
        ldisc_put_raw(tty, '\r');
    } else {
        tty->canon_column = tty->column;
    }
    ldisc_put_raw(tty, '\n');
}

static void output_return(struct tty *tty)
{
    if (TTY_O(tty, LX_ONOCR) && tty->column == 0)
        return;
    if (TTY_O(tty, LX_OCRNL)) {
        if (TTY_O(tty, LX_ONLRET))
            tty->canon_column = tty->column = 0;
        ldisc_put_raw(tty, '\n');
        return;
    }
    tty->canon_column = tty->column = 0;
    ldisc_put_raw(tty, '\r');
}

static void output_tab(struct tty *tty)
{
    uint32_t spaces = 8 - (tty->column & 7);

    tty->column += spaces;
    if ((tty->termios.c_oflag & LX_TABDLY) != LX_XTABS) {
        ldisc_put_raw(tty, '\t');
        return;
    }
    while (spaces--)
        ldisc_put_raw(tty, ' ');
}

void ldisc_output(struct tty *tty, uint8_t c)
{
    if (!TTY_O(tty, LX_OPOST)) {
        ldisc_put_raw(tty, c);
        return;
    }
    switch (c) {
    case '\n':
        output_newline(tty);
        return;
    case '\r':
        output_return(tty);
        return;
    case '\t':
        output_tab(tty);
        return;
    case '\b':
        if (tty->column > 0)
            tty->column--;
        break;
    default:
        if (!is_control(c)) {
            if (TTY_O(tty, LX_OLCUC) && c >= 'a' && c <= 'z')
                c = (uint8_t)(c - 'a' + 'A');
            if (!is_continuation(tty, c))
                tty->column++;
        }
        break;
    }
    ldisc_put_raw(tty, c);
}

/* Echo of one input character: control characters as ^X where ECHOCTL says so. */
void ldisc_echo(struct tty *tty, uint8_t c)
{
    if (TTY_L(tty, LX_ECHOCTL) && is_control(c) && c != '\t') {
        ldisc_output(tty, '^');
        ldisc_output(tty, c ^ 0100);
    } else {
        ldisc_output(tty, c);
    }
}

void ldisc_echo_text(struct tty *tty, const char *s)
{
    for (; *s; s++)
        ldisc_output(tty, (uint8_t)*s);
}

void ldisc_start(struct tty *tty)
{
    if (!tty->stopped)
        return;
    tty->stopped = false;
    if (tty->packet) {
        tty->packet_status = (uint8_t)((tty->packet_status & ~LX_TIOCPKT_STOP) | LX_TIOCPKT_START);
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLPRI);
    }
    wait_queue_wake(&tty->slave_wait, LX_POLLOUT);
}

void ldisc_stop(struct tty *tty)
{
    if (tty->stopped)
        return;
    tty->stopped = true;
    if (tty->packet) {
        tty->packet_status = (uint8_t)((tty->packet_status & ~LX_TIOCPKT_START) | LX_TIOCPKT_STOP);
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLPRI);
    }
}
