/*
 * landlock.c: one ruleset that handles everything the running kernel knows, made and entered.
 */
#include "platform/confine/landlock.h"

#include <errno.h>
#include <unistd.h>

#include <sys/syscall.h>

enum {
    QUERY_VERSION = 1 << 0,
    RULE_BENEATH = 1
};

/* As <linux/landlock.h> has it since ABI 6; older kernels take a shorter one. */
struct landlock_attr {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
};

struct landlock_beneath {
    uint64_t allowed;
    int32_t fd;
} PACKED;

int landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, QUERY_VERSION);
    return (int)MAX(abi, 0l);
}

int landlock_enter(const struct landlock_path *paths, size_t n)
{
    static const uint8_t fs_bits[] = {0, 13, 14, 15, 15}; /* by ABI version; 16 from 5 on */
    int abi = landlock_abi();
    if (abi == 0)
        return 0;
    struct landlock_attr attr = {
        .fs = (1u << (abi < (int)ARRAY_LEN(fs_bits) ? fs_bits[abi] : 16)) - 1,
        .net = abi >= 4 ? 3 : 0,
        .scoped = abi >= 6 ? 3 : 0,
    };
    size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (rules < 0)
        return -errno;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct landlock_beneath b = {.allowed = paths[i].rights & attr.fs, .fd = paths[i].fd};
        if (syscall(SYS_landlock_add_rule, rules, RULE_BENEATH, &b, 0) < 0)
            r = -errno;
    }
    if (r == 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
        r = -errno;
    (void)close(rules);
    return r < 0 ? r : abi;
}
