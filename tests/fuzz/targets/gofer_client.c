/*
 * links: gofer_proto
 * Replies, each an operation byte (bit 6: with a descriptor), a length byte and that many bytes.
 */
#include <sys/socket.h>

#include "tests/fuzz/targets/gofer_fuzz.h"

static void ask(struct gofer_client *c, uint8_t op)
{
    struct gofer_walk w = {.n = 2, .flags = 1, .names = {"a", "b"}, .lens = {1, 1}, .fd = -1};
    struct gofer_attr a;
    struct gofer_statfs st;
    char buf[64];
    int fd = -1;
    if (op == GOFER_WALK && gofer_walk(c, &w) == 0)
        KASSERT(w.done <= 2 && (!w.link || strlen(w.link) == w.link_len));
    else if (op == GOFER_GETATTR && gofer_getattr(c, 1, &a) == 0)
        KASSERT(gofer_attr_valid(&a));
    else if (op == GOFER_OPEN && gofer_open(c, 1, &fd) == 0)
        KASSERT(fd >= 0);
    else if (op == GOFER_READLINK)
        KASSERT(gofer_readlink(c, 1, buf, sizeof(buf)) <= (int64_t)sizeof(buf));
    else if (op == GOFER_READDIR)
        KASSERT(gofer_readdir(c, 1, 0, fuzz_entry, NULL) < GOFER_MSG_MAX);
    else if (op == GOFER_STATFS && gofer_statfs(c, 1, &st) < 0)
        return;
    else if (op == GOFER_GETXATTR)
        KASSERT(gofer_getxattr(c, 1, "user.a", buf, sizeof(buf)) <= (int64_t)sizeof(buf));
    else if (op == GOFER_LISTXATTR)
        KASSERT(gofer_listxattr(c, 1, buf, sizeof(buf)) <= (int64_t)sizeof(buf));
    fd_close(fd >= 0 ? fd : w.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t hello[8 + 128] = {GOFER_PROTO_VERSION, [4] = 1, [8 + 25] = S_IFDIR >> 8};
    struct gofer_client *c;
    uint8_t buf[512];
    int ends[2];
    KASSERT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    size_t n = fuzz_message(buf, GOFER_HELLO, 1, hello, sizeof(hello));
    KASSERT(send(ends[1], buf, n, 0) > 0 && gofer_client_new(ends[0], 1, &c, NULL) == 0);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (uint32_t tag = 2; size >= 2 && size - 2 >= data[1] && !gofer_client_dead(c); tag++) {
        n = fuzz_message(buf, data[0] & 0xbf, tag, data + 2, data[1]);
        if (n == 0 || (data[0] & 15) < GOFER_WALK || (data[0] & 15) > GOFER_LISTXATTR)
            break;
        KASSERT(fd_send(ends[1], buf, n, &file, data[0] >> 6 & 1, 0) > 0);
        ask(c, data[0] & 15);
        (void)!recv(ends[1], buf, sizeof(buf), MSG_DONTWAIT); /* the request */
        size -= 2u + data[1];
        data += 2 + data[1];
    }
    gofer_client_free(c);
    fd_close(file);
    fd_close(ends[1]);
    return 0;
}
