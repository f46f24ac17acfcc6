/*
 * unpack.c: the side that is trusted: starts the child, verifies digests, believes little.
 */
#include "rootfs/unpack.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "rootfs/confine.h"
#include "rootfs/source.h"
#include "rootfs/unpack_child.h"

/* A layer that waits to be hashed. */
struct check {
    struct blob blob;
    struct digest want;
    uint32_t layer;
};

struct unpack {
    const struct unpack_request *q;
    struct unpack_result *result;
    struct source source; /* of a layout: opens blobs by digest */
    int sock;
    pid_t pid;
    bool planned, done, stop;
    struct check *checks;
    size_t nchecks, next; /* [next, nchecks) are still to be hashed */
    struct blob_hash hash;
    bool hashing, shown;
    struct buf config;
    struct error *err;
};

void unpack_result_done(struct unpack_result *r)
{
    image_config_done(&r->config);
}

/* --- messages of the child
 * ------------------------------------------------------------------------- */

static int lie(struct unpack *u)
{
    return error_set(u->err, EPROTO, "the unpacking process sent nonsense");
}

static int add_check(struct unpack *u, const struct unpack_message *m)
{
    struct blob b = {.fd = m->where == UNPACK_IN_SCRATCH ? u->q->scratch : u->q->image};
    struct stat st;
    if (u->nchecks >= u->q->limits->layers)
        return lie(u);
    if (u->q->is_dir) {
        int r = source_find_digest(&u->source, &m->digest, &b, u->err);
        if (r < 0)
            return r;
    } else {
        if (m->where > UNPACK_IN_SCRATCH || fstat(b.fd, &st) < 0 || m->off > (uint64_t)st.st_size ||
            m->size > (uint64_t)st.st_size - m->off)
            return lie(u);
        b.off = m->off;
        b.size = m->size;
    }
    struct check *v = krealloc(u->checks, (u->nchecks + 1) * sizeof(*v));
    if (v == NULL)
        return error_set(u->err, ENOMEM, "no memory");
    u->checks = v;
    v[u->nchecks++] = (struct check){.blob = b, .want = m->digest, .layer = m->n};
    return 0;
}

static void show(struct unpack *u, const struct unpack_message *m)
{
    if (!u->q->progress)
        return;
    (void)fprintf(stderr, "\rsentry: unpacking layer %u of %u, %llu MiB\033[K", m->n + 1, m->total,
                  (unsigned long long)(m->size >> 20));
    u->shown = true;
}

static int child_failed(struct unpack *u, const struct unpack_message *m)
{
    char text[sizeof(u->err->text)];
    size_t n = 0;
    /* Whatever it says goes to a terminal, perhaps. */
    for (const char *p = m->text; *p != '\0' && n + 1 < sizeof(text); p++, n++) {
        text[n] = *p;
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            text[n] = '?';
    }
    text[n] = '\0';
    int code = m->n > 0 && m->n < 4096 ? (int)m->n : EINVAL;
    return error_set(u->err, code, "%s", text);
}

static int handle(struct unpack *u, struct unpack_message *m)
{
    if (m->kind != UNPACK_CONFIG)
        m->text[sizeof(m->text) - 1] = '\0';
    if (!u->planned && m->kind != UNPACK_PLAN && m->kind != UNPACK_FAILED)
        return lie(u);
    switch (m->kind) {
    case UNPACK_PLAN:
        if (u->planned)
            return lie(u);
        u->planned = true;
        u->result->id = m->digest;
        (void)snprintf(u->result->name, sizeof(u->result->name), "%.500s", m->text);
        u->result->known = u->q->known != NULL && u->q->known(u->q->arg, &m->digest);
        u->stop = u->result->known;
        return 0;
    case UNPACK_LAYER:
        return add_check(u, m);
    case UNPACK_PROGRESS:
        show(u, m);
        return 0;
    case UNPACK_CONFIG:
        if (m->n > sizeof(m->text))
            return lie(u);
        (void)buf_append(&u->config, m->text, m->n);
        return buf_error(&u->config) < 0 ? lie(u) : 0;
    case UNPACK_DONE:
        u->result->notes = m->notes;
        u->done = true;
        return 0;
    case UNPACK_FAILED:
        return child_failed(u, m);
    default:
        return lie(u);
    }
}

static int receive(struct unpack *u, bool *ret_end)
{
    static struct unpack_message m;
    ssize_t n = recv(u->sock, &m, sizeof(m), 0);
    *ret_end = n == 0 || (n < 0 && errno != EINTR);
    if (n <= 0)
        return 0;
    return n == (ssize_t)sizeof(m) ? handle(u, &m) : lie(u);
}

/* --- digests
 * --------------------------------------------------------------------------------------- */

static int hash_some(struct unpack *u)
{
    struct check *c = &u->checks[u->next];
    struct digest got;
    char hex[13];
    if (!u->hashing)
        blob_hash_begin(&u->hash, &c->blob);
    u->hashing = true;
    int r = blob_hash_step(&u->hash, &got);
    if (r > 0)
        return 0;
    u->hashing = false;
    u->next++;
    digest_short(&c->want, hex);
    if (r < 0)
        return error_errno(u->err, -r, "layer %u (%s)", c->layer + 1, hex);
    if (!digest_equal(&got, &c->want))
        return error_set(u->err, EBADMSG, "layer %u (%s): its content does not match its digest",
                         c->layer + 1, hex);
    return 0;
}

/* Hashes while there is nothing to read. */
static int loop(struct unpack *u)
{
    bool end = false;
    int r = 0;
    while (r == 0 && !u->stop && !(end && u->next == u->nchecks)) {
        bool work = u->next < u->nchecks;
        struct pollfd p = {.fd = end ? -1 : u->sock, .events = POLLIN};
        int n = poll(&p, 1, work ? 0 : -1);
        if (n > 0)
            r = receive(u, &end);
        else if (work)
            r = hash_some(u);
    }
    return r;
}

/* --- the whole
 * ------------------------------------------------------------------------------------- */

static int start(struct unpack *u)
{
    const struct unpack_request *q = u->q;
    uint64_t seed = 0;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(u->err, errno, "socketpair");
    struct unpack_box box = {
        .target = q->target,
        .source = q->is_dir ? q->image : -1,
        .blobs = q->blobs,
        .files = {pair[1], q->is_dir ? -1 : q->image, q->scratch, -1},
    };
    (void)!getrandom(&seed, sizeof(seed), 0);
    hash_set_seed(seed);
    pid_t pid = unpack_box_fork(&box, u->err);
    if (pid == 0)
        unpack_child(q, &box, pair[1]);
    fd_close(pair[1]);
    u->sock = pair[0];
    u->pid = pid;
    return pid < 0 ? (int)pid : 0;
}

static int ended_badly(struct unpack *u, int status)
{
    if (WIFSIGNALED(status))
        return error_set(u->err, EIO, "the unpacking process was killed by signal %d",
                         WTERMSIG(status));
    return error_set(u->err, EIO, "the unpacking process ended with status %d",
                     WEXITSTATUS(status));
}

int unpack_image(const struct unpack_request *q, struct unpack_result *ret_result,
                 struct error *err)
{
    struct unpack u = {.q = q, .result = ret_result, .sock = -1, .err = err};
    int status = 0;

    *ret_result = (struct unpack_result){0};
    source_init_dir(&u.source, q->is_dir ? q->image : -1, q->blobs);
    buf_init(&u.config, IMAGE_CONFIG_BYTES);
    int r = start(&u);
    if (r == 0) {
        r = loop(&u);
        if (r < 0 || u.stop)
            (void)kill(u.pid, SIGKILL);
        while (waitpid(u.pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (r == 0 && !u.stop && (!u.done || status != 0))
            r = ended_badly(&u, status);
    }
    if (u.shown)
        (void)fputs("\r\033[K", stderr);
    if (r == 0 && !u.stop)
        r = image_config_read(&ret_result->config, u.config.data, u.config.len, err);
    if (r < 0)
        unpack_result_done(ret_result);
    fd_close(u.sock);
    buf_done(&u.config);
    kfree(u.checks);
    source_done(&u.source);
    return r;
}
