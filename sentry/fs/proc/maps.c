/*
 * The address space as text: maps, smaps, smaps_rollup. Addresses, protections and names are the
 * kernel's own vma tree; resident figures are the estimate of proc_rss, area by area.
 */
#include <inttypes.h>
#include <string.h>

#include "abi/mman.h"

#include "lib/checked.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"

/* Hidden: areas that belong to the platform and have no name. */
static bool vma_hidden(const struct vma *v)
{
    return (v->flags & VMA_SPECIAL) && !v->name;
}

static void put_name(struct buf *out, const struct vma *v)
{
    if (v->name)
        (void)buf_puts(out, v->name);
    else if (v->file)
        (void)proc_put_file_name(out, v->file, "\n");
    else if (v->obj)
        (void)buf_puts(out, "/dev/zero (deleted)");
    else if (v->flags & VMA_STACK)
        (void)buf_puts(out, "[stack]");
    else if (v->flags & VMA_HEAP)
        (void)buf_puts(out, "[heap]");
}

static bool has_name(const struct vma *v)
{
    return v->name || v->file || v->obj || (v->flags & (VMA_STACK | VMA_HEAP));
}

static void put_line(struct buf *out, const struct vma *v)
{
    const struct inode *ino = v->file ? v->file->inode : NULL;
    uint64_t dev = ino ? ino->super->dev : v->obj ? 1 : 0;
    uint64_t nr = ino ? ino->ino : v->obj ? 1024 : 0;
    size_t start = out->len;

    (void)buf_printf(
        out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 " ", v->start,
        v->end, v->prot & LX_PROT_READ ? 'r' : '-', v->prot & LX_PROT_WRITE ? 'w' : '-',
        v->prot & LX_PROT_EXEC ? 'x' : '-', v->flags & VMA_SHARED ? 's' : 'p',
        v->file || v->obj ? v->offset : 0, lx_major(dev), lx_minor(dev), nr);
    if (has_name(v)) {
        while (out->len - start < 73 && buf_putc(out, ' ') == 0) {
        }
        put_name(out, v);
    }
    (void)buf_putc(out, '\n');
}

/* A piece of maps or smaps: put for the areas from address *cursor on. */
static int put_areas(struct gen_inode *gi, struct buf *out, uint64_t *cursor,
                     void (*put)(struct buf *out, const struct vma *v))
{
    struct mm *mm = proc_mm(gi);
    struct vma *v = mm ? mm_find_from(mm, *cursor) : NULL;

    for (; v && out->len < GEN_PIECE && buf_error(out) == 0; v = vma_next(v)) {
        if (!vma_hidden(v))
            put(out, v);
        *cursor = v->end;
    }
    if (!v)
        *cursor = GEN_END;
    return 0;
}

int proc_more_maps(struct gen_inode *gi, struct buf *out, uint64_t *cursor)
{
    return put_areas(gi, out, cursor, put_line);
}

struct usage {
    uint64_t size, rss, anon, file, shmem, locked;
};

static void vma_usage(const struct vma *v, struct usage *ret_u)
{
    struct usage u = {.size = v->end - v->start};

    if (v->prot && !(v->flags & (VMA_SPECIAL | VMA_NORESERVE))) {
        uint64_t len = v->flags & VMA_STACK ? MIN(u.size, (uint64_t)132 << 10) : u.size;

        if (v->obj)
            u.shmem = MIN(len, memobj_allocated(v->obj));
        else if (v->prot & LX_PROT_WRITE)
            u.anon = len;
        else if (v->file)
            u.file = len;
    }
    u.rss = u.anon + u.file + u.shmem;
    u.locked = v->flags & VMA_LOCKED ? u.size : 0;
    *ret_u = u;
}

/* "%-16s%8llu kB\n" by hand: smaps has two dozen of them for each of up to 65530 areas. */
static void put_kb(struct buf *out, const char *name, uint64_t bytes)
{
    char line[48];
    size_t len = strlen(name), end = 24;
    uint64_t v = bytes >> 10;

    memset(line, ' ', sizeof(line));
    memcpy(line, name, MIN(len, (size_t)16));
    if (v > 99999999) {
        (void)buf_printf(out, "%-16s%8" PRIu64 " kB\n", name, v);
        return;
    }
    do
        line[--end] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    memcpy(line + 24, " kB\n", 4);
    (void)buf_append(out, line, 28);
}

static void put_usage(struct buf *out, const struct usage *u, bool rollup)
{
    put_kb(out, "Rss:", u->rss);
    put_kb(out, "Pss:", u->rss);
    put_kb(out, "Pss_Dirty:", u->anon);
    if (rollup) {
        put_kb(out, "Pss_Anon:", u->anon);
        put_kb(out, "Pss_File:", u->file);
        put_kb(out, "Pss_Shmem:", u->shmem);
    }
    put_kb(out, "Shared_Clean:", 0);
    put_kb(out, "Shared_Dirty:", u->shmem);
    put_kb(out, "Private_Clean:", u->file);
    put_kb(out, "Private_Dirty:", u->anon);
    put_kb(out, "Referenced:", u->rss);
    put_kb(out, "Anonymous:", u->anon);
    put_kb(out, "KSM:", 0);
    put_kb(out, "LazyFree:", 0);
    put_kb(out, "AnonHugePages:", 0);
    put_kb(out, "ShmemPmdMapped:", 0);
    put_kb(out, "FilePmdMapped:", 0);
    put_kb(out, "Shared_Hugetlb:", 0);
    put_kb(out, "Private_Hugetlb:", 0);
    put_kb(out, "Swap:", 0);
    put_kb(out, "SwapPss:", 0);
    put_kb(out, "Locked:", u->locked);
}

static void put_vm_flags(struct buf *out, const struct vma *v)
{
    (void)buf_puts(out, "VmFlags: ");
    (void)buf_puts(out, v->prot & LX_PROT_READ ? "rd " : "");
    (void)buf_puts(out, v->prot & LX_PROT_WRITE ? "wr " : "");
    (void)buf_puts(out, v->prot & LX_PROT_EXEC ? "ex " : "");
    (void)buf_puts(out, v->flags & VMA_SHARED ? "sh " : "");
    (void)buf_puts(out, "mr mw me ");
    (void)buf_puts(out, v->flags & VMA_STACK ? "gd " : "");
    (void)buf_puts(out, v->flags & VMA_LOCKED ? "lo " : "");
    (void)buf_puts(out, v->flags & VMA_DONTFORK ? "dc " : "");
    (void)buf_puts(out, v->flags & VMA_NORESERVE ? "nr " : "");
    (void)buf_puts(out, v->flags & VMA_WIPEONFORK ? "wf " : "");
    (void)buf_puts(out, !v->file && !v->obj ? "ac " : "");
    (void)buf_putc(out, '\n');
}

static void put_smap(struct buf *out, const struct vma *v)
{
    struct usage u;

    vma_usage(v, &u);
    put_line(out, v);
    put_kb(out, "Size:", u.size);
    put_kb(out, "KernelPageSize:", 4096);
    put_kb(out, "MMUPageSize:", 4096);
    put_usage(out, &u, false);
    (void)buf_puts(out, "THPeligible:           0\nProtectionKey:         0\n");
    put_vm_flags(out, v);
}

int proc_more_smaps(struct gen_inode *gi, struct buf *out, uint64_t *cursor)
{
    return put_areas(gi, out, cursor, put_smap);
}

int proc_show_smaps_rollup(struct gen_inode *gi, struct buf *out)
{
    struct mm *mm = proc_mm(gi);
    struct usage sum = {0, 0, 0, 0, 0, 0};
    uint64_t first = 0, last = 0;

    if (!mm)
        return -ESRCH;
    for (struct vma *v = mm_first(mm); v; v = vma_next(v)) {
        struct usage u;

        if (vma_hidden(v))
            continue;
        vma_usage(v, &u);
        sum.rss += u.rss;
        sum.anon += u.anon;
        sum.file += u.file;
        sum.shmem += u.shmem;
        sum.locked += u.locked;
        if (!last)
            first = v->start;
        last = v->end;
    }
    (void)buf_printf(out, "%08" PRIx64 "-%08" PRIx64 " ---p 00000000 00:00 0 ", first, last);
    (void)buf_printf(out, "%*s[rollup]\n", first >> 32 ? 25 : 33, "");
    put_usage(out, &sum, true);
    return 0;
}
