/*
 * A descriptor of the caller (stdin, stdout, stderr) as a guest file.
 *
 * Regular files and directories of the host are read and written at the offset that the caller's
 * descriptor shares with us, as if the program had inherited it. Everything else is a stream:
 * reads and writes never wait, readiness comes from a host watch that is armed while somebody
 * waits. The guest sees a terminal as a pipe (a terminal of its own needs --tty), and what it
 * writes there loses its control characters, so no escape sequence reaches the caller's terminal.
 * The guest cannot change the host's descriptor: no ioctl, no truncate, no flag passes.
 */
#include "sentry/fs/dev/host_file.h"

#include <string.h>

#include "abi/ioctl.h"

#include "lib/alloc.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/verdict.h"
#include "sentry/mm/usercopy.h"

#define BOUNCE_SIZE 65536u

struct host_file {
    struct anon_opener opener; /* of the inode */
    struct inode *inode;       /* borrowed: every file holds it */
    uint32_t ref;              /* open files */
    const char *name;
    int fd;
    bool tty, always_ready, regular;
    uint8_t last; /* byte written to a terminal */
    struct host_watch watch;
    struct wait_queue wait;
    struct host_output *output; /* borrowed, or NULL: unlimited */
};

static uint8_t bounce[BOUNCE_SIZE];
/* How many of n bytes may still go out; crossing the limit ends the run. */
static size_t output_clip(struct host_file *hf, size_t n)
{
    struct host_output *o = hf->output;

    if (!o || n <= o->limit - o->bytes)
        return n;
    o->exceeded = true;
    kernel_end(VERDICT_OUTPUT_LIMIT);
    return (size_t)(o->limit - o->bytes);
}

static void output_passed(struct host_file *hf, const uint8_t *p, size_t n)
{
    struct host_output *o = hf->output;

    if (!o)
        return;
    if (o->capture)
        memcpy(o->capture + o->bytes, p, n);
    o->bytes += n;
}

/* -- streams ---------------------------------------------------------------------------------- */

static void host_stream_ready(struct host_watch *w, uint32_t revents)
{
    struct host_file *hf = container_of(w, struct host_file, watch);

    wait_queue_wake(&hf->wait, revents | LX_POLLRDNORM | LX_POLLWRNORM);
}

/* Watches for events if anybody waits: after a transfer that found the end of what there is, and
 * when poll finds nothing. A watch is armed for one event, and only the guest's next look arms it
 * again. */
static void host_stream_watch(struct host_file *hf, uint32_t events)
{
    if (!list_empty(&hf->wait.entries))
        (void)host_watch_arm(&hf->watch, events);
}

static int64_t host_stream_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct host_file *hf = f->priv;
    int64_t done = 0;

    (void)pos;
    while (to->left > 0) {
        size_t want = MIN(to->left, (size_t)BOUNCE_SIZE);
        int64_t n = host_read_nowait(hf->fd, bounce, want);
        int64_t c;

        if (n == -EAGAIN || (n > 0 && (size_t)n < want))
            host_stream_watch(hf, LX_POLLIN);
        if (n <= 0) {
            if (done == 0 && n < 0)
                done = host_to_guest(n);
            break;
        }
        c = uio_copy_to(to, bounce, (size_t)n);
        if (c < 0)
            return done ? done : c;
        done += c;
        /* A short read is all there is; asking again could take a second line of a terminal. */
        if ((size_t)n < want || hf->tty)
            break;
    }
    return done;
}

/* What a terminal may be shown: text, newline, carriage return, tab; no other control character,
 * nor the 8-bit ones, alone or in their UTF-8 form. last: the byte before p. */
static void sanitise(uint8_t *p, size_t n, uint8_t last)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t c = p[i];
        bool c0 = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
        bool c1 = c >= 0x80 && c < 0xa0 && (last < 0x80 || last == 0xc2);

        if (c0 || c1)
            p[i] = '?';
        if (c1 && last == 0xc2 && i > 0)
            p[i - 1] = '?';
        last = c;
    }
}

/* Of the n bytes in the bounce buffer the host may have the first `may`: how many it took. */
static int64_t host_stream_put(struct host_file *hf, size_t n, size_t may)
{
    int64_t w;

    if (hf->tty)
        sanitise(bounce, n, hf->last);
    w = host_write_nowait(hf->fd, bounce, may);
    if (w > 0) {
        output_passed(hf, bounce, (size_t)w);
        hf->last = bounce[w - 1];
    }
    return w;
}

/* Writes what the host takes now: bytes or -EAGAIN, -errno. */
static int64_t host_stream_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct host_file *hf = f->priv;
    int64_t done = 0;

    (void)pos;
    while (from->left > 0) {
        struct uio start = *from;
        size_t want = MIN(from->left, (size_t)BOUNCE_SIZE);
        int64_t n = uio_copy_from(from, bounce, want);
        int64_t w;

        if (n < 0)
            return done ? done : n;
        size_t may = output_clip(hf, (size_t)n);
        if (may == 0)
            return done ? done : -EPIPE;
        w = host_stream_put(hf, (size_t)n, may);
        if (w < n) {
            *from = start;
            uio_advance(from, w > 0 ? (size_t)w : 0);
            host_stream_watch(hf, LX_POLLOUT);
        }
        if (w < 0)
            return done ? done : host_to_guest(w);
        done += w;
        if (w < n)
            break;
    }
    return done;
}

static uint32_t host_stream_poll(struct file *f, struct poll_table *pt)
{
    struct host_file *hf = f->priv;
    uint32_t want = 0, got;

    if (hf->always_ready)
        return POLL_DEFAULT;
    if (file_readable(f))
        want |= LX_POLLIN;
    if (file_writable(f))
        want |= LX_POLLOUT;
    got = host_poll_now(hf->fd, want);
    poll_wait(pt, &hf->wait);
    /* A task that is about to wait is woken by what it asked for even if that seems to be there:
     * its transfer has just failed. */
    host_stream_watch(hf, pt && pt->task ? want & pt->mask : want & ~got);
    if (got & LX_POLLIN)
        got |= LX_POLLRDNORM;
    if (got & LX_POLLOUT)
        got |= LX_POLLWRNORM;
    return got;
}

static struct sys_res host_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    (void)f;
    (void)t;
    (void)cmd;
    (void)arg;
    return sys_ret(-ENOTTY);
}

static void host_release(struct file *f)
{
    struct host_file *hf = f->priv;

    if (!hf || --hf->ref > 0)
        return;
    hf->inode->priv = NULL;
    host_watch_done(&hf->watch);
    wait_queue_done(&hf->wait);
    host_close(hf->fd);
    kfree(hf);
}

static const struct file_ops host_stream_ops = {
    .read = host_stream_read,
    .write = host_stream_write,
    .poll = host_stream_poll,
    .async = true,
    .ioctl = host_ioctl,
    .release = host_release,
};

/* -- regular files ---------------------------------------------------------------------------- */

static int64_t host_regular_seek(struct file *f, int64_t off, int whence)
{
    struct host_file *hf = f->priv;
    int64_t r = host_lseek(hf->fd, off, whence);

    return r < 0 ? host_to_guest(r) : r;
}

/* Transfers at the offset that the caller's descriptor shares. Without waiting for the disk the
 * host may refuse; then at an explicit offset. */
static int64_t host_shared_move(int fd, size_t len, bool write)
{
    int64_t n = write ? host_write_nowait(fd, bounce, len) : host_read_nowait(fd, bounce, len), off;

    if (n != -EAGAIN)
        return n;
    off = host_lseek(fd, 0, LX_SEEK_CUR);
    if (off < 0)
        return off;
    n = write ? host_pwrite(fd, bounce, len, (uint64_t)off)
              : host_pread(fd, bounce, len, (uint64_t)off);
    if (n > 0)
        (void)host_lseek(fd, n, LX_SEEK_CUR);
    return n;
}

/* pos is the file's own position (then the shared offset counts) or that of pread/pwrite. */
static int64_t host_regular_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct host_file *hf = f->priv;
    int64_t done = 0;

    while (to->left > 0) {
        size_t want = MIN(to->left, (size_t)BOUNCE_SIZE);
        int64_t n = pos == &f->pos ? host_shared_move(hf->fd, want, false)
                                   : host_pread(hf->fd, bounce, want, *pos);
        int64_t c;

        if (n <= 0) {
            if (n < 0 && done == 0)
                done = host_to_guest(n);
            break;
        }
        c = uio_copy_to(to, bounce, (size_t)n);
        if (c < n && pos == &f->pos)
            (void)host_lseek(hf->fd, (c < 0 ? 0 : c) - n, LX_SEEK_CUR);
        if (c < 0)
            return done ? done : c;
        if (pos != &f->pos)
            *pos += (uint64_t)c;
        done += c;
        if (c < (int64_t)want)
            break;
    }
    return done;
}

static int64_t host_regular_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct host_file *hf = f->priv;
    int64_t done = 0;

    while (from->left > 0) {
        int64_t n = uio_copy_from(from, bounce, MIN(from->left, (size_t)BOUNCE_SIZE));
        int64_t w;

        if (n < 0)
            return done ? done : n;
        size_t may = output_clip(hf, (size_t)n);
        if (may == 0)
            return done ? done : -EPIPE;
        w = pos == &f->pos ? host_shared_move(hf->fd, may, true)
                           : host_pwrite(hf->fd, bounce, may, *pos);
        if (w < 0) {
            if (done == 0)
                done = host_to_guest(w);
            break;
        }
        if (pos != &f->pos)
            *pos += (uint64_t)w;
        done += w;
        output_passed(hf, bounce, (size_t)w);
        if (w < n)
            break;
    }
    return done;
}

static const struct file_ops host_regular_ops = {
    .read = host_regular_read,
    .write = host_regular_write,
    .seek = host_regular_seek,
    .ioctl = host_ioctl,
    .release = host_release,
};

/* -- making and asking ------------------------------------------------------------------------ */

static void host_attach(struct host_file *hf, struct file *f)
{
    hf->ref++;
    f->ops = hf->regular ? &host_regular_ops : &host_stream_ops;
    f->priv = hf;
    f->anon_name = hf->name;
}

/* open("/proc/self/fd/1"): one more file on the same host descriptor. */
static int host_reopen(struct anon_opener *o, struct file *f)
{
    host_attach(container_of(o, struct host_file, opener), f);
    return 0;
}

int host_file_new(int fd, uint32_t flags, const char *name, struct file **ret_file)
{
    struct host_file *hf = kalloc(sizeof(*hf));
    uint32_t mode, guest_mode = LX_S_IFIFO | 0600;
    uint64_t size;
    int r;

    if (!hf)
        return -ENOMEM;
    r = host_fstat(fd, &mode, &size);
    if (r < 0) {
        kfree(hf);
        return host_to_guest(r);
    }
    *hf = (struct host_file){.opener.open = host_reopen, .fd = fd, .name = name};
    hf->tty = host_isatty(fd);
    hf->regular = LX_S_ISREG(mode);
    wait_queue_init(&hf->wait);
    if (hf->regular)
        guest_mode = LX_S_IFREG | 0600;
    else if (LX_S_ISCHR(mode) && !hf->tty)
        guest_mode = LX_S_IFCHR | 0666;
    else
        hf->name = "pipe";
    r = anon_inode_file_new(hf->name, guest_mode, &host_stream_ops, flags, NULL, ret_file);
    if (r < 0) {
        kfree(hf);
        return r;
    }
    if (!hf->regular)
        (void)host_watch_init(&hf->watch, fd, host_stream_ready);
    /* What the host cannot watch (/dev/null and its like) never makes anybody wait. */
    hf->always_ready = !hf->watch.registered;
    hf->inode = (*ret_file)->inode;
    hf->inode->priv = &hf->opener;
    hf->inode->size = hf->regular ? size : 0;
    host_attach(hf, *ret_file);
    return 0;
}

static const struct host_file *host_file_of(const struct file *f)
{
    return f->ops == &host_stream_ops || f->ops == &host_regular_ops ? f->priv : NULL;
}

uint64_t host_file_written(const struct file *f)
{
    const struct host_file *hf = host_file_of(f);

    return hf && hf->output ? hf->output->bytes : 0;
}

void host_file_set_output(struct file *f, struct host_output *out)
{
    struct host_file *hf = f->priv;

    hf->output = out;
}
