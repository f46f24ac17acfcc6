/* rootfs/layer.h: members onto a tree, deletions, limits; nothing ever leaves the root. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/layer.h"
#include "tests/support/tar_image.h"
#include "tests/support/test.h"

struct world {
    char path[64];
    int dir, root; /* root is dir/root: what is beside it must stay */
    struct image_limits limits;
    struct layers layers;
    struct error err;
    bool first;
};

static void world_begin(struct world *w)
{
    w->limits = IMAGE_LIMITS_DEFAULT;
    w->first = true;
    error_init(&w->err);
    w->dir = tar_dir(w->path);
    ck_assert_int_eq(mkdirat(w->dir, "root", 0755), 0);
    ck_assert_int_eq(mkdirat(w->dir, "outside", 0755), 0);
    w->root = tree_open_at(w->dir, "root", O_PATH | O_DIRECTORY, 0);
    ck_assert_int_ge(w->root, 0);
    layers_init(&w->layers, w->root, &w->limits);
}

static void world_end(struct world *w)
{
    layers_done(&w->layers);
    fd_close(w->root);
    fd_close(w->dir);
    tar_rm(w->path);
}

static int apply_bytes(struct world *w, const struct buf *tar)
{
    int fd = tar_file(tar);
    struct blob b = {.fd = fd, .size = tar->len};
    error_init(&w->err);
    int r = layer_apply(&w->layers, &b, w->first, NULL, NULL, &w->err);
    w->first = false;
    fd_close(fd);
    return r;
}

static int apply(struct world *w, const struct tar_member *members)
{
    struct buf tar;
    buf_init(&tar, 1 << 24);
    tar_make(&tar, members);
    int r = apply_bytes(w, &tar);
    buf_done(&tar);
    return r;
}

#define LAYER(...) ((const struct tar_member[]){__VA_ARGS__, TAR_END})

TEST(members)
{
    struct world w;
    struct stat st;
    char link[16] = "";
    world_begin(&w);
    ck_assert_int_eq(apply(&w, LAYER(TAR_DIR("d"), TAR_FILE("d/f", "hi"), TAR_LINK("d/l", '2', "f"),
                                     TAR_LINK("h", '1', "d/f"), TAR_NODE("p", '6'),
                                     TAR_NODE("null", '3'), TAR_FILE("./a//b/./c", "deep"))),
                     0);
    ck_assert_str_eq(tar_text(w.root, "d/f"), "hi");
    ck_assert_str_eq(tar_text(w.root, "h"), "hi");
    ck_assert_str_eq(tar_text(w.root, "a/b/c"), "deep");
    ck_assert_int_eq(readlinkat(w.root, "d/l", link, sizeof(link)), 1);
    ck_assert_int_eq(fstatat(w.root, "h", &st, 0), 0);
    ck_assert_uint_eq(st.st_nlink, 2);
    ck_assert_int_eq(st.st_mtime, 1000000000);
    ck_assert_int_eq(fstatat(w.root, "d", &st, 0), 0);
    ck_assert_int_eq(st.st_mtime, 1000000000);
    ck_assert_int_eq(fstatat(w.root, "null", &st, 0), 0);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(w.layers.notes.devices, 1);
    world_end(&w);
}

TEST(deletions)
{
    struct world w;
    world_begin(&w);
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("a", "1"), TAR_DIR("d"), TAR_FILE("d/x", "1"),
                                     TAR_FILE("d/y/z", "1"), TAR_FILE("o/old", "1"),
                                     TAR_FILE("o/both/old", "1"), TAR_FILE(".wh.q", NULL))),
                     0);
    /* Whiteouts act on older layers, before or behind the layer's own members. */
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_FILE(".wh.a", NULL), TAR_FILE("d/new", "2"), TAR_FILE(".wh.d", NULL),
                        TAR_FILE("o/new", "2"), TAR_FILE("o/both/new", "2"),
                        TAR_FILE("o/.wh..wh..opq", NULL), TAR_FILE("o/.wh..wh.plnk", NULL),
                        TAR_FILE(".wh.nothing", NULL), TAR_FILE("nowhere/.wh.x", NULL))),
        0);
    ck_assert(!tar_there(w.root, "a"));
    ck_assert(!tar_there(w.root, "d/x"));
    ck_assert(!tar_there(w.root, "d/y"));
    ck_assert_str_eq(tar_text(w.root, "d/new"), "2");
    ck_assert(!tar_there(w.root, "o/old"));
    ck_assert(!tar_there(w.root, "o/both/old"));
    ck_assert_str_eq(tar_text(w.root, "o/new"), "2");
    ck_assert_str_eq(tar_text(w.root, "o/both/new"), "2");
    ck_assert(!tar_there(w.root, ".wh.a"));
    ck_assert(!tar_there(w.root, "o/.wh..wh.plnk"));
    ck_assert(!tar_there(w.root, "nowhere"));
    world_end(&w);
}

TEST(replacing)
{
    struct world w;
    world_begin(&w);
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_FILE("f", "1"), TAR_FILE("d/x", "1"), TAR_LINK("l", '2', "d"),
                        TAR_FILE("same", "1"), TAR_LINK("same", '1', "same"))),
        0);
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_DIR("f"), TAR_FILE("f/in", "2"), TAR_FILE("d", "2"), TAR_DIR("l"))), 0);
    ck_assert_str_eq(tar_text(w.root, "f/in"), "2");
    ck_assert_str_eq(tar_text(w.root, "d"), "2");
    ck_assert_str_eq(tar_text(w.root, "same"), "1");
    world_end(&w);
}

TEST(through_links)
{
    struct world w;
    world_begin(&w);
    ck_assert_int_eq(apply(&w, LAYER(TAR_DIR("usr/lib"), TAR_LINK("lib", '2', "usr/lib"),
                                     TAR_LINK("up", '2', "../../../../../.."),
                                     TAR_LINK("out", '2', "../outside"))),
                     0);
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("lib/x", "2"), TAR_FILE("up/y", "2"))), 0);
    ck_assert_str_eq(tar_text(w.root, "usr/lib/x"), "2");
    ck_assert_str_eq(tar_text(w.root, "y"), "2");
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("out/z", "2"))), -ELOOP);
    ck_assert(strstr(w.err.text, "member out/z") != NULL);
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_FILE("up/.wh.outside", NULL), TAR_FILE("out/.wh..wh..opq", NULL))), 0);
    ck_assert(tar_there(w.dir, "outside"));
    ck_assert(!tar_there(w.dir, "outside/z"));
    world_end(&w);
}

struct refused {
    struct tar_member m;
    int code;
};

TEST(refusals)
{
    static const struct refused list[] = {
        {TAR_FILE("../x", "1"), -EPERM},
        {TAR_FILE("a/../../x", "1"), -EPERM},
        {TAR_LINK("h", '1', "../outside"), -EPERM},
        {TAR_LINK("h", '1', "nothing"), -ENOENT},
        {TAR_LINK("h", '1', "d"), -EPERM},
        {TAR_LINK("h", '1', "/"), -EPERM},
        {TAR_LINK("h", '1', "out/file"), -ELOOP},
        {TAR_FILE(".wh.", NULL), -EPERM},
        {TAR_FILE("d/.wh...", NULL), -EPERM},
        {TAR_FILE("f/under", "1"), -ENOTDIR},
        {TAR_LINK(".", '2', "x"), -EINVAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        struct world w;
        world_begin(&w);
        ck_assert_int_eq(
            apply(&w, LAYER(TAR_DIR("d"), TAR_FILE("f", "1"), TAR_LINK("out", '2', "../outside"))),
            0);
        ck_assert_int_eq(apply(&w, (struct tar_member[]){list[i].m, TAR_END}), list[i].code);
        ck_assert_msg(strstr(w.err.text, list[i].m.name) != NULL, "%s", w.err.text);
        ck_assert(!tar_there(w.dir, "x"));
        world_end(&w);
    }
}

TEST(limits)
{
    struct world w;
    world_begin(&w);
    w.limits.entries = 3;
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_FILE("1", NULL), TAR_FILE("2", NULL), TAR_FILE("3", NULL))), 0);
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("4", NULL))), -E2BIG);
    world_end(&w);

    world_begin(&w);
    w.limits.bytes = 4000;
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("1", "x"), TAR_FILE("2", "x"), TAR_FILE("3", "x"))),
                     -EFBIG);
    world_end(&w);

    world_begin(&w);
    w.layers.tree.depth = 3;
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("a/b/c", "x"))), 0);
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE("b/c/d/e", "x"))), -ENAMETOOLONG);
    world_end(&w);
}

/* A pax header (GNU sparse format 0.1) and the file that it speaks of. */
static void sparse_tar(struct buf *tar, const char *map, const char *size)
{
    char pax[512];
    size_t used = 0;
    const char *const words[] = {"GNU.sparse.map", map, "GNU.sparse.size", size};
    buf_init(tar, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(words); i += 2) {
        size_t n = strlen(words[i]) + strlen(words[i + 1]) + 5; /* NN, space, =, newline */
        used += (size_t)snprintf(pax + used, sizeof(pax) - used, "%02zu %s=%s\n", n, words[i],
                                 words[i + 1]);
    }
    tar_add(tar, &(struct tar_member){.name = "pax", .type = 'x', .data = pax});
    tar_add(tar, &(struct tar_member)TAR_FILE("big", "data"));
    tar_make(tar, &(struct tar_member)TAR_END);
}

TEST(sparse)
{
    static const struct {
        const char *map, *size;
        int code;
        const char *says;
    } list[] = {
        {"1000000,4", "2000000", 0, ""},
        {"1000000,4", "1099511627776", -EFBIG, "member big: a file of 1099511627776 bytes"},
        {"9999999,4", "2000000", -EINVAL, "member big: damaged tar"},
    };
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        struct world w;
        struct buf tar;
        struct stat st;
        world_begin(&w);
        sparse_tar(&tar, list[i].map, list[i].size);
        ck_assert_int_eq(apply_bytes(&w, &tar), list[i].code);
        ck_assert_msg(strstr(w.err.text, list[i].says) != NULL, "%s", w.err.text);
        if (list[i].code == 0) {
            ck_assert_int_eq(fstatat(w.root, "big", &st, 0), 0);
            ck_assert_int_eq(st.st_size, 2000000);
        }
        buf_done(&tar);
        world_end(&w);
    }
    /* Several that are too large only together. */
    struct world w;
    struct buf tar;
    world_begin(&w);
    sparse_tar(&tar, "1000000,4", "2000000");
    w.limits.bytes = 5000000;
    ck_assert_int_eq(apply_bytes(&w, &tar), 0);
    ck_assert_int_eq(apply_bytes(&w, &tar), 0);
    ck_assert_int_eq(apply_bytes(&w, &tar), -EFBIG);
    ck_assert(strstr(w.err.text, "--max-size") != NULL);
    buf_done(&tar);
    world_end(&w);
}

TEST(damage)
{
    struct world w;
    struct buf tar;
    buf_init(&tar, 1 << 20);
    tar_make(&tar, LAYER(TAR_FILE("a", "some text"), TAR_FILE("b", "more")));
    for (size_t cut = 1; cut < tar.len; cut += 171) {
        struct buf part = tar;
        part.len = cut;
        world_begin(&w);
        /* Cut between members it is a whole tar; anywhere else it is refused with words. */
        int r = apply_bytes(&w, &part);
        ck_assert(r == 0 || (r < 0 && w.err.text[0] != '\0'));
        world_end(&w);
    }
    tar.data[150] ^= 1;
    world_begin(&w);
    ck_assert_int_lt(apply_bytes(&w, &tar), 0);
    world_end(&w);
    buf_done(&tar);
}

TEST(deep_removal)
{
    struct world w;
    struct rlimit few = {200, 200};
    world_begin(&w);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_eq(
        apply(&w, LAYER(TAR_DIR("top"), TAR_FILE(".sentry-trash-0", "an image's own"))), 0);
    /* Deeper than a name may say: directory in directory, more of them than there are descriptors.
     */
    int at = tree_open_at(w.root, "top", O_PATH | O_DIRECTORY, 0);
    for (int i = 0; i < 1500; i++) {
        ck_assert_int_eq(mkdirat(at, "d", i % 7 == 0 ? 0500 : 0755), 0);
        int next = tree_open_at(at, "d", O_PATH | O_DIRECTORY, 0);
        fd_close(at);
        at = next;
    }
    fd_close(at);
    ck_assert_int_eq(apply(&w, LAYER(TAR_FILE(".wh.top", NULL))), 0);
    ck_assert(!tar_there(w.root, "top"));
    ck_assert(!tar_there(w.root, ".sentry-trash-1"));
    ck_assert_str_eq(tar_text(w.root, ".sentry-trash-0"), "an image's own");
    ck_assert_int_eq(apply(&w, LAYER(TAR_DIR("top"), TAR_FILE(".wh..wh..opq", NULL))), 0);
    ck_assert(!tar_there(w.root, ".sentry-trash-0"));
    world_end(&w);
}

TEST_SUITE(layer)
{
    TEST_ADD(members);
    TEST_ADD(deletions);
    TEST_ADD(replacing);
    TEST_ADD(through_links);
    TEST_ADD(refusals);
    TEST_ADD(limits);
    TEST_ADD(sparse);
    TEST_ADD(damage);
    TEST_ADD(deep_removal);
}
