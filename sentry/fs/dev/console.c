/*
 * The pty whose master is the boot code (--tty): the caller's terminal is in raw mode and its bytes
 * are pushed in here, the guest's output is taken out.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/dev/tty_priv.h"
#include "sentry/kernel/task.h"

struct tty_master {
    struct tty *tty; /* the master's reference */
    struct wait_entry entry;
    void (*fn)(void *ctx);
    void *ctx;
};

static struct tty *console;

struct tty *tty_console_tty(void)
{
    return console;
}

static void master_woken(struct wait_entry *e, uint32_t key)
{
    struct tty_master *m = container_of(e, struct tty_master, entry);

    (void)key;
    if (m->fn)
        m->fn(m->ctx);
}

/* By name where devpts is mounted, so that ttyname(3) works; else a file without a name. */
static int open_slave(struct tty *tty, struct file **ret_file)
{
    struct path p;
    char name[32];
    struct file *f;
    int r;

    (void)snprintf(name, sizeof(name), "/dev/pts/%u", tty->index);
    r = kernel_path_lookup(name, LOOKUP_FOLLOW, &p);
    if (r == 0) {
        r = file_new(&p, &tty_slave_ops, LX_O_RDWR | LX_O_NOCTTY, &f);
        path_put(&p);
    } else {
        r = anon_inode_file_new("pts", LX_S_IFCHR, &tty_slave_ops, LX_O_RDWR | LX_O_NOCTTY, NULL,
                                &f);
    }
    if (r < 0)
        return r;
    r = tty_slave_open(tty, f);
    if (r < 0) {
        file_put(f);
        return r;
    }
    *ret_file = f;
    return 0;
}

int tty_new_console(struct file **ret_slave, struct tty_master **ret)
{
    struct tty_master *m = kalloc(sizeof(*m));
    int r;

    if (!m)
        return -ENOMEM;
    r = tty_new(&m->tty);
    if (r < 0) {
        kfree(m);
        return r;
    }
    m->tty->locked = false;
    r = open_slave(m->tty, ret_slave);
    if (r < 0) {
        tty_put(m->tty);
        kfree(m);
        return r;
    }
    wait_entry_init(&m->entry, 0, master_woken);
    wait_queue_add(&m->tty->master_wait, &m->entry);
    *ret = m;
    return 0;
}

void tty_console_system(const struct tty_master *m)
{
    console = m->tty;
}

void tty_console_free(struct tty_master *m)
{
    if (!m)
        return;
    wait_entry_remove(&m->entry);
    if (console == m->tty)
        console = NULL;
    tty_master_close(m->tty);
    kfree(m);
}

size_t tty_console_input(struct tty_master *m, const void *bytes, size_t n)
{
    return ldisc_receive(m->tty, bytes, n);
}

size_t tty_console_output(struct tty_master *m, void *buf, size_t cap)
{
    struct tty *tty = m->tty;
    uint8_t *to = buf;
    size_t n = 0;

    while (n < cap && tty->out_head != tty->out_tail)
        to[n++] = tty->output[tty->out_tail++ % TTY_OUTPUT];
    if (n)
        wait_queue_wake(&tty->slave_wait, 0);
    return n;
}

void tty_console_notify(struct tty_master *m, void (*fn)(void *ctx), void *ctx)
{
    m->fn = fn;
    m->ctx = ctx;
}

void tty_console_resize(struct tty_master *m, uint16_t rows, uint16_t cols)
{
    struct lx_winsize ws = {.ws_row = rows, .ws_col = cols};

    tty_resize(m->tty, &ws);
}

bool tty_console_done(const struct tty_master *m)
{
    return m->tty->slave_closed && m->tty->out_head == m->tty->out_tail;
}

void tty_console_control(struct tty_master *m, struct session *s, uint32_t foreground_pgid)
{
    const struct thread_group *leader = thread_group_by_pid(s->id);

    tty_set_control(m->tty, s, foreground_pgid);
    if (leader && leader->leader)
        m->tty->uid = leader->leader->cred->euid;
}
