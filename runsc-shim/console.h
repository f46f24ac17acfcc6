#pragma once
/*
 * console.h: host terminals of a container: a pty whose master goes to the engine.
 */
#include "lib/compiler.h"

struct error;

/* A new pty; both descriptors are close-on-exec. rows, cols 0: as it comes. */
int console_open(uint16_t rows, uint16_t cols, int *ret_master, int *ret_slave, struct error *err)
    MUST_CHECK;
/* Sends the master to whoever listens on the socket, as runc does; nobody there is an error. */
int console_send(const char *socket_path, int master, struct error *err) MUST_CHECK;
/* Makes the terminal standard input, output and error, and the controlling one of the calling
 * process, which leads a session of its own afterwards. */
int console_adopt(int slave, struct error *err) MUST_CHECK;
