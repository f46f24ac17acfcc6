/* runsc-shim/oci_config.h: what is read, what is refused and where, what is only warned about. */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "runsc-shim/oci_config.h"
#include "tests/support/test.h"

static int parse(oci_parse_fn *fn, const char *text, struct oci_config *c, struct error *err)
{
    char *copy = kstrdup(text);
    error_init(err);
    if (copy == NULL)
        return -ENOMEM;
    return fn(c, "config.json", copy, strlen(text), err);
}

#define HEAD "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"rootfs\"}"
#define PROC "\"args\": [\"sh\"], \"cwd\": \"/\""

TEST(everything)
{
    static const char text[] =
        HEAD ", \"hostname\": \"h\", \"process\": {" PROC
             ", \"terminal\": true, \"consoleSize\": {\"height\": 24, \"width\": 80},"
             " \"user\": {\"uid\": 7, \"gid\": 8, \"umask\": 18, \"additionalGids\": [9, 10]},"
             " \"env\": [\"A=b\"], \"noNewPrivileges\": true, \"oomScoreAdj\": -5,"
             " \"capabilities\": {\"bounding\": [\"CAP_CHOWN\", \"CAP_SYS_ADMIN\"]},"
             " \"rlimits\": [{\"type\": \"RLIMIT_NOFILE\", \"soft\": 10, \"hard\": 20}]},"
             " \"mounts\": [{\"destination\": \"/x\", \"type\": \"bind\", \"source\": \"/y\","
             " \"options\": [\"ro\"]}],"
             " \"hooks\": {\"poststop\": [{\"path\": \"/bin/true\", \"timeout\": 3}]},"
             " \"linux\": {\"namespaces\": [{\"type\": \"network\", \"path\": \"/n\"}],"
             " \"resources\": {\"memory\": {\"limit\": 64}, \"pids\": {\"limit\": -1},"
             " \"cpu\": {\"quota\": 5, \"period\": 6, \"shares\": 7}},"
             " \"cgroupsPath\": \"/c\", \"maskedPaths\": [\"/proc/kcore\"]}}";
    struct oci_config c;
    struct error err;
    ck_assert_int_eq(parse(oci_config_parse, text, &c, &err), 0);
    ck_assert_str_eq(buf_cstr(&c.warnings), "");
    ck_assert_str_eq(c.root_path, "rootfs");
    ck_assert_str_eq(c.hostname, "h");
    const struct oci_process *p = &c.process;
    ck_assert(p->terminal && p->no_new_privileges && p->has_umask && p->has_oom_score_adj);
    ck_assert(p->rows == 24 && p->cols == 80);
    ck_assert_int_eq(p->umask, 022);
    ck_assert_int_eq(p->ngroups, 2);
    ck_assert_int_eq(p->groups[1], 10);
    ck_assert_int_eq(p->oom_score_adj, -5);
    ck_assert_uint_eq(p->caps[OCI_CAP_BOUNDING], 1ull << 0 | 1ull << 21);
    ck_assert_uint_eq(p->rlimits[7].hard, 20);
    ck_assert_str_eq(p->args.v[0], "sh");
    ck_assert_uint_eq(c.nmounts, 1);
    ck_assert_str_eq(c.mounts[0].options.v[0], "ro");
    ck_assert_int_eq(c.hooks[OCI_HOOK_POSTSTOP].v[0].timeout, 3);
    ck_assert_str_eq(c.namespaces[OCI_NS_NETWORK].path, "/n");
    ck_assert(!c.namespaces[OCI_NS_PID].named);
    ck_assert(c.resources.has_memory_limit && !c.resources.has_memory_swap);
    ck_assert_int_eq(c.resources.pids, -1);
    ck_assert_int_eq(c.resources.cpu_quota, 5);
    ck_assert_str_eq(c.masked_paths.v[0], "/proc/kcore");
    oci_config_done(&c);
}

TEST(refusals_name_the_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "config.json:1: needs the key \"ociVersion\""},
        {"{\"ociVersion\": 1}", "config.json:1: ociVersion: must be a string, not an integer"},
        {"{\"ociVersion\": \"2.0.0\"}",
         "config.json:1: ociVersion: version '2.0.0' is not supported (1.0 to 1.2 are)"},
        {HEAD ",\n \"process\": {\"args\": \"sh\"}}",
         "config.json:2: process.args: must be an array, not a string"},
        {HEAD ", \"process\": {\"args\": [], \"cwd\": \"/\"}}",
         "config.json:1: process: args: must not be empty"},
        {HEAD ", \"process\": {\"args\": [\"a\"], \"cwd\": \"x\"}}",
         "config.json:1: process.cwd: must be an absolute path"},
        {HEAD ", \"process\": {" PROC ", \"user\": {\"additionalGids\": [1, \"x\"]}}}",
         "config.json:1: process.user.additionalGids[1]: must be an integer, not a string"},
        {HEAD ", \"process\": {" PROC
              ", \"rlimits\": [{\"type\": \"RLIMIT_X\", \"soft\": 1, \"hard\": 1}]}}",
         "config.json:1: process.rlimits[0]: type: 'RLIMIT_X' is not a resource"},
        {HEAD ", \"mounts\": [{\"type\": \"proc\"}]}",
         "config.json:1: mounts[0]: needs the key \"destination\""},
        {HEAD ", \"mounts\": [{\"destination\": \"proc\"}]}",
         "config.json:1: mounts[0].destination: must be an absolute path"},
        {HEAD ", \"linux\": {\"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"pid\"}]}}",
         "config.json:1: linux.namespaces[1]: this namespace is there twice"},
        {HEAD ", \"linux\": {\"resources\": {\"unified\": {\"../x.y\": \"1\"}}}}",
         "config.json:1: linux.resources: unified: '../x.y' is not a cgroup file"},
        {HEAD ", \"linux\": {\"seccomp\": {\"defaultAction\": \"SCMP_ACT_NOTIFY\"}}}",
         "config.json:1: linux.seccomp.defaultAction: SCMP_ACT_NOTIFY is not supported"},
        {HEAD ", \"linux\": {\"resources\": {\"memory\": {\"limit\": 1.5}}}}",
         "config.json:1: linux.resources.memory.limit: must be an integer, not a number"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct oci_config c;
        struct error err;
        ck_assert_int_lt(parse(oci_config_parse, cases[i].text, &c, &err), 0);
        ck_assert_str_eq(err.text, cases[i].message);
    }
}

TEST(unknown_fields_are_warnings)
{
    struct oci_config c;
    struct error err;

    ck_assert_int_eq(parse(oci_config_parse,
                           HEAD ",\n \"news\": 1,\n \"process\": {" PROC
                                ", \"capabilities\": {\"bounding\": [\"CAP_MAGIC\"]}}}",
                           &c, &err),
                     0);
    ck_assert_str_eq(buf_cstr(&c.warnings),
                     "config.json:2: news: unknown field, ignored\n"
                     "config.json:3: process.capabilities.bounding[0]: unknown capability, "
                     "ignored\n");
    oci_config_done(&c);
}

/* As Go's reader: null is nothing, the last of two equal keys counts, numbers may be huge. */
TEST(lenient_where_engines_are)
{
    struct oci_config c;
    struct error err;

    ck_assert_int_eq(parse(oci_process_parse,
                           "{\"args\": [\"a\"], \"args\": [\"b\"], \"cwd\": \"/\", \"user\": null,"
                           " \"rlimits\": [{\"type\": \"RLIMIT_CORE\", \"soft\": 1,"
                           " \"hard\": 18446744073709551615}]}",
                           &c, &err),
                     0);
    ck_assert_str_eq(c.process.args.v[0], "b");
    ck_assert(c.process.rlimits[4].hard == UINT64_MAX);
    oci_config_done(&c);
    ck_assert_int_eq(parse(oci_resources_parse,
                           "{\"memory\": {\"limit\": -1}, \"pids\": {\"limit\": "
                           "-99999999999999999999999}, \"cpu\": {\"quota\": 9223372036854775808}}",
                           &c, &err),
                     0);
    ck_assert(c.resources.pids == INT64_MIN && c.resources.cpu_quota == INT64_MAX);
    oci_config_done(&c);
}

TEST(depth_is_limited)
{
    char text[4096];
    struct oci_config c;
    struct error err;
    size_t n = (size_t)snprintf(text, sizeof(text), HEAD ", \"x\": ");

    memset(text + n, '[', 1000);
    memset(text + n + 1000, ']', 1000);
    (void)snprintf(text + n + 2000, 2, "}");
    ck_assert_int_lt(parse(oci_config_parse, text, &c, &err), 0);
    ck_assert_str_eq(err.text, "config.json: nested deeper than 32");
}

TEST_SUITE(oci_config)
{
    TEST_ADD(everything);
    TEST_ADD(refusals_name_the_place);
    TEST_ADD(unknown_fields_are_warnings);
    TEST_ADD(lenient_where_engines_are);
    TEST_ADD(depth_is_limited);
}
