/* links: lib */
/*
 * Arbitrary bytes as a JSON document, walked completely: every value is visited and refused once,
 * so that finding the line of each path is exercised too. Nothing may stay allocated.
 */
#include "lib/jsonx.h"

#include "lib/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

enum {
    MAX_DEPTH = 16,
    MAX_ITEMS = 64
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTNEXTLINE(misc-no-recursion): bounded by MAX_DEPTH */
static int visit(const struct jsonx *at, void *arg, struct error *err)
{
    const char *s;
    uint64_t u;
    double d;

    (void)arg;
    if (jsonx_refuse(at, err, 1, "visited") != -1 || !strstr(err->text, "visited"))
        abort();
    if (jsonx_u64(at, 1, 100, &u, err) == 0 && (u < 1 || u > 100))
        abort();
    if (jsonx_double(at, -1, 1, &d, err) == 0 && !(d >= -1 && d <= 1))
        abort();
    if (jsonx_string(at, 8, &s, err) == 0 && strlen(s) > 8)
        abort();
    (void)!jsonx_each_member(at, MAX_ITEMS, visit, NULL, err);
    (void)!jsonx_each_element(at, MAX_ITEMS, visit, NULL, err);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t balance = kalloc_balance();
    struct jsonx_doc doc;
    struct error err;

    if (size > 4096)
        return 0;
    error_init(&err);
    if (jsonx_parse(&doc, "input", (const char *)data, size, MAX_DEPTH, &err) == 0) {
        struct jsonx root = jsonx_root(&doc);
        (void)visit(&root, NULL, &err);
        jsonx_done(&doc);
    } else if (!err.text[0]) {
        abort();
    }
    if (kalloc_balance() != balance)
        abort();
    return 0;
}
