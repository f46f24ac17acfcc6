#pragma once
/*
 * ldisc_private.h: between the two halves of the line discipline: ldisc.c (input, editing, reading)
 * and ldisc_output.c (output processing and echo).
 */
#include "lib/compiler.h"

#include "sentry/fs/dev/tty_priv.h"

static inline bool is_control(uint8_t c)
{
    return c < 32 || c == 127;
}

static inline bool is_continuation(const struct tty *tty, uint8_t c)
{
    return TTY_I(tty, LX_IUTF8) && (c & 0xc0) == 0x80;
}

static inline bool is_cc(const struct tty *tty, uint8_t c, int which)
{
    return c != LX_POSIX_VDISABLE && tty->termios.c_cc[which] == c;
}

/* Bytes in the output ring. */
uint32_t ldisc_output_used(const struct tty *tty);
/* Into the output ring as it is; dropped when there is no room. */
void ldisc_put_raw(struct tty *tty, uint8_t c);
/* As a terminal shows what was typed: control characters as ^X. */
void ldisc_echo(struct tty *tty, uint8_t c);
void ldisc_echo_text(struct tty *tty, const char *s);
