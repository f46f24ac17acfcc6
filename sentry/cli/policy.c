/*
 * policy.c: sandbox.json: network, filesystem, limits, seccomp, namespaces. What can only have one
 * value is checked to have it, so that a policy never promises what a run would not do.
 */
#include "sentry/cli/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/jsonx.h"
#include "sentry/cli/boot.h"

enum {
    POLICY_MAX = 1 << 20,
    POLICY_DEPTH = 8
};
#define DAY_MS 86400000ull
#define MS     1000000ull
#define MIB    (1ull << 20)

static int read_scaled(const struct jsonx *at, uint64_t min, uint64_t max, uint64_t unit,
                       uint64_t *slot, struct error *err)
{
    uint64_t v;
    int r = jsonx_u64(at, min, max, &v, err);
    if (r == 0)
        *slot = v * unit;
    return r;
}

#define LIMIT_READER(name, field, min, max, unit)                                         \
    static int read_##name(const struct jsonx *at, void *arg, struct error *err)          \
    {                                                                                     \
        return read_scaled(at, min, max, unit, &((struct boot *)arg)->limits.field, err); \
    }
LIMIT_READER(wall, wall_ns, 0, DAY_MS, MS)
LIMIT_READER(cpu, cpu_ns, 0, DAY_MS, MS)
LIMIT_READER(memory, memory, BOOT_MEMORY_MIN / MIB, 1ull << 24, MIB)
LIMIT_READER(pids, pids, 1, 4096, 1)
LIMIT_READER(files, files, 3, 1048576, 1)
LIMIT_READER(file, file_size, 0, 1ull << 24, MIB)
LIMIT_READER(disk, disk, 0, 1ull << 24, MIB)
LIMIT_READER(output, output, 0, 1ull << 22, 1024)

static int read_cpus(const struct jsonx *at, void *arg, struct error *err)
{
    double v;
    int r = jsonx_double(at, 0.01, 1024, &v, err);
    if (r == 0)
        ((struct boot *)arg)->limits.cpus_milli = (uint32_t)(v * 1000);
    return r;
}

static int read_limits(const struct jsonx *at, void *arg, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"wall_ms", read_wall, false},     {"cpu_ms", read_cpu, false},
        {"memory_mb", read_memory, false}, {"pids", read_pids, false},
        {"files", read_files, false},      {"file_mb", read_file, false},
        {"disk_mb", read_disk, false},     {"output_kb", read_output, false},
        {"cpus", read_cpus, false},
    };
    return jsonx_object(at, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_REFUSED, arg, err);
}

static int read_network(const struct jsonx *at, void *arg, struct error *err)
{
    static const char *const words[] = {"none"};
    size_t i;
    (void)arg;
    return jsonx_choice(at, words, ARRAY_LEN(words), &i, err);
}

static int read_filesystem(const struct jsonx *at, void *arg, struct error *err)
{
    static const char *const words[] = {"ephemeral", "read-only"};
    size_t i;
    int r = jsonx_choice(at, words, ARRAY_LEN(words), &i, err);
    if (r == 0)
        ((struct boot *)arg)->writable = i == 0;
    return r;
}

static int read_seccomp(const struct jsonx *at, void *arg, struct error *err)
{
    static const char *const words[] = {"allowlist"};
    size_t i;
    (void)arg;
    return jsonx_choice(at, words, ARRAY_LEN(words), &i, err);
}

static int read_namespace(const struct jsonx *at, void *arg, struct error *err)
{
    static const char *const words[] = {"pid", "net", "mount",  "user",
                                        "ipc", "uts", "cgroup", "time"};
    size_t i;
    (void)arg;
    return jsonx_choice(at, words, ARRAY_LEN(words), &i, err);
}

static int read_namespaces(const struct jsonx *at, void *arg, struct error *err)
{
    return jsonx_each_element(at, 8, read_namespace, arg, err);
}

int policy_parse(const char *name, const char *text, size_t len, struct boot *b, struct error *err)
{
    static const struct jsonx_field fields[] = {
        {"network", read_network, false},       {"filesystem", read_filesystem, false},
        {"limits", read_limits, false},         {"seccomp", read_seccomp, false},
        {"namespaces", read_namespaces, false},
    };
    struct jsonx_doc doc;
    int r = jsonx_parse(&doc, name, text, len, POLICY_DEPTH, err);
    if (r < 0)
        return r;
    struct jsonx root = jsonx_root(&doc);
    r = jsonx_object(&root, fields, ARRAY_LEN(fields), JSONX_UNKNOWN_REFUSED, b, err);
    jsonx_done(&doc);
    return r;
}

int policy_read(const char *path, struct boot *b, struct error *err)
{
    char *text;
    size_t len;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "%s", path);
    int r = fd_read_all(fd, POLICY_MAX, &text, &len);
    (void)close(fd);
    if (r < 0)
        return error_errno(err, -r, "%s", path);
    r = policy_parse(path, text, len, b, err);
    kfree(text);
    return r;
}
