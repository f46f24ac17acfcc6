/*
 * Descriptors in flight: bytes make sockets, send them through each other, receive and close.
 * Whatever happened, once every table entry is closed and cycles are collected nothing is left.
 */
#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/anon/eventfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"

#define SLOTS 12

static struct file *table[SLOTS];
static struct thread_group group = {.pid = 1};
static struct cred cred = {.ref = 1};
static struct task task = {.group = &group, .cred = &cred};

static void make(unsigned i, unsigned j, unsigned kind)
{
    static const int types[] = {LX_SOCK_STREAM, LX_SOCK_DGRAM, LX_SOCK_SEQPACKET};

    if (table[i] || table[j] || i == j)
        return;
    if (kind == 3) {
        (void)!eventfd_new(0, 0, &table[i]);
        return;
    }
    if (unix_socket_new(types[kind], 0, &table[i]) < 0)
        return;
    if (unix_socket_new(types[kind], 0, &table[j]) < 0)
        return;
    unix_pair(file_socket(table[i]), file_socket(table[j]), &task);
}

static void send(struct file *via, struct file *f, size_t len)
{
    struct unix_send s = {.flags = 0};
    static char data[64];
    struct uio u;

    if (!via || !f || !file_socket(via))
        return;
    s.fds = kalloc(sizeof(*s.fds));
    if (!s.fds)
        return;
    s.fds->n = 1;
    s.fds->files[0] = file_get(f);
    uio_init_kernel(&u, data, len);
    (void)!unix_send(file_socket(via), &u, &s);
    scm_fds_put(s.fds);
}

static void receive(struct file *via, unsigned slot, uint32_t flags)
{
    struct unix_recv r = {.flags = flags};
    char data[64];
    struct uio u;

    if (!via || !file_socket(via))
        return;
    uio_init_kernel(&u, data, sizeof(data));
    (void)!unix_recv(file_socket(via), &u, &r);
    if (r.fds && !table[slot])
        table[slot] = file_get(r.fds->files[0]);
    unix_recv_done(&r);
}

static void drop(unsigned i)
{
    struct file *f = table[i];

    table[i] = NULL;
    file_put(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    limits_init();
    for (size_t k = 0; k + 3 <= size && k < 3000; k += 3) {
        unsigned op = data[k] % 8, i = data[k + 1] % SLOTS, j = data[k + 2] % SLOTS;

        switch (op) {
        case 0:
            make(i, j, data[k] / 8 % 4);
            break;
        case 1:
        case 2:
        case 3:
            send(table[i], table[j], 1 + data[k] / 8);
            break;
        case 4:
            receive(table[i], j, 0);
            break;
        case 5:
            receive(table[i], j, LX_MSG_PEEK);
            break;
        case 6:
            drop(i);
            break;
        default:
            scm_collect();
            break;
        }
    }
    for (unsigned i = 0; i < SLOTS; i++)
        drop(i);
    scm_collect();
    KASSERT(scm_inflight() == 0);
    KASSERT(limit_used(LIMIT_FILES) == 0);
    KASSERT(limit_used(LIMIT_SOCK_BYTES) == 0);
    anon_super_done();
    return 0;
}
