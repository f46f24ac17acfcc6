/*
 * exec_stack.c: the initial stack of a program (System V ABI for x86-64, "Process Initialization"):
 *
 *      sp -> argc, argv[0..], NULL, envp[0..], NULL, auxv pairs ..., padding,
 *            16 random bytes, "x86_64", argument strings, environment strings, path, 8 zero bytes
 *
 * Built in one kernel buffer and written to the guest in one copy.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/elf.h"
#include "abi/errno.h"
#include "abi/time.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/host/host.h"
#include "sentry/kernel/exec_load.h"
#include "sentry/kernel/kernel.h"

enum {
    MAX_AUX = 24,
    PHENT = 56,
    HOST_AT_HWCAP = 16,
    HOST_AT_HWCAP2 = 26,
    HOST_AT_MINSIGSTKSZ = 51
};

static const char platform_name[] = "x86_64";

struct layout {
    uint64_t strings, path, platform, random, vectors; /* guest addresses */
    uint64_t top;
    size_t nwords;
};

static void plan(struct layout *l, uint64_t top, const char *path, const struct exec_strings *s)
{
    uint64_t p = top - 8;
    p -= strlen(path) + 1;
    l->path = p;
    p -= s->len;
    l->strings = p;
    p -= sizeof(platform_name);
    l->platform = p;
    p = (p - 16) & ~15ull;
    l->random = p;
    l->nwords = 1 + s->argc + 1 + s->envc + 1 + 2 * MAX_AUX;
    l->vectors = (p - l->nwords * 8) & ~15ull;
    l->top = top;
}

static size_t fill_aux(uint64_t *w, const struct layout *l, const struct exec_aux *a)
{
    const uint64_t aux[][2] = {
        {LX_AT_SYSINFO_EHDR, kernel.layout.vdso_start},
        {LX_AT_MINSIGSTKSZ, host_auxval(HOST_AT_MINSIGSTKSZ)},
        {LX_AT_HWCAP, host_auxval(HOST_AT_HWCAP)},
        {LX_AT_PAGESZ, PAGE_SIZE},
        {LX_AT_CLKTCK, LX_USER_HZ},
        {LX_AT_PHDR, a->phdr},
        {LX_AT_PHENT, PHENT},
        {LX_AT_PHNUM, a->phnum},
        {LX_AT_BASE, a->base},
        {LX_AT_FLAGS, 0},
        {LX_AT_ENTRY, a->entry},
        {LX_AT_UID, a->uid},
        {LX_AT_EUID, a->euid},
        {LX_AT_GID, a->gid},
        {LX_AT_EGID, a->egid},
        {LX_AT_SECURE, a->secure},
        {LX_AT_RANDOM, l->random},
        {LX_AT_HWCAP2, host_auxval(HOST_AT_HWCAP2)},
        {LX_AT_EXECFN, l->path},
        {LX_AT_PLATFORM, l->platform},
    };
    _Static_assert(ARRAY_LEN(aux) < MAX_AUX, "room for the terminator");
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(aux); i++) {
        if (aux[i][0] == LX_AT_SYSINFO_EHDR && aux[i][1] == 0)
            continue;
        w[n++] = aux[i][0];
        w[n++] = aux[i][1];
    }
    w[n++] = LX_AT_NULL;
    w[n++] = 0;
    return n;
}

/* Pointers to `count` strings that start at *off of the block. */
static size_t fill_pointers(uint64_t *w, const struct exec_strings *s, uint64_t base,
                            uint32_t count, size_t *off)
{
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        w[n++] = base + *off;
        *off += strnlen(s->data + *off, s->len - *off) + 1;
    }
    w[n++] = 0;
    return n;
}

int exec_stack_fill(struct mm *mm, uint64_t stack_top, const char *path,
                    const struct exec_strings *s, const struct exec_aux *aux, uint64_t *ret_sp)
{
    struct layout l;
    size_t off = 0, n = 0;

    plan(&l, stack_top, path, s);
    size_t bytes = (size_t)(l.top - l.vectors);
    if (l.vectors < mm->stack_limit || bytes > (stack_top - mm->stack_limit) / 2)
        return -E2BIG;
    uint8_t *buf = kalloc(bytes);
    uint64_t *words = kalloc_array(l.nwords, sizeof(uint64_t));
    if (buf == NULL || words == NULL) {
        kfree(buf);
        kfree(words);
        return -ENOMEM;
    }
    words[n++] = s->argc;
    n += fill_pointers(words + n, s, l.strings, s->argc, &off);
    mm->arg_start = l.strings;
    mm->arg_end = mm->env_start = l.strings + off;
    n += fill_pointers(words + n, s, l.strings, s->envc, &off);
    mm->env_end = l.strings + off;
    size_t naux = fill_aux(words + n, &l, aux);
    mm->auxv_len = MIN(naux * 8, sizeof(mm->auxv));
    memcpy(mm->auxv, words + n, mm->auxv_len);
    memcpy(buf, words, l.nwords * 8);
    host_random(buf + (l.random - l.vectors), 16);
    memcpy(buf + (l.platform - l.vectors), platform_name, sizeof(platform_name));
    memcpy(buf + (l.strings - l.vectors), s->data, s->len);
    memcpy(buf + (l.path - l.vectors), path, strlen(path) + 1);
    int r = plat_write(mm->as, GADDR(l.vectors), buf, bytes);
    kfree(buf);
    kfree(words);
    if (r < 0)
        return r;
    mm->start_stack = l.vectors;
    *ret_sp = l.vectors;
    return 0;
}
