/* The fake image of fake_image.h; it has no tests of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "abi/dir.h"

#include "gofer/client.h"
#include "tests/unit/fs/fake_image.h"

struct gofer_client {
    const struct fake_file *files;
    uint32_t n;
    uint32_t requests, fail_opens;
    uint8_t live[256];
};

static const struct fake_file root_file = {"/", LX_S_IFDIR | 0755, NULL, 0, 0};

/* Node 0 is the root, node i + 1 file i. */
static const struct fake_file *file_of(const struct gofer_client *c, uint32_t node)
{
    return node == 0 ? &root_file : &c->files[node - 1];
}

struct gofer_client *fake_image_new(const struct fake_file *files)
{
    struct gofer_client *c = calloc(1, sizeof(*c));

    c->files = files;
    while (files[c->n].path)
        c->n++;
    return c;
}

void fake_image_free(struct gofer_client *c)
{
    free(c);
}

uint32_t fake_image_requests(const struct gofer_client *c)
{
    return c->requests;
}

uint32_t fake_image_nodes(const struct gofer_client *c)
{
    uint32_t n = 0;

    for (size_t i = 1; i < sizeof(c->live); i++)
        n += c->live[i];
    return n;
}

void fake_image_fail_opens(struct gofer_client *c, uint32_t n)
{
    c->fail_opens = n;
}

static void fill_attr(const struct gofer_client *c, uint32_t node, struct gofer_attr *a)
{
    const struct fake_file *f = file_of(c, node);

    memset(a, 0, sizeof(*a));
    a->ino = f->ino ? f->ino : 1000 + node;
    a->mode = f->mode;
    a->nlink = f->nlink ? f->nlink : 1;
    a->size = f->content ? strlen(f->content) : 0;
    a->mtime.sec = 1000;
    a->dev_major = 8;
}

bool gofer_client_dead(const struct gofer_client *c)
{
    (void)c;
    return false;
}

int gofer_root_attr(const struct gofer_client *c, uint32_t r, struct gofer_attr *ret_attr)
{
    if (r != 0)
        return -ENOENT;
    fill_attr(c, 0, ret_attr);
    return 0;
}

/* The index of the child, or -1. */
static int child_of(const struct gofer_client *c, uint32_t node, const char *name, size_t len)
{
    const char *dir = file_of(c, node)->path;
    size_t dlen = node == 0 ? 0 : strlen(dir);

    for (uint32_t i = 0; i < c->n; i++) {
        const char *p = c->files[i].path;

        if (strncmp(p, dir, dlen) == 0 && p[dlen] == '/' && strlen(p + dlen + 1) == len &&
            memcmp(p + dlen + 1, name, len) == 0)
            return (int)i;
    }
    return -1;
}

static int open_content(struct gofer_client *c, uint32_t node, int *ret_fd)
{
    const struct fake_file *f = file_of(c, node);
    int fd;

    if (c->fail_opens) {
        c->fail_opens--;
        return -EMFILE;
    }
    if (!LX_S_ISREG(f->mode))
        return LX_S_ISDIR(f->mode) ? -EISDIR : -ENXIO;
    fd = memfd_create("fake", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (f->content && write(fd, f->content, strlen(f->content)) < 0)
        abort();
    *ret_fd = fd;
    return 0;
}

/* One name of a walk; false when it ends there. */
static bool walk_name(struct gofer_client *c, struct gofer_walk *w, uint16_t n, uint32_t *node)
{
    int i = child_of(c, *node, w->names[n], w->lens[n]);
    const struct fake_file *f;

    if (i < 0) {
        w->error = -ENOENT;
        return false;
    }
    f = &c->files[i];
    *node = (uint32_t)i + 1;
    w->done = (uint16_t)(n + 1);
    w->steps[n].node = *node;
    fill_attr(c, *node, &w->steps[n].attr);
    c->live[i + 1] = 1;
    if (LX_S_ISLNK(f->mode)) {
        w->link = f->content;
        w->link_len = strlen(f->content);
    }
    return LX_S_ISDIR(f->mode);
}

int gofer_walk(struct gofer_client *c, struct gofer_walk *w)
{
    uint32_t node = w->node;
    uint16_t n = 0;

    c->requests++;
    w->fd = -1;
    w->link = NULL;
    w->link_len = 0;
    w->done = 0;
    w->error = 0;
    while (n < w->n && walk_name(c, w, n, &node))
        n++;
    if ((w->flags & GOFER_WALK_OPEN) && w->done == w->n && LX_S_ISREG(c->files[node - 1].mode))
        return open_content(c, node, &w->fd);
    return 0;
}

/* One round trip. */
int gofer_walks(struct gofer_client *c, struct gofer_walk *w, size_t n)
{
    uint32_t before = c->requests;

    for (size_t i = 0; i < n; i++) {
        int r = gofer_walk(c, &w[i]);

        if (r < 0)
            w[i].error = r;
    }
    c->requests = before + 1;
    return 0;
}

int gofer_open(struct gofer_client *c, uint32_t node, int *ret_fd)
{
    c->requests++;
    return open_content(c, node, ret_fd);
}

int64_t gofer_readlink(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    const char *s = file_of(c, node)->content;
    size_t n = s ? strlen(s) : 0;

    c->requests++;
    if (!s)
        return -EINVAL;
    n = n < cap ? n : cap;
    memcpy(buf, s, n);
    return (int64_t)n;
}

int64_t gofer_readdir(struct gofer_client *c, uint32_t node, uint64_t cookie, gofer_dirent_fn *fn,
                      void *ctx)
{
    const char *dir = file_of(c, node)->path;
    size_t dlen = node == 0 ? 0 : strlen(dir);
    int64_t n = 0;

    c->requests++;
    for (uint64_t i = cookie; i < c->n && n < 3; i++) {
        const char *p = c->files[i].path;
        struct gofer_dirent e;

        if (strncmp(p, dir, dlen) != 0 || p[dlen] != '/' || strchr(p + dlen + 1, '/'))
            continue;
        e = (struct gofer_dirent){.ino = c->files[i].ino ? c->files[i].ino : 1001 + i,
                                  .cookie = i + 1,
                                  .name = p + dlen + 1,
                                  .name_len = (uint16_t)strlen(p + dlen + 1),
                                  .type = (uint8_t)((c->files[i].mode & LX_S_IFMT) >> 12)};
        n++;
        if (!fn(ctx, &e))
            break;
    }
    return n;
}

int64_t gofer_getxattr(struct gofer_client *c, uint32_t node, const char *name, void *buf,
                       size_t cap)
{
    (void)c;
    (void)node;
    if (strcmp(name, "user.k") != 0)
        return -ENODATA;
    if (cap == 0)
        return 1;
    memcpy(buf, "v", 1);
    return 1;
}

int64_t gofer_listxattr(struct gofer_client *c, uint32_t node, char *buf, size_t cap)
{
    (void)c;
    (void)node;
    if (cap >= 7)
        memcpy(buf, "user.k", 7);
    return 7;
}

int gofer_forget(struct gofer_client *c, const uint32_t *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c->live[nodes[i]] = 0;
    return 0;
}
