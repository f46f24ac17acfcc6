/* rootfs/config.h, digest.h, tree_name: text in, text out. */
#include <errno.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "rootfs/config.h"
#include "rootfs/tree.h"
#include "tests/support/test.h"

TEST(digests)
{
    struct digest_state s;
    struct digest d, e;
    char hex[DIGEST_HEX + 1];
    digest_begin(&s);
    digest_update(&s, "abc", 3);
    digest_end(&s, &d);
    digest_hex(&d, hex);
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    char text[DIGEST_TEXT] = "sha256:";
    strcat(text, hex);
    ck_assert_int_eq(digest_parse(text, &e, NULL), 0);
    ck_assert(digest_equal(&d, &e));
    ck_assert_int_eq(digest_parse("sha512:00", &e, NULL), -ENOTSUP);
    ck_assert_int_eq(digest_parse("sha256:../../x", &e, NULL), -EINVAL);
    text[7] = 'B'; /* upper case is another name */
    ck_assert_int_eq(digest_parse(text, &e, NULL), -EINVAL);
    text[70] = '\0';
    ck_assert_int_eq(digest_parse(text, &e, NULL), -EINVAL);
}

static int read_config(const char *data, size_t len)
{
    struct image_config c;
    image_config_init(&c);
    int r = image_config_read(&c, data, len, NULL);
    image_config_done(&c);
    return r;
}

TEST(records)
{
    struct image_config c, d;
    struct digest digest = {{1, 2, 3}};
    struct buf b;
    for_each_failure {
        image_config_init(&c);
        image_config_init(&d);
        buf_init(&b, 4096);
        int r = string_list_add(&c.env, "A=b c\nd", 10, NULL);
        if (r == 0)
            r = string_list_add(&c.cmd, "", 10, NULL);
        if (r == 0)
            r = image_config_add_layer(&c, &digest);
        c.bytes = 77;
        if (r == 0) {
            image_config_write(&c, &b);
            r = buf_error(&b);
        }
        if (r == 0)
            r = image_config_read(&d, b.data, b.len, NULL);
        if (r == 0) {
            ck_assert_uint_eq(d.env.n, 1);
            ck_assert_str_eq(d.env.v[0], "A=b c\nd");
            ck_assert_str_eq(d.cmd.v[0], "");
            ck_assert_uint_eq(d.nlayers, 1);
            ck_assert(digest_equal(&d.layers[0], &digest));
            ck_assert_uint_eq(d.bytes, 77);
            ck_assert_ptr_eq(d.user, NULL);
        }
        buf_done(&b);
        image_config_done(&c);
        image_config_done(&d);
    }
}

TEST(bad_records)
{
    ck_assert_int_eq(read_config("v1", 3), 0);
    ck_assert_int_lt(read_config("", 0), 0);
    ck_assert_int_lt(read_config("v1", 2), 0);
    ck_assert_int_lt(read_config("v2", 3), 0);
    ck_assert_int_lt(read_config("eA=b", 5), 0);
    ck_assert_int_lt(read_config("v1\0", 4), 0);
    ck_assert_int_lt(read_config("v1\0?x", 6), 0);
    ck_assert_int_lt(read_config("v1\0w/\0w/", 9), 0);
    ck_assert_int_lt(read_config("v1\0lxyz", 8), 0);
}

static const char *plain(const char *name, int want)
{
    static char out[PATH_MAX];
    struct tree t;
    struct error err;
    error_init(&err);
    tree_init(&t, -1, 4);
    ck_assert_int_eq(tree_name(&t, name, out, &err), want);
    return out;
}

TEST(names)
{
    static char long_name[PATH_MAX + 10];
    ck_assert_str_eq(plain("a/b", 0), "a/b");
    ck_assert_str_eq(plain("/a//./b/", 0), "a/b");
    ck_assert_str_eq(plain("./", 0), "");
    ck_assert_str_eq(plain("", 0), "");
    ck_assert_str_eq(plain("...", 0), "...");
    ck_assert_str_eq(plain("a/..b", 0), "a/..b");
    (void)plain("..", -EPERM);
    (void)plain("a/../b", -EPERM);
    (void)plain("a/b/c/d/e", -ENAMETOOLONG);
    memset(long_name, 'x', 255);
    (void)plain(long_name, 0);
    memset(long_name, 'x', 256);
    (void)plain(long_name, -ENAMETOOLONG);
}

TEST_SUITE(image_config)
{
    TEST_ADD(digests);
    TEST_ADD(records);
    TEST_ADD(bad_records);
    TEST_ADD(names);
}
