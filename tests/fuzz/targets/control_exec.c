/* links: cli kernel host */
/*
 * Arbitrary bytes as the blob of an exec: what is accepted packs to the same bytes again.
 */
#include "lib/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/cli/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct control_exec *ex)
{
    size_t n = 0;
    for (const char *const *a = ex->argv; *a != NULL; a++)
        n += strlen(*a) + 1;
    for (const char *const *e = ex->env; *e != NULL; e++)
        n += strlen(*e) + 1;
    if (ex->argv[0] == NULL || n > CONTROL_MAX_BLOB || ex->process.ngroups > BOOT_MAX_GROUPS ||
        ex->process.umask > 0777)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t balance = kalloc_balance();
    struct control_exec_parsed p;
    struct buf b;

    if (control_exec_parse(data, size, &p) == 0) {
        look(&p.ex);
        buf_init(&b, CONTROL_MAX_BLOB);
        if (control_exec_pack(&p.ex, &b) < 0 || b.len != size || memcmp(b.data, data, size) != 0)
            abort();
        buf_done(&b);
        control_exec_parsed_done(&p);
    }
    if (kalloc_balance() != balance)
        abort();
    return 0;
}
