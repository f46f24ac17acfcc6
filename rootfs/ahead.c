/*
 * ahead.c: the reading thread.
 */
#include "rootfs/ahead.h"

#include <archive.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

enum {
    PIECES = 4,
    PIECE = 256 * 1024
};

struct piece {
    uint8_t *data;
    size_t len;
};

struct ahead {
    struct archive *raw; /* the thread's until it was joined */
    bool hashing;
    struct digest_state hash; /* the thread's until it was joined */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock; the bytes of pieces [first, first + full) are the reader's */
    struct piece pieces[PIECES];
    unsigned first, full;
    bool end, stop, taken; /* taken: the reader still looks at the piece at first */
    int error;
    char text[200];
};

/* What did not fit into the last piece. */
struct left {
    const uint8_t *data;
    size_t n;
};

/* One piece from as many blocks as fit. */
static int fill(struct ahead *a, struct piece *p, struct left *left, bool *ret_end)
{
    p->len = 0;
    *ret_end = false;
    while (p->len < PIECE) {
        if (left->n == 0) {
            const void *data;
            la_int64_t offset;
            int r = archive_read_data_block(a->raw, &data, &left->n, &offset);
            if (r == ARCHIVE_EOF) {
                left->n = 0;
                *ret_end = true;
                return 0;
            }
            if (r != ARCHIVE_OK)
                return -EINVAL;
            left->data = data;
        }
        size_t n = MIN(left->n, (size_t)PIECE - p->len);
        memcpy(p->data + p->len, left->data, n);
        p->len += n;
        left->data += n;
        left->n -= n;
    }
    return 0;
}

static void *read_ahead(void *arg)
{
    struct ahead *a = arg;
    struct left left = {0};
    bool end = false;
    int r = 0;
    (void)pthread_mutex_lock(&a->lock);
    while (r == 0 && !end && !a->stop) {
        if (a->full == PIECES) {
            (void)pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        struct piece *p = &a->pieces[(a->first + a->full) % PIECES];
        (void)pthread_mutex_unlock(&a->lock);
        r = fill(a, p, &left, &end);
        if (r == 0 && a->hashing)
            digest_update(&a->hash, p->data, p->len);
        (void)pthread_mutex_lock(&a->lock);
        if (r == 0 && p->len > 0)
            a->full++;
        (void)pthread_cond_signal(&a->changed);
    }
    if (r < 0) {
        const char *why = archive_error_string(a->raw);
        (void)snprintf(a->text, sizeof(a->text), "%s", why != NULL ? why : "unknown");
        a->error = r;
    }
    a->end = true;
    (void)pthread_cond_signal(&a->changed);
    (void)pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void free_pieces(struct ahead *a)
{
    for (size_t i = 0; i < PIECES; i++)
        kfree(a->pieces[i].data);
    kfree(a);
}

int ahead_new(struct archive *raw, bool hashing, struct ahead **ret, struct error *err)
{
    struct ahead *a = kalloc(sizeof(*a));
    if (a == NULL)
        return error_set(err, ENOMEM, "no memory");
    a->raw = raw;
    a->hashing = hashing;
    digest_begin(&a->hash);
    for (size_t i = 0; i < PIECES; i++) {
        a->pieces[i].data = kalloc(PIECE);
        if (a->pieces[i].data == NULL) {
            free_pieces(a);
            return error_set(err, ENOMEM, "no memory");
        }
    }
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->changed, NULL);
    int r = pthread_create(&a->thread, NULL, read_ahead, a);
    if (r != 0) {
        free_pieces(a);
        return error_errno(err, r, "a thread for decompressing");
    }
    *ret = a;
    return 0;
}

void ahead_free(struct ahead *a)
{
    if (a == NULL)
        return;
    (void)pthread_mutex_lock(&a->lock);
    a->stop = true;
    (void)pthread_cond_signal(&a->changed);
    (void)pthread_mutex_unlock(&a->lock);
    (void)pthread_join(a->thread, NULL);
    (void)pthread_mutex_destroy(&a->lock);
    (void)pthread_cond_destroy(&a->changed);
    free_pieces(a);
}

int64_t ahead_next(struct ahead *a, const void **ret_data, struct error *err)
{
    int64_t n = 0;
    (void)pthread_mutex_lock(&a->lock);
    if (a->taken) {
        a->taken = false;
        a->first = (a->first + 1) % PIECES;
        a->full--;
        (void)pthread_cond_signal(&a->changed);
    }
    while (a->full == 0 && !a->end)
        (void)pthread_cond_wait(&a->changed, &a->lock);
    if (a->full > 0) {
        const struct piece *p = &a->pieces[a->first];
        a->taken = true;
        *ret_data = p->data;
        n = (int64_t)p->len;
    } else if (a->error < 0) {
        n = error_set(err, -a->error, "decompressing: %s", a->text);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return n;
}

void ahead_digest(struct ahead *a, struct digest *ret_d)
{
    digest_end(&a->hash, ret_d);
}
