/*
 * The line discipline (N_TTY). Bytes from the master go through input processing (strip, map CR and
 * NL, signals, flow control, line editing, echo) into the input ring; bytes that a slave writes go
 * through output processing (ONLCR, tabs, column count) into the output ring, where the master
 * takes them. Echo goes into the output ring too; it has room of its own there and is dropped when
 * even that is used up.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/poll.h"

#include "sentry/fs/dev/ldisc_private.h"
#include "sentry/kernel/signal.h"
#include "sentry/kernel/task.h"

#define TTY_DELIVERED 4096u

void ldisc_init(struct tty *tty)
{
    static const uint8_t cc[LX_NCCS] = {3,  28, 127, 21, 4,  0,  1, 0, 17, 19,
                                        26, 0,  18,  15, 23, 22, 0, 0, 0};
    struct lx_termios2 *tio = &tty->termios;

    tio->c_iflag = LX_ICRNL | LX_IXON;
    tio->c_oflag = LX_OPOST | LX_ONLCR;
    tio->c_cflag = LX_B38400 | LX_CS8 | LX_CREAD;
    tio->c_lflag =
        LX_ISIG | LX_ICANON | LX_ECHO | LX_ECHOE | LX_ECHOK | LX_ECHOCTL | LX_ECHOKE | LX_IEXTEN;
    tio->c_ispeed = tio->c_ospeed = 38400;
    memcpy(tio->c_cc, cc, sizeof(cc));
}

/* -- input ring -------------------------------------------------------------------------------- */

static uint32_t input_used(const struct tty *tty)
{
    return tty->head - tty->tail;
}

static uint8_t input_at(const struct tty *tty, uint32_t pos)
{
    return tty->input[pos % TTY_INPUT];
}

static bool ends_line(const struct tty *tty, uint32_t pos)
{
    return tty->line_end[pos % TTY_INPUT / 8] >> (pos % 8) & 1;
}

static void put_input(struct tty *tty, uint8_t c, bool end)
{
    uint32_t at = tty->head % TTY_INPUT;
    uint8_t bit = (uint8_t)(1u << (at % 8));

    tty->input[at] = c;
    if (end)
        tty->line_end[at / 8] |= bit;
    else
        tty->line_end[at / 8] = (uint8_t)(tty->line_end[at / 8] & ~bit);
    tty->head++;
}

/* Ordinary characters leave room for the one that ends the line. */
static void put_char(struct tty *tty, uint8_t c)
{
    if (input_used(tty) < TTY_INPUT - 2)
        put_input(tty, c, false);
    else if (TTY_I(tty, LX_IMAXBEL))
        ldisc_output(tty, '\a');
}

static void put_line_end(struct tty *tty, uint8_t c)
{
    if (input_used(tty) >= TTY_INPUT)
        tty->head--;
    put_input(tty, c, true);
    tty->canon_head = tty->head;
}

bool ldisc_line_ready(const struct tty *tty)
{
    return tty->canon_head != tty->tail;
}

bool ldisc_accepts(const struct tty *tty)
{
    if (input_used(tty) < TTY_INPUT - 2)
        return true;
    /* A line that is too long is cut, so that its end can still come. */
    return TTY_L(tty, LX_ICANON) && !ldisc_line_ready(tty);
}

void ldisc_flush_input(struct tty *tty)
{
    tty->head = tty->canon_head = tty->tail = 0;
    memset(tty->line_end, 0, sizeof(tty->line_end));
    tty->lnext = tty->erasing = false;
    if (tty->packet) {
        tty->packet_status |= LX_TIOCPKT_FLUSHREAD;
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLPRI);
    }
    wait_queue_wake(&tty->master_wait, LX_POLLOUT);
}

/* What the master could have read already is not taken back: on Linux it has left the slave. */
void ldisc_flush_output(struct tty *tty)
{
    if (ldisc_output_used(tty) > TTY_DELIVERED)
        tty->out_head = tty->out_tail + TTY_DELIVERED;
    if (tty->packet) {
        tty->packet_status |= LX_TIOCPKT_FLUSHWRITE;
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLPRI);
    }
    wait_queue_wake(&tty->slave_wait, LX_POLLOUT);
}

/* -- editing ----------------------------------------------------------------------------------- */

static void finish_erasing(struct tty *tty)
{
    if (tty->erasing) {
        ldisc_output(tty, '/');
        tty->erasing = false;
    }
}

/* Rubs out a tab: back to where the text before it ended. */
static void erase_tab(struct tty *tty)
{
    uint32_t col = 0, pos = tty->head;
    bool after_tab = false;

    while (pos != tty->canon_head) {
        uint8_t c = input_at(tty, pos - 1);

        if (c == '\t') {
            after_tab = true;
            break;
        }
        if (is_control(c))
            col += TTY_L(tty, LX_ECHOCTL) ? 2 : 0;
        else if (!is_continuation(tty, c))
            col++;
        pos--;
    }
    if (!after_tab)
        col += tty->canon_column;
    for (uint32_t n = 8 - (col & 7); n > 0; n--) {
        ldisc_put_raw(tty, '\b');
        if (tty->column > 0)
            tty->column--;
    }
}

static void erase_echo(struct tty *tty, uint8_t c, int which)
{
    if (!TTY_L(tty, LX_ECHO))
        return;
    if (TTY_L(tty, LX_ECHOPRT)) {
        if (!tty->erasing) {
            ldisc_output(tty, '\\');
            tty->erasing = true;
        }
        ldisc_echo(tty, c);
    } else if (which == LX_VERASE && !TTY_L(tty, LX_ECHOE)) {
        ldisc_echo(tty, tty->termios.c_cc[LX_VERASE]);
    } else if (c == '\t') {
        erase_tab(tty);
    } else {
        if (is_control(c) && TTY_L(tty, LX_ECHOCTL))
            ldisc_echo_text(tty, "\b \b");
        if (!is_control(c) || TTY_L(tty, LX_ECHOCTL))
            ldisc_echo_text(tty, "\b \b");
    }
}

/* KILL without visual erasing: true when that was all. */
static bool kill_plain(struct tty *tty)
{
    if (TTY_L(tty, LX_ECHO) && TTY_L(tty, LX_ECHOK) && TTY_L(tty, LX_ECHOKE) &&
        TTY_L(tty, LX_ECHOE))
        return false;
    tty->head = tty->canon_head;
    if (TTY_L(tty, LX_ECHO)) {
        finish_erasing(tty);
        ldisc_echo(tty, tty->termios.c_cc[LX_VKILL]);
        if (TTY_L(tty, LX_ECHOK))
            ldisc_output(tty, '\n');
    }
    return true;
}

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c >= 128;
}

static void erase(struct tty *tty, int which)
{
    bool seen_word = false;

    if (tty->head == tty->canon_head || (which == LX_VKILL && kill_plain(tty)))
        return;
    while (tty->head != tty->canon_head) {
        uint32_t at = tty->head;
        uint8_t c;

        do
            c = input_at(tty, --at);
        while (is_continuation(tty, c) && at != tty->canon_head);
        if (is_continuation(tty, c))
            break;
        if (which == LX_VWERASE) {
            if (is_word(c))
                seen_word = true;
            else if (seen_word)
                break;
        }
        tty->head = at;
        erase_echo(tty, c, which);
        if (which == LX_VERASE)
            break;
    }
    if (tty->head == tty->canon_head && TTY_L(tty, LX_ECHO))
        finish_erasing(tty);
}

/* -- input ------------------------------------------------------------------------------------- */

void ldisc_signal(struct tty *tty, int signo)
{
    if (!TTY_L(tty, LX_NOFLSH)) {
        ldisc_flush_output(tty);
        ldisc_flush_input(tty);
    }
    if (tty->session && tty->session->foreground_pgid)
        signal_send_kernel_pgrp(tty->session->foreground_pgid, signo);
}

/* Characters that raise signals or stop the output; true when c was one. */
static bool receive_signal(struct tty *tty, uint8_t c)
{
    int signo = 0;

    if (TTY_I(tty, LX_IXON)) {
        if (is_cc(tty, c, LX_VSTART)) {
            ldisc_start(tty);
            return true;
        }
        if (is_cc(tty, c, LX_VSTOP)) {
            ldisc_stop(tty);
            return true;
        }
    }
    if (TTY_L(tty, LX_ISIG)) {
        if (is_cc(tty, c, LX_VINTR))
            signo = LX_SIGINT;
        else if (is_cc(tty, c, LX_VQUIT))
            signo = LX_SIGQUIT;
        else if (is_cc(tty, c, LX_VSUSP))
            signo = LX_SIGTSTP;
    }
    if (!signo)
        return false;
    ldisc_signal(tty, signo);
    if (TTY_I(tty, LX_IXON))
        ldisc_start(tty);
    if (TTY_L(tty, LX_ECHO))
        ldisc_echo(tty, c);
    return true;
}

static void reprint(struct tty *tty)
{
    finish_erasing(tty);
    ldisc_echo(tty, tty->termios.c_cc[LX_VREPRINT]);
    ldisc_output(tty, '\n');
    for (uint32_t p = tty->canon_head; p != tty->head; p++)
        ldisc_echo(tty, input_at(tty, p));
}

/* Editing and line ends; true when c was one of those. */
static bool receive_canonical(struct tty *tty, uint8_t c)
{
    bool iexten = TTY_L(tty, LX_IEXTEN);

    if (is_cc(tty, c, LX_VERASE)) {
        erase(tty, LX_VERASE);
    } else if (is_cc(tty, c, LX_VKILL)) {
        erase(tty, LX_VKILL);
    } else if (iexten && is_cc(tty, c, LX_VWERASE)) {
        erase(tty, LX_VWERASE);
    } else if (iexten && is_cc(tty, c, LX_VLNEXT)) {
        tty->lnext = true;
        if (TTY_L(tty, LX_ECHO)) {
            finish_erasing(tty);
            if (TTY_L(tty, LX_ECHOCTL)) {
                ldisc_put_raw(tty, '^');
                ldisc_put_raw(tty, '\b');
            }
        }
    } else if (iexten && TTY_L(tty, LX_ECHO) && is_cc(tty, c, LX_VREPRINT)) {
        reprint(tty);
    } else if (c == '\n') {
        if (TTY_L(tty, LX_ECHO) || TTY_L(tty, LX_ECHONL))
            ldisc_output(tty, '\n');
        put_line_end(tty, c);
    } else if (is_cc(tty, c, LX_VEOF)) {
        put_line_end(tty, TTY_EOF);
    } else if (is_cc(tty, c, LX_VEOL) || (iexten && is_cc(tty, c, LX_VEOL2))) {
        if (TTY_L(tty, LX_ECHO))
            ldisc_echo(tty, c);
        put_line_end(tty, c);
    } else {
        return false;
    }
    return true;
}

static void receive_plain(struct tty *tty, uint8_t c)
{
    if (TTY_L(tty, LX_ECHO)) {
        finish_erasing(tty);
        if (c == '\n') {
            ldisc_output(tty, '\n');
        } else {
            if (tty->canon_head == tty->head)
                tty->canon_column = tty->column;
            ldisc_echo(tty, c);
        }
    }
    if (c == 0xff && TTY_I(tty, LX_PARMRK))
        put_char(tty, c);
    put_char(tty, c);
}

static void receive_one(struct tty *tty, uint8_t c)
{
    if (TTY_I(tty, LX_ISTRIP))
        c &= 0x7f;
    if (TTY_I(tty, LX_IUCLC) && TTY_L(tty, LX_IEXTEN) && c >= 'A' && c <= 'Z')
        c = (uint8_t)(c - 'A' + 'a');
    if (TTY_L(tty, LX_EXTPROC)) {
        put_char(tty, c);
        return;
    }
    if (tty->lnext) {
        tty->lnext = false;
        receive_plain(tty, c);
        return;
    }
    if (receive_signal(tty, c))
        return;
    if (tty->stopped && TTY_I(tty, LX_IXON) && TTY_I(tty, LX_IXANY))
        ldisc_start(tty);
    if (c == '\r') {
        if (TTY_I(tty, LX_IGNCR))
            return;
        if (TTY_I(tty, LX_ICRNL))
            c = '\n';
    } else if (c == '\n' && TTY_I(tty, LX_INLCR)) {
        c = '\r';
    }
    if (TTY_L(tty, LX_ICANON) && receive_canonical(tty, c))
        return;
    receive_plain(tty, c);
}

size_t ldisc_receive(struct tty *tty, const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    uint32_t out_before = tty->out_head;

    for (; i < n && ldisc_accepts(tty); i++)
        receive_one(tty, bytes[i]);
    if (i) {
        tty->last_input = clock_monotonic();
        wait_queue_wake(&tty->slave_wait, LX_POLLIN | LX_POLLRDNORM);
    }
    if (tty->out_head != out_before)
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLRDNORM);
    return i;
}

/* -- reading ----------------------------------------------------------------------------------- */

static uint32_t line_length(const struct tty *tty)
{
    uint32_t p = tty->tail;

    while (p != tty->canon_head) {
        if (ends_line(tty, p++))
            break;
    }
    return p - tty->tail;
}

size_t ldisc_available(const struct tty *tty)
{
    if (TTY_L(tty, LX_ICANON) && !TTY_L(tty, LX_EXTPROC))
        return line_length(tty);
    return input_used(tty);
}

size_t ldisc_read(struct tty *tty, uint8_t *buf, size_t cap, bool *ret_ended)
{
    bool canon = TTY_L(tty, LX_ICANON) && !TTY_L(tty, LX_EXTPROC), end = false;
    size_t avail = ldisc_available(tty), n = 0;

    while (avail-- > 0 && !end) {
        uint8_t c = input_at(tty, tty->tail);

        end = canon && ends_line(tty, tty->tail);
        /* The end-of-file character is taken along even when the buffer is full. */
        if (!(end && c == TTY_EOF)) {
            if (n == cap) {
                end = false;
                break;
            }
            buf[n++] = c;
        }
        tty->tail++;
    }
    *ret_ended = end;
    if (!canon)
        tty->canon_head = tty->tail;
    wait_queue_wake(&tty->master_wait, LX_POLLOUT | LX_POLLWRNORM);
    return n;
}

size_t ldisc_inq(const struct tty *tty)
{
    size_t n = 0;

    if (!TTY_L(tty, LX_ICANON))
        return input_used(tty);
    for (uint32_t p = tty->tail; p != tty->canon_head; p++)
        n += !(ends_line(tty, p) && input_at(tty, p) == TTY_EOF);
    return n;
}

/* Between line and character mode what is already there stays readable. */
void ldisc_set_termios(struct tty *tty, const struct lx_termios2 *new_termios)
{
    uint32_t changed = tty->termios.c_lflag ^ new_termios->c_lflag;
    bool old_flow = TTY_I(tty, LX_IXON), flow;

    tty->termios = *new_termios;
    if (changed & (LX_ICANON | LX_EXTPROC)) {
        memset(tty->line_end, 0, sizeof(tty->line_end));
        if (TTY_L(tty, LX_ICANON) && tty->head != tty->tail) {
            uint32_t last = (tty->head - 1) % TTY_INPUT;

            tty->line_end[last / 8] |= (uint8_t)(1u << (last % 8));
            tty->canon_head = tty->head;
        } else {
            tty->canon_head = tty->tail;
        }
        tty->lnext = tty->erasing = false;
    }
    flow = TTY_I(tty, LX_IXON);
    if (!flow && old_flow)
        ldisc_start(tty);
    if (tty->packet && flow != old_flow) {
        tty->packet_status =
            (uint8_t)((tty->packet_status & ~(LX_TIOCPKT_DOSTOP | LX_TIOCPKT_NOSTOP)) |
                      (flow ? LX_TIOCPKT_DOSTOP : LX_TIOCPKT_NOSTOP));
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLPRI);
    }
    wait_queue_wake(&tty->slave_wait, LX_POLLIN | LX_POLLOUT);
}
