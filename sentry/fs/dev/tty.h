#pragma once
/*
 * Terminals. A struct tty is the terminal side (slave) of a pty: line discipline, settings, and
 * who controls it. A struct tty_master is the other side, driven by a guest's /dev/ptmx file or by
 * the boot code, which joins the caller's terminal to the guest's (--tty).
 *
 * Counts: the tty is held by open slave files, by its master and by the sessions it controls.
 */
#include "lib/compiler.h"

#include "abi/tty.h"

#include "sentry/fs/file.h"

struct session;
struct tty;
struct tty_master;

/* Linux dev_t, for stat and /proc/PID/stat. */
uint64_t tty_dev(const struct tty *tty);
/* The session leader has exited: SIGHUP and SIGCONT to the foreground group, the tty is given up.
 */
void tty_session_exit(struct session *s);

/* -- for the boot code ----------------------------------------------------------------------------
 */
/* A pty whose master is driven by the functions below. *ret_slave is an open file of the slave
 * (counted), *ret the master (owned; tty_console_free hangs up). */
int tty_new_console(struct file **ret_slave, struct tty_master **ret) MUST_CHECK;
void tty_console_free(struct tty_master *m);
/* What /dev/console is: the terminal of the first process. */
void tty_console_system(const struct tty_master *m);
/* Bytes typed by the user: how many were taken (0 when the input buffer is full). */
size_t tty_console_input(struct tty_master *m, const void *bytes, size_t n);
/* Takes output of the guest: bytes, 0 when there is none. */
size_t tty_console_output(struct tty_master *m, void *buf, size_t cap);
/* fn runs on the worker whenever output may be waiting or input is accepted again. */
void tty_console_notify(struct tty_master *m, void (*fn)(void *ctx), void *ctx);
/* Changes the size and sends SIGWINCH to the foreground group. */
void tty_console_resize(struct tty_master *m, uint16_t rows, uint16_t cols);
/* True once every slave file is closed and all output was taken. */
bool tty_console_done(const struct tty_master *m);
/* Makes the tty the controlling terminal of s (the first process's session). */
void tty_console_control(struct tty_master *m, struct session *s, uint32_t foreground_pgid);

/* -- opens by device number -----------------------------------------------------------------------
 */
int tty_open_ptmx(struct inode *ino, struct file *f) MUST_CHECK;
int tty_open_pts(uint32_t index, struct file *f) MUST_CHECK;
/* /dev/tty: the caller's controlling terminal, -ENXIO without one. */
int tty_open_current(struct file *f) MUST_CHECK;
/* /dev/console: the terminal of --tty, -ENXIO without one. */
int tty_open_console(struct file *f) MUST_CHECK;
/* Index of a pty that exists: the nth one >= from; -1 when there is none (devpts). */
int tty_pts_next(uint32_t from);
/* Owner and mode of pts N. */
struct tty_pts_attr {
    uint32_t mode, uid, gid;
};
bool tty_pts_attr(uint32_t index, struct tty_pts_attr *ret);
int tty_pts_setattr(uint32_t index, const struct iattr *attr) MUST_CHECK;
