/* links: gofer_server gofer_proto */
/*
 * Requests, each a type byte, a length byte and that many bytes (see fuzz_message). Whatever is
 * asked, only regular files of the tree are opened, replies keep their form, and the tables hold
 * what tree_check says.
 */
#include "gofer/server.h"
#include "tests/fuzz/targets/gofer_fuzz.h"

enum {
    TAG = 7
};

static void check_reply(const struct server *s, const struct server_reply *r)
{
    struct gofer_header h;
    struct stat st;
    memcpy(&h, s->reply, sizeof(h));
    KASSERT(h.size == r->size && h.size <= GOFER_MSG_MAX && h.tag == TAG && h.zero == 0);
    KASSERT(h.status == 0 || (h.size == sizeof(h) && r->fd < 0));
    /* The tree's files are empty, those of the host are not. */
    if (r->fd >= 0)
        KASSERT(fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0);
    fd_close(r->fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int root = -1;
    static int home; /* extended attributes are read in the working directory */
    struct server *s;
    struct server_reply r;
    if (root < 0) {
        home = open(".", O_PATH | O_CLOEXEC);
        root = fuzz_tree();
    }
    KASSERT(server_new(&root, 1, &s) == 0);
    s->greeted = size > 0 && data[0] != GOFER_HELLO;
    while (size >= 2 && size - 2 >= data[1]) {
        if (server_handle(s, fuzz_message(s->request, data[0], TAG, data + 2, data[1]), &r) == 0)
            check_reply(s, &r);
        KASSERT(tree_check(&s->tree));
        size -= 2u + data[1];
        data += 2 + data[1];
    }
    server_free(s);
    KASSERT(fchdir(home) == 0);
    return 0;
}
