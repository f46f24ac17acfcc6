/* links: shim */
/*
 * Arbitrary bytes as config.json, as the process object and as the resources object. What is
 * accepted keeps the promises of the header; what is refused has a reason; reading the same bytes
 * twice gives the same; nothing stays allocated.
 */
#include "runsc-shim/oci_config.h"

#include "lib/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_strings(const struct oci_strings *s)
{
    require((s->n == 0) == (s->v == NULL));
    for (size_t i = 0; i < s->n; i++)
        require(s->v[i] != NULL && strlen(s->v[i]) <= OCI_MAX_STRING);
    require(s->n == 0 || s->v[s->n] == NULL);
}

static void check_process(const struct oci_process *p)
{
    if (!p->present)
        return;
    check_strings(&p->args);
    check_strings(&p->env);
    require(p->args.n > 0 && p->args.v[0][0] != '\0' && p->cwd[0] == '/');
    require(p->ngroups <= OCI_MAX_GROUPS && p->umask <= 0777 && p->uid != UINT32_MAX);
    for (size_t i = 0; i < OCI_RLIMITS; i++)
        require(p->rlimits[i].soft <= p->rlimits[i].hard);
}

static void check_config(const struct oci_config *c)
{
    require(strncmp(c->version, "1.", 2) == 0 && c->root_path[0] != '\0');
    require(c->hostname == NULL || strlen(c->hostname) <= 64);
    for (size_t i = 0; i < c->nmounts; i++) {
        require(c->mounts[i].destination[0] == '/');
        check_strings(&c->mounts[i].options);
    }
    for (size_t i = 0; i < OCI_HOOK_KINDS; i++) {
        for (size_t k = 0; k < c->hooks[i].n; k++)
            require(c->hooks[i].v[k].path[0] == '/' && c->hooks[i].v[k].timeout >= 0);
    }
    for (size_t i = 0; i < c->resources.unified.n; i++)
        require(strchr(c->resources.unified.v[i].key, '/') == NULL);
    for (size_t i = 0; i < c->seccomp.nrules; i++)
        require(c->seccomp.rules[i].names.n > 0);
}

static int parse(oci_parse_fn *fn, const uint8_t *data, size_t size, struct buf *ret_warnings)
{
    struct oci_config c;
    struct error err;
    char *text = kalloc(size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    error_init(&err);
    int r = fn(&c, "config.json", text, size, &err);
    if (r < 0) {
        require(err.code == -r && err.text[0] != '\0');
        return r;
    }
    check_process(&c.process);
    if (fn == oci_config_parse)
        check_config(&c);
    (void)buf_puts(ret_warnings, buf_cstr(&c.warnings));
    oci_config_done(&c);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static oci_parse_fn *const parsers[] = {oci_config_parse, oci_process_parse,
                                            oci_resources_parse};
    uint64_t balance = kalloc_balance();

    if (size > 65536)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++) {
        struct buf first, second;
        buf_init(&first, 65536);
        buf_init(&second, 65536);
        require(parse(parsers[i], data, size, &first) == parse(parsers[i], data, size, &second));
        require(strcmp(buf_cstr(&first), buf_cstr(&second)) == 0);
        buf_done(&first);
        buf_done(&second);
    }
    require(kalloc_balance() == balance);
    return 0;
}
