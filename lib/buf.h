#pragma once
/*
 * Growing byte buffer with a hard cap. After the first failure the buffer keeps what it has and
 * remembers the error, so a generator can append many pieces and look once, at the end:
 *
 *      struct buf b;
 *      buf_init(&b, 64 * 1024);
 *      buf_printf(&b, ...);
 *      err = buf_error(&b);
 *
 * Embedded in its owner: buf_init, buf_done. The byte after the content is always NUL.
 */
#include "lib/compiler.h"

#include <stdarg.h>

struct buf {
    char *data; /* NULL while empty; use buf_cstr for a string */
    size_t len;
    size_t cap;
    size_t max; /* len never exceeds it */
    int error;  /* 0, -ENOMEM, or -E2BIG when max would be exceeded; sticky until buf_reset */
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);
/* Empties the buffer and forgets the error; keeps the memory. */
void buf_reset(struct buf *b);

/* Each returns 0 or the (sticky) error; on error nothing of this piece was appended. */
int buf_append(struct buf *b, const void *p, size_t n);
int buf_puts(struct buf *b, const char *s);
int buf_putc(struct buf *b, char c);
int buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF(2, 0);
/* n more zero bytes, returned for the caller to fill; NULL on error. */
void *buf_extend(struct buf *b, size_t n);
/* Drops the first n bytes (n <= len). */
void buf_consume(struct buf *b, size_t n);

int buf_error(const struct buf *b) MUST_CHECK;
/* The content as a string, "" when empty; borrowed until the next change. */
const char *buf_cstr(const struct buf *b);
/* The content, kfree'd by the caller (NULL when empty); the buffer is empty afterwards. */
char *buf_take(struct buf *b) MUST_CHECK;
