/*
 * A terminal driven by bytes: writes of both sides, reads of both sides, changes of the settings.
 * The rings stay within bounds and positions keep their order.
 */
#include <string.h>

#include "lib/assert.h"
#include "sentry/fs/dev/tty_priv.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"

static void check(const struct tty *tty)
{
    KASSERT(tty->head - tty->tail <= TTY_INPUT);
    KASSERT(tty->canon_head - tty->tail <= tty->head - tty->tail);
    KASSERT(tty->out_head - tty->out_tail <= TTY_OUTPUT);
    KASSERT(ldisc_available(tty) <= TTY_INPUT && ldisc_inq(tty) <= TTY_INPUT);
}

static void transfer(struct file *f, bool write, const uint8_t *data, size_t n)
{
    uint8_t buf[256];
    struct uio u;
    int64_t r;

    memcpy(buf, data, n);
    uio_init_kernel(&u, buf, n);
    r = write ? f->ops->write(f, &u, NULL) : f->ops->read(f, &u, NULL);
    KASSERT(r <= (int64_t)n);
}

static void set_modes(struct tty *tty, const uint8_t *data, size_t n)
{
    struct lx_termios2 t = tty->termios;

    memcpy(&t, data, n < 36 ? n : 36);
    ldisc_set_termios(tty, &t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file master = {.flags = LX_O_RDWR}, slave = {.flags = LX_O_RDWR | LX_O_NOCTTY};
    struct tty *tty;

    KASSERT(kernel_init(NULL, NULL) == 0 && tty_open_ptmx(NULL, &master) == 0);
    tty = tty_file_of(&master)->tty;
    tty->locked = false;
    KASSERT(tty_open_pts(tty->index, &slave) == 0);
    while (size >= 2 && size - 2 >= data[1]) {
        size_t n = data[1];

        switch (data[0] % 6) {
        case 0:
        case 1:
            transfer(&master, true, data + 2, n);
            break;
        case 2:
            transfer(&slave, true, data + 2, n);
            break;
        case 3:
            transfer(&slave, false, data + 2, n);
            break;
        case 4:
            transfer(&master, false, data + 2, n);
            break;
        default:
            set_modes(tty, data + 2, n);
            break;
        }
        check(tty);
        size -= n + 2;
        data += n + 2;
    }
    slave.ops->release(&slave);
    master.ops->release(&master);
    return 0;
}
