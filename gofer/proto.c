/*
 * The encoder and decoder of the gofer's protocol, used by both sides. Neither allocates. A writer
 * that runs out of space and a reader that runs out of bytes go into a sticky error state and
 * hand out zeroes or NULL, so callers check once at the end; every length is compared with what
 * is left before it is used, so no sum of two hostile numbers is ever formed.
 */
#include "gofer/proto.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include <sys/socket.h>

#include "lib/fdio.h"

enum {
    SPINS = 100
}; /* about 40 microseconds */

void gofer_out_init(struct gofer_out *o, void *buf, size_t cap)
{
    *o = (struct gofer_out){.data = buf, .cap = cap};
}

void *gofer_put_space(struct gofer_out *o, size_t n)
{
    if (o->full || n > o->cap - o->size) {
        o->full = true;
        return NULL;
    }
    void *at = o->data + o->size;
    memset(at, 0, n);
    o->size += n;
    return at;
}

void gofer_put(struct gofer_out *o, const void *bytes, size_t n)
{
    if (o->full || n > o->cap - o->size) {
        o->full = true;
        return;
    }
    if (n > 0)
        memcpy(o->data + o->size, bytes, n);
    o->size += n;
}

void gofer_put_name(struct gofer_out *o, const char *name, size_t len)
{
    if (len > GOFER_NAME_MAX) {
        o->full = true;
        return;
    }
    uint16_t wire_len = (uint16_t)len;
    gofer_put(o, &wire_len, sizeof(wire_len));
    gofer_put(o, name, len);
}

void gofer_in_init(struct gofer_in *in, const void *data, size_t size)
{
    *in = (struct gofer_in){.data = data, .left = size};
}

const void *gofer_get_bytes(struct gofer_in *in, size_t n)
{
    if (in->bad || n > in->left) {
        in->bad = true;
        return NULL;
    }
    const void *at = in->data;
    in->data += n;
    in->left -= n;
    return at;
}

void gofer_get(struct gofer_in *in, void *ret, size_t n)
{
    const void *at = gofer_get_bytes(in, n);
    if (at)
        memcpy(ret, at, n);
    else
        memset(ret, 0, n);
}

static const char *get_name(struct gofer_in *in, size_t *ret_len,
                            bool (*valid)(const char *name, size_t len))
{
    uint16_t len;
    *ret_len = 0;
    gofer_get(in, &len, sizeof(len));
    const char *name = gofer_get_bytes(in, len);
    if (!name)
        return NULL;
    if (!valid(name, len)) {
        in->bad = true;
        return NULL;
    }
    *ret_len = len;
    return name;
}

const char *gofer_get_name(struct gofer_in *in, size_t *ret_len)
{
    return get_name(in, ret_len, gofer_name_valid);
}

const char *gofer_get_xattr_name(struct gofer_in *in, size_t *ret_len)
{
    return get_name(in, ret_len, gofer_xattr_name_valid);
}

bool gofer_in_done(const struct gofer_in *in)
{
    return !in->bad && in->left == 0;
}

unsigned gofer_spins(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) < 2)
        return 0;
    return SPINS;
}

static int wait_readable(const struct gofer_port *p)
{
    struct pollfd pfd = {.fd = p->sock, .events = POLLIN};
    for (;;) {
        int n = poll(&pfd, 1, p->timeout_ms);
        if (n > 0)
            return 0;
        if (n == 0)
            return -ETIMEDOUT;
        if (errno != EINTR)
            return -errno;
    }
}

int64_t gofer_recv(const struct gofer_port *p, void *buf, size_t n, int *fds, size_t max_fds,
                   size_t *ret_nfds)
{
    for (unsigned i = 0; i < p->spins; i++) {
        int64_t got = fd_recv(p->sock, buf, n, fds, max_fds, ret_nfds, MSG_DONTWAIT);
        if (got != -EAGAIN)
            return got;
        if (p->meanwhile != NULL)
            p->meanwhile(p->arg, p->sock);
    }
    int rc = p->timeout_ms ? wait_readable(p) : 0;
    return rc < 0 ? rc : fd_recv(p->sock, buf, n, fds, max_fds, ret_nfds, 0);
}

bool gofer_name_valid(const char *name, size_t len)
{
    if (len == 0 || len > GOFER_NAME_MAX)
        return false;
    if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
        return false;
    return !memchr(name, '/', len) && !memchr(name, '\0', len);
}

bool gofer_xattr_name_valid(const char *name, size_t len)
{
    return len > 0 && len <= GOFER_NAME_MAX && !memchr(name, '\0', len);
}

bool gofer_xattr_served(const char *name)
{
    return strncmp(name, "user.", 5) == 0 || strcmp(name, "security.capability") == 0;
}

bool gofer_link_valid(const char *target, size_t len)
{
    return len > 0 && len <= GOFER_LINK_MAX && !memchr(target, '\0', len);
}

static bool time_valid(const struct gofer_time *t)
{
    return t->nsec < 1000000000u && t->zero == 0;
}

bool gofer_attr_valid(const struct gofer_attr *a)
{
    return a->zero == 0 && a->size <= INT64_MAX && time_valid(&a->atime) && time_valid(&a->mtime) &&
           time_valid(&a->ctime) && time_valid(&a->btime);
}
