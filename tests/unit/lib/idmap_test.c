/*
 * lib/idmap against maps of a host, of rootless engines with and without subordinate ids, and text
 * that is no map.
 */
#include <stdio.h>

#include "lib/idmap.h"
#include "tests/support/test.h"

static const char host[] = "         0          0 4294967295\n";
static const char rootless[] = "         0       1000          1\n"
                               "         1     100000      65536\n";
static const char single[] = "         0       1001          1\n";

TEST(whole)
{
    ck_assert(idmap_is_whole(host));
    ck_assert(!idmap_is_whole(rootless));
    ck_assert(!idmap_is_whole(single));
    ck_assert(!idmap_is_whole("0 100000 4294967295\n"));
    ck_assert(!idmap_is_whole(""));
}

TEST(spare)
{
    uint32_t id = 7;
    ck_assert(idmap_spare(host, 5, &id));
    ck_assert_uint_eq(id, 0x70000005);
    ck_assert(idmap_spare(host, UINT32_MAX, &id));
    ck_assert_uint_ge(id, 0x70000000);
    ck_assert_uint_lt(id, 0x71000000);
    for (uint32_t n = 0; n < 100000; n += 99) {
        ck_assert(idmap_spare(rootless, n, &id));
        ck_assert_uint_gt(id, 32767);
        ck_assert_uint_lt(id, 65534);
    }
    ck_assert(idmap_spare(rootless, 1, &id) && id == 1 + 32768 + 1);
    id = 7;
    ck_assert(!idmap_spare(single, 5, &id));
    ck_assert(!idmap_spare("0 1000 1\n1 100000 1000\n", 5, &id));
    ck_assert(!idmap_spare("", 5, &id));
    ck_assert(!idmap_spare("some words", 5, &id));
    ck_assert(!idmap_spare("0 0 99999999999\n", 5, &id));
    ck_assert_uint_eq(id, 7);
}

TEST(identity)
{
    char text[IDMAP_TEXT], many[IDMAP_TEXT * 2] = "";
    size_t n = 0;
    ck_assert_int_eq(idmap_identity(rootless, text), 0);
    ck_assert_str_eq(text, "0 0 1\n1 1 65536\n");
    ck_assert_int_eq(idmap_identity(host, text), 0);
    ck_assert_str_eq(text, "0 0 4294967295\n");
    ck_assert_int_eq(idmap_identity("", text), 0);
    ck_assert_str_eq(text, "");
    while (n < sizeof(many) - 8)
        n += (size_t)snprintf(many + n, sizeof(many) - n, "1 1 1\n");
    ck_assert_int_lt(idmap_identity(many, text), 0);
}

TEST(read)
{
    char text[IDMAP_TEXT];
    idmap_read("uid_map", text);
    ck_assert_str_ne(text, "");
    idmap_read("no_such_map", text);
    ck_assert_str_eq(text, "");
}

TEST_SUITE(idmap)
{
    TEST_ADD(whole);
    TEST_ADD(spare);
    TEST_ADD(identity);
    TEST_ADD(read);
}
