/* Growing byte buffer; see buf.h. */
#include "lib/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/assert.h"

enum {
    FIRST_CAP = 64
};

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    kfree(b->data);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->error = 0;
    if (b->data)
        b->data[0] = '\0';
}

/* Makes room for n more bytes and the NUL behind them. */
static int reserve(struct buf *b, size_t n)
{
    if (b->error)
        return b->error;
    if (n > b->max - b->len)
        return b->error = -E2BIG;
    size_t need = b->len + n + 1;
    if (need <= b->cap)
        return 0;
    size_t cap = MAX(b->cap, (size_t)FIRST_CAP);
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *grown = krealloc(b->data, cap);
    if (!grown)
        return b->error = -ENOMEM;
    b->data = grown;
    b->cap = cap;
    return 0;
}

void *buf_extend(struct buf *b, size_t n)
{
    if (reserve(b, n))
        return NULL;
    char *start = b->data + b->len;
    memset(start, 0, n + 1);
    b->len += n;
    return start;
}

int buf_append(struct buf *b, const void *p, size_t n)
{
    int err = reserve(b, n);

    if (err)
        return err;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_puts(struct buf *b, const char *s)
{
    return buf_append(b, s, strlen(s));
}

int buf_putc(struct buf *b, char c)
{
    return buf_append(b, &c, 1);
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    char small[256];
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(small, sizeof(small), fmt, ap);
    int err = n < 0 ? -EINVAL : 0;
    if (n >= 0 && (size_t)n < sizeof(small)) {
        err = buf_append(b, small, (size_t)n);
    } else if (n >= 0) {
        err = reserve(b, (size_t)n);
        if (!err) {
            (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
            b->len += (size_t)n;
        }
    }
    va_end(again);
    return err;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int err = buf_vprintf(b, fmt, ap);
    va_end(ap);
    return err;
}

void buf_consume(struct buf *b, size_t n)
{
    KASSERT(n <= b->len);
    if (n == 0)
        return;
    memmove(b->data, b->data + n, b->len - n + 1);
    b->len -= n;
}

int buf_error(const struct buf *b)
{
    return b->error;
}

const char *buf_cstr(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
    char *data = b->data;

    b->data = NULL;
    buf_init(b, b->max);
    return data;
}
