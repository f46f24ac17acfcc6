/*
 * Structures of calls that wait on descriptors and of sockets, for --strace; see argfmt_struct.c.
 */
#include "lib/compiler.h"

#include <inttypes.h>
#include <string.h>

#include "abi/poll.h"
#include "abi/socket.h"

#include "sentry/sys/argfmt_private.h"

/* -- waiting on descriptors ----------------------------------------------------------------------
 */

static const struct argfmt_name event_names[] = {
    {LX_EPOLLIN, "IN"},         {LX_EPOLLPRI, "PRI"},         {LX_EPOLLOUT, "OUT"},
    {LX_EPOLLERR, "ERR"},       {LX_EPOLLHUP, "HUP"},         {LX_EPOLLNVAL, "NVAL"},
    {LX_EPOLLRDNORM, "RDNORM"}, {LX_EPOLLRDBAND, "RDBAND"},   {LX_EPOLLWRNORM, "WRNORM"},
    {LX_EPOLLWRBAND, "WRBAND"}, {LX_EPOLLRDHUP, "RDHUP"},     {LX_EPOLLEXCLUSIVE, "EXCLUSIVE"},
    {LX_EPOLLWAKEUP, "WAKEUP"}, {LX_EPOLLONESHOT, "ONESHOT"}, {LX_EPOLLET, "ET"},
};
static const struct argfmt_flags event_flags = {0, NULL, 0, event_names, ARRAY_LEN(event_names)};

/* Before the call the events asked for; after it those that occurred. */
static void put_pollfds(struct argfmt *f, unsigned i, uint64_t v)
{
    struct lx_pollfd pfd;
    uint32_t count = i < 5 ? MIN((uint32_t)f->args[i + 1], 1024u) : 0;
    const char *sep = "";
    buf_putc(f->out, '[');
    for (uint32_t n = 0; n < count; n++) {
        if (n == ARGFMT_LIST_MAX) {
            buf_puts(f->out, ", ...");
            break;
        }
        if (!argfmt_fetch(f, v + n * sizeof(pfd), &pfd, sizeof(pfd)))
            break;
        if (f->after && pfd.revents == 0)
            continue;
        buf_printf(f->out, "%s{fd=%" PRId32 ", %s=", sep, pfd.fd, f->after ? "revents" : "events");
        argfmt_put_flags(f->out, &event_flags, (uint16_t)(f->after ? pfd.revents : pfd.events));
        buf_putc(f->out, '}');
        sep = ", ";
    }
    buf_putc(f->out, ']');
}

static void put_fdset(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    uint64_t words[LX_FD_SETSIZE / 64];
    uint32_t nfds = MIN((uint32_t)f->args[0], (uint32_t)LX_FD_SETSIZE);
    size_t nwords = (nfds + 63) / 64;
    const char *sep = "";
    if (!argfmt_fetch(f, v, words, nwords * 8))
        return;
    buf_putc(f->out, '[');
    for (uint32_t fd = 0; fd < nfds; fd++) {
        if ((words[fd / 64] >> (fd % 64) & 1) == 0)
            continue;
        buf_printf(f->out, "%s%" PRIu32, sep, fd);
        sep = " ";
    }
    buf_putc(f->out, ']');
}

static void put_epoll_event(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_epoll_event ev;
    if (!argfmt_fetch(f, v, &ev, sizeof(ev)))
        return;
    buf_puts(f->out, "{events=");
    argfmt_put_flags(f->out, &event_flags, ev.events);
    buf_printf(f->out, ", data=0x%" PRIx64 "}", ev.data);
}

static void put_epoll_events(struct argfmt *f, unsigned i, uint64_t v)
{
    if (argfmt_nothing_written(f, v))
        return;
    buf_putc(f->out, '[');
    for (int64_t n = 0; n < f->result; n++) {
        if (n > 0)
            buf_puts(f->out, ", ");
        if (n == ARGFMT_LIST_MAX) {
            buf_puts(f->out, "...");
            break;
        }
        put_epoll_event(f, i, v + (uint64_t)n * sizeof(struct lx_epoll_event));
    }
    buf_putc(f->out, ']');
}

/* -- sockets ----------------------------------------------------------------------------------- */

static void put_address_of(struct argfmt *f, uint64_t v, uint64_t len)
{
    struct lx_sockaddr_un un;
    memset(&un, 0, sizeof(un));
    if (len < sizeof(un.sun_family) || len > sizeof(struct lx_sockaddr_storage)) {
        argfmt_put_addr(f->out, v);
        return;
    }
    size_t take = MIN((size_t)len, sizeof(un));
    if (!argfmt_fetch(f, v, &un, take))
        return;
    buf_puts(f->out, "{sa_family=");
    argfmt_put_kind(f, 0, A_AF, un.sun_family);
    if (un.sun_family == LX_AF_UNIX && take > sizeof(un.sun_family)) {
        size_t n = take - sizeof(un.sun_family);
        bool abstract = un.sun_path[0] == '\0';
        buf_puts(f->out, abstract ? ", sun_path=@" : ", sun_path=");
        if (abstract)
            argfmt_bytes(f->out, un.sun_path + 1, n - 1);
        else
            argfmt_bytes(f->out, un.sun_path, strnlen(un.sun_path, n));
    }
    buf_putc(f->out, '}');
}

static void put_sockaddr(struct argfmt *f, unsigned i, uint64_t v)
{
    put_address_of(f, v, i < 5 ? (uint32_t)f->args[i + 1] : 0);
}

static void put_sockaddr_out(struct argfmt *f, unsigned i, uint64_t v)
{
    uint32_t len;
    if (argfmt_nothing_written(f, v))
        return;
    if (v == 0 || i >= 5 || f->read(f->ctx, GADDR(f->args[i + 1]), &len, 4) != 4)
        argfmt_put_addr(f->out, v);
    else
        put_address_of(f, v, len);
}

static void put_message(struct argfmt *f, uint64_t v, uint64_t total)
{
    struct lx_msghdr mh;
    if (!argfmt_fetch(f, v, &mh, sizeof(mh)))
        return;
    buf_puts(f->out, "{msg_name=");
    put_address_of(f, mh.msg_name.v, mh.msg_name.v ? (uint32_t)mh.msg_namelen : 0);
    buf_puts(f->out, ", msg_iov=");
    argfmt_put_segments(f, mh.msg_iov.v, mh.msg_iovlen, total);
    buf_printf(f->out, ", msg_controllen=%" PRIu64 "}", mh.msg_controllen);
}

static void put_msghdr(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_message(f, v, UINT64_MAX);
}

static void put_msghdr_out(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_message(f, v, (uint64_t)f->result);
}

static const struct argfmt_kind kinds[A_COUNT] = {
    [A_POLLFDS] = {.fn = put_pollfds},
    [A_FDSET] = {.fn = put_fdset},
    [A_EPOLL_EVENT] = {.fn = put_epoll_event},
    [A_EPOLL_EVENTS_OUT] = {.fn = put_epoll_events, .out = true},
    [A_SOCKADDR] = {.fn = put_sockaddr},
    [A_SOCKADDR_OUT] = {.fn = put_sockaddr_out, .out = true},
    [A_MSGHDR] = {.fn = put_msghdr},
    [A_MSGHDR_OUT] = {.fn = put_msghdr_out, .out = true},
};

const struct argfmt_kind *argfmt_io_kind(enum syscall_arg_kind kind)
{
    return kinds[kind].fn ? &kinds[kind] : NULL;
}
