#pragma once
/*
 * The caller's terminal while a run has --tty: raw mode, restored at the end, and its size.
 */
#include "lib/compiler.h"

#include <termios.h>

struct error;

struct terminal {
    bool raw;
    int fd;        /* the terminal, -1: none */
    int signal_fd; /* SIGWINCH, -1: none */
    struct termios saved;
};

/* Without tty nothing is done. -ENOTTY when standard input is no terminal. */
int terminal_begin(struct terminal *t, bool tty, struct error *err) MUST_CHECK;
void terminal_end(struct terminal *t);
int terminal_signal_fd(const struct terminal *t);
/* Sends the current size to the sentry. */
void terminal_forward_size(struct terminal *t, int control);

/* Message to the sentry. */
struct terminal_size {
    uint16_t rows, cols;
};
