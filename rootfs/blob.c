/*
 * blob.c: reading parts of files.
 */
#include "rootfs/blob.h"

#include <errno.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    HASH_PIECE = 1 << 20,
    HASH_BUFFER = 1 << 16
};

int64_t blob_read(const struct blob *b, uint64_t pos, void *buf, size_t n)
{
    if (pos >= b->size)
        return 0;
    n = (size_t)MIN((uint64_t)n, b->size - pos);
    int64_t got = fd_pread_full(b->fd, buf, n, b->off + pos);
    if (got < 0)
        return got;
    return got < (int64_t)n ? -EIO : got;
}

int blob_read_all(const struct blob *b, size_t max, char **ret_data, size_t *ret_len,
                  struct error *err)
{
    if (b->size > max)
        return error_set(err, EFBIG, "%llu bytes, at most %zu are allowed",
                         (unsigned long long)b->size, max);
    char *data = kalloc((size_t)b->size + 1);
    if (data == NULL)
        return error_set(err, ENOMEM, "no memory");
    int64_t n = blob_read(b, 0, data, (size_t)b->size);
    if (n < 0) {
        kfree(data);
        return error_errno(err, (int)-n, "reading");
    }
    *ret_data = data;
    *ret_len = (size_t)n;
    return 0;
}

void blob_hash_begin(struct blob_hash *h, const struct blob *b)
{
    h->blob = *b;
    h->pos = 0;
    digest_begin(&h->state);
}

int blob_hash_step(struct blob_hash *h, struct digest *ret_d)
{
    static uint8_t buffer[HASH_BUFFER];
    uint64_t end = MIN(h->blob.size, h->pos + HASH_PIECE);
    while (h->pos < end) {
        int64_t n = blob_read(&h->blob, h->pos, buffer, sizeof(buffer));
        if (n <= 0)
            return n < 0 ? (int)n : -EIO;
        digest_update(&h->state, buffer, (size_t)n);
        h->pos += (uint64_t)n;
    }
    if (h->pos < h->blob.size)
        return 1;
    digest_end(&h->state, ret_d);
    return 0;
}
