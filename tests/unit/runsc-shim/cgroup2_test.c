/*
 * linux.resources into the files of a v2 group, on a directory that looks like one: what is written
 * for which limit, what is left alone, what a missing controller does; what is read back.
 */
#include "lib/compiler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "runsc-shim/cgroup_oci.h"
#include "runsc-shim/oci_config.h"
#include "runsc-shim/shim.h"
#include "tests/support/test.h"

static const char *const files[] = {
    "memory.max",       "memory.low",    "memory.swap.max", "memory.high",  "cpu.weight",
    "memory.oom.group", "cpu.max",       "pids.max",        "pids.current", "memory.current",
    "memory.peak",      "memory.events", "cpu.stat",        "cgroup.procs", "cpuset.cpus"};

static char dir[64];
static struct oci_cgroup cg;

static void put(const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static const char *get(const char *name)
{
    static char text[128];
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    text[MAX(n, (ssize_t)0)] = '\0';
    return text;
}

static void make(void)
{
    (void)snprintf(dir, sizeof(dir), "/tmp/sentry-cgroup2-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        put(files[i], "");
}

static void drop(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    (void)unlink(path);
}

static void done(void)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        drop(files[i]);
    ck_assert_int_eq(rmdir(dir), 0);
}

TEST(limits)
{
    struct oci_pair unified = {.key = "memory.high", .value = "1000"};
    struct oci_resources res = {.has_memory_limit = true,
                                .memory_limit = 64 << 20,
                                .has_memory_swap = true,
                                .memory_swap = 96 << 20,
                                .has_memory_reservation = true,
                                .memory_reservation = 32 << 20,
                                .has_pids = true,
                                .pids = 20,
                                .has_cpu_shares = true,
                                .cpu_shares = 1024,
                                .has_cpu_quota = true,
                                .cpu_quota = 50000,
                                .cpuset_cpus = "0-1",
                                .unified = {&unified, 1}};

    make();
    oci_cgroup_adopt(&cg, dir, &res);
    ck_assert(cg.v2 && !cg.planned);
    ck_assert_str_eq(get("memory.max"), "67108864");
    ck_assert_str_eq(get("memory.oom.group"), "1");
    ck_assert_str_eq(get("memory.low"), "33554432");
    /* There the sum of both, here swap alone. */
    ck_assert_str_eq(get("memory.swap.max"), "33554432");
    ck_assert_str_eq(get("pids.max"), "124");
    ck_assert_str_eq(get("cpu.weight"), "39");
    ck_assert_str_eq(get("cpu.max"), "50000 100000");
    ck_assert_str_eq(get("cpuset.cpus"), "0-1");
    ck_assert_str_eq(get("memory.high"), "1000");
    ck_assert(oci_cgroup_limits_memory(&cg));
    done();
}

TEST(nothing_asked)
{
    const struct oci_resources none = {0};
    const struct oci_resources open = {
        .has_memory_limit = true, .memory_limit = -1, .has_pids = true, .pids = -1};

    make();
    oci_cgroup_adopt(&cg, dir, &none);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        ck_assert_str_eq(get(files[i]), "");
    ck_assert_str_eq(cg.dir[CG_CPUSET], "");
    ck_assert_str_eq(cg.dir[CG_MEMORY], dir);
    oci_cgroup_adopt(&cg, dir, &open);
    ck_assert_str_eq(get("memory.max"), "max");
    ck_assert_str_eq(get("pids.max"), "max");
    done();
}

/* A group whose parent gives no controllers: the sandbox has to count memory itself. */
TEST(no_memory_controller)
{
    const struct oci_resources res = {
        .has_memory_limit = true, .memory_limit = 64 << 20, .has_pids = true, .pids = 20};
    struct error err;

    make();
    drop("memory.max");
    oci_cgroup_adopt(&cg, dir, &res);
    ck_assert(!oci_cgroup_limits_memory(&cg));
    ck_assert_str_eq(get("pids.max"), "124");
    shim_notes_flush(); /* its warning */
    error_init(&err);
    ck_assert_int_lt(oci_cgroup_update(&cg, &res, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "memory.max"));
    done();
}

TEST(stats)
{
    const struct oci_resources none = {0};
    struct buf out;

    make();
    put("memory.current", "4096\n");
    put("memory.peak", "8192\n");
    put("memory.max", "max\n");
    put("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n");
    put("pids.current", "5\n");
    put("pids.max", "max\n");
    put("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 2\n");
    oci_cgroup_adopt(&cg, dir, &none);
    buf_init(&out, 65536);
    oci_cgroup_stats(&cg, &out);
    const char *text = buf_cstr(&out);
    ck_assert_ptr_nonnull(strstr(text, "\"total\":30000,\"kernel\":10000,\"user\":20000"));
    ck_assert_ptr_nonnull(strstr(text, "\"usage\":4096,\"max\":8192,\"failcnt\":3"));
    ck_assert_ptr_nonnull(strstr(text, "\"pids\":{\"current\":5}"));
    buf_done(&out);
    done();
}

TEST_SUITE(cgroup2)
{
    TEST_ADD(limits);
    TEST_ADD(nothing_asked);
    TEST_ADD(no_memory_controller);
    TEST_ADD(stats);
}
