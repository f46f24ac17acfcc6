/*
 * Bytes of a process's memory: mem (whatever the protection, as for ptrace), and the argument and
 * environment strings.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/force.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

#define CHUNK 4096u

/* Reads guest memory of any process: bytes, 0 at the first unreadable one. */
static size_t read_mm(struct mm *mm, uint64_t addr, void *to, size_t len)
{
    struct plat_seg seg = {addr, len};
    int64_t n;

    if (!mm->as || addr >= LX_TASK_SIZE || len > LX_TASK_SIZE - addr)
        return 0;
    n = plat_ops->read(mm->as, &seg, 1, to, len);
    return n < 0 ? 0 : (size_t)n;
}

/* The rights of the opener were to one address space: an exec gives it up for another. */
int proc_mem_open(const struct gen_inode *gi, struct file *f)
{
    uint64_t *id = kalloc(sizeof(*id));

    if (!id)
        return -ENOMEM;
    *id = proc_mm_id(gi);
    f->priv = id;
    return 0;
}

static void mem_release(struct file *f)
{
    kfree(f->priv);
    f->priv = NULL;
}

static struct mm *mem_mm(const struct file *f)
{
    struct mm *mm = proc_mm(gen_inode_of(f->inode));
    const uint64_t *id = f->priv;

    return mm && mm->id == *id ? mm : NULL;
}

static int64_t mem_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct mm *mm = mem_mm(f);
    uint8_t chunk[CHUNK];
    int64_t done = 0;

    while (mm && to->left) {
        size_t want = CHUNK - (size_t)(*pos & (CHUNK - 1)), n;
        int64_t c;

        c = mm_force_copy(mm, *pos, chunk, MIN(want, to->left), false);
        if (c <= 0)
            return done ? done : -EIO;
        n = (size_t)c;
        c = uio_copy_to(to, chunk, n);
        if (c < 0)
            return done ? done : c;
        *pos += (uint64_t)c;
        done += c;
        if ((size_t)c < n)
            break;
    }
    return done;
}

static int64_t mem_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct mm *mm = mem_mm(f);
    uint8_t chunk[CHUNK];
    int64_t done = 0;

    while (mm && from->left) {
        size_t want = CHUNK - (size_t)(*pos & (CHUNK - 1));
        int64_t c = uio_copy_from(from, chunk, MIN(want, from->left));
        int64_t n;

        if (c <= 0)
            return done ? done : c;
        n = mm_force_copy(mm, *pos, chunk, (size_t)c, true);
        if (n <= 0)
            return done ? done : -EIO;
        *pos += (uint64_t)n;
        done += n;
        if (n < c)
            break;
    }
    return done;
}

static int64_t mem_seek(struct file *f, int64_t off, int whence)
{
    if (whence == LX_SEEK_CUR)
        off = (int64_t)(f->pos + (uint64_t)off);
    else if (whence != LX_SEEK_SET)
        return -EINVAL;
    if (off < 0 && off > -LX_MAX_ERRNO)
        return -EOVERFLOW;
    f->pos = (uint64_t)off;
    return off;
}

const struct file_ops proc_mem_ops = {
    .read = mem_read,
    .write = mem_write,
    .seek = mem_seek,
    .release = mem_release,
};

static int put_range(struct buf *out, struct mm *mm, uint64_t from, uint64_t to)
{
    uint8_t chunk[CHUNK];

    while (from < to) {
        size_t n = read_mm(mm, from, chunk, (size_t)MIN((uint64_t)CHUNK, to - from));

        if (n == 0)
            break;
        if (buf_append(out, chunk, n) < 0)
            break;
        from += n;
    }
    return buf_error(out);
}

/*
 * A program that overwrote its arguments (setproctitle) has removed the NUL at their end; then the
 * title is a string that may run on into the environment.
 */
int proc_show_cmdline(struct gen_inode *gi, struct buf *out)
{
    struct mm *mm = proc_mm(gi);
    uint8_t last;
    int r;

    if (!mm || mm->arg_end <= mm->arg_start)
        return 0;
    r = put_range(out, mm, mm->arg_start, mm->arg_end);
    if (r < 0 || out->len == 0)
        return r;
    last = (uint8_t)out->data[out->len - 1];
    if (last != 0 && mm->env_start == mm->arg_end && mm->env_end > mm->env_start)
        r = put_range(out, mm, mm->env_start, mm->env_end);
    if (last != 0 && r == 0) {
        size_t n = strnlen(out->data, out->len);

        out->len = MIN(n + 1, out->len);
    }
    return r;
}

size_t proc_command_line(const struct task *t, char *buf, size_t cap)
{
    const struct mm *mm = t->mm;
    if (mm == NULL || mm->arg_end <= mm->arg_start)
        return 0;
    size_t n =
        read_mm(t->mm, mm->arg_start, buf, (size_t)MIN((uint64_t)cap, mm->arg_end - mm->arg_start));
    while (n > 0 && buf[n - 1] == '\0')
        n--;
    for (size_t i = 0; i < n; i++) {
        if (buf[i] == '\0')
            buf[i] = ' ';
    }
    return n;
}

int proc_show_environ(struct gen_inode *gi, struct buf *out)
{
    struct mm *mm = proc_mm(gi);

    return mm && mm->env_end > mm->env_start ? put_range(out, mm, mm->env_start, mm->env_end) : 0;
}

int proc_show_auxv(struct gen_inode *gi, struct buf *out)
{
    struct mm *mm = proc_mm(gi);

    return mm ? buf_append(out, mm->auxv, MIN(mm->auxv_len, sizeof(mm->auxv))) : 0;
}
