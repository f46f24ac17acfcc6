/* The loader: sane programs, hostile headers, scripts, failing allocations. */
#include <string.h>

#include "abi/elf.h"
#include "abi/errno.h"
#include "abi/mman.h"

#include "tests/support/box.h"
#include "tests/support/elf_image.h"
#include "tests/support/test.h"

static struct elf_image image;
static struct exec_image loaded;

static int load(void)
{
    elf_image_install("/prog", &image, sizeof(image));
    return elf_image_load("/prog", &loaded);
}

static uint64_t word(uint64_t addr)
{
    uint64_t v = 0;
    ck_assert_int_eq(plat_read(loaded.mm->as, GADDR(addr), &v, sizeof(v)), 0);
    return v;
}

static uint64_t auxv(uint64_t type)
{
    for (size_t i = 0; i + 16 <= loaded.mm->auxv_len; i += 16) {
        struct lx_auxv a;
        memcpy(&a, loaded.mm->auxv + i, sizeof(a));
        if (a.a_type == type)
            return a.a_val;
    }
    return ~0ull;
}

TEST(static_program)
{
    box_begin();
    elf_image_init(&image, false);
    ck_assert_int_eq(load(), 0);
    ck_assert_uint_eq(loaded.entry, 0x401000);
    ck_assert_str_eq(loaded.comm, "prog");
    ck_assert_uint_eq(word(0x401000), 0xccccccccccccccccull);
    ck_assert_uint_eq(word(0x402bf8), 0xccccccccccccccccull);
    ck_assert_uint_eq(word(0x402c00), 0); /* bss in the file's last page */
    ck_assert_uint_eq(word(0x402ff8), 0);
    ck_assert_uint_eq(word(0x4057f0), 0);
    ck_assert_uint_eq(auxv(LX_AT_PHDR), 0x400040);
    ck_assert_uint_eq(auxv(LX_AT_PHNUM), 2);
    ck_assert_uint_eq(auxv(LX_AT_ENTRY), 0x401000);
    ck_assert_uint_eq(auxv(LX_AT_BASE), 0);
    ck_assert_uint_eq(mm_find(loaded.mm, 0x400000)->prot, LX_PROT_READ | LX_PROT_EXEC);
    ck_assert_uint_eq(mm_find(loaded.mm, loaded.stack)->prot, LX_PROT_READ | LX_PROT_WRITE);
    char arg[4];
    ck_assert_uint_eq(word(loaded.stack), 2);
    ck_assert_int_eq(plat_read(loaded.mm->as, GADDR(word(loaded.stack + 16)), arg, 4), 0);
    ck_assert_str_eq(arg, "arg");
    ck_assert_uint_eq(word(loaded.stack + 24), 0);
    ck_assert_uint_eq(word(loaded.stack + 40), 0);
    elf_image_drop(&loaded);
    box_end();
}

TEST(pie_with_interpreter)
{
    box_begin();
    elf_image_init(&image, true);
    elf_image_install("/ld.so", &image, sizeof(image));
    elf_image_set_interp(&image, "/ld.so");
    ck_assert_int_eq(load(), 0);
    uint64_t base = auxv(LX_AT_BASE), entry = auxv(LX_AT_ENTRY);
    ck_assert_uint_ge(entry, 0x555555554000ull);
    ck_assert_uint_eq(loaded.entry, base + 0x1000);
    ck_assert_uint_gt(base, entry);
    ck_assert_uint_ge(loaded.mm->brk, entry);
    elf_image_drop(&loaded);
    elf_image_set_interp(&image, "/missing");
    ck_assert_int_eq(load(), -ENOENT);
    elf_image_install("/ld.so", "text", 4);
    elf_image_set_interp(&image, "/ld.so");
    ck_assert_int_eq(load(), -ELIBBAD);
    box_end();
}

/* One field of a sane program is made bad. */
#define REFUSED(change)                     \
    do {                                    \
        elf_image_init(&image, false);      \
        change;                             \
        ck_assert_int_eq(load(), -ENOEXEC); \
    } while (0)

TEST(hostile_headers)
{
    box_begin();
    REFUSED(image.h.e_ident[0] = 0);
    REFUSED(image.h.e_ident[EI_CLASS] = ELFCLASS32);
    REFUSED(image.h.e_ident[EI_DATA] = ELFDATA2MSB);
    REFUSED(image.h.e_machine = EM_AARCH64);
    REFUSED(image.h.e_type = ET_REL);
    REFUSED(image.h.e_phentsize = 32);
    REFUSED(image.h.e_phnum = 0);
    REFUSED(image.h.e_phnum = 0xffff);
    REFUSED(image.h.e_phoff = ~0ull);
    REFUSED(image.h.e_phoff = sizeof(image) - 8);
    REFUSED(image.ph[0].p_type = image.ph[1].p_type = PT_NULL);
    REFUSED(image.ph[1].p_filesz = image.ph[1].p_memsz + 1);
    REFUSED(image.ph[1].p_memsz = ~0ull);
    REFUSED(image.ph[1].p_memsz = 1ull << 47);
    REFUSED(image.ph[1].p_offset = ~0xfffull | 0x800);
    REFUSED(image.ph[1].p_offset += 0x100000);
    REFUSED(image.ph[1].p_vaddr += 8);
    REFUSED(image.ph[1].p_vaddr = ~0xfffull | 0x800);
    REFUSED(image.ph[1].p_vaddr = 0x401800);
    REFUSED(image.ph[1].p_vaddr = 0x7fffffffe800);
    REFUSED(elf_image_set_interp(&image, "/x"); image.ph[2].p_filesz = 1);
    REFUSED(elf_image_set_interp(&image, "/x"); image.ph[2].p_filesz = 1 << 20);
    REFUSED(elf_image_set_interp(&image, "/x"); image.ph[2].p_filesz = 2);
    REFUSED(elf_image_set_interp(&image, "/x"); image.ph[2].p_offset = ~0ull);
    /* The platform's own pages cannot be asked for. */
    elf_image_init(&image, false);
    struct plat_layout l;
    plat_ops->layout(box.p, &l);
    uint64_t shift = l.stub_start - 0x400000;
    image.ph[0].p_vaddr += shift;
    image.ph[1].p_vaddr += shift;
    ck_assert_int_lt(load(), 0);
    elf_image_init(&image, false);
    image.ph[0].p_vaddr = 0;
    ck_assert_int_lt(load(), 0);
    for (size_t len = 0; len < 200; len += 7) {
        elf_image_init(&image, false);
        elf_image_install("/prog", &image, len);
        ck_assert_int_eq(elf_image_load("/prog", &loaded), -ENOEXEC);
    }
    box_end();
}

TEST(stack_and_ids)
{
    box_begin();
    elf_image_init(&image, false);
    image.h.e_phnum = 3;
    image.ph[2] = (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W | PF_X};
    ck_assert_int_eq(load(), 0);
    ck_assert_uint_eq(mm_find(loaded.mm, loaded.stack)->prot, 7);
    ck_assert(!loaded.setuid_euid);
    elf_image_drop(&loaded);
    box.task->group->rlimit[LX_RLIMIT_STACK].rlim_cur = 1 << 20;
    ck_assert_int_eq(load(), 0);
    const struct vma *v = mm_find(loaded.mm, loaded.stack);
    ck_assert_uint_eq(v->end - v->start, 1 << 20);
    ck_assert_uint_eq(loaded.mm->stack_limit, v->start);
    elf_image_drop(&loaded);
    box_end();
}

TEST(scripts)
{
    static const struct {
        const char *text;
        int err;
        uint64_t argc;
    } cases[] = {
        {"#!/prog\n", 0, 3},   {"#! /prog  one two \n", 0, 4}, {"#!/prog", 0, 3},
        {"#!\n", -ENOEXEC, 0}, {"#!   ", -ENOEXEC, 0},         {"#!/missing\n", -ENOENT, 0},
        {"#!/\n", -EACCES, 0}, {"#!/script\n", -ELOOP, 0},     {"#", -ENOEXEC, 0},
        {"", -ENOEXEC, 0},
    };
    char longline[600] = "#!/";
    box_begin();
    elf_image_init(&image, false);
    elf_image_install("/prog", &image, sizeof(image));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        elf_image_install("/script", cases[i].text, strlen(cases[i].text));
        ck_assert_int_eq(elf_image_load("/script", &loaded), cases[i].err);
        if (cases[i].err)
            continue;
        ck_assert_uint_eq(word(loaded.stack), cases[i].argc);
        ck_assert_str_eq(loaded.comm, "script");
        elf_image_drop(&loaded);
    }
    memset(longline + 3, 'x', sizeof(longline) - 3);
    elf_image_install("/script", longline, sizeof(longline));
    ck_assert_int_eq(elf_image_load("/script", &loaded), -ENOEXEC);
    box_end();
}

TEST(failing_allocations)
{
    box_begin();
    elf_image_init(&image, true);
    elf_image_install("/ld.so", &image, sizeof(image));
    elf_image_set_interp(&image, "/ld.so");
    elf_image_install("/prog", &image, sizeof(image));
    elf_image_install("/script", "#!/prog x\n", 10);
    ck_assert_int_eq(elf_image_load("/script", &loaded), 0);
    elf_image_drop(&loaded);
    for_each_failure {
        int r = elf_image_load("/script", &loaded);
        ck_assert_msg(r == 0 || r == -ENOMEM || r == -EIO, "%d", r);
        if (r == 0)
            elf_image_drop(&loaded);
    }
    for (uint64_t n = 1; n < 12; n++) {
        fake_fail_after(box.p, n, -ENOMEM);
        int r = elf_image_load("/script", &loaded);
        fake_fail_after(box.p, 0, 0);
        ck_assert(r == 0 || r == -ENOMEM);
        if (r == 0)
            elf_image_drop(&loaded);
    }
    box_end();
}

TEST_SUITE(exec)
{
    TEST_ADD(static_program);
    TEST_ADD(pie_with_interpreter);
    TEST_ADD(hostile_headers);
    TEST_ADD(stack_and_ids);
    TEST_ADD(scripts);
    TEST_ADD(failing_allocations);
}
