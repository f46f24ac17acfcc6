/*
 * A compressed layer that is large enough for the threads beside the reader: whole, with another
 * content than promised, damaged in the middle, and given up while the threads are at work.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/layer.h"
#include "tests/support/tar_image.h"
#include "tests/support/test.h"

enum {
    TEXT = 5 << 20,
    MOST = 16 << 20
};

static struct {
    char *text;
    struct buf tar, packed;
    struct digest id;
} layer;

static void pack(void)
{
    struct archive *a = archive_write_new();
    char *out = malloc(MOST);
    size_t used = 0;
    struct archive_entry *entry = archive_entry_new();

    ck_assert_int_eq(archive_write_add_filter_gzip(a), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_set_format_raw(a), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_open_memory(a, out, MOST, &used), ARCHIVE_OK);
    archive_entry_set_filetype(entry, AE_IFREG);
    ck_assert_int_eq(archive_write_header(a, entry), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_data(a, layer.tar.data, layer.tar.len),
                     (la_ssize_t)layer.tar.len);
    ck_assert_int_eq(archive_write_close(a), ARCHIVE_OK);
    archive_entry_free(entry);
    (void)archive_write_free(a);
    buf_init(&layer.packed, MOST);
    ck_assert_int_eq(buf_append(&layer.packed, out, used), 0);
    free(out);
}

static void layer_make(void)
{
    struct digest_state s;
    uint32_t v = 1;

    layer.text = malloc(TEXT + 1);
    for (size_t i = 0; i < TEXT; i++) {
        v = v * 1103515245 + 12345;
        layer.text[i] = (char)('!' + (v >> 16) % 90);
    }
    layer.text[TEXT] = 0;
    const struct tar_member members[] = {TAR_DIR("d"), TAR_FILE("d/one", layer.text),
                                         TAR_FILE("d/two", "behind it"), TAR_END};
    buf_init(&layer.tar, MOST);
    tar_make(&layer.tar, members);
    digest_begin(&s);
    digest_update(&s, layer.tar.data, layer.tar.len);
    digest_end(&s, &layer.id);
    pack();
    ck_assert_uint_gt(layer.packed.len, 2 << 20);
}

static void layer_free(void)
{
    free(layer.text);
    buf_done(&layer.tar);
    buf_done(&layer.packed);
}

static int apply(const struct digest *id, const struct image_limits *limits, struct error *err)
{
    char path[64];
    int dir = tar_dir(path), fd = tar_file(&layer.packed);
    const struct blob b = {.fd = fd, .size = layer.packed.len};
    struct layers l;

    error_init(err);
    layers_init(&l, dir, limits);
    int r = layer_apply(&l, &b, true, id, NULL, err);
    if (r == 0) {
        ck_assert_str_eq(tar_text(dir, "d/two"), "behind it");
        ck_assert(tar_there(dir, "d/one"));
    }
    layers_done(&l);
    fd_close(fd);
    fd_close(dir);
    tar_rm(path);
    return r;
}

TEST(whole)
{
    struct error err;

    layer_make();
    ck_assert_int_eq(apply(&layer.id, &IMAGE_LIMITS_DEFAULT, &err), 0);
    ck_assert_int_eq(apply(NULL, &IMAGE_LIMITS_DEFAULT, &err), 0);
    layer_free();
}

TEST(another_content)
{
    struct error err;

    layer_make();
    struct digest other = layer.id;
    ((uint8_t *)&other)[0] ^= 1;
    ck_assert_int_eq(apply(&other, &IMAGE_LIMITS_DEFAULT, &err), -EBADMSG);
    layer_free();
}

TEST(damaged)
{
    struct error err;

    layer_make();
    memset(layer.packed.data + layer.packed.len / 2, 0x55, 64);
    ck_assert_int_lt(apply(&layer.id, &IMAGE_LIMITS_DEFAULT, &err), 0);
    ck_assert_str_ne(err.text, "");
    layer.packed.len /= 2; /* cut off */
    ck_assert_int_lt(apply(&layer.id, &IMAGE_LIMITS_DEFAULT, &err), 0);
    layer_free();
}

TEST(given_up_on_the_way)
{
    struct image_limits few = IMAGE_LIMITS_DEFAULT;
    struct error err;

    layer_make();
    few.bytes = 1 << 20;
    ck_assert_int_lt(apply(&layer.id, &few, &err), 0);
    few = IMAGE_LIMITS_DEFAULT;
    few.entries = 1;
    ck_assert_int_eq(apply(&layer.id, &few, &err), -E2BIG);
    for_each_failure {
        int r = apply(&layer.id, &IMAGE_LIMITS_DEFAULT, &err);

        ck_assert_msg(r == 0 || r == -ENOMEM || r == -EBADMSG || r == -EINVAL, "%d", r);
    }
    layer_free();
}

TEST_SUITE(ahead)
{
    TEST_ADD(whole);
    TEST_ADD(another_content);
    TEST_ADD(damaged);
    TEST_ADD(given_up_on_the_way);
}
