/*
 * links: gofer_proto
 * Replies of a volume server: an operation byte (bit 6: with a descriptor), a length byte and so
 * many bytes each.
 */
#include "gofer/volume_client.h"

#include <sys/socket.h>

#include "tests/fuzz/targets/gofer_fuzz.h"

static const struct volume_ref ref = {0, 1, "n"};

static void ask_names(struct volume_client *c, uint16_t type)
{
    struct gofer_step step;
    struct volume_create_req create = {.mode = S_IFREG | 0644};
    struct volume_rename_req move = {.dir = 0};
    const char *link = NULL;
    int fd = -1;
    static const char *const names[] = {"a", "b", "c"};
    struct volume_walk w;
    if (type == VOLUME_WALK && volume_client_walk(c, 0, names, 3, &w) == 0)
        KASSERT(w.done <= 3 && (!w.link || strlen(w.link) <= GOFER_LINK_MAX));
    else if (type == VOLUME_LOOKUP && volume_client_lookup(c, 0, "a", &step, &link) == 0)
        KASSERT(gofer_attr_valid(&step.attr) && (!link || strlen(link) <= GOFER_LINK_MAX));
    else if (type == VOLUME_CREATE && volume_client_create(c, &create, "a", NULL, &step, &fd) == 0)
        KASSERT(step.node < GOFER_NODES_MAX);
    else if (type == VOLUME_REMOVE)
        (void)!volume_client_remove(c, 0, "a", false);
    else if (type == VOLUME_RENAME)
        (void)!volume_client_rename(c, &move, "a", "b");
    else if (type == VOLUME_READDIR)
        KASSERT(volume_client_readdir(c, 0, 0, fuzz_entry, NULL) < GOFER_MSG_MAX);
    fd_close(fd);
}

static void ask(struct volume_client *c, uint16_t type)
{
    struct gofer_attr a = {0};
    struct gofer_statfs st;
    struct volume_setattr_req set = {.valid = VOLUME_SET_MODE};
    char buf[64];
    int fd = -1;
    if (type == VOLUME_GETATTR)
        (void)!volume_client_getattr(c, 1, &a);
    else if (type == VOLUME_SETATTR)
        (void)!volume_client_setattr(c, &ref, &set, &a);
    else if (type == VOLUME_LINK)
        (void)!volume_client_link(c, &ref, 0, "b", &a);
    else if (type == VOLUME_OPEN && volume_client_open(c, &ref, VOLUME_READ, &fd) == 0)
        KASSERT(fd >= 0);
    else if (type == VOLUME_STATFS)
        (void)!volume_client_statfs(c, 1, &st);
    else if (type == VOLUME_GETXATTR)
        KASSERT(volume_client_getxattr(c, &ref, "user.a", buf, sizeof(buf)) <=
                (int64_t)sizeof(buf));
    else if (type == VOLUME_LISTXATTR)
        KASSERT(volume_client_listxattr(c, &ref, buf, sizeof(buf)) <= (int64_t)sizeof(buf));
    else
        ask_names(c, type);
    KASSERT(gofer_attr_valid(&a));
    fd_close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t hello[8 + 136] = {VOLUME_PROTO_VERSION, [4] = 1,
                                           [8 + 8 + 25] = S_IFDIR >> 8};
    struct volume_client *c;
    uint8_t buf[1024];
    uint16_t type = VOLUME_HELLO;
    int ends[2];
    KASSERT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    size_t n = fuzz_message(buf, 0, 1, hello, sizeof(hello));
    memcpy(buf + offsetof(struct gofer_header, type), &type, sizeof(type));
    KASSERT(send(ends[1], buf, n, 0) > 0 && volume_client_new(ends[0], 1, &c, NULL) == 0);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (uint32_t tag = 2; size >= 2 && size - 2 >= data[1] && !volume_client_dead(c); tag++) {
        type = (uint16_t)(VOLUME_MSG_FIRST + (data[0] & 31));
        if (type <= VOLUME_HELLO || type == VOLUME_FORGET || type >= VOLUME_SETXATTR ||
            type == VOLUME_WRITES)
            break;
        n = fuzz_message(buf, 0, tag, data + 2, data[1]);
        memcpy(buf + offsetof(struct gofer_header, type), &type, sizeof(type));
        KASSERT(fd_send(ends[1], buf, n, &file, data[0] >> 6 & 1, 0) > 0);
        ask(c, type);
        (void)!recv(ends[1], buf, sizeof(buf), MSG_DONTWAIT); /* the request */
        size -= 2u + data[1];
        data += 2 + data[1];
    }
    volume_client_free(c);
    fd_close(file);
    fd_close(ends[1]);
    return 0;
}
