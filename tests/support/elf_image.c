/* ELF files for tests of the loader; see elf_image.h. */
#include "tests/support/elf_image.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/mman.h"

#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/exec.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/box.h"

void elf_image_init(struct elf_image *e, bool dyn)
{
    uint64_t base = dyn ? 0 : 0x400000;
    memset(e, 0, sizeof(*e));
    memset(e->rest, 0xcc, sizeof(e->rest));
    memcpy(e->h.e_ident, ELFMAG, SELFMAG);
    e->h.e_ident[EI_CLASS] = ELFCLASS64;
    e->h.e_ident[EI_DATA] = ELFDATA2LSB;
    e->h.e_ident[EI_VERSION] = EV_CURRENT;
    e->h.e_type = dyn ? ET_DYN : ET_EXEC;
    e->h.e_machine = EM_X86_64;
    e->h.e_version = EV_CURRENT;
    e->h.e_entry = base + 0x1000;
    e->h.e_phoff = sizeof(e->h);
    e->h.e_ehsize = sizeof(e->h);
    e->h.e_phentsize = sizeof(Elf64_Phdr);
    e->h.e_phnum = 2;
    e->ph[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                            .p_flags = PF_R | PF_X,
                            .p_vaddr = base,
                            .p_filesz = 0x2000,
                            .p_memsz = 0x2000,
                            .p_align = 0x1000};
    e->ph[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                            .p_flags = PF_R | PF_W,
                            .p_offset = 0x2800,
                            .p_vaddr = base + 0x2800,
                            .p_filesz = 0x400,
                            .p_memsz = 0x3000,
                            .p_align = 0x1000};
}

void elf_image_set_interp(struct elf_image *e, const char *path)
{
    size_t len = strlen(path) + 1;
    e->h.e_phnum = 3;
    e->ph[2] = (Elf64_Phdr){
        .p_type = PT_INTERP, .p_flags = PF_R, .p_offset = 0x3000, .p_filesz = len, .p_memsz = len};
    memcpy((uint8_t *)e + 0x3000, path, len);
}

void elf_image_install(const char *path, const void *bytes, size_t len)
{
    struct file *f;
    struct uio u;
    KASSERT(vfs_open_at(box.task, LX_AT_FDCWD, path, LX_O_WRONLY | LX_O_CREAT | LX_O_TRUNC, 0755,
                        LOOKUP_FOLLOW, &f) == 0);
    uio_init_kernel_const(&u, bytes, len);
    KASSERT(vfs_write(box.task, f, &u, NULL) == (int64_t)len);
    file_put(f);
}

/* Tree and page tables agree, everything is in user space, the stack and the entry are mapped. */
static void check_image(const struct exec_image *img)
{
    struct mm *mm = img->mm;
    mm_check(mm);
    for (struct vma *v = mm_first(mm); v != NULL; v = vma_next(v)) {
        if (v->flags & VMA_SPECIAL)
            continue;
        KASSERT(fake_page_prot(mm->as, v->start) == (int)v->prot);
        KASSERT(fake_page_prot(mm->as, v->end - 4096) == (int)v->prot);
    }
    const struct vma *stack = mm_find(mm, img->stack);
    KASSERT(stack != NULL && (stack->flags & VMA_STACK) && img->stack % 16 == 0);
    uint64_t argc = 0;
    KASSERT(plat_read(mm->as, GADDR(img->stack), &argc, sizeof(argc)) == 0 && argc >= 2);
    KASSERT(mm->brk_start == mm->brk && mm->brk < LX_TASK_SIZE);
    KASSERT(mm->exe == img->file && img->comm[sizeof(img->comm) - 1] == '\0');
}

int elf_image_load(const char *path, struct exec_image *ret_image)
{
    static const char *const argv[] = {"prog", "arg", NULL};
    static const char *const envp[] = {"A=b", NULL};
    struct exec_strings s = {0};
    struct file *f;
    int r = vfs_open_exec(box.task, LX_AT_FDCWD, path, LOOKUP_FOLLOW, &f);
    if (r < 0)
        return r;
    r = exec_strings_from_kernel(argv, envp, &s);
    if (r == 0)
        r = exec_load(box.task, f, path, &s, ret_image);
    exec_strings_done(&s);
    file_put(f);
    if (r == 0)
        check_image(ret_image);
    return r;
}

void elf_image_drop(struct exec_image *image)
{
    exec_image_done(image);
}
