/*
 * elf.c: reads the ELF header and the program headers (structures from libelf's <elf.h>) and checks
 * every number that the loader will use: types, sizes, order, alignment, overflow.
 */
#include "sentry/kernel/elf.h"

#include <elf.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/types.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"

enum {
    PHDRS_MAX = 1024
};

static int check_header(const Elf64_Ehdr *h)
{
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_X86_64)
        return -ENOEXEC;
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return -ENOEXEC;
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > PHDRS_MAX)
        return -ENOEXEC;
    return 0;
}

static uint32_t prot_of(uint32_t flags)
{
    uint32_t prot = 0;
    if (flags & PF_R)
        prot |= LX_PROT_READ;
    if (flags & PF_W)
        prot |= LX_PROT_WRITE;
    if (flags & PF_X)
        prot |= LX_PROT_EXEC;
    return prot;
}

static int add_load(struct elf_info *e, const Elf64_Phdr *p, uint64_t file_size)
{
    uint64_t end, file_end;
    if (p->p_memsz == 0)
        return 0;
    if (e->nloads >= ELF_MAX_LOADS || p->p_filesz > p->p_memsz ||
        !checked_add(p->p_vaddr, p->p_memsz, &end) || end > LX_TASK_SIZE - PAGE_SIZE ||
        !checked_add(p->p_offset, p->p_filesz, &file_end) || file_end > file_size)
        return -ENOEXEC;
    if (((p->p_vaddr - p->p_offset) & (PAGE_SIZE - 1)) != 0)
        return -ENOEXEC;
    /* Ascending, as the specification has it. */
    if (e->nloads > 0) {
        const struct elf_load *last = &e->loads[e->nloads - 1];
        if (p->p_vaddr < last->vaddr + last->memsz)
            return -ENOEXEC;
    }
    e->loads[e->nloads++] =
        (struct elf_load){p->p_vaddr, p->p_filesz, p->p_memsz, p->p_offset, prot_of(p->p_flags)};
    if (e->nloads == 1)
        e->low = page_down(p->p_vaddr);
    e->high = page_up(end);
    if (p->p_align > e->align && (p->p_align & (p->p_align - 1)) == 0 && p->p_align <= (1u << 30))
        e->align = p->p_align;
    return 0;
}

static int read_interp(struct file *f, const Elf64_Phdr *p, struct elf_info *e)
{
    if (e->interp[0] != '\0')
        return 0;
    if (p->p_filesz < 2 || p->p_filesz > sizeof(e->interp))
        return -ENOEXEC;
    int64_t n = kernel_read(f, e->interp, (size_t)p->p_filesz, p->p_offset);
    if (n < 0)
        return (int)n;
    if (n != (int64_t)p->p_filesz || e->interp[n - 1] != '\0')
        return -ENOEXEC;
    return 0;
}

static int scan_headers(struct file *f, const Elf64_Ehdr *h, const Elf64_Phdr *ph,
                        struct elf_info *e)
{
    uint64_t phdrs_end = h->e_phoff + (uint64_t)h->e_phnum * sizeof(*ph);
    int r = 0;
    for (uint16_t i = 0; i < h->e_phnum && r == 0; i++) {
        if (ph[i].p_type == PT_LOAD)
            r = add_load(e, &ph[i], f->inode->size);
        else if (ph[i].p_type == PT_INTERP)
            r = read_interp(f, &ph[i], e);
        else if (ph[i].p_type == PT_GNU_STACK)
            e->exec_stack = (ph[i].p_flags & PF_X) != 0;
    }
    if (r == 0 && e->nloads == 0)
        r = -ENOEXEC;
    for (uint32_t i = 0; i < e->nloads && r == 0; i++) {
        const struct elf_load *l = &e->loads[i];
        if (l->offset <= h->e_phoff && phdrs_end <= l->offset + l->filesz)
            e->phdr_vaddr = l->vaddr + (h->e_phoff - l->offset);
    }
    return r;
}

int elf_read(struct file *f, struct elf_info *ret_info)
{
    Elf64_Ehdr h;
    uint64_t end;

    int64_t n = kernel_read(f, &h, sizeof(h), 0);
    if (n < 0)
        return (int)n;
    if (n != (int64_t)sizeof(h))
        return -ENOEXEC;
    int r = check_header(&h);
    if (r < 0)
        return r;
    size_t bytes = h.e_phnum * sizeof(Elf64_Phdr);
    if (!checked_add(h.e_phoff, bytes, &end))
        return -ENOEXEC;
    Elf64_Phdr *ph = kalloc(bytes);
    if (ph == NULL)
        return -ENOMEM;
    n = kernel_read(f, ph, bytes, h.e_phoff);
    memset(ret_info, 0, sizeof(*ret_info));
    ret_info->dyn = h.e_type == ET_DYN;
    ret_info->entry = h.e_entry;
    ret_info->phnum = h.e_phnum;
    ret_info->align = PAGE_SIZE;
    if (n < 0)
        r = (int)
            n; /* a disk that fails makes no malformed program, which a shell would interpret */
    else
        r = n == (int64_t)bytes ? scan_headers(f, &h, ph, ret_info) : -ENOEXEC;
    kfree(ph);
    return r;
}
