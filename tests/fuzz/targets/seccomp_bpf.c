/*
 * A program of seccomp(2) and a call: what passes the check ends and stays within its memory, and
 * what the short way allows the program allows, whatever the arguments are.
 */
#include "sentry/kernel/seccomp_bpf.h"

#include "lib/compiler.h"

#include <string.h>

#include "lib/assert.h"
#include "sentry/kernel/seccomp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lx_sock_filter code[SECCOMP_MAX_INSNS];
    struct lx_seccomp_data d;
    if (size < sizeof(d))
        return 0;
    memcpy(&d, data, sizeof(d));
    d.arch = LX_AUDIT_ARCH_X86_64;
    size_t n = MIN((size - sizeof(d)) / sizeof(code[0]), (size_t)SECCOMP_MAX_INSNS);
    memcpy(code, data + sizeof(d), n * sizeof(code[0]));
    if (seccomp_bpf_check(code, n) != 0)
        return 0;
    uint32_t v = seccomp_bpf_run(code, &d);
    if (seccomp_bpf_allows(code, (uint32_t)d.nr))
        KASSERT((v & LX_SECCOMP_RET_ACTION_FULL) == LX_SECCOMP_RET_ALLOW);
    return 0;
}
