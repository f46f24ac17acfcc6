/*
 * ioctls of both sides of a terminal. Those that change settings of a terminal stop a background
 * caller with SIGTTOU first, as POSIX wants. TIOCSTI and TIOCLINUX, which push input as if it had
 * been typed, are refused.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/ioctl.h"
#include "abi/poll.h"

#include "sentry/fs/dev/tty_priv.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/session.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define TIOCSIG 0x40045436u

struct call {
    struct tty *tty;
    bool master;
    struct file *file;
    struct task *task;
    uint32_t cmd;
    gaddr_t arg;
};

static int put_int(const struct call *c, int32_t v)
{
    return put_user(c->task, c->arg, &v);
}

/* -- settings ---------------------------------------------------------------------------------- */

static int get_termios(const struct call *c)
{
    const struct lx_termios2 *t2 = &c->tty->termios;
    struct lx_termios t1;
    struct lx_termio t0;

    if (c->cmd == LX_TCGETS2)
        return put_user(c->task, c->arg, t2);
    if (c->cmd == LX_TCGETS) {
        memcpy(&t1, t2, sizeof(t1));
        return put_user(c->task, c->arg, &t1);
    }
    memset(&t0, 0, sizeof(t0));
    t0.c_iflag = (uint16_t)t2->c_iflag;
    t0.c_oflag = (uint16_t)t2->c_oflag;
    t0.c_cflag = (uint16_t)t2->c_cflag;
    t0.c_lflag = (uint16_t)t2->c_lflag;
    t0.c_line = t2->c_line;
    memcpy(t0.c_cc, t2->c_cc, sizeof(t0.c_cc));
    return put_user(c->task, c->arg, &t0);
}

static uint32_t speed_of(uint32_t cflag, uint32_t given)
{
    static const uint32_t low[] = {0,   50,   75,   110,  134,  150,  200,   300,
                                   600, 1200, 1800, 2400, 4800, 9600, 19200, 38400};
    static const uint32_t high[] = {0,       57600,   115200,  230400,  460800,  500000,
                                    576000,  921600,  1000000, 1152000, 1500000, 2000000,
                                    2500000, 3000000, 3500000, 4000000};
    uint32_t code = cflag & LX_CBAUD;

    if (code == LX_BOTHER)
        return given;
    return code & LX_CBAUDEX ? high[code & 15] : low[code & 15];
}

static int read_termios(const struct call *c, struct lx_termios2 *t2)
{
    struct lx_termios t1;
    struct lx_termio t0;
    int r;

    *t2 = c->tty->termios;
    switch (c->cmd) {
    case LX_TCSETS2:
    case LX_TCSETSW2:
    case LX_TCSETSF2:
        return get_user(c->task, t2, c->arg);
    case LX_TCSETS:
    case LX_TCSETSW:
    case LX_TCSETSF:
        r = get_user(c->task, &t1, c->arg);
        if (r == 0)
            memcpy(t2, &t1, sizeof(t1));
        return r;
    default:
        r = get_user(c->task, &t0, c->arg);
        if (r < 0)
            return r;
        t2->c_iflag = (t2->c_iflag & 0xffff0000u) | t0.c_iflag;
        t2->c_oflag = (t2->c_oflag & 0xffff0000u) | t0.c_oflag;
        t2->c_cflag = (t2->c_cflag & 0xffff0000u) | t0.c_cflag;
        t2->c_lflag = (t2->c_lflag & 0xffff0000u) | t0.c_lflag;
        t2->c_line = t0.c_line;
        memcpy(t2->c_cc, t0.c_cc, sizeof(t0.c_cc));
        return 0;
    }
}

static int set_termios(const struct call *c)
{
    struct lx_termios2 t2;
    int r = tty_check_background(c->tty, LX_SIGTTOU);

    if (r == 0)
        r = read_termios(c, &t2);
    if (r != 0)
        return r;
    /* A pty has no parity and always 8 bits. */
    t2.c_cflag = (t2.c_cflag & ~(uint32_t)(LX_CSIZE | LX_PARENB)) | LX_CS8 | LX_CREAD;
    t2.c_ospeed = speed_of(t2.c_cflag, t2.c_ospeed);
    t2.c_ispeed =
        speed_of((t2.c_cflag >> 16) & LX_CBAUD ? t2.c_cflag >> 16 : t2.c_cflag, t2.c_ispeed);
    if (c->cmd == LX_TCSETSF || c->cmd == LX_TCSETSF2 || c->cmd == LX_TCSETAF)
        ldisc_flush_input(c->tty);
    ldisc_set_termios(c->tty, &t2);
    return 0;
}

void tty_resize(struct tty *tty, const struct lx_winsize *ws)
{
    if (memcmp(&tty->winsize, ws, sizeof(*ws)) == 0)
        return;
    tty->winsize = *ws;
    if (tty->session && tty->session->foreground_pgid)
        signal_send_kernel_pgrp(tty->session->foreground_pgid, LX_SIGWINCH);
}

static int set_winsize(const struct call *c)
{
    struct lx_winsize ws;
    int r = get_user(c->task, &ws, c->arg);

    if (r == 0)
        tty_resize(c->tty, &ws);
    return r;
}

static int flush(const struct call *c)
{
    int r = tty_check_background(c->tty, LX_SIGTTOU);

    if (r < 0)
        return r;
    switch ((int)c->arg.v) {
    case LX_TCIFLUSH:
    case LX_TCOFLUSH:
    case LX_TCIOFLUSH:
        break;
    default:
        return -EINVAL;
    }
    /* Seen from the master, input and output are swapped. */
    if (c->arg.v == LX_TCIOFLUSH || (c->arg.v == LX_TCIFLUSH) != c->master)
        ldisc_flush_input(c->tty);
    if (c->arg.v == LX_TCIOFLUSH || (c->arg.v == LX_TCOFLUSH) != c->master)
        ldisc_flush_output(c->tty);
    return 0;
}

static int flow(const struct call *c)
{
    int r = tty_check_background(c->tty, LX_SIGTTOU);

    if (r < 0)
        return r;
    switch ((int)c->arg.v) {
    case LX_TCOOFF:
        ldisc_stop(c->tty);
        return 0;
    case LX_TCOON:
        ldisc_start(c->tty);
        return 0;
    case LX_TCIOFF:
    case LX_TCION:
        return 0;
    default:
        return -EINVAL;
    }
}

/* -- control ----------------------------------------------------------------------------------- */

static int set_controlling(const struct call *c)
{
    struct session *s = task_session(c->task);

    if (s->tty == c->tty && task_is_session_leader(c->task))
        return 0;
    if (!task_is_session_leader(c->task) || s->tty)
        return -EPERM;
    if (c->tty->session && !(c->arg.v == 1 && cred_capable(c->task->cred, LX_CAP_SYS_ADMIN)))
        return -EPERM;
    if (!file_readable(c->file) && !cred_capable(c->task->cred, LX_CAP_SYS_ADMIN))
        return -EPERM;
    tty_set_control(c->tty, s, c->task->group->pgrp->id);
    return 0;
}

static int give_up(const struct call *c)
{
    struct session *s = task_session(c->task);
    uint32_t foreground = s->foreground_pgid;

    if (s->tty != c->tty)
        return -ENOTTY;
    if (!task_is_session_leader(c->task))
        return 0;
    tty_clear_control(c->tty);
    if (foreground) {
        signal_send_kernel_pgrp(foreground, LX_SIGHUP);
        signal_send_kernel_pgrp(foreground, LX_SIGCONT);
    }
    return 0;
}

static int get_pgrp(const struct call *c)
{
    if (!c->master && task_session(c->task)->tty != c->tty)
        return -ENOTTY;
    return put_int(c, c->tty->session ? (int32_t)c->tty->session->foreground_pgid : 0);
}

static int set_pgrp(const struct call *c)
{
    struct session *s = task_session(c->task);
    struct pgrp *pg;
    int32_t pgid;
    int r = tty_check_background(c->tty, LX_SIGTTOU);

    if (r == -EIO)
        return -ENOTTY;
    if (r < 0)
        return r;
    if (s->tty != c->tty || c->tty->session != s)
        return -ENOTTY;
    r = get_user(c->task, &pgid, c->arg);
    if (r < 0)
        return r;
    if (pgid < 0)
        return -EINVAL;
    pg = pgrp_by_id((uint32_t)pgid);
    if (!pg)
        return -ESRCH;
    if (pg->session != s)
        return -EPERM;
    s->foreground_pgid = (uint32_t)pgid;
    return 0;
}

static int get_sid(const struct call *c)
{
    if (!c->master && task_session(c->task)->tty != c->tty)
        return -ENOTTY;
    if (!c->tty->session)
        return -ENOTTY;
    return put_int(c, (int32_t)c->tty->session->id);
}

/* -- the master's own -------------------------------------------------------------------------- */

static int set_flag(const struct call *c, bool *flag)
{
    int32_t v;
    int r = get_user(c->task, &v, c->arg);

    if (r == 0)
        *flag = v != 0;
    return r;
}

/* Opens the slave, whatever the master's mount name space looks like. */
static int open_peer(const struct call *c)
{
    struct path p;
    struct file *f;
    char name[32];
    int r;

    (void)snprintf(name, sizeof(name), "/dev/pts/%u", c->tty->index);
    r = kernel_path_lookup(name, LOOKUP_FOLLOW, &p);
    if (r < 0)
        return r;
    r = vfs_open_path(&p, (uint32_t)c->arg.v & (LX_O_ACCMODE | LX_O_NOCTTY | LX_O_NONBLOCK),
                      c->task->cred, &f);
    path_put(&p);
    if (r < 0)
        return r;
    r = fd_install(c->task, f, (c->arg.v & LX_O_CLOEXEC) != 0, 0);
    if (r < 0)
        file_put(f);
    return r;
}

static int send_signal(const struct call *c)
{
    if (c->arg.v != LX_SIGINT && c->arg.v != LX_SIGQUIT && c->arg.v != LX_SIGTSTP)
        return -EINVAL;
    if (c->tty->session && c->tty->session->foreground_pgid)
        signal_send_kernel_pgrp(c->tty->session->foreground_pgid, (int)c->arg.v);
    return 0;
}

static int master_ioctl(const struct call *c)
{
    struct tty *tty = c->tty;

    switch (c->cmd) {
    case LX_TIOCGPTN:
        return put_int(c, (int32_t)tty->index);
    case LX_TIOCSPTLCK:
        return set_flag(c, &tty->locked);
    case LX_TIOCGPTLCK:
        return put_int(c, tty->locked);
    case LX_TIOCPKT:
        tty->packet_status = 0;
        return set_flag(c, &tty->packet);
    case LX_TIOCGPKT:
        return put_int(c, tty->packet);
    case LX_TIOCGPTPEER:
        return open_peer(c);
    case TIOCSIG:
        return send_signal(c);
    case LX_FIONREAD:
        return put_int(c, (int32_t)(tty->out_head - tty->out_tail));
    default:
        return -ENOIOCTLCMD;
    }
}

static int settings_ioctl(const struct call *c)
{
    switch (c->cmd) {
    case LX_TCGETS:
    case LX_TCGETS2:
    case LX_TCGETA:
        return get_termios(c);
    case LX_TCSETS:
    case LX_TCSETSW:
    case LX_TCSETSF:
    case LX_TCSETS2:
    case LX_TCSETSW2:
    case LX_TCSETSF2:
    case LX_TCSETA:
    case LX_TCSETAW:
    case LX_TCSETAF:
        return set_termios(c);
    case LX_TIOCGWINSZ:
        return put_user(c->task, c->arg, &c->tty->winsize);
    case LX_TIOCSWINSZ:
        return set_winsize(c);
    case LX_TCFLSH:
        return flush(c);
    case LX_TCXONC:
        return flow(c);
    case LX_TCSBRK:
    case LX_TCSBRKP:
        return tty_check_background(c->tty, LX_SIGTTOU);
    case LX_TIOCSBRK:
    case LX_TIOCCBRK:
        return 0;
    default:
        return -ENOIOCTLCMD;
    }
}

static int other_ioctl(const struct call *c)
{
    int32_t zero = 0;

    switch (c->cmd) {
    case LX_TIOCSCTTY:
        return set_controlling(c);
    case LX_TIOCNOTTY:
        return give_up(c);
    case LX_TIOCGPGRP:
        return get_pgrp(c);
    case LX_TIOCSPGRP:
        return set_pgrp(c);
    case LX_TIOCGSID:
        return get_sid(c);
    case LX_TIOCEXCL:
        c->tty->exclusive = true;
        return 0;
    case LX_TIOCNXCL:
        c->tty->exclusive = false;
        return 0;
    case LX_TIOCGEXCL:
        return put_int(c, c->tty->exclusive);
    case LX_FIONREAD:
        return put_int(c, (int32_t)ldisc_inq(c->tty));
    case LX_TIOCOUTQ:
    case LX_TIOCGETD:
        return put_int(c, 0);
    case LX_TIOCSETD:
        return get_user(c->task, &zero, c->arg) < 0 ? -EFAULT : zero == 0 ? 0 : -EINVAL;
    case LX_TIOCGDEV:
        return put_int(c, (int32_t)tty_dev(c->tty));
    case LX_TIOCVHANGUP:
        if (!cred_capable(c->task->cred, LX_CAP_SYS_ADMIN))
            return -EPERM;
        tty_hangup(c->tty, false);
        return 0;
    case LX_TIOCSTI:
    case LX_TIOCGPTPEER: /* of the terminal's side */
        return -EIO;
    case LX_TIOCGSOFTCAR:
        return put_int(c, 0);
    case LX_TIOCSSOFTCAR:
        return 0;
    default:
        return -ENOTTY;
    }
}

struct sys_res tty_ioctl(struct tty *tty, bool master, struct file *f, struct task *t, uint32_t cmd,
                         uint64_t arg)
{
    struct call c = {tty, master, f, t, cmd, GADDR(arg)};
    int r = master ? master_ioctl(&c) : -ENOIOCTLCMD;

    if (r == -ENOIOCTLCMD)
        r = settings_ioctl(&c);
    if (r == -ENOIOCTLCMD)
        r = other_ioctl(&c);
    return sys_ret(r);
}
