/* lib/jsonx.h: what is accepted, and that every refusal names file, line and path. */
#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/jsonx.h"
#include "tests/support/test.h"

struct config {
    uint64_t wall;
    const char *network;
    uint64_t sum;
    bool tty;
};

static int read_wall(const struct jsonx *at, void *arg, struct error *err)
{
    struct config *c = arg;
    return jsonx_u64(at, 0, 1000, &c->wall, err);
}

static int read_limits(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {{"wall_ms", read_wall, true}};
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_REFUSED, arg, err);
}

static int read_network(const struct jsonx *at, void *arg, struct error *err)
{
    static const char *const names[] = {"none", "loopback"};
    size_t index = 0;
    struct config *c = arg;
    int r = jsonx_choice(at, names, ARRAY_LEN(names), &index, err);
    if (r == 0)
        c->network = names[index];
    return r;
}

static int read_number(const struct jsonx *at, void *arg, struct error *err)
{
    struct config *c = arg;
    uint64_t v = 0;
    int r = jsonx_u64(at, 0, 100, &v, err);
    c->sum += v;
    return r;
}

static int read_numbers(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, 4, read_number, arg, err);
}

static int read_tty(const struct jsonx *at, void *arg, struct error *err)
{
    struct config *c = arg;
    return jsonx_bool(at, &c->tty, err);
}

static int read_config(const char *text, struct config *c, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"limits", read_limits, false},
        {"network", read_network, false},
        {"numbers", read_numbers, false},
        {"tty", read_tty, false},
    };
    struct jsonx_doc doc;

    error_init(err);
    memset(c, 0, sizeof(*c));
    int r = jsonx_parse(&doc, "p.json", text, strlen(text), 8, err);
    if (r < 0)
        return r;
    struct jsonx root = jsonx_root(&doc);
    r = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_REFUSED, c, err);
    jsonx_done(&doc);
    return r;
}

TEST(accepts)
{
    for_each_failure {
        struct config c;
        struct error err;
        int r = read_config("{ \"limits\": { \"wall_ms\": 7 }, \"network\": \"none\",\n"
                            " \"numbers\": [1, 2, 3], \"tty\": true }",
                            &c, &err);
        if (r < 0) {
            ck_assert_int_eq(r, -ENOMEM);
        } else {
            ck_assert_uint_eq(c.wall, 7);
            ck_assert_str_eq(c.network, "none");
            ck_assert_uint_eq(c.sum, 6);
            ck_assert(c.tty);
        }
    }
}

TEST(refusals_name_the_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\n \"limits\": {\n  \"wall_ms\": 1001\n }\n}",
         "p.json:3: limits.wall_ms: must be between 0 and 1000"},
        {"{\n\n \"netwrok\": \"none\"}", "p.json:3: netwrok: unknown key"},
        {"{ \"numbers\": [1,\n 2,\n \"three\"] }",
         "p.json:3: numbers[2]: must be an integer, not a string"},
        {"{ \"numbers\": [1, {\"a\": [1]},\n -1] }",
         "p.json:1: numbers[1]: must be an integer, not an object"},
        {"{ \"tty\": false, \"network\":\n \"lo}\\\"op\" }",
         "p.json:2: network: must be one of: none, loopback"},
        {"{ \"limits\": {} }", "p.json:1: limits: needs the key \"wall_ms\""},
        {"[]", "p.json:1: must be an object, not an array"},
        {"{ \"numbers\": [1, 2, 3, 4, 5] }", "p.json:1: numbers: more than 4 elements"},
        {"[[[[[[[[[1]]]]]]]]]", "p.json: nested deeper than 8"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config c;
        struct error err;
        ck_assert_int_lt(read_config(cases[i].text, &c, &err), 0);
        ck_assert_str_eq(err.text, cases[i].message);
    }
}

TEST(broken_text)
{
    static const char *const cases[] = {
        "", "{", "{}x", "{\"tty\": true, \"tty\": true}", "{\"tty\": tru}", "{\"\xff\": 1}",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config c;
        struct error err;
        ck_assert_int_eq(read_config(cases[i], &c, &err), -EINVAL);
        ck_assert_int_eq(strncmp(err.text, "p.json:", 7), 0);
    }
}

TEST(lenient)
{
    char text[] =
        "{\"network\": \"none\", \"network\": \"loopback\", \"tty\": true,"
        " \"big\": [18446744073709551615, -99999999999999999999, \"1\\\"99999999999999999999\","
        " 9223372036854775807, -9223372036854775808, 1.99999999999999999999]}";
    struct jsonx_doc doc;
    struct error err;

    error_init(&err);
    ck_assert_int_eq(jsonx_parse(&doc, "p", text, strlen(text), 8, &err), -EINVAL);
    ck_assert_int_eq(jsonx_parse_lenient(&doc, "p", text, strlen(text), 8, &err), 0);
    ck_assert_ptr_nonnull(strstr(text, "[9223372036854775807 , -9223372036854775808 , "
                                       "\"1\\\"99999999999999999999\", 9223372036854775807, "
                                       "-9223372036854775808, 1.99999999999999999999]"));
    jsonx_done(&doc);
}

TEST_SUITE(jsonx)
{
    TEST_ADD(lenient);
    TEST_ADD(accepts);
    TEST_ADD(refusals_name_the_place);
    TEST_ADD(broken_text);
}
