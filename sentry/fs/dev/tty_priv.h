#pragma once
/*
 * Private objects of the terminal layer. Positions in the input ring count up for ever; the byte of
 * position p is input[p % TTY_INPUT]. Complete lines lie between tail and canon_head, what is being
 * edited between canon_head and head. A position whose bit in `line_end` is set ends a line; the
 * value TTY_EOF there is the end-of-file character, which is not given to the reader.
 */
#include "lib/compiler.h"

#include "abi/tty.h"

#include "lib/list.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/kernel/timer.h"
#include "sentry/kernel/waitqueue.h"

#define TTY_INPUT  4096u
#define TTY_OUTPUT 16384u
#define TTY_EOF    0u
/* Output that a slave may write; the rest of the ring is for echo. */
#define TTY_OUTPUT_WRITE (TTY_OUTPUT - 4096u)

struct tty {
    uint32_t ref;
    uint32_t index;
    struct lx_termios2 termios;
    struct lx_winsize winsize;
    struct session *session; /* the one that this tty controls (borrowed), or NULL */
    struct list_head files;  /* tty_file.link: open slave files */

    uint8_t input[TTY_INPUT];
    uint8_t line_end[TTY_INPUT / 8];
    uint32_t head, canon_head, tail;
    uint32_t column, canon_column;
    bool lnext, erasing;
    uint64_t last_input; /* monotonic ns, for VTIME */

    uint8_t output[TTY_OUTPUT];
    uint32_t out_head, out_tail;
    bool stopped; /* by the stop character or TCOOFF */

    struct wait_queue slave_wait, master_wait;
    bool master_open, master_closed;
    bool slave_closed; /* the last slave file was closed: the master reads EIO */
    bool locked;       /* until unlockpt */
    bool exclusive, packet;
    uint8_t packet_status;
    uint32_t nslaves;
    uint32_t mode, uid, gid;
};

/* priv of an open file of either side */
struct tty_file {
    struct tty *tty; /* counted */
    struct list_head link;
    struct file *file; /* borrowed */
    bool hung;         /* hung up: reads give 0, writes EIO */
    bool timed_out;    /* VTIME passed for the read that waits */
    uint32_t need;     /* bytes that the waiting read asked for */
    struct timer timer;
};

static inline struct tty_file *tty_file_of(const struct file *f)
{
    return f->priv;
}

#define TTY_L(tty, flag) (((tty)->termios.c_lflag & (flag)) != 0)
#define TTY_I(tty, flag) (((tty)->termios.c_iflag & (flag)) != 0)
#define TTY_O(tty, flag) (((tty)->termios.c_oflag & (flag)) != 0)

/* -- pty.c: life of ttys ----------------------------------------------------------------------- */
int tty_new(struct tty **ret_tty) MUST_CHECK; /* next free index; the reference is the master's */
struct tty *tty_get(struct tty *tty);
void tty_put(struct tty *tty);
struct tty *tty_by_index(uint32_t index); /* borrowed, or NULL */
void tty_master_close(struct tty *tty);   /* hangs up; drops the master's reference */
int tty_file_attach(struct file *f, struct tty *tty, const struct file_ops *ops) MUST_CHECK;
extern const struct file_ops tty_master_ops;
/* The console of --tty, or NULL. */
struct tty *tty_console_tty(void);

/* -- tty.c ------------------------------------------------------------------------------------- */
extern const struct file_ops tty_slave_ops;
int tty_slave_open(struct tty *tty, struct file *f) MUST_CHECK;
void tty_slave_release(struct file *f);
void tty_file_detach(struct file *f);
/* Every open slave file becomes dead; the session that is controlled loses the tty. */
void tty_hangup(struct tty *tty, bool session_exits);
/* -ERESTARTSYS after SIGTTIN/SIGTTOU to a background caller, -EIO, or 0. */
int tty_check_background(struct tty *tty, int signo) MUST_CHECK;
void tty_set_control(struct tty *tty, struct session *s, uint32_t foreground_pgid);
void tty_clear_control(struct tty *tty);

/* -- tty_ioctl.c ------------------------------------------------------------------------------- */
struct sys_res tty_ioctl(struct tty *tty, bool master, struct file *f, struct task *t, uint32_t cmd,
                         uint64_t arg);
void tty_resize(struct tty *tty, const struct lx_winsize *ws);

/* -- ldisc.c ----------------------------------------------------------------------------------- */
void ldisc_init(struct tty *tty);
/* Bytes from the master; returns how many were taken. */
size_t ldisc_receive(struct tty *tty, const uint8_t *bytes, size_t n);
/* True when ldisc_receive would take at least one byte. */
bool ldisc_accepts(const struct tty *tty);
/* Bytes of a slave's write that are certain to fit. */
size_t ldisc_output_room(const struct tty *tty);
/* One byte of output, processed as c_oflag says. */
void ldisc_output(struct tty *tty, uint8_t c);
/* Bytes that a read may take now: up to the end of the first line, or all of them. */
size_t ldisc_available(const struct tty *tty);
/* Takes at most cap bytes of one line (canonical; *ret_ended: to its end) or of everything. */
size_t ldisc_read(struct tty *tty, uint8_t *buf, size_t cap, bool *ret_ended);
bool ldisc_line_ready(const struct tty *tty);
size_t ldisc_inq(const struct tty *tty); /* FIONREAD */
void ldisc_flush_input(struct tty *tty);
void ldisc_flush_output(struct tty *tty);
void ldisc_set_termios(struct tty *tty, const struct lx_termios2 *new_termios);
void ldisc_start(struct tty *tty);
void ldisc_stop(struct tty *tty);
/* Signal to the foreground group, flushing as NOFLSH says. */
void ldisc_signal(struct tty *tty, int signo);
