/*
 * ahead.c: the threads beside the one that unpacks.
 *
 * Pieces go round a ring. One thread fills them, another hashes them, the reader reads them; a
 * piece is filled again when both have left it behind. Three counters that only grow say how far
 * each is.
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
    PIECES = 16,
    PIECE = 256 * 1024
};

struct piece {
    uint8_t *data;
    size_t len;
};

struct ahead {
    struct archive *raw; /* the filling thread's until it was joined */
    bool hashing;
    struct digest_state hash; /* the hashing thread's until it was joined */
    pthread_t filler, hasher;
    pthread_mutex_t lock;
    pthread_cond_t room, ready, fresh; /* for the filler, the reader, the hasher */
    /* guarded by lock; the bytes of pieces between `left behind` and `filled` do not change */
    struct piece pieces[PIECES];
    uint64_t filled, hashed, read;
    bool end, stop, taken; /* taken: the reader still looks at piece `read` */
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

/* Pieces that somebody still needs. Under the lock. */
static uint64_t in_use(const struct ahead *a)
{
    uint64_t behind = a->hashing ? MIN(a->hashed, a->read) : a->read;
    return a->filled - behind;
}

/* The filler sleeps until half of the ring is free: waking it for each piece costs more. */
static void offer_room(struct ahead *a)
{
    if (in_use(a) <= PIECES / 2)
        (void)pthread_cond_signal(&a->room);
}

static void *fill_pieces(void *arg)
{
    struct ahead *a = arg;
    struct left left = {0};
    bool end = false;
    int r = 0;
    (void)pthread_mutex_lock(&a->lock);
    while (r == 0 && !end && !a->stop) {
        if (in_use(a) == PIECES) {
            (void)pthread_cond_wait(&a->room, &a->lock);
            continue;
        }
        struct piece *p = &a->pieces[a->filled % PIECES];
        (void)pthread_mutex_unlock(&a->lock);
        r = fill(a, p, &left, &end);
        (void)pthread_mutex_lock(&a->lock);
        if (r == 0 && p->len > 0)
            a->filled++;
        (void)pthread_cond_signal(&a->ready);
        (void)pthread_cond_signal(&a->fresh);
    }
    if (r < 0) {
        const char *why = archive_error_string(a->raw);
        (void)snprintf(a->text, sizeof(a->text), "%s", why != NULL ? why : "unknown");
        a->error = r;
    }
    a->end = true;
    (void)pthread_cond_signal(&a->ready);
    (void)pthread_cond_signal(&a->fresh);
    (void)pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void *hash_pieces(void *arg)
{
    struct ahead *a = arg;
    (void)pthread_mutex_lock(&a->lock);
    while (!a->stop && !(a->end && a->hashed == a->filled)) {
        if (a->hashed == a->filled) {
            (void)pthread_cond_wait(&a->fresh, &a->lock);
            continue;
        }
        const struct piece *p = &a->pieces[a->hashed % PIECES];
        (void)pthread_mutex_unlock(&a->lock);
        digest_update(&a->hash, p->data, p->len);
        (void)pthread_mutex_lock(&a->lock);
        a->hashed++;
        offer_room(a);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void free_pieces(struct ahead *a)
{
    for (size_t i = 0; i < PIECES; i++)
        kfree(a->pieces[i].data);
    kfree(a);
}

static void stop(struct ahead *a)
{
    (void)pthread_mutex_lock(&a->lock);
    a->stop = true;
    (void)pthread_cond_signal(&a->room);
    (void)pthread_cond_signal(&a->fresh);
    (void)pthread_mutex_unlock(&a->lock);
}

static int start(struct ahead *a)
{
    int r = pthread_create(&a->filler, NULL, fill_pieces, a);
    if (r != 0 || !a->hashing)
        return r;
    r = pthread_create(&a->hasher, NULL, hash_pieces, a);
    if (r != 0) {
        stop(a);
        (void)pthread_join(a->filler, NULL);
    }
    return r;
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
    (void)pthread_cond_init(&a->room, NULL);
    (void)pthread_cond_init(&a->ready, NULL);
    (void)pthread_cond_init(&a->fresh, NULL);
    int r = start(a);
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
    stop(a);
    (void)pthread_join(a->filler, NULL);
    if (a->hashing)
        (void)pthread_join(a->hasher, NULL);
    (void)pthread_mutex_destroy(&a->lock);
    (void)pthread_cond_destroy(&a->room);
    (void)pthread_cond_destroy(&a->ready);
    (void)pthread_cond_destroy(&a->fresh);
    free_pieces(a);
}

int64_t ahead_next(struct ahead *a, const void **ret_data, struct error *err)
{
    int64_t n = 0;
    (void)pthread_mutex_lock(&a->lock);
    if (a->taken) {
        a->taken = false;
        a->read++;
        offer_room(a);
    }
    while (a->read == a->filled && !a->end)
        (void)pthread_cond_wait(&a->ready, &a->lock);
    if (a->read < a->filled) {
        const struct piece *p = &a->pieces[a->read % PIECES];
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
    /* It ends by itself once everything is hashed. */
    if (a->hashing)
        (void)pthread_join(a->hasher, NULL);
    a->hashing = false;
    digest_end(&a->hash, ret_d);
}
